//! Heaps that have settled: nothing creeps, and forces are those of the law although they are only swept.

use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula_scenes::build;

/// What is left of the motion of a heap.
struct Rest {
    /// The farthest that a body moves in the last steps, m.
    moved: f64,
    /// Kinetic energy at the end, J, and the largest violation of the law in the last steps.
    kinetic: f64,
    residual: f64,
}

/// A scene after some steps, and in the hundred after them.
fn rest_of(scene: &str, values: &[(&str, &str)], integrator: Integrator, settling: usize) -> Rest {
    let scene = build(scene, values).expect("a sound scene");
    let mut state = scene.state.clone();
    let settings = Settings {
        integrator,
        ..Settings::default()
    };
    let mut work = Workspace::new(&scene.model, settings);
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
    go(&mut state, settling);
    let before: Vec<_> = scene.model.body_ids().map(|id| state.center(id)).collect();
    let residual = go(&mut state, 100);
    let ids = scene.model.body_ids();
    let moved = ids
        .zip(before)
        .map(|(id, at)| state.center(id).distance(at));
    Rest {
        moved: moved.fold(0.0, f64::max),
        kinetic: energy(&scene.model, &state).kinetic,
        residual,
    }
}

/// 600 boxes have settled after 8 s. Where points or directions of contact took turns they crept by half a
/// millimetre in the next second, and violated the law by 1e-3.
#[test]
fn a_heap_of_boxes_comes_to_rest() {
    let rest = rest_of("pile", &[("n", "600")], Integrator::Tempered, 800);
    assert!(rest.moved < 1e-6, "{:e} m", rest.moved);
    assert!(rest.kinetic < 1e-10, "{:e} J", rest.kinetic);
    assert!(rest.residual < 1e-7, "{:e}", rest.residual);
}

/// 80 jointed pairs have settled after 4.5 s. Where every step asked for all of every overlap they shook for
/// ever, and violated the law by 2e-3.
#[test]
fn heaps_of_jointed_bodies_come_to_rest() {
    for integrator in [Integrator::Tempered, Integrator::LinearEuler] {
        let rest = rest_of("falling-joints", &[("each", "20")], integrator, 450);
        assert!(rest.moved < 1e-4, "{integrator:?}: {:e} m", rest.moved);
        assert!(rest.kinetic < 1e-7, "{integrator:?}: {:e} J", rest.kinetic);
        assert!(rest.residual < 1e-4, "{integrator:?}: {:e}", rest.residual);
    }
}
