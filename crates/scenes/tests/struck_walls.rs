//! Walls that a ball strikes: hundreds of contacts of loose bodies, all of which change within a step.

use vincula::contact::{Contacts, detect};
use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula_scenes::build;

/// What became of a wall.
#[derive(Debug)]
struct Struck {
    /// The deepest overlap after any step, m.
    depth: f64,
    /// By how much the energy rose above the start at most, relative to it.
    gain: f64,
}

fn strike(set: &[(&str, &str)], steps: usize) -> Struck {
    let scene = build("wall", set).expect("a sound scene");
    let mut state = scene.state.clone();
    let mut work = Workspace::new(&scene.model, Settings::default());
    let control = Control::new(&scene.model);
    let mut contacts = Contacts::new();
    let start = energy(&scene.model, &state).total();
    let (mut depth, mut gain) = (0.0f64, 0.0f64);
    for _ in 0..steps {
        step(&scene.model, &mut state, &control, &mut work, scene.h)
            .unwrap_or_else(|error| panic!("{set:?}: {error}"));
        detect(&scene.model, &state, &control, 0.0, &mut contacts);
        depth = depth.max(contacts.penetration());
        gain = gain.max(energy(&scene.model, &state).total() / start - 1.0);
    }
    Struck { depth, gain }
}

/// Bricks of 72 mm go in by less than a hundredth of that at most speeds, which they went in by 9 mm. At one in
/// ten or twenty a corner is still not seen, and they do.
#[test]
fn bricks_that_a_ball_hits_do_not_go_into_each_other() {
    let mut depths = ["8.50", "8.62", "8.74", "8.86", "8.98", "9.10", "9.22"].map(|speed| {
        let set = [("speed", speed), ("columns", "5"), ("h", "0.02")];
        let struck = strike(&set, 20);
        assert!(struck.gain < 1e-8, "{speed}: {struck:?}");
        struck.depth
    });
    depths.sort_by(f64::total_cmp);
    assert!(depths[3] <= 0.72e-3 && depths[5] <= 3e-3, "{depths:?}");
}

/// Where friction is far larger than anything has, each brick may push the next one harder, and forces run
/// away. Steps end all the same, and with no more energy than there was.
#[test]
fn walls_of_monstrous_friction_do_not_explode() {
    let cases = [
        ("8.73", "10", "0.01", "4"),
        ("7.73", "40", "0.03", "4"),
        ("8.64", "20", "0.02", "2"),
    ];
    for (friction, speed, h, columns) in cases {
        let set = [
            ("rows", "4"),
            ("columns", columns),
            ("friction", friction),
            ("speed", speed),
            ("h", h),
        ];
        let struck = strike(&set, 40);
        assert!(struck.gain < 1e-8, "{friction}: {struck:?}");
    }
}
