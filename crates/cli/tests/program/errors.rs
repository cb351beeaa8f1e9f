//! Every way to ask for the impossible: one line on standard error, and the right code.

use super::{listing_of, scratch, vincula, vincula_in};

/// Expects exit code 2, silence on standard output and one line with these words.
fn refused(arguments: &[&str], words: &[&str]) {
    let answer = vincula(arguments);
    assert_eq!(answer.code, 2, "{arguments:?}: {}", answer.err);
    assert_eq!(answer.out, "", "{arguments:?}");
    assert_eq!(
        answer.err.lines().count(),
        1,
        "{arguments:?}: {}",
        answer.err
    );
    assert!(
        answer.err.starts_with("error: "),
        "{arguments:?}: {}",
        answer.err
    );
    for word in words {
        assert!(
            answer.err.contains(word),
            "{arguments:?}: '{word}' not in {}",
            answer.err
        );
    }
}

#[test]
fn unknown_names_suggest_the_nearest() {
    refused(
        &["run", "pendulm"],
        &["no scene 'pendulm'", "did you mean 'pendulum'?"],
    );
    refused(&["gallery", "heavytop"], &["did you mean 'heavy-top'?"]);
    refused(&["plan", "xyz"], &["no scene 'xyz'"]);
    refused(
        &["run", "pendulum", "--set", "lenght=2"],
        &["'lenght'", "did you mean 'length'?", "young"],
    );
    refused(
        &["run", "pendulum", "--integrator", "verlet"],
        &["'verlet'", "tempered", "bdf2"],
    );
    refused(
        &["run", "pendulum", "--method", "rigid"],
        &["rigid", "rigid-rk4"],
    );
}

#[test]
fn bad_values_name_the_range_and_the_unit() {
    let set =
        |setting: &str, words: &[&str]| refused(&["run", "pendulum", "--set", setting], words);
    set("mass=-1", &["'mass' is -1 kg", "between", "kg"]);
    set("mass=0", &["'mass' is 0 kg"]);
    set("h=0", &["'h' is 0 s"]);
    set("h=10", &["'h' is 10 s", "0.1 s"]);
    set("mass=nan", &["'mass'", "finite"]);
    set("mass=inf", &["'mass'", "finite"]);
    set("mass=heavy", &["takes a number", "'heavy'"]);
    set("mass", &["KEY=VALUE"]);
    refused(&["run", "chain", "--set", "links=2.5"], &["a whole number"]);
    refused(
        &["run", "chain", "--set", "folded=maybe"],
        &["true or false"],
    );
    refused(
        &["run", "rolling-cylinder", "--set", "start=flying"],
        &["sliding, rolling"],
    );
}

#[test]
fn bad_arguments_are_one_line() {
    refused(&["run"], &["SCENE", "--help"]);
    refused(&["run", "pendulum", "--steps", "0"], &["--steps"]);
    refused(&["run", "pendulum", "--threads", "0"], &["--threads"]);
    refused(&["run", "pendulum", "--fast"], &["--fast"]);
    refused(&["run", "pendulum", "--csv"], &["--out"]);
    refused(&["jump"], &["jump"]);
}

#[test]
fn methods_say_what_they_cannot_do() {
    refused(
        &["run", "chain", "--method", "rigid-rk4"],
        &["one body", "20 bodies", "--method affine"],
    );
    refused(
        &["run", "rotor", "--method", "rigid-rk4"],
        &["hinge", "--method affine"],
    );
    refused(
        &[
            "run",
            "pendulum",
            "--method",
            "rigid-rk4",
            "--integrator",
            "bdf2",
        ],
        &["--integrator belongs to --method affine"],
    );
}

#[test]
fn unwritable_output_is_refused_before_the_run() {
    let directory = scratch();
    std::fs::write(directory.join("taken"), "a file").expect("the test can write");
    for out in ["taken", "taken/inside", "/proc/nothing/here"] {
        let answer = vincula_in(
            &directory,
            &["run", "pendulum", "--out", out, "--steps", "5"],
        );
        assert_eq!(answer.code, 2, "{out}");
        assert_eq!(
            (answer.out.as_str(), answer.err.lines().count()),
            ("", 1),
            "{}",
            answer.err
        );
        assert!(answer.err.starts_with("error: "), "{}", answer.err);
    }
    assert_eq!(listing_of(&directory), ["taken"]);
}

#[test]
fn refused_requests_leave_nothing_behind() {
    let directory = scratch();
    for setting in ["mass=-1", "nonsense=1"] {
        let answer = vincula_in(
            &directory,
            &["run", "pendulum", "--set", setting, "--out", "a/b/c"],
        );
        assert_eq!(answer.code, 2);
    }
    assert!(listing_of(&directory).is_empty());
}

/// A request that is well formed, but whose simulation cannot be carried through.
const BREAKS_DOWN: [&str; 9] = [
    "run",
    "t-handle",
    "--method",
    "rigid-symplectic",
    "--set",
    "spin=10000",
    "--set",
    "h=0.1",
    "--json",
];

#[test]
fn a_failed_simulation_reports_the_last_good_state() {
    let directory = scratch();
    let answer = vincula_in(
        &directory,
        &[&BREAKS_DOWN[..], &["--out", "results"]].concat(),
    );
    assert_eq!(answer.code, 1, "{}", answer.out);
    assert!(
        answer.err.starts_with("error: the simulation stopped: "),
        "{}",
        answer.err
    );
    assert_eq!(answer.err.lines().count(), 1);
    let report = answer.json();
    assert_eq!(report["finite"], true);
    assert!(report["error"].as_str().is_some_and(|why| !why.is_empty()));
    assert!(listing_of(&directory).is_empty(), "nothing is half-written");
}

#[test]
fn an_accuracy_of_contacts_is_a_part() {
    for part in ["0", "-1e-6", "1", "nan", "small"] {
        refused(
            &["run", "pile", &format!("--contact-accuracy={part}")],
            &["--contact-accuracy", "between 0 and 1", "1e-6"],
        );
    }
    refused(
        &[
            "run",
            "pendulum",
            "--method",
            "rigid-rk4",
            "--contact-accuracy",
            "1e-6",
        ],
        &["--contact-accuracy belongs to --method affine"],
    );
}
