//! What an increment means, against rotations and strains that are known.

use super::*;
use crate::integrate::tempered;
use crate::integrate::{Scheme, Tempering};
use crate::math::dispatch::detected;
use crate::prelude::*;

const FIRST: V3 = [0.05, -0.08, 0.03];
const SECOND: V3 = [0.01, 0.006, -0.013];

/// Bodies that stand turned and unstrained, and are moved by R P.
fn moved(p: &M3) -> NewtonBlock {
    let mut n = NewtonBlock::ZERO;
    let rot = exp::<false>(&[0.3, 0.7, -1.1]);
    for lane in 0..LANES {
        scatter(&mut n.rot, lane, &rot);
        scatter(&mut n.p, lane, p);
        scatter(&mut n.a, lane, &axpy9(&rot, 1.0, &mul(&rot, p)));
    }
    n
}

fn scheme() -> Scheme {
    tempered::scheme(0.01, Tempering::SMOOTH)
}

fn rod() -> Model {
    let mut builder = ModelBuilder::new();
    let shape = Shape::Box {
        half_extents: DVec3::new(0.5, 0.05, 0.1),
    };
    builder.body(BodyDef::new("rod", shape, 1000.0));
    builder.build().expect("a sound model")
}

#[test]
fn a_bend_takes_a_straight_increment_for_a_rotation() {
    let mut n = moved(&skew_matrix(&FIRST));
    let mut turn = STRAIGHT;
    bend(detected(), &mut turn, &mut n);
    let wanted = mul(&gather(&n.rot, 3), &exp::<false>(&FIRST));
    let off = sub9(&gather(&n.a, 3), &wanted);
    assert!(max_abs(&off) < 1e-14, "{off:?}");
    assert_eq!(gather(&turn, 3), FIRST);
    assert_eq!(n.p, NewtonBlock::ZERO.p);
}

/// The strain that a straight increment leaves in a body that was bent before, against the one
/// that its polar decomposition tells.
#[test]
fn stretch_after_a_bend_is_that_of_the_body() {
    let model = rod();
    let (level, scheme) = (detected(), scheme());
    let mut n = moved(&skew_matrix(&FIRST));
    let mut turn = STRAIGHT;
    bend(level, &mut turn, &mut n);
    let more = skew_matrix(&SECOND);
    for lane in 0..LANES {
        let a: M3 = gather(&n.a, lane);
        let straight = mul(&gather(&n.rot, lane), &more);
        scatter(&mut n.p, lane, &more);
        scatter(&mut n.a, lane, &axpy9(&a, 1.0, &straight));
    }
    let told = stretch(level, &model.params[0], &scheme, &turn, &n.w, &n);
    let body = model.params[0].affine(0);
    let mut rot = n.rot;
    assert!(polar_block(level, &n.a, &mut rot));
    let real = body.elastic_energy(&strain(&gather(&rot, 0), &gather(&n.a, 0)));
    let both = axpy9(&skew_matrix(&FIRST), 1.0, &more);
    let wanted = real / (scheme.c * body.kinetic_energy(&both, &[0.0; 3]));
    assert!(
        (told / wanted - 1.0).abs() < 0.1,
        "told {told}, found {wanted}"
    );
    let unbent = stretch(level, &model.params[0], &scheme, &STRAIGHT, &n.w, &n);
    assert!((unbent / told - 1.0).abs() > 0.5, "the bend counts");
}
