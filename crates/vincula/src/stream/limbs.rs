//! Trees of ball joints with springs, eliminated from the leaves to the root, eight bodies at a time.
//!
//! As in `boughs.rs` a body hangs by its first point from the second point of its parent, but torques
//! go over the joint too: a port has six numbers, a point and the rotation. Stiff springs make a heavy
//! body of a light one and what hangs from it, so that compliances would cancel; stiffnesses add up.
//!
//! Children answer the tip with `f − K x`, x being the shift of the second point and the rotation. The
//! motion b of the base carries the tip along by `x = X b + (E F, 0)`, where E is what the body gives
//! way between its points under the force F there, as little as it is not rigid. Taken together with E,
//! children are K̂ and f̂, and the base has the stiffness and the load
//!
//! ```text
//! Q = W⁻¹ + Xᵀ K̂ X,   r = Xᵀ f̂
//! ```
//!
//! W being the compliance of the base alone. The springs of the joint answer the rotation θ of the body
//! against that of its parent with the torque `τ = Lᵀρ + G (θ − θ_parent)`, `G = Lᵀ g L`. Without θ, which
//! is solved for with `Z = (Q₂₂ + G)⁻¹`, the parent feels
//!
//! ```text
//! K₁₁ = Q₁₁ − Q₁₂ Z Q₂₁,   K₁₂ = Q₁₂ Z G,   K₂₂ = G Z Q₂₂
//! ```
//!
//! Nothing is divided by K or G: leaves have no children, and a spring may be none.

use super::coils::Coil;
use super::record::Slot;
use crate::body::affine::Inverse;
use crate::dual::ports::Points;
use crate::integrate::newton::NewtonBlock;
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;

/// Part of its stiffness that a body must keep when it is free to turn: beyond, the elimination would
/// lose its digits.
const SAFE: f64 = 1e-11;

/// How eight bodies answer torques.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Swivel {
    /// Rotation under a torque, world, rad/(N m).
    turn: [Lane; 6],
    /// Displacement of each point under a torque, world, m/(N m).
    lever: [[Lane; 9]; 2],
}

impl Swivel {
    pub const ZERO: Swivel = Swivel {
        turn: [[0.0; LANES]; 6],
        lever: [[[0.0; LANES]; 9]; 2],
    };

    /// Rotation of a body under a torque, world, rad/(N m).
    #[inline(always)]
    pub fn turn(&self, lane: usize) -> S3 {
        gather(&self.turn, lane)
    }
}

kernel! {
    /// How bodies answer torques, in their present frames.
    pub(super) fn find_swivel(points: &Points, n: &NewtonBlock, swivel: &mut Swivel) = find_swivel_lanes
}

#[inline(always)]
fn find_swivel_lanes(points: &Points, n: &NewtonBlock, swivel: &mut Swivel) {
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let answers = Answers::of(&n.inverse_of(lane));
        let turned = mult(&mul_diag(&rot, &answers.turn()), &rot);
        scatter(&mut swivel.turn, lane, &sym(&turned));
        for port in 0..2 {
            let local = answers.lever(&gather(&points[port], lane));
            let lever = mult(&mul(&rot, &local), &rot);
            scatter(&mut swivel.lever[port], lane, &lever);
        }
    }
}

/// What a torque about an axis does to the entries of A across it, which are ½ [τ] as a load.
struct Answers {
    /// For the pairs 01, 02, 12: of the entry above the diagonal and of the one below, without sign.
    pairs: [[f64; 2]; 3],
}

impl Answers {
    #[inline(always)]
    fn of(inverse: &Inverse) -> Answers {
        let (p, q) = (&inverse.direct, &inverse.cross);
        Answers {
            pairs: [
                [0.5 * (p[0] - q[0]), 0.5 * (p[1] - q[0])],
                [0.5 * (p[2] - q[1]), 0.5 * (p[3] - q[1])],
                [0.5 * (p[4] - q[2]), 0.5 * (p[5] - q[2])],
            ],
        }
    }

    /// Rotation about each axis, rad/(N m).
    #[inline(always)]
    fn turn(&self) -> V3 {
        let [xy, xz, yz] = self.pairs.map(|[up, low]| 0.5 * (up + low));
        [yz, xz, xy]
    }

