//! The two stages of a step in which contacts act.
//!
//! First stage, with the pose: with the displacements from the start of the step,
//!
//! ```text
//! gap⁺ ≥ 0,   λ₁ ∈ K,   friction against the sliding distance of the step
//! ```
//!
//! Second stage, with the velocity at the end: the total x = λ₁ + λ₂ is in K, and friction acts
//! against the velocity of the slip. So λ₂ may take back what λ₁ gave in excess, as when
//! it moved bodies out of each other, but the two together never pull.
//!
//! A body that is found inside another is moved out at no more than [`PUSH_SPEED`], and keeps
//! nothing of that speed.

mod accurate;
mod altered;
mod first;
mod outcome;
mod rotations;
mod second;
pub(crate) use second::relative;
mod solve;
mod starts;

use super::ContactPoint;
use super::choice::ContactSolver;
use super::coupled::{Coupled, Effort};
use super::exact::{FEW_ROWS, GOOD_ENOUGH, Groups, Way};
use super::impact::{self, Approach};
use super::memory::{Key, Memory, Remembered, key_of};
use super::movers::{FIXED, Mover, Movers};
use super::rows::{ContactRow, along, frame_of};
use super::sweep::{self, Enough, Sweeper, Violation};
use crate::dual::Dual;
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{gather, place};
use crate::math::rotation::exp;
use crate::math::small::*;
use crate::model::{BodyId, Model, StateBlock};
use crate::settings::Settings;
use accurate::Toil;
use rotations::Rotations;
use starts::Starts;

/// Speed at which bodies that start inside each other are moved apart, m/s.
pub const PUSH_SPEED: f64 = 1.0;
/// Part of an overlap that one step takes back, and of the speed at which that is done among many contacts,
/// where no second stage takes the speed away again.
const RECOVERY: f64 = 0.1;
/// Part of the overlap that is borne among many contacts to which they move out of a deeper one.
const RETREAT: f64 = 0.25;
/// Sweeps before a problem is found to be a hard one.
const FIRST_SWEEPS: usize = 10;
/// Contacts of a group at most that are solved as one dense problem: of any, and of those that
/// stand. What is still falling will look different in the next step, and sweeps are good enough
/// for it.
const FEW_DENSE: usize = 64;
const MOST_DENSE: usize = 130;
/// Contacts at most of a world of standing bodies without joints that are solved at once.
const MOST_STANDING: usize = 2_000;
/// What a contact that stands may slip by in a step without contact forces, in units of what
/// gravity moves in one.
const STANDING: f64 = 4.0;
/// Contacts that all sweeps of a stage together look at, roughly, but for the fewest sweeps.
const MOST_ROWS_SWEPT: usize = 40_000;
const FEWEST_SWEEPS: usize = 8;
/// Contacts from which on a world with mechanisms in contact is solved by products: dense problems
/// of so many take too long, and sweeps too many rounds.
pub(crate) const MANY_HELD: usize = 64;
/// What the products of a step may cost, in rows, and how many they are at least and at most. A
/// solve takes half of what is left, a sixth where it only follows a small change.
const ROWS_OF_STEP: usize = 60_000;
const PRODUCTS: [usize; 2] = [60, 600];
const SHARES: [usize; 2] = [2, 6];
/// Products that a solve is never refused.
const LEAST: usize = 8;
/// Sweeps at most over a crowd of small mechanisms: of a solve, and where it follows a small
/// change. And what the last one may still change.
const SWEEPS: [usize; 2] = [30, 10];
const STILL: Enough = Enough {
    forces: 5e-5,
    shared: 7.5e-5,
    still: 1.5e-5,
};
/// Times at most that groups are found again because a contact outside them closed.
const ASIDE: usize = 2;
/// Compliance of a contact beyond that of its bodies in a step from which on the step resolves it as a
/// spring.
const RESOLVED: f64 = 1.0;
/// Gap below which two bodies touch at the end of a step, m.
const TOUCHING: f64 = 1e-6;

/// One side of a contact during a step.
#[derive(Clone, Copy, Debug)]
struct Side {
    mover: u32,
    /// The centre of curvature at the contact, in the body, m.
    center: V3,
    /// From the centre of curvature to the surface, along n, m.
    radius: f64,
}

