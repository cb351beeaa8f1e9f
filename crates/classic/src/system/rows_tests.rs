//! Jacobians and biases against differences of violations along a motion.

use glam::DQuat;
use vincula::joint::JointKind;
use vincula::joint::axis::AxisKind;
use vincula::prelude::*;

use super::*;

const KINDS: [JointKind; 9] = [
    JointKind::Ball,
    JointKind::Hinge,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::Fixed,
    JointKind::Cylindrical,
    JointKind::Planar,
    JointKind::PointOnLine,
    JointKind::Distance(0.8),
];

/// Two bodies with a joint that is badly violated, so that no term vanishes by chance.
fn model(kind: JointKind) -> Model {
    let mut builder = ModelBuilder::new();
    let shape = |x: f64| Shape::Box {
        half_extents: DVec3::new(x, 0.2, 0.1),
    };
    let a = builder.body(BodyDef::new("a", shape(0.5), 1000.0));
    let b = builder.body(BodyDef::new("b", shape(0.3), 700.0));
    let frame = |t: DVec3, axis: DVec3, angle: f64| Pose {
        translation: t,
        rotation: DQuat::from_axis_angle(axis.normalize(), angle),
    };
    let frames = [
        frame(DVec3::new(0.4, -0.1, 0.2), DVec3::new(1.0, 2.0, 0.5), 0.7),
        frame(DVec3::new(-0.2, 0.3, 0.1), DVec3::new(-1.0, 0.4, 2.0), 1.1),
    ];
    builder.joint(JointDef::with_frames("j", kind, a, b, frames));
    builder.build().expect("a model")
}

fn start() -> [(Place, Velocity); 2] {
    let place = |x, axis: DVec3, angle| Place {
        x,
        r: DMat3::from_axis_angle(axis.normalize(), angle),
    };
    [
        (
            place(DVec3::new(0.1, 0.2, 0.3), DVec3::new(1.0, 0.3, 0.2), 1.0),
            Velocity {
                v: DVec3::new(0.3, -0.7, 0.4),
                omega: DVec3::new(0.9, -0.4, 1.3),
            },
        ),
        (
            place(DVec3::new(0.9, 0.4, -0.6), DVec3::new(-0.5, 2.0, 0.1), 0.8),
            Velocity {
                v: DVec3::new(-0.2, 0.5, 0.6),
                omega: DVec3::new(-0.6, 1.1, 0.7),
            },
        ),
    ]
}

/// The place a time later when the velocity stays as it is.
fn moved(start: &(Place, Velocity), t: f64) -> Place {
    let (place, rate) = start;
    let turn = DQuat::from_scaled_axis(rate.omega * t);
    Place {
        x: place.x + rate.v * t,
        r: DMat3::from_quat(turn) * place.r,
    }
}

#[test]
fn rates_match_differences_of_violations_for_every_joint_and_each_body() {
    for kind in KINDS {
        let model = model(kind);
        let joint = &model.joints()[0];
        for moving in 0..2 {
            let mut bodies = start();
            bodies[1 - moving].1 = Velocity::default();
            let mut linear = Linear::EMPTY;
            linearize(joint, &bodies[0].0, &bodies[1].0, &mut linear);
            assert_eq!(linear.rows, joint.rows());
            let t = 1e-5;
            let at = |t: f64| {
                let mut out = [0.0; MAX_ROWS];
                let places = [moved(&bodies[0], t), moved(&bodies[1], t)];
                violations(joint, &places[0], &places[1], &mut out);
                out
            };
            let (before, after) = (at(-t), at(t));
            for row in 0..linear.rows {
                let slope = (after[row] - before[row]) / (2.0 * t);
                let exact = linear.rate(row, &bodies[0].1, &bodies[1].1);
                assert!((slope - exact).abs() < 1e-9, "{kind:?} {row}");
                assert!((linear.value[row] - at(0.0)[row]).abs() < 1e-15);
            }
        }
    }
}

#[test]
fn biases_match_differences_of_rates_of_an_unaccelerated_motion() {
    for kind in KINDS {
        let model = model(kind);
        let joint = &model.joints()[0];
        let bodies = start();
        let t = 1e-5;
        let rate = |t: f64, row: usize| {
            let mut linear = Linear::EMPTY;
            let places = [moved(&bodies[0], t), moved(&bodies[1], t)];
            linearize(joint, &places[0], &places[1], &mut linear);
            linear.rate(row, &bodies[0].1, &bodies[1].1)
        };
        let mut bias = [0.0; MAX_ROWS];
        let places = [&bodies[0].0, &bodies[1].0];
        biases(joint, places, [&bodies[0].1, &bodies[1].1], &mut bias);
        for row in 0..joint.rows() {
            let slope = (rate(t, row) - rate(-t, row)) / (2.0 * t);
            assert!((slope - bias[row]).abs() < 1e-8, "{kind:?} {row}");
        }
    }
}

#[test]
fn gradients_of_free_coordinates_turn_into_rates() {
    let model = model(JointKind::Cylindrical);
    let joint = &model.joints()[0];
    let bodies = start();
    let carried = |side: &Side, place: &Place| {
        let a = place.r.transpose().to_cols_array();
        Joint::carried(side, &a, &place.x.to_array())
    };
    for axis in [AxisKind::Angle, AxisKind::SecondAngle, AxisKind::Shift] {
        let at = |t: f64| {
            let places = [moved(&bodies[0], t), moved(&bodies[1], t)];
            axis.linearize(
                &carried(&joint.a, &places[0]),
                &carried(&joint.b, &places[1]),
            )
        };
        let row = at(0.0);
        let exact = dot6(&rigid_gradient(&row.a, &bodies[0].0.r), &bodies[0].1.six())
            + dot6(&rigid_gradient(&row.b, &bodies[1].0.r), &bodies[1].1.six());
        let slope = (at(1e-5).value - at(-1e-5).value) / 2e-5;
        assert!((slope - exact).abs() < 1e-8, "{axis:?}");
    }
}
