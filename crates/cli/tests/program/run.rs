//! `vincula run` without files.

use serde_json::Value;

use super::vincula;

#[test]
fn json_has_the_fixed_fields_and_types() {
    let answer = vincula(&["run", "pendulum", "--json", "--steps", "100", "--seed", "7"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    assert_eq!(answer.out.lines().count(), 1);
    let report = answer.json();
    let fields = [
        "scene",
        "bodies",
        "joints",
        "rows",
        "contacts",
        "h",
        "steps",
        "ms_per_step",
        "iterations_mean",
        "residual_max",
        "energy",
        "finite",
        "plan",
        "seed",
    ];
    for field in fields {
        assert!(report.get(field).is_some(), "{field} is missing");
    }
    assert_eq!(report["scene"], "pendulum");
    for (field, value) in [("bodies", 1), ("joints", 1), ("rows", 3), ("contacts", 0)] {
        assert_eq!(report[field].as_u64(), Some(value), "{field}");
    }
    assert_eq!(
        (report["steps"].as_u64(), report["seed"].as_u64()),
        (Some(100), Some(7))
    );
    assert_eq!(report["h"].as_f64(), Some(0.01));
    for (object, keys) in [
        ("ms_per_step", &["median", "p95"][..]),
        ("energy", &["start", "end", "max_gain"]),
    ] {
        for key in keys {
            assert!(report[object][key].is_f64(), "{object}.{key}");
        }
    }
    assert!(
        report["iterations_mean"]
            .as_f64()
            .is_some_and(|mean| mean >= 1.0)
    );
    assert!(
        report["residual_max"]
            .as_f64()
            .is_some_and(|gap| gap < 1e-9)
    );
    assert_eq!(report["finite"], Value::Bool(true));
    assert!(
        report["plan"]
            .as_str()
            .is_some_and(|plan| plan.contains("unknowns"))
    );
}

#[test]
fn the_pendulum_keeps_its_energy_and_its_time() {
    let report = vincula(&["run", "pendulum", "--json"]).json();
    assert_eq!(report["steps"], 500);
    // m g d = 49.05 J is what swings; half a percent may be lost in 5 s.
    let lost =
        report["energy"]["start"].as_f64().unwrap() - report["energy"]["end"].as_f64().unwrap();
    assert!(lost.abs() < 0.005 * 49.05, "{lost} J");
    let angle = &report["probes"][0];
    assert!(
        angle["max_error"]
            .as_f64()
            .is_some_and(|error| error < 0.05),
        "{angle}"
    );
}

#[test]
fn every_method_runs_a_single_body() {
    for method in ["affine", "rigid-symplectic", "rigid-implicit", "rigid-rk4"] {
        for scene in ["pendulum", "t-handle", "rolling-cylinder"] {
            let call = [
                "run", scene, "--method", method, "--set", "h=0.001", "--steps", "200", "--json",
            ];
            let answer = vincula(&call);
            assert_eq!(answer.code, 0, "{scene} {method}: {}", answer.err);
            let report = answer.json();
            assert_eq!(report["method"], method);
            let error = report["probes"][0]["max_error"]
                .as_f64()
                .expect("a reference");
            assert!(error < 0.02, "{scene} {method}: {error}");
        }
    }
}

#[test]
fn every_integrator_runs() {
    for integrator in [
        "tempered",
        "rattle",
        "linear-euler",
        "implicit-euler",
        "bdf2",
    ] {
        let answer = vincula(&[
            "run",
            "pendulum",
            "--integrator",
            integrator,
            "--steps",
            "20",
            "--json",
        ]);
        assert_eq!(answer.code, 0, "{integrator}: {}", answer.err);
        assert_eq!(answer.json()["integrator"], integrator);
    }
}

#[test]
fn people_get_a_table_and_a_pipe_gets_no_progress_bar() {
    let answer = vincula(&["run", "heavy-top", "--steps", "50"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    for word in [
        "M-ABD Fig. 9",
        "energy",
        "plan",
        "step",
        "residual",
        "nutation",
        "tempered",
    ] {
        assert!(answer.out.contains(word), "{word}: {}", answer.out);
    }
    let quiet = vincula(&["run", "heavy-top", "--steps", "50", "--quiet"]);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn threads_are_reported_as_they_are() {
    let report = vincula(&[
        "run",
        "pendulum",
        "--threads",
        "4",
        "--steps",
        "5",
        "--json",
    ])
    .json();
    assert_eq!(report["threads"], 1);
    assert!(
        report["warnings"][0]
            .as_str()
            .is_some_and(|warning| warning.contains("4 threads"))
    );
}

#[test]
fn the_same_request_gives_the_same_motion() {
    let end = || {
        let report = vincula(&["run", "chain", "--steps", "50", "--json"]).json();
        (
            report["energy"].clone(),
            report["residual_max"].clone(),
            report["probes"].clone(),
        )
    };
    assert_eq!(end(), end());
}

#[test]
fn energy_from_nowhere_is_a_warning() {
    let warned = |integrator: &str| {
        let call = ["run", "pendulum", "--integrator", integrator, "--json"];
        vincula(&call).json()["warnings"]
            .to_string()
            .contains("energy grew")
    };
    // One linearisation a step leaves strain behind, and strain is energy.
    assert!(warned("linear-euler"));
    assert!(!warned("tempered") && !warned("bdf2"));
}

/// What was done before an interruption is told and written.
#[cfg(unix)]
#[test]
fn an_interrupted_run_tells_of_the_steps_it_made() {
    use std::process::{Command, Stdio};
    use std::time::Duration;

    let directory = super::scratch();
    let mut child = Command::new(env!("CARGO_BIN_EXE_vincula"))
        .args(["run", "pendulum", "--json", "--steps", "1000000000"])
        .args(["--out", "out"])
        .current_dir(&directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Before it listens the signal would end it with another code, so it is given time to begin.
    std::thread::sleep(Duration::from_millis(1500));
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    if !killed.is_ok_and(|status| status.success()) {
        let _ = child.kill();
        panic!("the signal cannot be sent");
    }
    let answer = super::Answer::new(child.wait_with_output().expect("the program ends"));
    let report = answer.json();
    let steps = report["steps"].as_u64().expect("a number of steps");
    assert!(steps > 0 && steps < 1_000_000_000, "{steps}");
    let why = format!("interrupted after {steps} of 1000000000 steps");
    assert_eq!(report["error"].as_str(), Some(why.as_str()));
    assert_eq!(answer.code, 130, "{}", answer.err);
    assert!(answer.err.contains(&why), "{}", answer.err);
    let written = super::listing_of(&directory.join("out"));
    assert!(written.contains(&"summary.json".to_owned()), "{written:?}");
}
