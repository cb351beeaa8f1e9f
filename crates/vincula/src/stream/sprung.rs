//! Trees whose ball joints have springs.
//!
//! Springs act on the rotation of a body against its parent, so that a joint must know how both are
//! turned before it is eliminated. All unknowns are kept, and every step is made as in `far.rs`.

use super::coils::{self, Above, Ask, Coil, Stance, UPRIGHT, WORLD, Winding};
use super::far::Ties;
use super::hung::{Hung, Parent};
use super::kinds::Kinds;
use super::limbs::{self, Limb, Swivel};
use super::passes::Pass;
use super::record::Slot;
use crate::dual::ports;
use crate::integrate::newton::NewtonBlock;
use crate::integrate::ordinary;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::model::{Control, Model, State};

/// Bodies from which on such trees are streamed.
const LEAST: usize = 64;

/// Trees in which parents come before their children, and the memory of their step.
pub(super) struct Sprung {
    hung: Vec<Hung>,
    windings: Vec<Winding>,
    coils: Vec<Coil>,
    stances: Vec<Stance>,
    swivels: Vec<Swivel>,
    limbs: Vec<Limb>,
    /// Torques of the joints, world, N m; bodies answer with the opposite.
    torques: Vec<[Lane; 3]>,
    /// Those of the last step, where it ended.
    starts: Vec<[Lane; 3]>,
}

impl Sprung {
    /// The trees of a model in which every joint is a ball joint with springs along all rotations.
    pub fn find(model: &Model) -> Option<(Sprung, Kinds)> {
        if model.bodies.len() < LEAST {
            return None;
        }
        Sprung::with(model)
    }

    /// The same for trees of any size.
    pub fn with(model: &Model) -> Option<(Sprung, Kinds)> {
        let joints = model.joints.len();
        if model.rows() != 3 * joints || model.dual_rows() != 6 * joints {
            return None;
        }
        let (hung, points) = Hung::find(model, Winding::fits)?;
        let mut windings = vec![Winding::LOOSE; hung.len()];
        for (hung, winding) in hung.iter().zip(&mut windings) {
            for lane in 0..LANES {
                if let Some(joint) = model.joints.get(hung.joints[lane] as usize) {
                    winding.set(lane, joint, hung.signs[lane] > 0.0);
                }
            }
        }
        let blocks = hung.len();
        let sprung = Sprung {
            hung,
            windings,
            coils: vec![Coil::ZERO; blocks],
            stances: vec![Stance::ZERO; blocks],
            swivels: vec![Swivel::ZERO; blocks],
            limbs: vec![Limb::ZERO; blocks],
            torques: vec![[[0.0; LANES]; 3]; blocks],
            starts: vec![[[0.0; LANES]; 3]; blocks],
        };
        Some((sprung, Kinds::find(model, &points)))
    }

    /// Reads the coordinates at the start of a step. False if something else than the springs acts on
    /// the joints.
    pub fn start(&mut self, model: &Model, state: &State, control: &Control) -> bool {
        if control.drives.iter().any(Option::is_some) {
            return false;
        }
        for (block, hung) in self.hung.iter().enumerate() {
            for lane in 0..LANES {
                let Some(&start) = model.axis_starts.get(hung.joints[lane] as usize) else {
                    continue;
                };
                let vector = std::array::from_fn(|k| state.coordinates[start + k]);
                let vector = self.windings[block].signed(lane, &vector);
                scatter(&mut self.coils[block].start, lane, &vector);
            }
        }
        true
    }

    /// What the joints of a block want to know of the bodies above them.
    fn above(&self, block: usize) -> Above {
        let mut above = WORLD;
        for (lane, parent) in self.hung[block].parents.iter().enumerate() {
            if let Parent::Body(body) = parent {
                let (up, at) = place(*body as usize);
                coils::note(&mut above, lane, &self.stances[up], &self.swivels[up], at);
            }
        }
        above
    }

