//! The same bits over thread counts, run after run and after a copy, with contacts on.

use vincula::prelude::*;
use vincula_scenes::build;

/// A scene, what is set, and how many steps are made.
type Case = (&'static str, &'static [(&'static str, &'static str)], usize);

/// Scenes with contacts: loose bodies, mechanisms, and chains that run on several threads while
/// nothing touches them.
const SCENES: [Case; 7] = [
    ("pile", &[("n", "40")], 60),
    ("pile", &[("n", "30"), ("of", "mixed")], 60),
    ("stack", &[("n", "10")], 30),
    ("strandbeest", &[("height", "0.02")], 40),
    ("falling-joints", &[], 4),
    ("net-on-cylinder", &[("rows", "5"), ("columns", "5")], 30),
    ("pulley", &[], 4),
];

/// The state after some steps, and how many contact points were looked at.
fn end(name: &str, set: &[(&str, &str)], threads: usize, steps: usize) -> (State, usize) {
    let scene = build(name, set).expect("a sound scene");
    let settings = Settings {
        threads,
        ..Settings::with_integrator(scene.integrator)
    };
    let mut work = Workspace::new(&scene.model, settings);
    let mut control = Control::new(&scene.model);
    let (mut state, mut contacts) = (scene.state.clone(), 0);
    for _ in 0..steps {
        scene.control(&state, &mut control);
        let report = step(&scene.model, &mut state, &control, &mut work, scene.h);
        contacts += report.expect("a step").contacts;
    }
    (state, contacts)
}

#[test]
fn thread_counts_do_not_change_a_bit() {
    for (name, set, steps) in SCENES {
        let (expected, contacts) = end(name, set, 1, steps);
        // Falling joints have not arrived yet; the others touch.
        assert!(
            contacts > 0 || name == "falling-joints",
            "{name} touches nothing"
        );
        for threads in [2, 3, 8] {
            let (state, _) = end(name, set, threads, steps);
            assert!(state == expected, "{name} with {threads} threads");
        }
    }
}

#[test]
fn a_copy_of_a_pile_goes_the_same_way_in_a_fresh_workspace() {
    for name in ["pile", "strandbeest"] {
        let set: &[(&str, &str)] = match name {
            "pile" => &[("n", "40")],
            _ => &[("height", "0.02")],
        };
        let scene = build(name, set).expect("a sound scene");
        let settings = Settings::with_integrator(scene.integrator);
        let control = Control::new(&scene.model);
        let run = |state: &mut State, work: &mut Workspace, steps: usize| {
            for _ in 0..steps {
                step(&scene.model, state, &control, work, scene.h).expect("a step");
            }
        };
        let (mut state, mut work) = (scene.state.clone(), Workspace::new(&scene.model, settings));
        run(&mut state, &mut work, 40);
        let mut copy = state.clone();
        run(&mut state, &mut work, 20);
        run(&mut copy, &mut Workspace::new(&scene.model, settings), 20);
        assert!(state == copy, "{name}");
    }
}
