//! Methods side by side.

use super::{listing_of, scratch, vincula, vincula_in};

#[test]
fn methods_agree_on_the_pendulum() {
    let answer = vincula(&[
        "compare",
        "pendulum",
        "--methods",
        "tempered,rigid-rk4,cline-pai,rigid-implicit,penalty",
        "--set",
        "h=0.001",
        "--set",
        "duration=0.5",
        "--json",
    ]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    let told = answer.json();
    let methods = told["methods"].as_array().expect("methods");
    assert_eq!(methods.len(), 5);
    for method in methods {
        let name = &method["name"];
        assert_eq!(method["ran"], true, "{name}");
        assert_eq!(method["steps"], 500, "{name}");
        assert!(method["joint_error_max"].as_f64().is_some_and(|e| e < 1e-3));
        if name != "tempered" {
            let apart = method["distance"].as_f64().expect("a distance");
            assert!(apart < 0.01, "{name}: {apart}");
        }
    }
}

#[test]
fn those_that_cannot_say_why_and_who_can() {
    let answer = vincula(&["compare", "chain", "--steps", "3", "--methods", "all"]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let line = |name: &str| {
        let start = format!("  {name}");
        let lines = answer.out.lines().filter(|line| line.starts_with(&start));
        lines.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    assert!(
        line("rigid-rk4:").contains("--method affine"),
        "{}",
        answer.out
    );
    for name in ["tempered ", "cline-pai ", "rigid-implicit ", "penalty "] {
        assert!(!line(name).is_empty(), "{name}: {}", answer.out);
    }
    assert!(answer.out.contains("joint error"));
}

#[test]
fn contacts_are_compared_too() {
    let answer = vincula(&[
        "compare",
        "five-bodies",
        "--methods",
        "cline-pai,cline-pai-plain,penalty",
        "--steps",
        "120",
        "--json",
    ]);
    assert_eq!(answer.code, 0, "{}", answer.err);
    let told = answer.json();
    let overlap = |k: usize| told["methods"][k]["overlap_max"].as_f64();
    assert!(overlap(0).is_some_and(|x| x < 1e-5), "{told}");
    assert!(overlap(1).is_some_and(|x| x > 1e-4), "{told}");
    assert_eq!(told["methods"][2]["ran"], false);
    let why = told["methods"][2]["trouble"].as_str().expect("a reason");
    assert!(why.contains("cline-pai"), "{why}");
}

#[test]
fn a_comparison_is_drawn_and_kept() {
    let directory = scratch();
    let arguments = ["compare", "pendulum", "--steps", "20", "--out", "both"];
    let answer = vincula_in(
        &directory,
        &[&arguments[..], &["--methods", "affine,penalty"]].concat(),
    );
    assert_eq!(answer.code, 0, "{}", answer.err);
    let files = listing_of(&directory.join("both"));
    assert_eq!(files, ["compare.json", "compare.png", "compare.svg"]);
}

#[test]
fn unknown_methods_and_hopeless_scenes_are_refused() {
    let answer = vincula(&["compare", "pendulum", "--methods", "verlet"]);
    assert_eq!(answer.code, 2);
    assert!(answer.err.contains("'verlet'") && answer.err.contains("cline-pai"));
    let answer = vincula(&["compare", "chain", "--methods", "rigid-rk4", "--json"]);
    assert_eq!(answer.code, 2, "{}", answer.err);
}
