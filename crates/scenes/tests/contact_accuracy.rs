//! An accuracy that is asked for is reached in every step, and by few contacts without being asked for.

use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula_scenes::build;

/// What is asked for.
const ACCURACY: f64 = 1e-6;

/// What a run came to: the largest violation of the law, steps above the accuracy, and the most
/// contacts.
struct Run {
    worst: f64,
    above: usize,
    contacts: usize,
}

fn run(name: &str, set: &[(&str, &str)], steps: usize, contact_accuracy: Option<f64>) -> Run {
    let settings = Settings {
        contact_accuracy,
        ..Settings::default()
    };
    run_with(settings, name, set, steps)
}

fn run_with(settings: Settings, name: &str, set: &[(&str, &str)], steps: usize) -> Run {
    let scene = build(name, set).expect("a sound scene");
    let mut work = Workspace::new(&scene.model, settings);
    let (control, mut state) = (Control::new(&scene.model), scene.state.clone());
    let start = energy(&scene.model, &state).total();
    let (mut worst, mut above, mut contacts) = (0.0f64, 0, 0);
    for _ in 0..steps {
        let report = step(&scene.model, &mut state, &control, &mut work, scene.h).expect("a step");
        worst = worst.max(report.contact_residual);
        above += usize::from(report.contact_residual > ACCURACY);
        contacts = contacts.max(report.contacts);
    }
    let end = energy(&scene.model, &state).total();
    assert!(end <= start + 1e-9 * start.abs(), "{start} to {end} J");
    Run {
        worst,
        above,
        contacts,
    }
}

#[test]
fn a_heap_of_mixed_bodies_meets_the_law_as_it_lands() {
    let set = [("n", "60"), ("of", "mixed")];
    let usual = run("pile", &set, 60, None);
    assert!(usual.contacts > 100, "{}", usual.contacts);
    assert!(usual.worst <= ACCURACY, "{:e}", usual.worst);
    let exact = run("pile", &set, 60, Some(1e-8));
    assert!(exact.worst <= 1e-8, "{:e}", exact.worst);
}

#[test]
fn jointed_pairs_meet_the_law_as_they_land() {
    let set = [("each", "5")];
    let exact = run("falling-joints", &set, 70, Some(ACCURACY));
    assert!(exact.contacts > 30, "{}", exact.contacts);
    assert!(exact.worst <= ACCURACY, "{:e}", exact.worst);
}

#[test]
fn ragdolls_meet_the_law_on_a_net() {
    let set = [("n", "4"), ("nodes", "6")];
    for asked in [None, Some(ACCURACY)] {
        let run = run("ragdolls", &set, 150, asked);
        assert!(run.contacts > 15, "{}", run.contacts);
        assert!(run.worst <= ACCURACY, "{asked:?}: {:e}", run.worst);
    }
}

#[test]
fn jointed_pairs_that_land_in_a_bowl_reach_it() {
    let set = [("each", "60")];
    let asked = run("falling-joints", &set, 85, Some(ACCURACY));
    assert!(asked.contacts > 500, "{} contacts", asked.contacts);
    assert!(asked.worst <= ACCURACY, "{:e}", asked.worst);
    let usual = run("falling-joints", &set, 85, None);
    assert!(usual.above > 10, "{} steps above without", usual.above);
}

#[test]
fn jointed_pairs_that_lie_on_each_other_reach_it() {
    let asked = run("falling-joints", &[("each", "6")], 100, Some(ACCURACY));
    assert!(asked.contacts > 100, "{} contacts", asked.contacts);
    assert!(asked.worst <= ACCURACY, "{:e}", asked.worst);
}

#[test]
fn they_reach_it_with_the_linear_step_too() {
    let settings = Settings {
        contact_accuracy: Some(ACCURACY),
        ..Settings::with_integrator(Integrator::LinearEuler)
    };
    for compliance in ["0", "1e-7"] {
        let set = [("each", "10"), ("compliance", compliance)];
        let asked = run_with(settings, "falling-joints", &set, 110);
        assert!(asked.contacts > 200, "{} contacts", asked.contacts);
        assert!(asked.worst <= ACCURACY, "{compliance}: {:e}", asked.worst);
    }
}
