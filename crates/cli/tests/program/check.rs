//! Redundant joints and joints that do not hold.

use super::vincula;

#[test]
fn a_straight_line_linkage_has_redundant_joints() {
    let answer = vincula(&["check", "peaucellier"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    for part in [
        "50 rows, 41 of them independent",
        "redundant: O-OA",
        "reactions not unique: O-OA",
    ] {
        assert!(answer.out.contains(part), "{}", answer.out);
    }
    let told = vincula(&["check", "peaucellier", "--json"]).json();
    assert_eq!((&told["rank"], &told["freedoms"]), (&41.into(), &1.into()));
    let redundant = told["redundant"].as_array().expect("a list");
    let rows: usize = redundant
        .iter()
        .map(|one| one["rows"].as_array().expect("rows").len())
        .sum();
    assert_eq!(rows, 9);
}

#[test]
fn a_double_pendulum_has_none() {
    let answer = vincula(&["check", "double-pendulum"]);
    assert_eq!(answer.code, 0);
    assert!(answer.out.contains("no redundant joints"), "{}", answer.out);
    let told = vincula(&["check", "double-pendulum", "--json"]).json();
    assert_eq!(told["redundant"], serde_json::json!([]));
    assert_eq!(told["freedoms"], 2);
}

#[test]
fn an_impossible_loop_is_named_with_its_gap() {
    // Crank, coupler and rocker reach 2.2 m together; the pivots are 5 m apart.
    let request = ["check", "four-bar", "--set", "base=5", "--set", "angle=0"];
    let answer = vincula(&request);
    assert_eq!(answer.code, 1);
    let told = answer.err;
    assert!(told.contains("'knee' is 2.800e0 m apart"), "{told}");
    assert!(told.contains("no pose meets all joints"), "{told}");
    for name in ["pivot-crank", "elbow", "knee", "pivot-rocker"] {
        assert!(told.contains(name), "{told}");
    }
    let answer = vincula(&["check", "four-bar", "--set", "base=5", "--json"]);
    assert_eq!(answer.code, 1);
    let told = answer.json();
    assert_eq!(told["violated"][0]["joint"], "knee");
    assert_eq!(told["assembly"]["possible"], false);
    let open = told["assembly"]["open"].as_array().expect("a list");
    let missing: f64 = open
        .iter()
        .map(|one| one["gap"].as_f64().expect("a gap"))
        .sum();
    // The gaps of the pose that meets the joints best add up to what the bars lack.
    assert!((missing - 2.8).abs() < 1e-2, "{missing}");
}
