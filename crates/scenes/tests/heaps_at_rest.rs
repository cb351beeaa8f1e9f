//! Heaps that have settled: nothing creeps, and forces are those of the law although they are only swept.

use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula_scenes::build;

/// 600 boxes have settled after 8 s. Where points or directions of contact took turns they crept by half a
/// millimetre in the next second, and violated the law by 1e-3.
#[test]
fn a_heap_of_boxes_comes_to_rest() {
    let scene = build("pile", &[("n", "600")]).expect("a sound scene");
    let mut state = scene.state.clone();
    let mut work = Workspace::new(&scene.model, Settings::default());
    let control = Control::new(&scene.model);
    let mut go = |state: &mut State, steps: usize| {
        let mut residual = 0.0f64;
        for _ in 0..steps {
            let report = step(&scene.model, state, &control, &mut work, scene.h);
            let report = report.expect("steps of a heap do not fail");
            residual = residual.max(report.contact_residual);
        }
        residual
    };
    go(&mut state, 800);
    let before: Vec<_> = scene.model.body_ids().map(|id| state.center(id)).collect();
    let residual = go(&mut state, 100);
    let ids = scene.model.body_ids();
    let moved = ids
        .zip(before)
        .map(|(id, at)| state.center(id).distance(at));
    let farthest = moved.fold(0.0, f64::max);
    let kinetic = energy(&scene.model, &state).kinetic;
    assert!(farthest < 1e-5, "{farthest:e} m");
    assert!(kinetic < 1e-7, "{kinetic:e} J");
    assert!(residual < 1e-5, "{residual:e}");
}
