//! A net that swings at a long step: one linearisation is enough, and no energy appears.

use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula_scenes::build;

#[test]
fn a_swinging_net_is_bent_and_not_linearised_again() {
    let scene = build("net", &[]).expect("a sound scene");
    assert!(scene.h > 0.033, "the step of the figure");
    let mut state = scene.state.clone();
    let mut work = Workspace::new(&scene.model, Settings::default());
    let control = Control::new(&scene.model);
    let start = energy(&scene.model, &state).total();
    let (mut linearisations, mut gap, mut highest) = (0, 0.0f64, f64::NEG_INFINITY);
    for _ in 0..300 {
        let report = step(&scene.model, &mut state, &control, &mut work, scene.h)
            .expect("a step that can be made");
        linearisations += report.iterations;
        gap = gap.max(report.residual);
        highest = highest.max(energy(&scene.model, &state).total());
    }
    // It falls and swings back twice in this time, with links that turn by 0.3 rad a step.
    assert!(linearisations <= 303, "{linearisations} for 300 steps");
    assert!(gap <= 1e-9, "{gap} m");
    assert!(highest <= start, "{} J gained", highest - start);
}