    /// Torques on the bodies of what springs last did, at the start of the step and where it is
    /// predicted to end.
    fn aim(&mut self, pass: &Pass, newton: &[NewtonBlock]) {
        for (block, n) in newton.iter().enumerate() {
            let start = &pass.state.blocks[block].a;
            coils::set_off(pass.level, start, n, &mut self.stances[block]);
            self.torques[block] = [[0.0; LANES]; 3];
            self.starts[block] = [[0.0; LANES]; 3];
        }
        for block in 0..self.hung.len() {
            let (hung, winding) = (&self.hung[block], &self.windings[block]);
            let mut nu = [[0.0; LANES]; 3];
            for lane in 0..LANES {
                let row = 6 * hung.joints[lane] as usize + 3;
                if let Some(held) = pass.state.held.get(row..row + 3) {
                    scatter(&mut nu, lane, &winding.nu(lane, held));
                }
            }
            let (above, stance) = (self.above(block), &self.stances[block]);
            let mut torques = Default::default();
            coils::aim(pass.level, winding, &above, stance, &nu, &mut torques);
            for (torques, to) in torques.iter().zip([&mut self.starts, &mut self.torques]) {
                for lane in 0..LANES {
                    let torque = gather(torques, lane);
                    // Bodies answer with the opposite.
                    put(&mut to[block], lane, -1.0, &torque);
                    if let Parent::Body(body) = hung.parents[lane] {
                        let (up, at) = place(body as usize);
                        put(&mut to[up], at, 1.0, &torque);
                    }
                }
            }
        }
    }

    /// From the leaves: winds the springs and eliminates the bodies.
    fn eliminate(&mut self, pass: &Pass, slots: &[Slot], ask: Ask, world: f64) -> Option<()> {
        let (level, h) = (pass.level, pass.scheme.h);
        for block in (0..self.hung.len()).rev() {
            let above = self.above(block);
            let (winding, coil) = (&self.windings[block], &mut self.coils[block]);
            let (stance, swivel) = (&self.stances[block], &self.swivels[block]);
            coils::wind(
                level,
                winding,
                &above,
                stance,
                swivel,
                h,
                pass.projects,
                ask,
                coil,
            );
            let (hung, slot) = (&self.hung[block], &slots[block]);
            let gaps = gaps(hung, slots, block, world);
            let mut safe = true;
            if !hung.nested {
                let limb = &mut self.limbs[block];
                safe = limbs::eliminate(level, limb, slot, swivel, coil, &gaps);
            }
            for lane in (0..LANES).rev() {
                if hung.nested {
                    let (limb, gap) = (&mut self.limbs[block], gather(&gaps, lane));
                    safe &= limb.eliminate(lane, slot, swivel, coil, &gap);
                }
                if let Parent::Body(body) = hung.parents[lane] {
                    let (hold, push) = self.limbs[block].share(lane);
                    let (up, at) = place(body as usize);
                    self.limbs[up].hang(at, &hold, &push);
                }
            }
            if !safe {
                self.limbs.iter_mut().for_each(Limb::clear);
                return None;
            }
        }
        Some(())
    }

    /// From the roots: forces at the points, torques, and the forces of the joints.
    fn descend(&mut self, pass: &Pass, slots: &mut [Slot], forces: &mut [[f64; 3]]) {
        for block in 0..self.hung.len() {
            let hung = &self.hung[block];
            let mut found = [[0.0; LANES]; 6];
            let from = |limbs: &[Limb], lane: usize| match hung.parents[lane] {
                Parent::Body(body) => {
                    let (up, at) = place(body as usize);
                    limbs[up].moved(at)
                }
                Parent::World(_) => [0.0; 6],
                Parent::Nothing => limbs[block].loose(lane),
            };
            if hung.nested {
                for lane in 0..LANES {
                    let from = from(&self.limbs, lane);
                    let forces = self.limbs[block].descend(lane, &from);
                    scatter(&mut found, lane, &forces);
                }
            } else {
                let mut above = [[0.0; LANES]; 6];
                for lane in 0..LANES {
                    scatter(&mut above, lane, &from(&self.limbs, lane));
                }
                limbs::descend(pass.level, &mut self.limbs[block], &above, &mut found);
            }
            self.limbs[block].clear();
            let mut nu = Default::default();
            coils::twist(pass.level, &mut self.coils[block], &found, &mut nu);
            for lane in 0..LANES {
                // What hangs from nothing is pulled by nothing.
                let mu = [0, 1, 2].map(|k: usize| hung.hangs[lane] * found[k][lane]);
                let tau = [3, 4, 5].map(|k: usize| found[k][lane]);
                let joint = 2 * hung.joints[lane] as usize;
                if let Some([force, turning]) = forces
                    .get_mut(joint..)
                    .and_then(|f| f.first_chunk_mut::<2>())
                {
                    *force = scale(&mu, hung.signs[lane]);
                    *turning = self.windings[block].rows(lane, &gather(&nu, lane));
                }
                put(&mut slots[block].force[0], lane, 1.0, &mu);
                put(&mut self.torques[block], lane, 1.0, &tau);
                if let Parent::Body(body) = hung.parents[lane] {
                    let (up, at) = place(body as usize);
                    put(&mut slots[up].force[1], at, -1.0, &mu);
                    put(&mut self.torques[up], at, -1.0, &tau);
                }
            }
        }
    }
}

