//! Streamed trees whose joints have springs.

use super::*;
use crate::stream::sprung::Sprung;

fn sprung(model: &Model) -> (Kind, Kinds) {
    let (sprung, kinds) = Sprung::with(model).expect("these are trees with springs");
    (Kind::Sprung(Box::new(sprung)), kinds)
}

#[test]
fn streamed_springs_pull_as_those_of_the_general_step() {
    // Soft, damped, and far stiffer than the step is short. The general step puts a torque on a body as
    // it is strained, which these take for rigid: what that makes of a stiff spring is not nothing.
    let springs = [
        ([2.0, 0.0, 0.05], 1e-7),
        ([30.0, 0.3, -0.02], 1e-7),
        ([1e5, 1e2, 0.0], 1e-5),
    ];
    let cases = springs
        .into_iter()
        .flat_map(|spring| SHAPES.map(|shape| (spring, shape)))
        .flat_map(|(spring, shape)| STREAMED.map(|integrator| (spring, shape, integrator)));
    for ((spring, within), (name, parent), integrator) in cases {
        let name = format!("{name} of {spring:?} by {integrator}");
        let model = sprung_trees(31, parent, spring);
        let (general, _) = run(&model, integrator, None, 40);
        let shape = stream(&model, sprung(&model), true);
        let (state, taken) = run(&model, integrator, shape, 40);
        assert_eq!(taken, 40, "steps of {name}");
        for id in model.body_ids() {
            let off = state.center(id).distance(general.center(id));
            assert!(off < within, "{name}, body {id:?}: {off:.1e} m");
        }
        for (ours, theirs) in state.coordinates.iter().zip(&general.coordinates) {
            let off = (ours - theirs).abs();
            assert!(off < 10.0 * within, "{name}: {ours} and {theirs}");
        }
        let most = |forces: &[f64]| forces.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
        for (ours, theirs) in state.multipliers.iter().zip(&general.multipliers) {
            let off = (ours - theirs).abs() / most(&general.multipliers);
            assert!(off < 2e4 * within, "{name}: {ours} and {theirs}");
        }
    }
}

/// Also where steps are bent or linearised again, for as long as such a motion can be foretold.
#[test]
fn far_steps_of_springs_are_those_of_the_general_step() {
    let model = sprung_trees(31, SHAPES[0].1, [4.0, 0.0, 0.0]);
    let shape = stream(&model, sprung(&model), true);
    let control = Control::new(&model);
    let [ours, general] = [shape, None].map(|shape| {
        let mut work = Workspace::new(&model, Settings::default());
        work.stream = shape;
        let mut state = model.initial_state();
        let mut iterations = Vec::new();
        for _ in 0..18 {
            let report = step(&model, &mut state, &control, &mut work, 0.02);
            iterations.push(report.expect("a sound step").iterations);
        }
        (
            state,
            iterations,
            work.stream.map_or(0, |stream| stream.taken),
        )
    });
    assert_eq!(ours.1, general.1);
    let far = ours.1.iter().filter(|n| **n > 1).count();
    assert!(far > 3, "{far} steps were linearised again");
    assert_eq!(ours.2, 18, "steps that were streamed");
    for id in model.body_ids() {
        let off = ours.0.center(id).distance(general.0.center(id));
        assert!(off < 1e-4, "body {id:?}: {off:.1e} m");
    }
}
