//! Gallery, plan and help.

use super::vincula;

#[test]
fn the_gallery_lists_every_scene_with_its_figure() {
    let answer = vincula(&["gallery"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    for (scene, figure) in [
        ("pendulum", "M-ABD Fig. 10"),
        ("spinning-box", "M-ABD Fig. 7"),
        ("t-handle", "M-ABD Fig. 8"),
        ("heavy-top", "M-ABD Fig. 9"),
        ("rolling-cylinder", "M-ABD Fig. 2"),
        ("heavy-chain", ""),
    ] {
        let line = answer
            .out
            .lines()
            .find(|line| line.starts_with(&format!("{scene} ")));
        assert!(
            line.is_some_and(|line| line.contains(figure)),
            "{scene}: {}",
            answer.out
        );
    }
}

#[test]
fn a_scene_shows_its_parameters() {
    let answer = vincula(&["gallery", "pendulum"]);
    assert_eq!(answer.code, 0);
    let mass = answer
        .out
        .lines()
        .find(|line| line.trim_start().starts_with("mass"));
    let mass = mass.expect("the mass is listed");
    for part in ["10 kg", "1e-6 … 1e9 kg", "mass of the rod"] {
        assert!(mass.contains(part), "{mass}");
    }
}

#[test]
fn the_gallery_speaks_json() {
    let list = vincula(&["gallery", "--json"]).json();
    assert!(list.as_array().is_some_and(|list| list.len() >= 7));
    let scene = vincula(&["gallery", "rolling-cylinder", "--json"]).json();
    let params = scene["params"].as_array().expect("parameters");
    let start = params
        .iter()
        .find(|param| param["key"] == "start")
        .expect("a choice");
    assert_eq!(start["range"], serde_json::json!(["sliding", "rolling"]));
}

#[test]
fn the_plan_names_a_solver_for_each_island() {
    let answer = vincula(&["plan", "chain", "--set", "links=50"]);
    assert_eq!(answer.code, 0);
    assert!(
        answer
            .out
            .starts_with("chain: 50 bodies, 50 joints with 150 rows, 1 islands\n")
    );
    assert!(
        answer
            .out
            .contains("chain: 50 bodies, 50 joints, 150 unknowns"),
        "{}",
        answer.out
    );
    assert!(
        vincula(&["plan", "spinning-box"])
            .out
            .contains("no joints to solve")
    );
}

/// Every example of the help, with the program's name cut off.
fn examples(help: &str) -> Vec<Vec<&str>> {
    let lines = help
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("vincula "));
    lines
        .filter(|line| !line.contains('['))
        .map(|line| {
            let call = line.split("   ").next().unwrap_or(line);
            call.split_whitespace().skip(1).collect()
        })
        .collect()
}

#[test]
fn the_examples_of_the_help_work() {
    let directory = super::scratch();
    for help in [vincula(&["--help"]).out, vincula(&["run", "--help"]).out] {
        let examples = examples(&help);
        assert!(examples.len() >= 4, "{help}");
        for example in examples {
            let mut call = example.clone();
            if call.first() == Some(&"run") {
                call.extend(["--steps", "20"]); // The same call, but quick.
            }
            let answer = super::vincula_in(&directory, &call);
            assert_eq!(answer.code, 0, "{example:?}: {}", answer.err);
        }
    }
}