/// A contact during a step.
#[derive(Clone, Copy, Debug)]
struct Link {
    sides: [Side; 2],
    /// Force and torque of the first stage, in the frame, N and N m.
    first: [V3; 2],
    /// From the centres to the contact at the start, and where it is, m.
    arms: [V3; 2],
    at: V3,
    /// What the rotation of each side adds to the gap beyond the rows, m.
    bent: [f64; 2],
    /// Whether it touches at the end.
    touches: bool,
    /// Its row in the second stage, if it has one.
    second: Option<u32>,
    /// Gap at which the first stage aims, m; negative when moving out takes several steps.
    aim: f64,
}

/// How far a step has come with its contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Progress {
    #[default]
    Nothing,
    /// The bodies are known.
    Begun,
    /// Rows were made and solved at an iterate.
    Made,
}

/// How much care contacts and joints can be given to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// Contacts are few, or no joint holds what they touch.
    Exact,
    /// Large mechanisms or many contacts, by products.
    Good,
    /// So many contacts that a product is dear, or that those of small mechanisms are swept.
    Crowd,
}

/// Contacts of a step: who takes part, and the rows of the present stage.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    pub movers: Movers,
    pub rows: Vec<ContactRow>,
    links: Vec<Link>,
    /// The mover of each body, or FIXED.
    mover_of: Vec<u32>,
    /// The contact of the last step that each continues.
    known: Vec<Option<u32>>,
    starts: Starts,
    /// Of each row of the second stage: how it closes in, and what impacts gave it, N.
    approaches: Vec<Approach>,
    struck: Vec<V3>,
    /// Of each row of the second stage: what its slip has in it of a contact that gives way, without
    /// the force, m.
    sprung: Vec<V3>,
    hits: Vec<(bool, f64)>,
    groups: Groups,
    sweeper: Sweeper,
    coupled: Coupled,
    progress: Progress,
    /// Products so far in this step, and what was done towards an accuracy.
    spent: usize,
    toil: Toil,
    /// Whether the contacts of a crowd of small mechanisms are swept.
    swept: bool,
    /// Rotation of each mover at the start of the step and when the rows were made, and its
    /// centre then, m. Contacts see bodies as rigid, whatever joints strain them by.
    turns: Vec<[M3; 2]>,
    centers: Vec<V3>,
    /// Of each mover: whether its mechanism answers in another way since rows were made.
    altered: Vec<bool>,
    /// Of each mover: what takes a point of it from where it was to where it is, m.
    paths: Vec<(M3, V3)>,
    /// Of each mover: by how much its rotation has grown since the rows were made; for a loose one
    /// (exp θ − 1) R with the rotation θ that contacts gave it.
    bends: Vec<M3>,
}

/// Where the pieces of a stage come from.
pub(crate) struct Scene<'a> {
    pub model: &'a Model,
    pub points: &'a [ContactPoint],
    pub memory: &'a Memory,
    /// How deep the worst contact was at the start, m.
    pub inside: f64,
    /// The start of the step.
    pub start: &'a [StateBlock],
    /// The iterate.
    pub work: &'a [NewtonBlock],
    /// Whether a block takes the short path of bodies without joints.
    pub loose: &'a [bool],
    /// Whether a step ends with the second stage.
    pub projects: bool,
    /// Whether large mechanisms answer as a whole.
    pub couples: bool,
    /// Whether the solver is not asked for.
    pub chooses: bool,
    /// Compliance of every contact, as a fraction of that of its bodies.
    pub softness: f64,
    pub h: f64,
    /// Inertia per mass, 1/s².
    pub c: f64,
}

impl Stage {
    /// Room for a model.
    pub fn new(bodies: usize) -> Stage {
        Stage {
            mover_of: vec![FIXED; bodies],
            ..Stage::default()
        }
    }

    /// A new step, of whatever parts.
    pub fn forgive(&mut self) {
        self.toil.forgive();
    }

    /// A new step, or part of one.
    pub fn reset(&mut self) {
        self.progress = Progress::Nothing;
        self.spent = 0;
        self.toil.begin();
        self.links.clear();
    }

