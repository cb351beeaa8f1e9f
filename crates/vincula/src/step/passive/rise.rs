//! By what the energy of groups rises in a step, as a sum of differences: those of large numbers
//! would be rounded more.
//!
//! ```text
//! δ = Σ ½ m (v⁺ − v)·(v⁺ + v) + ½ tr((Ȧ⁺ − Ȧ) S (Ȧ⁺ + Ȧ)ᵀ) − m g·(t⁺ − t) + Δ strain + …
//! ```

use super::Passive;
use super::fabric::ActingAxis;
use super::groups::Gain;
use crate::body::affine::strain;
use crate::dual::unwrap;
use crate::integrate::newton::polar_block;
use crate::kernel;
use crate::math::lanes::{LANES, Lane, gather};
use crate::math::rotation::polar;
use crate::math::small::*;
use crate::model::{BodyId, Model, ParamBlock, State, StateBlock, carried_by, pose_by};
use crate::workspace::Workspace;

/// Part of the energies that is taken for rounding, and part of the height above the origin.
const NOISE: f64 = 1e-12;
const PLACE_NOISE: f64 = 1e-15;

/// What eight bodies gain.
struct Gains {
    kinetic: Lane,
    rise: Lane,
    noise: Lane,
    lift: Lane,
}

/// Adds up what bodies and springs gain, for each group that counts.
pub(super) fn measure(model: &Model, state: &State, work: &mut Workspace) {
    let Passive { fabric, groups, .. } = &mut work.passive;
    for (block, next) in work.next.iter().enumerate() {
        if !groups.any_in(fabric, block, |groups, m| groups.counted(m).is_some()) {
            continue;
        }
        let (params, past) = (&model.params[block], &state.blocks[block]);
        let pull = [0, 1, 2].map(|k: usize| fabric.weight[block].map(|w| w * model.gravity[k]));
        let mut gains = Gains::NONE;
        gain_block(work.level, params, past, next, &pull, &mut gains);
        if work.jointed[block] {
            gains.add_strain(params, [past, next], work.level);
        }
        let own = &fabric.mechanism[LANES * block..];
        for (lane, mechanism) in own.iter().take(LANES).enumerate() {
            if let Some(gain) = groups.gain_of(*mechanism) {
                gains.add_to(lane, gain);
                gain.lent += state.lent[LANES * block + lane];
                add_ground(
                    model,
                    [&state.blocks, &work.next],
                    LANES * block + lane,
                    gain,
                );
            }
        }
    }
    for axis in fabric.axes.iter().filter(|axis| axis.sprung) {
        if let Some(gain) = groups.gain_of(axis.mechanism) {
            add_spring(model, state, &work.next, axis, gain);
        }
    }
    groups.find_gainers();
}

kernel! {
    /// Motion and gravity of eight bodies, which is `pull` on each, m/s².
    fn gain_block(params: &ParamBlock, past: &StateBlock, next: &StateBlock, pull: &[Lane; 3], gains: &mut Gains) = gain_lanes
}

#[inline(always)]
fn gain_lanes(
    params: &ParamBlock,
    past: &StateBlock,
    next: &StateBlock,
    pull: &[Lane; 3],
    gains: &mut Gains,
) {
    for lane in 0..LANES {
        let (mass, second): (f64, V3) = (params.mass[lane], gather(&params.second, lane));
        let (mut rise, mut kinetic, mut noise, mut lift) = (0.0, 0.0, 0.0, 0.0);
        let size = ((second[0] + second[1] + second[2]) / mass).sqrt();
        for k in 0..3 {
            let (before, after) = (past.v[k][lane], next.v[k][lane]);
            let force = mass * pull[k][lane];
            let work = force * (next.t[k][lane] - past.t[k][lane]);
            rise += 0.5 * mass * ((after - before) * (after + before)) - work;
            kinetic += 0.5 * mass * (after * after);
            lift += force.abs() * size;
            noise += NOISE * work.abs() + PLACE_NOISE * (force * next.t[k][lane]).abs();
        }
        for k in 0..9 {
            let (before, after) = (past.w[k][lane], next.w[k][lane]);
            rise += 0.5 * second[k % 3] * ((after - before) * (after + before));
            kinetic += 0.5 * second[k % 3] * (after * after);
        }
        gains.rise[lane] = rise;
        gains.kinetic[lane] = kinetic;
        gains.noise[lane] = noise + NOISE * kinetic;
        gains.lift[lane] = lift;
    }
}

impl Gains {
    const NONE: Gains = Gains {
        kinetic: [0.0; LANES],
        rise: [0.0; LANES],
        noise: [0.0; LANES],
        lift: [0.0; LANES],
    };

    /// Adds what strain stores. Bodies in blocks without joints have none.
    fn add_strain(
        &mut self,
        params: &ParamBlock,
        ends: [&StateBlock; 2],
        level: crate::math::dispatch::Level,
    ) {
        let mut rotations = [[0.0; LANES]; 9];
        for (block, sign) in ends.into_iter().zip([-1.0, 1.0]) {
            let found = polar_block(level, &block.a, &mut rotations);
            for lane in 0..LANES {
                let map: M3 = gather(&block.a, lane);
                let rotation = match found {
                    true => gather(&rotations, lane),
                    false => polar(&map).unwrap_or(IDENTITY),
                };
                let energy = params.affine(lane).elastic_energy(&strain(&rotation, &map));
                self.rise[lane] += sign * energy;
                self.noise[lane] += NOISE * energy;
            }
        }
    }

    fn add_to(&self, lane: usize, gain: &mut Gain) {
        gain.kinetic += self.kinetic[lane];
        gain.rise += self.rise[lane];
        gain.noise += self.noise[lane];
        gain.lift += self.lift[lane];
    }
}

impl Gain {
    /// Adds a store of energy.
    fn add_store(&mut self, before: f64, after: f64) {
        self.rise += after - before;
        self.noise += NOISE * (before.abs() + after.abs());
    }
}

/// Adds what the penalty ground stores under a body.
fn add_ground(model: &Model, ends: [&Vec<StateBlock>; 2], body: usize, gain: &mut Gain) {
    if let (Some(ground), Some(shape)) = (&model.ground, &model.bodies[body].shape) {
        let [before, after] =
            ends.map(|blocks| ground.energy(shape, &pose_by(model, blocks, BodyId::new(body))));
        gain.add_store(before, after);
    }
}

/// Adds what a spring along a coordinate stores.
fn add_spring(model: &Model, state: &State, next: &[StateBlock], at: &ActingAxis, gain: &mut Gain) {
    let joint = &model.joints[at.joint];
    let axis = &joint.axes[at.axis];
    let before = state.coordinates[at.coordinate];
    let ends = [&joint.a, &joint.b].map(|side| carried_by(next, side));
    let after = unwrap(axis.kind, axis.kind.value(&ends[0], &ends[1]), before);
    let spring = &axis.law.spring;
    let stored = |x: f64| 0.5 * spring.stiffness * (x - spring.rest) * (x - spring.rest);
    gain.add_store(stored(before), stored(after));
}
