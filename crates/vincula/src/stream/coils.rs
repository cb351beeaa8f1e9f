//! The springs of eight ball joints by which bodies hang: their laws, where they stand, what they do.
//!
//! The coordinates φ are the rotation vector of the body seen from its parent (`joint/rotation.rs`);
//! where the joint was written down from the body to its parent, all of φ, its law and its force
//! change sign. A spring answers with `ν = g φ⁺ + q` in the position solve, and with
//! `ν = ν₀ + g h φ̇⁺` in that of the velocity (`dual/axes.rs` has the same for one coordinate at a time).

use super::limbs::Swivel;
use crate::integrate::newton::NewtonBlock;
use crate::joint::Joint;
use crate::joint::axis::AxisKind;
use crate::joint::rotation::{Relative, upright};
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather, scatter};
use crate::math::small::*;

/// How eight bodies are turned.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Stance {
    /// The rotations at which the step is linearised, and those of the iterate.
    before: [Lane; 9],
    now: [Lane; 9],
    /// How far they turn in a step at their angular velocities, world, rad.
    spin: [Lane; 3],
}

impl Stance {
    pub const ZERO: Stance = Stance {
        before: [[0.0; LANES]; 9],
        now: [[0.0; LANES]; 9],
        spin: [[0.0; LANES]; 3],
    };
}

/// Eight identities.
pub(super) const UPRIGHT: [Lane; 9] = {
    let mut maps = [[0.0; LANES]; 9];
    let mut k = 0;
    while k < 9 {
        maps[k] = [IDENTITY[k]; LANES];
        k += 1;
    }
    maps
};

/// Numbers that a joint wants to know of the body above it: the stance, and rotation under a torque.
const SEEN: usize = 27;
/// The same for eight joints.
pub(super) type Above = [Lane; SEEN];
/// For joints to the world.
pub(super) const WORLD: Above = {
    let mut above = [[0.0; LANES]; SEEN];
    let mut k = 0;
    while k < 9 {
        (above[k], above[9 + k]) = (UPRIGHT[k], UPRIGHT[k]);
        k += 1;
    }
    above
};

/// Writes down what a joint wants to know of the body above it.
#[inline(always)]
pub(super) fn note(above: &mut Above, lane: usize, stance: &Stance, swivel: &Swivel, at: usize) {
    for k in 0..9 {
        above[k][lane] = stance.before[k][at];
        above[9 + k][lane] = stance.now[k][at];
    }
    for k in 0..3 {
        above[18 + k][lane] = stance.spin[k][at];
    }
    let turn = swivel.turn(at);
    for k in 0..6 {
        above[21 + k][lane] = turn[k];
    }
}

kernel! {
    /// The rotations before the free solve, and after it.
    pub(super) fn stand(n: &NewtonBlock, stance: &mut Stance) = stand_lanes
}

#[inline(always)]
fn stand_lanes(n: &NewtonBlock, stance: &mut Stance) {
    for lane in 0..LANES {
        let a: M3 = gather(&n.a, lane);
        let moved = mul(&gather(&n.rot, lane), &gather(&n.p, lane));
        scatter(&mut stance.before, lane, &upright(&sub9(&a, &moved)));
        scatter(&mut stance.now, lane, &upright(&a));
    }
}

kernel! {
    /// The rotations that are predicted, and instead of those of the iterate the ones of the start,
    /// which has these affine maps.
    pub(super) fn set_off(start: &[Lane; 9], n: &NewtonBlock, stance: &mut Stance) = set_off_lanes
}

#[inline(always)]
fn set_off_lanes(start: &[Lane; 9], n: &NewtonBlock, stance: &mut Stance) {
    stand_lanes(n, stance);
    for lane in 0..LANES {
        scatter(&mut stance.now, lane, &upright(&gather(start, lane)));
    }
}

kernel! {
    /// The rotations of the iterate, and how far bodies turn in a step of h.
    pub(super) fn turn(n: &NewtonBlock, h: f64, stance: &mut Stance) = turn_lanes
}