    /// Whether the bodies of this step are known.
    pub fn has_begun(&self) -> bool {
        self.progress != Progress::Nothing
    }

    /// Finds the bodies that take part and where they are touched. Among many contacts overlaps of up to
    /// `shallow`, m, may stay.
    pub fn begin(&mut self, scene: &Scene<'_>, dual: &Dual, shallow: f64) {
        self.progress = Progress::Begun;
        self.find_movers(scene, dual);
        self.turns.clear();
        let mut rotations = Rotations::new();
        self.turns.extend(self.movers.all.iter().map(|m| {
            let rotation = rotations.of(m, |block| &scene.start[block].a);
            [rotation; 2]
        }));
        self.links.clear();
        let held = self.movers.all.iter().any(|m| !m.loose);
        let many = self.ends_early(scene.points.len());
        scene.memory.matches(scene.points, &mut self.known);
        self.starts.find(scene, &self.known);
        // Points that were found late may have come there on a curve, from where nothing overlapped.
        let floor = match held {
            true => -scene.inside,
            false => f64::NEG_INFINITY,
        };
        for point in scene.points {
            let a = self.side(point, 0);
            let b = self.side(point, 1);
            let (arm_a, _) = self.start_place(scene, point.a, &point.anchor_a);
            let (arm_b, at) = self.start_place(scene, point.b, &point.anchor_b);
            // What the contact gives way by under the force it had is no overlap to move out of.
            let known = self.known[self.links.len()];
            let before = known.map_or([0.0; 3], |k| scene.memory.entries[k as usize].first[0]);
            let gap = point.gap + point.compliance * dot(&point.normal, &before);
            let most = PUSH_SPEED * scene.h;
            let out = match (many, scene.projects) {
                (true, true) => retreat(-gap, shallow).min(most),
                (true, false) => retreat(-gap, shallow).min(RECOVERY * most),
                (false, true) => most,
                (false, false) => -RECOVERY * gap,
            };
            self.links.push(Link {
                sides: [a, b],
                first: [[0.0; 3]; 2],
                arms: [arm_a, arm_b],
                at,
                bent: [0.0; 2],
                touches: false,
                second: None,
                aim: (gap + out).min(0.0).max(floor),
            });
        }
    }

    /// Whether so many contacts are solved by rounds that end before they are done: those of a crowd, and many
    /// of large mechanisms.
    fn ends_early(&self, contacts: usize) -> bool {
        is_crowd(contacts) || (contacts > MANY_HELD && !self.movers.answer_together())
    }

    /// Numbers the bodies in contact, those of one mechanism one after the other.
    fn find_movers(&mut self, scene: &Scene<'_>, dual: &Dual) {
        let all = &mut self.movers.all;
        for mover in all.iter() {
            self.mover_of[mover.body as usize] = FIXED;
        }
        all.clear();
        for body in scene.points.iter().flat_map(|p| [p.a, p.b]).flatten() {
            let body = body.index();
            if self.mover_of[body] == FIXED {
                self.mover_of[body] = 0;
                let loose = scene.loose[place(body).0];
                all.push(Mover::new(body, loose, 0.0, [0.0; 9]));
            }
        }
        if !dual.is_empty() {
            let island = |m: &Mover| dual.island_of(m.body as usize).map_or(usize::MAX, |i| i.0);
            all.sort_unstable_by_key(|m| (island(m), m.body));
        }
        for (k, mover) in all.iter().enumerate() {
            self.mover_of[mover.body as usize] = k as u32;
        }
        self.movers.gather_clusters(dual);
    }

    /// From the centre of a body to a point of it at the start of the step, and where that is.
    fn start_place(&self, scene: &Scene<'_>, body: Option<BodyId>, anchor: &V3) -> (V3, V3) {
        let Some(body) = body else {
            return ([0.0; 3], *anchor);
        };
        let mover = self.mover_of[body.index()] as usize;
        let arm = mul_vec(&self.turns[mover][0], anchor);
        (arm, add(&arm, &start_of(scene.start, body.index())))
    }