    /// Displacement of a point under a torque, in the frame of the body.
    #[inline(always)]
    fn lever(&self, at: &V3) -> M3 {
        let [xy, xz, yz] = &self.pairs;
        let [x, y, z] = at;
        [
            0.0,
            xz[0] * z,
            -xy[0] * y,
            -yz[0] * z,
            0.0,
            xy[1] * x,
            yz[1] * y,
            -xz[1] * x,
            0.0,
        ]
    }
}

/// A stiffness of a point and a rotation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    points: S3,
    mixed: M3,
    turns: S3,
}

/// A force and a torque, or a shift and a rotation.
pub(super) type Pair = [V3; 2];

/// The elimination of eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Limb {
    /// K and f of the children; once the body is eliminated, K as its parent feels it, and the force
    /// and the torque that it feels while it does not move.
    points: [Lane; 6],
    mixed: [Lane; 9],
    turns: [Lane; 6],
    pull: [Lane; 6],
    /// Rotation of the body while its parent does not move, and how it follows the parent: its
    /// rotation, and minus the shift of its tip.
    turned: [Lane; 3],
    along: [Lane; 9],
    against: [Lane; 9],
    /// Shift of the tip while the body does not move, and how it follows the shift of the base and
    /// the rotation.
    shifted: [Lane; 3],
    carried: [Lane; 9],
    swung: [Lane; 9],
    /// Shift of the tip and rotation, m and rad.
    moved: [Lane; 6],
}

impl Limb {
    pub const ZERO: Limb = Limb {
        points: [[0.0; LANES]; 6],
        mixed: [[0.0; LANES]; 9],
        turns: [[0.0; LANES]; 6],
        pull: [[0.0; LANES]; 6],
        turned: [[0.0; LANES]; 3],
        along: [[0.0; LANES]; 9],
        against: [[0.0; LANES]; 9],
        shifted: [[0.0; LANES]; 3],
        carried: [[0.0; LANES]; 9],
        swung: [[0.0; LANES]; 9],
        moved: [[0.0; LANES]; 6],
    };

