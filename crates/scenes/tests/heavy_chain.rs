//! Long and loaded chains hold at large steps.

use vincula::diagnostics::energy;
use vincula::prelude::*;

#[test]
fn the_heavy_chain_holds_and_gains_nothing() {
    for h in ["0.01", "0.03333333333333333"] {
        let settings = [("h", h), ("duration", "20")];
        let scene = vincula_scenes::build("heavy-chain", &settings).expect("a scene");
        let (model, mut state) = (&scene.model, scene.state.clone());
        let mut work = Workspace::new(model, Settings::default());
        let control = Control::new(model);
        let start = energy(model, &state).total();
        let (mut iterations, mut gap, mut gain) = (0, 0.0f64, f64::MIN);
        for _ in 0..scene.steps() {
            let report = step(model, &mut state, &control, &mut work, scene.h).expect("a step");
            iterations += report.iterations;
            gap = gap.max(report.residual);
            gain = gain.max(energy(model, &state).total() - start);
        }
        let lost = start - energy(model, &state).total();
        let mean = iterations as f64 / scene.steps() as f64;
        assert!(gap < 1e-9, "gap {gap:.1e} m at h = {h} s");
        assert!(
            gain < 1e-6 * lost,
            "gained {gain:.1e} J of {lost:.0} J at h = {h} s"
        );
        assert!(mean < 2.0, "{mean} iterations a step at h = {h} s");
    }
}

/// The step of the paper treats tension explicitly, and a chain of this length then needs dozens of
/// iterations: it needs the stiffness of tension where that is faster than the step. A whip's crack
/// stretches links for a moment, which is taken back.
#[test]
fn one_linearisation_of_euler_is_enough_for_a_long_chain() {
    let settings = [("links", "300"), ("h", "0.01")];
    let scene = vincula_scenes::build("chain", &settings).expect("a scene");
    let (model, mut state) = (&scene.model, scene.state.clone());
    let mut work = Workspace::new(model, Settings::with_integrator(Integrator::LinearEuler));
    let control = Control::new(model);
    let start = energy(model, &state).total();
    let (mut iterations, steps) = (0, 300);
    for _ in 0..steps {
        let report = step(model, &mut state, &control, &mut work, scene.h).expect("a step");
        iterations += report.iterations;
        assert!(report.residual < 1e-9, "{report:?}");
    }
    let lost = start - energy(model, &state).total();
    assert!(lost > 0.0, "gained {:.1e} J", -lost);
    let mean = iterations as f64 / steps as f64;
    assert!(mean < 1.2, "{mean} iterations a step");
}
