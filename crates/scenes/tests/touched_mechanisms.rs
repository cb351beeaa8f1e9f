//! Large mechanisms in contact: the joints are closed, nothing goes in, no energy appears.

use vincula::contact::{Contacts, detect};
use vincula::diagnostics::{energy, worst_gap};
use vincula::prelude::*;
use vincula_scenes::{Scene, build};

/// The worst of a run.
#[derive(Debug, Default)]
struct Worst {
    /// What overlaps at the end of a step, as detection sees it, m.
    depth: f64,
    /// Gap of a joint, m.
    gap: f64,
    /// Energy that a step gained, J.
    gain: f64,
    /// Violation of Coulomb's law, relative to the largest force.
    law: f64,
    /// Points in contact at once, at most.
    points: usize,
}

fn run(scene: &Scene, steps: usize) -> Worst {
    let mut state = scene.state.clone();
    let mut work = Workspace::new(&scene.model, Settings::default());
    let mut control = Control::new(&scene.model);
    let (mut contacts, mut worst) = (Contacts::new(), Worst::default());
    let mut before = energy(&scene.model, &state).total();
    for _ in 0..steps {
        scene.control(&state, &mut control);
        let report = step(&scene.model, &mut state, &control, &mut work, scene.h)
            .expect("a step that can be made");
        detect(&scene.model, &state, &control, scene.h, &mut contacts);
        let now = energy(&scene.model, &state).total();
        worst.depth = worst.depth.max(contacts.penetration());
        worst.gap = worst.gap.max(worst_gap(&scene.model, &state).0);
        worst.gain = worst.gain.max(now - before);
        worst.law = worst.law.max(report.contact_residual);
        worst.points = worst.points.max(report.contacts);
        before = now;
    }
    worst
}

#[test]
fn a_net_drapes_over_a_cylinder_without_going_in() {
    let set = [("rows", "7"), ("columns", "5")];
    let scene = build("net-on-cylinder", &set).expect("a sound scene");
    let worst = run(&scene, 45);
    // Rods are 5 cm thick. The net swings at 1/30 s, and has lost nearly 400 J by the end.
    assert!(worst.points > 64, "{worst:?}");
    assert!(worst.depth <= 5e-4, "{worst:?}");
    assert!(worst.law <= 1e-6, "{worst:?}");
    assert!(worst.gap <= 1e-9, "{worst:?}");
    assert!(worst.gain <= 2.0, "{worst:?}");
}

#[test]
fn a_chain_over_a_pulley_carries_its_anchor() {
    let set = [("links", "200"), ("pulleys", "1"), ("lift", "0")];
    let scene = build("pulley", &set).expect("a sound scene");
    let worst = run(&scene, 40);
    // Links are 2 cm thick, and a 500 kg anchor hangs on them.
    assert!(worst.depth <= 2e-4, "{worst:?}");
    assert!(worst.law <= 1e-6, "{worst:?}");
    assert!(worst.gap <= 1e-9, "{worst:?}");
    assert!(worst.gain <= 0.5, "{worst:?}");
}

#[test]
fn links_that_run_over_pulleys_turn_far_in_one_linearisation() {
    let scene = build("pulley", &[]).expect("a sound scene");
    let mut state = scene.state.clone();
    let settings = Settings::with_integrator(Integrator::LinearEuler);
    let mut work = Workspace::new(&scene.model, settings);
    let mut control = Control::new(&scene.model);
    let (mut iterations, mut turned) = (0, 0);
    let (mut contacts, mut depth) = (Contacts::new(), 0.0f64);
    for k in 0..250 {
        scene.control(&state, &mut control);
        let report = step(&scene.model, &mut state, &control, &mut work, scene.h)
            .expect("a step that can be made");
        assert!(report.contact_residual <= 1e-6, "{report:?}");
        assert!(report.residual <= 1e-9, "{report:?}");
        detect(&scene.model, &state, &control, 0.0, &mut contacts);
        depth = depth.max(contacts.penetration());
        // Once the anchor falls, links on a pulley turn by more than elsewhere is borne.
        if k >= 210 {
            iterations += report.iterations;
            turned += usize::from(report.update > 0.2);
        }
    }
    // Links are 2 cm thick, and those that roll touch a pulley elsewhere in every step.
    assert!(depth <= 2e-4, "{depth:e} m");
    assert!(turned > 10, "{turned} of 40 steps");
    assert!(iterations < 50, "{iterations} in 40 steps");
}

#[test]
fn pairs_in_a_bowl_stay_outside_each_other() {
    let scene = build("falling-joints", &[("each", "3")]).expect("a sound scene");
    let worst = run(&scene, 110);
    // Pieces are 8 cm thick.
    assert!(worst.depth <= 8e-4, "{worst:?}");
    assert!(worst.gap <= 1e-9, "{worst:?}");
    assert!(worst.gain <= 1e-3, "{worst:?}");
}

#[test]
fn jointed_pairs_heap_up_in_a_bowl() {
    let scene = build("falling-joints", &[("each", "16")]).expect("a sound scene");
    let worst = run(&scene, 100);
    // Halves are 8 cm thick and land at up to 6 m/s.
    assert!(worst.points > 500, "{worst:?}");
    assert!(worst.depth <= 8e-4, "{worst:?}");
    assert!(worst.gap <= 1e-6, "{worst:?}");
    assert!(worst.gain <= 1e-2, "{worst:?}");
}

#[test]
fn ragdolls_land_on_a_net() {
    let set = [("n", "2"), ("nodes", "10")];
    let scene = build("ragdolls", &set).expect("a sound scene");
    let worst = run(&scene, 160);
    // Rods are 5 cm thick: one per cent of that.
    assert!(worst.points > 20, "{worst:?}");
    assert!(worst.depth <= 5e-4, "{worst:?}");
    assert!(worst.gap <= 1e-6, "{worst:?}");
    assert!(worst.gain <= 1e-2, "{worst:?}");
}