#[inline(always)]
fn turn_lanes(n: &NewtonBlock, h: f64, stance: &mut Stance) {
    for lane in 0..LANES {
        scatter(&mut stance.now, lane, &upright(&gather(&n.a, lane)));
        let spin = mul_vec(&gather(&n.rot, lane), &axial(&gather(&n.w, lane)));
        scatter(&mut stance.spin, lane, &scale(&spin, h));
    }
}

/// What does not change: frames and laws of eight joints.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Winding {
    /// The frames of the joints in the bodies and in what they hang from, as columns.
    frames: [[Lane; 9]; 2],
    /// Stiffness, N m/rad, damping, N m s/rad, and what is left of the law, N m.
    stiffness: [Lane; 3],
    damping: [Lane; 3],
    bias: [Lane; 3],
    /// Length that makes rows of the dual system of the coordinates, m/rad.
    unit: Lane,
    /// Minus one where the joint was written down from the body to what it hangs from.
    sign: Lane,
}

impl Winding {
    /// Joints without springs.
    pub const LOOSE: Winding = Winding {
        frames: [UPRIGHT; 2],
        stiffness: [[0.0; LANES]; 3],
        damping: [[0.0; LANES]; 3],
        bias: [[0.0; LANES]; 3],
        unit: [1.0; LANES],
        sign: [1.0; LANES],
    };

    /// Whether a ball joint has springs along all three rotations, and nothing else.
    pub fn fits(joint: &Joint) -> bool {
        let fits = |k: usize| {
            let axis = &joint.axes[k];
            let turns = axis.kind == AxisKind::Rotation(k);
            match k < 3 {
                true => turns && axis.law.is_linear() && !axis.law.is_idle(),
                false => axis.law.is_idle(),
            }
        };
        joint.axes.len() > 2 && (0..joint.axes.len()).all(fits)
    }

    /// Winds up the springs of a joint, whose body is its first end or not.
    pub fn set(&mut self, lane: usize, joint: &Joint, is_first: bool) {
        let ends = [&joint.a, &joint.b];
        let [body, above] = if is_first { ends } else { [ends[1], ends[0]] };
        for (frame, side) in self.frames.iter_mut().zip([body, above]) {
            let [x, y, z] = &side.axes;
            let columns = [x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]];
            scatter(frame, lane, &columns);
        }
        let sign = if is_first { -1.0 } else { 1.0 };
        (self.sign[lane], self.unit[lane]) = (sign, joint.length);
        for k in 0..3 {
            let [stiffness, damping, bias] = joint.axes[k].law.linear(0.0);
            self.stiffness[k][lane] = stiffness;
            self.damping[k][lane] = damping;
            self.bias[k][lane] = sign * bias;
        }
    }

    /// The coordinates of a joint as they are kept, from φ, and the other way round.
    #[inline(always)]
    pub fn signed(&self, lane: usize, vector: &V3) -> V3 {
        scale(vector, self.sign[lane])
    }

    /// ν from the forces of a joint as they are kept.
    #[inline(always)]
    pub fn nu(&self, lane: usize, rows: &[f64]) -> V3 {
        let k = self.sign[lane] * self.unit[lane];
        [k * rows[0], k * rows[1], k * rows[2]]
    }

    /// The forces of a joint as they are kept, from ν.
    #[inline(always)]
    pub fn rows(&self, lane: usize, nu: &V3) -> V3 {
        scale(nu, self.sign[lane] / self.unit[lane])
    }

    /// The rotation of a body seen from what it hangs from, and the axes of that.
    #[inline(always)]
    fn look(&self, lane: usize, body: &M3, above: &M3) -> (Relative, M3) {
        let axes = mul(above, &gather(&self.frames[1], lane));
        let own = mul(body, &gather(&self.frames[0], lane));
        (Relative::of(&tmul(&axes, &own)), axes)
    }
}

/// The springs of eight joints during a step.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Coil {
    /// φ at the start of the step, rad.
    pub start: [Lane; 3],
    /// L: how φ follows the rotation of the body against what it hangs from.
    slope: [Lane; 9],
    /// g, N m/rad, and the rest of the law, N m.
    gain: [Lane; 3],
    constant: [Lane; 3],
    /// What the law asks for more than acts so far, N m.
    rest: [Lane; 3],
    /// θ is ½ + ½ φ, φ being how much of implicit Euler there is in the law.
    temper: [Lane; 3],
    /// ν so far, N m.
    force: [Lane; 3],
}