    /// No children yet.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.points = Limb::ZERO.points;
        self.mixed = Limb::ZERO.mixed;
        self.turns = Limb::ZERO.turns;
        self.pull = Limb::ZERO.pull;
    }

    /// What the body of a lane adds to K and f of its parent.
    #[inline(always)]
    pub fn share(&self, lane: usize) -> (Hold, [f64; 6]) {
        (self.hold(lane), gather(&self.pull, lane))
    }

    /// Takes what a child adds to K and f.
    #[inline(always)]
    pub fn hang(&mut self, lane: usize, hold: &Hold, pull: &[f64; 6]) {
        add_lane(&mut self.points, lane, &hold.points);
        add_lane(&mut self.mixed, lane, &hold.mixed);
        add_lane(&mut self.turns, lane, &hold.turns);
        add_lane(&mut self.pull, lane, pull);
    }

    /// Shift of the tip and rotation of a body, m and rad.
    #[inline(always)]
    pub fn moved(&self, lane: usize) -> [f64; 6] {
        gather(&self.moved, lane)
    }

    /// Where the base of a body goes that nothing holds: as if what it hung from went there too.
    #[inline(always)]
    pub fn loose(&self, lane: usize) -> [f64; 6] {
        let (per, _) = invert_sym(&gather(&self.points, lane));
        let [force, _] = split(&gather(&self.pull, lane));
        joined(&mul_vec(&full(&per), &force), &[0.0; 3])
    }

    #[inline(always)]
    fn hold(&self, lane: usize) -> Hold {
        Hold {
            points: gather(&self.points, lane),
            mixed: gather(&self.mixed, lane),
            turns: gather(&self.turns, lane),
        }
    }

    /// Eliminates one body that is this far from its parent, m; false if that is not safe.
    #[inline(always)]
    pub fn eliminate(
        &mut self,
        lane: usize,
        slot: &Slot,
        swivel: &Swivel,
        coil: &Coil,
        gap: &V3,
    ) -> bool {
        let body = Body::new(lane, slot, swivel);
        let Hold {
            points,
            mixed,
            turns,
        } = self.hold(lane);
        let [force, torque] = split(&gather(&self.pull, lane));
        // Children as they are felt through the give between the points.
        let k = full(&points);
        let n = inverse(&loaded(&mul(&body.give, &k)));
        let soft = mul(&n, &body.give);
        let points = mul(&k, &n);
        let turns = sub9(&full(&turns), &tmul(&mixed, &mul(&soft, &mixed)));
        let slack = mul(&soft, &mixed);
        let yielded = mul_vec(&soft, &force);
        let torque = sub(&torque, &tmul_vec(&mixed, &yielded));
        let force = tmul_vec(&n, &force);
        let mixed = tmul(&n, &mixed);
        // The base with them.
        let (a, b) = (&body.carried, &body.swung);
        let (ka, kb) = (mul(&points, a), axpy9(&mixed, 1.0, &mul(&points, b)));
        let q11 = axpy9(&body.points, 1.0, &tmul(a, &ka));
        let q12 = axpy9(&body.mixed, 1.0, &tmul(a, &kb));
        let cross = tmul(b, &mixed);
        let q22 = axpy9(
            &body.turns,
            1.0,
            &axpy9(&turns, 1.0, &tmul(b, &mul(&points, b))),
        );
        let q22 = axpy9(&q22, 1.0, &axpy9(&cross, 1.0, &transpose(&cross)));
        let (r1, r2) = (tmul_vec(a, &force), add(&tmul_vec(b, &force), &torque));
        // The joint.
        let (slope, gain, rest) = coil.law(lane);
        let g = sym(&tmul(&slope, &mul_rows(&gain, &slope)));
        let rest = tmul_vec(&slope, &rest);
        let q22 = sym(&q22);
        let stiff: S3 = std::array::from_fn(|k| q22[k] + g[k]);
        let (z, det) = invert_sym(&stiff);
        let (z, g, q22) = (full(&z), full(&g), full(&q22));
        let along = mul(&z, &g);
        let against = mult(&z, &q12);
        let points = sym(&sub9(&q11, &mul(&q12, &against)));
        let pressed = add(&r2, &tmul_vec(&q12, gap));
        let turned = mul_vec(&z, &sub(&pressed, &rest));
        let mu = sub(&add(&r1, &mul_vec(&q11, gap)), &mul_vec(&q12, &turned));
        let tau = add(
            &mul_vec(&q22, &mul_vec(&z, &rest)),
            &tmul_vec(&along, &pressed),
        );
        scatter(&mut self.points, lane, &points);
        scatter(&mut self.mixed, lane, &mul(&q12, &along));
        scatter(&mut self.turns, lane, &sym(&tmul(&along, &q22)));
        scatter(&mut self.pull, lane, &joined(&mu, &tau));
        scatter(&mut self.turned, lane, &turned);
        scatter(&mut self.along, lane, &along);
        scatter(&mut self.against, lane, &against);
        let carried = mul(&n, a);
        let shifted = sub(&yielded, &mul_vec(&carried, gap));
        scatter(&mut self.shifted, lane, &shifted);
        scatter(&mut self.carried, lane, &carried);
        scatter(&mut self.swung, lane, &sub9(&mul(&n, b), &slack));
        let kept = |k: usize, e: usize| points[k] > SAFE * q11[e];
        kept(0, 0) & kept(1, 4) & kept(2, 8) & (det > SAFE * (stiff[0] * stiff[1] * stiff[2]))
    }

    /// The force and the torque at the base of a body, N and N m, from how the tip that it hangs from
    /// has moved.
    #[inline(always)]
    pub fn descend(&mut self, lane: usize, from: &[f64; 6]) -> [f64; 6] {
        let hold = self.hold(lane);
        let [shift, turn] = split(from);
        let [force, torque] = split(&gather(&self.pull, lane));
        let back = add(
            &mul_vec(&full(&hold.points), &shift),
            &mul_vec(&hold.mixed, &turn),
        );
        let twist = add(
            &tmul_vec(&hold.mixed, &shift),
            &mul_vec(&full(&hold.turns), &turn),
        );
        let theta = sub(
            &add(
                &gather(&self.turned, lane),
                &mul_vec(&gather(&self.along, lane), &turn),
            ),
            &mul_vec(&gather(&self.against, lane), &shift),
        );
        let x = add(
            &add(
                &gather(&self.shifted, lane),
                &mul_vec(&gather(&self.carried, lane), &shift),
            ),
            &mul_vec(&gather(&self.swung, lane), &theta),
        );
        scatter(&mut self.moved, lane, &joined(&x, &theta));
        joined(&sub(&force, &back), &sub(&torque, &twist))
    }
}