/// Adds k times a vector.
#[inline(always)]
fn put(to: &mut [Lane; 3], lane: usize, k: f64, x: &V3) {
    for (to, x) in to.iter_mut().zip(x) {
        to[lane] += k * x;
    }
}

/// How far the bodies of a block are from what they hang from, m.
#[inline(always)]
fn gaps(hung: &Hung, slots: &[Slot], block: usize, world: f64) -> [Lane; 3] {
    let mut gaps = slots[block].place[0];
    for lane in 0..LANES {
        let above = match hung.parents[lane] {
            Parent::Nothing => gather(&gaps, lane),
            Parent::World(point) => scale(&point, world),
            Parent::Body(body) => {
                let (up, at) = place(body as usize);
                gather(&slots[up].place[1], at)
            }
        };
        put(&mut gaps, lane, -1.0, &above);
    }
    gaps
}

impl Ties for Sprung {
    fn threads(&self) -> usize {
        1
    }

    fn start(&mut self, pass: &Pass, newton: &mut [NewtonBlock], slots: &mut [Slot]) {
        if !pass.projects {
            return;
        }
        self.aim(pass, newton);
        for (block, n) in newton.iter_mut().enumerate() {
            let (past, memory) = (&pass.state.blocks[block], &pass.state.memory[block]);
            let torques = [&self.starts[block], &self.torques[block]];
            let (level, params) = (pass.level, pass.params(block));
            ordinary::lean(level, params, past, memory, &pass.scheme, torques, n);
            ports::find_places(pass.level, n, pass.points(block), &mut slots[block].place);
        }
    }

    fn solve(
        &mut self,
        pass: &Pass,
        newton: &[NewtonBlock],
        slots: &mut [Slot],
        fresh: bool,
        world: f64,
        forces: &mut [[f64; 3]],
    ) -> Option<()> {
        let ask = match (world == 0.0, fresh) {
            (true, _) => Ask::Rates,
            (false, true) => Ask::First,
            (false, false) => Ask::Again,
        };
        for (block, n) in newton.iter().enumerate() {
            let stance = &mut self.stances[block];
            match ask {
                Ask::First => coils::stand(pass.level, n, stance),
                _ => coils::turn(pass.level, n, pass.scheme.h, stance),
            }
            if fresh {
                limbs::find_swivel(pass.level, pass.points(block), n, &mut self.swivels[block]);
            }
            slots[block].force = Slot::ZERO.force;
            self.torques[block] = [[0.0; LANES]; 3];
        }
        self.eliminate(pass, slots, ask, world)?;
        self.descend(pass, slots, forces);
        Some(())
    }

    fn open(&mut self, slots: &[Slot], world: f64) -> f64 {
        Hung::most_open(&self.hung, slots, world)
    }

    fn torques(&self, block: usize) -> Option<&[Lane; 3]> {
        Some(&self.torques[block])
    }

    fn potential<'a>(&self, pass: &Pass, maps: impl Fn(usize) -> &'a [Lane; 9]) -> f64 {
        let mut sum = 0.0;
        for (block, hung) in self.hung.iter().enumerate() {
            let mut above = UPRIGHT;
            for (lane, parent) in hung.parents.iter().enumerate() {
                if let Parent::Body(body) = parent {
                    let (up, at) = place(*body as usize);
                    scatter(&mut above, lane, &gather(maps(up), at));
                }
            }
            let (winding, coil) = (&self.windings[block], &self.coils[block]);
            sum += coils::potential(pass.level, winding, coil, maps(block), &above);
        }
        sum
    }
}