impl Coil {
    pub const ZERO: Coil = Coil {
        start: [[0.0; LANES]; 3],
        slope: [[0.0; LANES]; 9],
        gain: [[0.0; LANES]; 3],
        constant: [[0.0; LANES]; 3],
        rest: [[0.0; LANES]; 3],
        temper: [[0.0; LANES]; 3],
        force: [[0.0; LANES]; 3],
    };

    /// L, g and what the law asks for more than acts so far.
    #[inline(always)]
    pub fn law(&self, lane: usize) -> (M3, V3, V3) {
        (
            gather(&self.slope, lane),
            gather(&self.gain, lane),
            gather(&self.rest, lane),
        )
    }

    /// The potential of the springs of a joint at φ, J.
    #[inline(always)]
    fn potential(&self, lane: usize, vector: &V3) -> f64 {
        let mut sum = 0.0;
        for k in 0..3 {
            sum += (0.5 * self.gain[k][lane] * vector[k] + self.constant[k][lane]) * vector[k];
        }
        sum
    }
}

kernel! {
    /// The torques of the forces ν of springs, N m, at the start of a step and where it is predicted to
    /// end.
    pub(super) fn aim(winding: &Winding, above: &Above, stance: &Stance, nu: &[Lane; 3], torques: &mut [[Lane; 3]; 2]) = aim_lanes
}

#[inline(always)]
fn aim_lanes(
    winding: &Winding,
    above: &Above,
    stance: &Stance,
    nu: &[Lane; 3],
    [start, predicted]: &mut [[Lane; 3]; 2],
) {
    for lane in 0..LANES {
        let (seen, nu) = (gather(above, lane), gather(nu, lane));
        let (relative, axes) = winding.look(lane, &gather(&stance.before, lane), &part(&seen, 0));
        let torque = mul_vec(&axes, &tmul_vec(&relative.slope, &nu));
        scatter(predicted, lane, &torque);
        let (relative, axes) = winding.look(lane, &gather(&stance.now, lane), &part(&seen, 9));
        let torque = mul_vec(&axes, &tmul_vec(&relative.slope, &nu));
        scatter(start, lane, &torque);
    }
}

kernel! {
    /// Takes what was solved for, forces and then torques, and leaves ν of it, N m.
    pub(super) fn twist(coil: &mut Coil, found: &[Lane; 6], nu: &mut [Lane; 3]) = twist_lanes
}

#[inline(always)]
fn twist_lanes(coil: &mut Coil, found: &[Lane; 6], nu: &mut [Lane; 3]) {
    for lane in 0..LANES {
        // ν = L⁻ᵀ τ.
        let torque = [found[3][lane], found[4][lane], found[5][lane]];
        let force = tmul_vec(&inverse(&gather(&coil.slope, lane)), &torque);
        for k in 0..3 {
            coil.force[k][lane] += force[k];
        }
        scatter(nu, lane, &force);
    }
}

/// What springs are asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ask {
    /// To be linearised, at the start of a position solve.
    First,
    /// What is left of the position solve.
    Again,
    /// To go on to the velocity.
    Rates,
}

kernel! {
    /// Brings springs to where the bodies are.
    pub(super) fn wind(winding: &Winding, above: &Above, stance: &Stance, swivel: &Swivel, h: f64, projects: bool, ask: Ask, coil: &mut Coil) = wind_lanes
}

#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn wind_lanes(
    winding: &Winding,
    above: &Above,
    stance: &Stance,
    swivel: &Swivel,
    h: f64,
    projects: bool,
    ask: Ask,
    coil: &mut Coil,
) {
    match ask {
        Ask::First => linearize(winding, above, stance, swivel, h, projects, coil),
        Ask::Again => {
            for lane in 0..LANES {
                let seen = gather(above, lane);
                let (relative, _) = winding.look(lane, &gather(&stance.now, lane), &part(&seen, 9));
                coil.miss(lane, &relative.vector);
            }
        }
        Ask::Rates => {
            for lane in 0..LANES {
                let seen = gather(above, lane);
                let (relative, axes) =
                    winding.look(lane, &gather(&stance.now, lane), &part(&seen, 9));
                coil.set_out(winding, lane, h, &relative, &axes);
                let spin: V3 = [seen[18], seen[19], seen[20]];
                let turned = sub(&gather(&stance.spin, lane), &spin);
                let rates = mul_vec(&gather(&coil.slope, lane), &turned);
                coil.miss(lane, &rates);
            }
        }
    }
}