    fn side(&self, point: &ContactPoint, which: usize) -> Side {
        let (body, anchor, round, sign) = match which {
            0 => (point.a, point.anchor_a, point.round_a, -1.0),
            _ => (point.b, point.anchor_b, point.round_b, 1.0),
        };
        let Some(body) = body else {
            return Side {
                mover: FIXED,
                center: [0.0; 3],
                radius: 0.0,
            };
        };
        let mover = self.mover_of[body.index()];
        let turn = &self.turns[mover as usize][0];
        let inward = scale(&tmul_vec(turn, &point.normal), sign * round);
        Side {
            mover,
            center: add(&anchor, &inward),
            radius: -sign * round,
        }
    }

    /// How far forces move the bodies at the present iterate.
    fn weigh(&mut self, scene: &Scene<'_>) {
        for mover in &mut self.movers.all {
            let (block, lane) = place(mover.body as usize);
            *mover = if mover.loose {
                let params = &scene.model.params[block];
                let rot: M3 = gather(&scene.work[block].rot, lane);
                let inverse: V3 = gather(&params.inverse_inertia, lane);
                let turned = mul_diag(&rot, &scale(&inverse, 1.0 / scene.c));
                let per_force = 1.0 / (scene.c * params.mass[lane]);
                Mover::new(mover.body as usize, true, per_force, mult(&turned, &rot))
            } else {
                Mover::held(mover.body as usize, scene.work)
            };
        }
        self.movers.mark_clusters();
    }

    fn weigh_mechanisms(&mut self, scene: &Scene<'_>, dual: &mut Dual) {
        self.movers.weigh_clusters(dual, scene.work);
        let held = self.movers.hold_mechanisms();
        let small = self.movers.answer_together();
        let points = scene.points.len();
        self.swept = scene.chooses && held && small && points > FEW_ROWS;
        let many = scene.chooses && points > MANY_HELD && held;
        // Solved all at once it only says about how far forces go, and hardly changes in a step.
        let known = self.movers.knows_own() && self.coupled.is_direct();
        if scene.couples && !self.swept && (many || !small) && !known {
            self.movers.weigh_own(dual, scene.work);
        }
    }

    /// Whether contacts are few, or were solved all at once.
    pub fn is_direct(&self) -> bool {
        self.care() == Care::Exact || (!self.swept && self.coupled.is_direct())
    }

    /// Whether contacts of large chains were solved all at once.
    pub fn is_strung(&self) -> bool {
        self.care() == Care::Good && !self.swept && self.coupled.is_strung()
    }

    /// How much care contacts and joints can be given to agree.
    pub fn care(&self) -> Care {
        let large = self.has_begun() && self.movers.knows_own();
        match is_crowd(self.links.len()) {
            true if large || self.swept => Care::Crowd,
            _ if large => Care::Good,
            _ => Care::Exact,
        }
    }

    /// The largest violation of Coulomb's law in the present stage, relative to the largest force.
    pub fn residual(&self) -> f64 {
        sweep::residual(&self.rows, &self.movers)
    }

    /// Products that the step may still make.
    fn left(&self) -> usize {
        let all = (ROWS_OF_STEP / self.links.len().max(1)).clamp(PRODUCTS[0], PRODUCTS[1]);
        all.saturating_sub(self.spent)
    }

    /// Whether the step has made all the products that it may.
    pub fn is_spent(&self) -> bool {
        self.spent > 0 && self.left() == 0
    }

    /// Rotations and centres at the present iterate.
    fn find_turns(&mut self, scene: &Scene<'_>) {
        self.centers.clear();
        let mut rotations = Rotations::new();
        for (mover, turns) in self.movers.all.iter().zip(&mut self.turns) {
            turns[1] = rotations.of(mover, |block| &scene.work[block].a);
            self.centers
                .push(center_of(scene.work, mover.body as usize));
        }
    }

    /// Whether a joint holds a body that takes part.
    pub fn holds_any(&self) -> bool {
        self.has_begun() && self.movers.hold_mechanisms()
    }

    /// Whether a joint holds a body that touches another.
    pub fn touches_joints(&self) -> bool {
        let held = |side: &Side| side.mover != FIXED && !self.movers.all[side.mover as usize].loose;
        let mut touching = self.links.iter().filter(|link| link.touches);
        touching.any(|link| link.sides.iter().any(held))
    }