/// A body alone: the stiffness of its base, X, and E.
struct Body {
    points: M3,
    mixed: M3,
    turns: M3,
    carried: M3,
    swung: M3,
    give: M3,
}

impl Body {
    #[inline(always)]
    fn new(lane: usize, slot: &Slot, swivel: &Swivel) -> Body {
        let [base, tip]: [S3; 2] = [0, 1].map(|port| gather(&slot.compliances.own[port], lane));
        let between: M3 = gather(&slot.compliances.mutual, lane);
        let [lever, tip_lever]: [M3; 2] = [0, 1].map(|port| gather(&swivel.lever[port], lane));
        let (turn, _) = invert_sym(&gather(&swivel.turn, lane));
        let turn = full(&turn);
        let arm = mul(&lever, &turn);
        let held = sub9(&full(&base), &mult(&arm, &lever));
        let (points, _) = invert_sym(&sym(&held));
        let points = full(&points);
        let pushed = mul(&points, &arm);
        let mixed = pushed.map(|x| -x);
        let turns = axpy9(&turn, 1.0, &tmul(&arm, &pushed));
        let carried = axpy9(&tmul(&between, &points), 1.0, &mult(&tip_lever, &mixed));
        let swung = axpy9(&tmul(&between, &mixed), 1.0, &mul(&tip_lever, &turns));
        let follows = axpy9(&mul(&carried, &between), 1.0, &mult(&swung, &tip_lever));
        let give = full(&sym(&sub9(&full(&tip), &follows)));
        Body {
            points,
            mixed,
            turns,
            carried,
            swung,
            give,
        }
    }
}

/// Rows times numbers.
#[inline(always)]
fn mul_rows(d: &V3, a: &M3) -> M3 {
    std::array::from_fn(|k| d[k / 3] * a[k])
}

/// One more on the diagonal.
#[inline(always)]
fn loaded(a: &M3) -> M3 {
    let mut b = *a;
    for k in [0, 4, 8] {
        b[k] += 1.0;
    }
    b
}

#[inline(always)]
fn split(x: &[f64; 6]) -> Pair {
    [[x[0], x[1], x[2]], [x[3], x[4], x[5]]]
}

#[inline(always)]
fn joined(a: &V3, b: &V3) -> [f64; 6] {
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

#[inline(always)]
fn add_lane<const N: usize>(to: &mut [Lane; N], lane: usize, x: &[f64; N]) {
    for (to, x) in to.iter_mut().zip(x) {
        to[lane] += x;
    }
}

kernel! {
    /// Eliminates eight bodies of which none hangs from another; false if that is not safe.
    pub(super) fn eliminate(limb: &mut Limb, slot: &Slot, swivel: &Swivel, coil: &Coil, gaps: &[Lane; 3]) -> bool = eliminate_all
}

#[inline(always)]
fn eliminate_all(
    limb: &mut Limb,
    slot: &Slot,
    swivel: &Swivel,
    coil: &Coil,
    gaps: &[Lane; 3],
) -> bool {
    let mut safe = true;
    for lane in 0..LANES {
        safe &= limb.eliminate(lane, slot, swivel, coil, &gather(gaps, lane));
    }
    safe
}

kernel! {
    /// The forces and torques at the bases of eight bodies of which none hangs from another.
    pub(super) fn descend(limb: &mut Limb, from: &[Lane; 6], forces: &mut [Lane; 6]) = descend_all
}

#[inline(always)]
fn descend_all(limb: &mut Limb, from: &[Lane; 6], forces: &mut [Lane; 6]) {
    for lane in 0..LANES {
        let found = limb.descend(lane, &gather(from, lane));
        scatter(forces, lane, &found);
    }
}