#[inline(always)]
fn linearize(
    winding: &Winding,
    above: &Above,
    stance: &Stance,
    swivel: &Swivel,
    h: f64,
    projects: bool,
    coil: &mut Coil,
) {
    let per_h = 1.0 / h;
    for lane in 0..LANES {
        let seen = gather(above, lane);
        let (relative, axes) = winding.look(lane, &gather(&stance.before, lane), &part(&seen, 0));
        // J⁻¹ of the axes.
        let slope = mult(&relative.slope, &axes);
        let mut turn = swivel.turn(lane);
        for k in 0..6 {
            turn[k] += seen[21 + k];
        }
        let turn = full(&turn);
        for k in 0..3 {
            let along = [slope[3 * k], slope[3 * k + 1], slope[3 * k + 2]];
            let own = dot(&along, &mul_vec(&turn, &along));
            let (stiffness, damping) = (winding.stiffness[k][lane], winding.damping[k][lane]);
            let ratio = (0.5 * (stiffness + damping * per_h) * own).min(1e6);
            let square = ratio * ratio;
            let phi = if projects {
                square / (1.0 + square)
            } else {
                1.0
            };
            let theta = 0.5 + 0.5 * phi;
            let (start, rate) = (coil.start[k][lane], damping * per_h);
            coil.temper[k][lane] = phi;
            coil.gain[k][lane] = theta * stiffness + rate;
            coil.constant[k][lane] =
                (1.0 - theta) * stiffness * start - rate * start - winding.bias[k][lane];
        }
        scatter(&mut coil.slope, lane, &slope);
        scatter(&mut coil.force, lane, &[0.0; 3]);
        let (relative, _) = winding.look(lane, &gather(&stance.now, lane), &part(&seen, 9));
        coil.miss(lane, &relative.vector);
    }
}

impl Coil {
    /// What the law asks for more than acts so far, at these coordinates or rates.
    #[inline(always)]
    fn miss(&mut self, lane: usize, x: &V3) {
        for k in 0..3 {
            self.rest[k][lane] =
                self.gain[k][lane] * x[k] + self.constant[k][lane] - self.force[k][lane];
        }
    }

    /// Goes on from the position to the velocity.
    #[inline(always)]
    fn set_out(&mut self, winding: &Winding, lane: usize, h: f64, relative: &Relative, axes: &M3) {
        scatter(&mut self.slope, lane, &mult(&relative.slope, axes));
        for k in 0..3 {
            let phi = self.temper[k][lane];
            let rate = winding.damping[k][lane] / h;
            let moved = relative.vector[k] - self.start[k][lane];
            self.gain[k][lane] = phi * (winding.stiffness[k][lane] + rate);
            self.constant[k][lane] = self.force[k][lane] - phi * rate * moved;
            self.force[k][lane] = 0.0;
        }
    }
}

kernel! {
    /// The potential of springs where the bodies and what they hang from have these affine maps, J.
    pub(super) fn potential(winding: &Winding, coil: &Coil, body: &[Lane; 9], above: &[Lane; 9]) -> f64 = potential_lanes
}

#[inline(always)]
fn potential_lanes(winding: &Winding, coil: &Coil, body: &[Lane; 9], above: &[Lane; 9]) -> f64 {
    let mut sums = [0.0; LANES];
    for lane in 0..LANES {
        let (body, above) = (upright(&gather(body, lane)), upright(&gather(above, lane)));
        let (relative, _) = winding.look(lane, &body, &above);
        sums[lane] = coil.potential(lane, &relative.vector);
    }
    sums.iter().sum()
}

/// Nine of the numbers.
#[inline(always)]
fn part(seen: &[f64; SEEN], from: usize) -> M3 {
    std::array::from_fn(|k| seen[from + k])
}