    /// Tells the movers that joints hold where their bodies have come to since the rows were
    /// made, and the gaps what a displacement and a rotation vector do not say of that. Returns
    /// by how much the rows were wrong, m.
    pub fn settle(&mut self, scene: &Scene<'_>) -> f64 {
        let mut largest = 0.0f64;
        self.bends.clear();
        let mut rotations = Rotations::new();
        for (index, mover) in self.movers.all.iter_mut().enumerate() {
            if mover.loose {
                self.bends.push([0.0; 9]);
                continue;
            }
            let now = rotations.of(mover, |block| &scene.work[block].a);
            let then = &self.turns[index][1];
            let center = center_of(scene.work, mover.body as usize);
            let shift = sub(&center, &self.centers[index]);
            let turn = axial(&mult(&now, then));
            self.bends.push(sub9(&now, then));
            let wrong = [sub(&shift, &mover.shift), sub(&turn, &mover.turn)];
            largest = wrong.iter().flatten().fold(largest, |m, x| m.max(x.abs()));
            (mover.shift, mover.turn) = (shift, turn);
            mover.base = [shift, turn];
        }
        largest.max(self.bend_gaps(false))
    }

    /// Puts into the gaps of loose bodies, or of those that joints hold, what a displacement and a
    /// rotation vector do not say of `bends`. Returns the largest change, m.
    fn bend_gaps(&mut self, loose: bool) -> f64 {
        let mut largest = 0.0f64;
        for (row, link) in self.rows.iter_mut().zip(&mut self.links) {
            for (side, arm, sign) in [(0, &row.a, -1.0), (1, &row.b, 1.0)] {
                if arm.mover == FIXED || arm.loose != loose {
                    continue;
                }
                let mover = &self.movers.all[arm.mover as usize];
                let moved = mul_vec(&self.bends[arm.mover as usize], &link.sides[side].center);
                let lever = cross(&arm.arm, &row.frame[0]);
                let bent = sign * (dot(&row.frame[0], &moved) - dot(&lever, &mover.turn));
                let change = bent - std::mem::replace(&mut link.bent[side], bent);
                row.free[0] += change;
                largest = largest.max(change.abs());
            }
        }
        largest
    }
}

/// Whether so many contacts are solved by sweeps alone, where joints hold none of the bodies.
pub(crate) fn is_crowd(contacts: usize) -> bool {
    contacts > FEW_ROWS
}

/// How far one of many contacts is moved out of an overlap, m.
///
/// Rounds end before they are done, and the next step goes on from their forces: these follow late what is
/// asked of them. If each step asked them to undo every overlap, as much as they left of the last one would
/// come back, and a heap would shake for ever. So overlaps that are shallow stay as they are, and bodies that
/// are deeper go back to well within that.
fn retreat(depth: f64, shallow: f64) -> f64 {
    match depth > shallow {
        true => depth - RETREAT * shallow,
        false => 0.0,
    }
}

fn torque_of(row: &ContactRow, movers: &Movers) -> V3 {
    row.spin(movers).map_or([0.0; 3], |s| s.torque)
}

/// Displacement of the sides that are not bodies, b's minus a's, in the frame, m.
fn carried(frame: &[V3; 3], point: &ContactPoint, h: f64) -> V3 {
    frame.map(|axis| h * dot(&axis, &point.surface_velocity))
}

/// Whether a contact would hardly move in this step if it did not push.
fn stands(scene: &Scene<'_>, row: &ContactRow) -> bool {
    let most = STANDING * scene.model.gravity.length() * scene.h * scene.h;
    dot(&row.free, &row.free) <= most * most
}

/// Where the centre of a body is at the start, m.
fn start_of(blocks: &[StateBlock], body: usize) -> V3 {
    let (block, lane) = place(body);
    gather(&blocks[block].t, lane)
}

/// The same at the iterate.
fn center_of(work: &[NewtonBlock], body: usize) -> V3 {
    let (block, lane) = place(body);
    gather(&work[block].t, lane)
}
