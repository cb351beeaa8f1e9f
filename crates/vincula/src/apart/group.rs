//! A few mechanisms of a world, as a world of their own, and what steps them.

use std::ops::Range;

use super::groups::Members;
use crate::math::ahead::fetch;
use crate::math::lanes::{LANES, gather, place, scatter};
use crate::math::small::*;
use crate::model::{Control, MemoryBlock, Model, State, StateBlock};
use crate::settings::Settings;
use crate::step::{StepError, StepReport, step_together};
use crate::workspace::Workspace;

/// How many blocks ahead memory is asked for.
const AHEAD: usize = 2;

/// What steps the groups of one kind, one after the other.
pub(super) struct Engine {
    model: Model,
    control: Control,
    work: Workspace,
    /// The motion of the group at hand.
    state: State,
}

impl Engine {
    pub fn new(model: &Model, settings: Settings) -> Engine {
        Engine {
            control: Control::new(model),
            work: Workspace::whole(model, settings),
            state: State::at_rest(model),
            model: model.clone(),
        }
    }
}

/// A group, and where its numbers are in the whole world.
pub(super) struct Group {
    pub kind: usize,
    members: Members,
    /// Its bodies, here and in the whole world, and its joints, in the order of that world: so the
    /// processor can tell which memory comes next.
    bodies: Vec<(u32, u32)>,
    /// What each body is seen from, m.
    anchors: Vec<V3>,
    /// Its motion, where that cannot be written to the whole world at once.
    state: Option<Box<State>>,
    /// Rows and free coordinates of each joint: here, and where they start in the whole world.
    rows: Vec<(Range<usize>, usize)>,
    coordinates: Vec<(Range<usize>, usize)>,
    /// Whether something acts along a coordinate.
    driven: bool,
}

impl Group {
    /// A group of a kind that moves like `model`, of a world whose joints have their rows at
    /// `starts`.
    pub fn new(
        whole: &Model,
        starts: &[usize],
        members: Members,
        (kind, anchors): (usize, Vec<V3>),
        model: &Model,
    ) -> Group {
        let own = row_starts(model);
        let joints = || in_order(&members.joints).into_iter();
        let joints = || joints().map(|(own, joint)| (own as usize, joint));
        let rows = joints().map(|(k, joint)| (own[k]..own[k + 1], starts[joint as usize]));
        let coordinates = joints().filter_map(|(k, joint)| {
            let count = model.joints[k].axes.len();
            let start = model.axis_starts[k];
            let range = (start..start + count, whole.axis_starts[joint as usize]);
            (count > 0).then_some(range)
        });
        Group {
            kind,
            anchors,
            state: None,
            rows: rows.collect(),
            coordinates: coordinates.collect(),
            bodies: in_order(&members.bodies),
            driven: model.dual_rows() > model.rows(),
            members,
        }
    }

    /// From now on keeps its motion until `write_back`.
    pub fn keep_motion(&mut self, model: &Model) {
        self.state = Some(Box::new(State::at_rest(model)));
    }

    /// Advances the group from the state of the whole world by h seconds, and writes its motion
    /// to a piece of the next state, if there is one to write to.
    pub fn step(
        &mut self,
        engine: &mut Engine,
        (whole, state): (&Model, &State),
        control: &Control,
        h: f64,
        next: Option<&mut Piece<'_>>,
    ) -> Result<StepReport, StepError> {
        let Engine {
            model,
            control: own,
            work,
            state: shared,
        } = engine;
        let mut kept = self.state.take();
        let motion = kept.as_deref_mut().unwrap_or(shared);
        self.read(&self.anchors, state, control, (motion, own));
        let done = step_together(model, motion, own, work, h);
        if let (Ok(_), Some(next)) = (&done, next) {
            self.write(motion, next);
        }
        self.state = kept;
        done.map_err(|error| self.name_error(whole, state, control, &work.settings, h, error))
    }

    /// The engine knows the names of the first group of its kind: those of this one are found by
    /// failing again as a world of its own.
    fn name_error(
        &self,
        whole: &Model,
        state: &State,
        control: &Control,
        settings: &Settings,
        h: f64,
        error: StepError,
    ) -> StepError {
        let model = whole.subset(&self.members.bodies, &self.members.joints);
        let mut own = Engine::new(&model, *settings);
        let nowhere = vec![[0.0; 3]; self.anchors.len()];
        let target = (&mut own.state, &mut own.control);
        self.read(&nowhere, state, control, target);
        let again = step_together(&model, &mut own.state, &own.control, &mut own.work, h);
        again.err().unwrap_or(error)
    }

    /// Reads all that a step starts from, seen from the anchors.
    fn read(
        &self,
        anchors: &[V3],
        whole: &State,
        control: &Control,
        (motion, own_control): (&mut State, &mut Control),
    ) {
        motion.time = whole.time;
        for (own, body) in &self.bodies {
            let (from, to) = (place(*body as usize), place(*own as usize));
            fetch(&whole.blocks, from.0 + AHEAD, [from.1, LANES]);
            fetch(&whole.memory, from.0 + AHEAD, [from.1, LANES]);
            let target = (&mut motion.blocks[to.0], to.1);
            let shift = scale(&anchors[*own as usize], -1.0);
            copy_motion((&whole.blocks[from.0], from.1), target, &shift);
            let target = (&mut motion.memory[to.0], to.1);
            copy_memory((&whole.memory[from.0], from.1), target);
        }
        for (own, start) in &self.rows {
            let from = *start..start + own.len();
            copy_few(&mut motion.held[own.clone()], &whole.held[from]);
        }
        for (own, start) in &self.coordinates {
            let from = *start..start + own.len();
            copy_few(
                &mut motion.coordinates[own.clone()],
                &whole.coordinates[from.clone()],
            );
            if self.driven {
                own_control.drives[own.clone()].clone_from_slice(&control.drives[from]);
            }
        }
        own_control.active = control.active;
        if control.active {
            for (own, body) in self.members.bodies.iter().enumerate() {
                let (from, to) = (place(*body as usize), place(own));
                let (from, lane) = (&control.blocks[from.0], from.1);
                let target = &mut own_control.blocks[to.0];
                scatter(&mut target.force, to.1, &gather(&from.force, lane));
                scatter(&mut target.torque, to.1, &gather(&from.torque, lane));
            }
        }
    }

    /// The ends of what the group owns of a state: blocks of bodies, rows and coordinates.
    pub fn extent(&self) -> [Range<usize>; 3] {
        let blocks = self.members.bodies.iter().map(|b| place(*b as usize).0);
        let of = |ranges: &[(Range<usize>, usize)]| {
            span(ranges.iter().map(|(own, start)| *start..start + own.len()))
        };
        [
            span(blocks.map(|block| block..block + 1)),
            of(&self.rows),
            of(&self.coordinates),
        ]
    }

    /// Writes the motion that the group has kept.
    pub fn write_back(&self, whole: &mut Piece<'_>) {
        if let Some(motion) = &self.state {
            self.write(motion, whole);
        }
    }

    /// Writes the motion of the group to a piece of the state of the whole world.
    fn write(&self, motion: &State, whole: &mut Piece<'_>) {
        let [blocks, rows, coordinates] = whole.first;
        for (own, body) in &self.bodies {
            let (from, to) = (place(*own as usize), place(*body as usize));
            fetch(whole.blocks, to.0 - blocks + AHEAD, [to.1, LANES]);
            fetch(whole.memory, to.0 - blocks + AHEAD, [to.1, LANES]);
            let target = (&mut whole.blocks[to.0 - blocks], to.1);
            let source = (&motion.blocks[from.0], from.1);
            copy_motion(source, target, &self.anchors[*own as usize]);
            let target = (&mut whole.memory[to.0 - blocks], to.1);
            copy_memory((&motion.memory[from.0], from.1), target);
        }
        for (own, start) in &self.rows {
            let to = start - rows..start - rows + own.len();
            copy_few(&mut whole.held[to.clone()], &motion.held[own.clone()]);
            copy_few(&mut whole.multipliers[to], &motion.multipliers[own.clone()]);
        }
        for (own, start) in &self.coordinates {
            let to = start - coordinates..start - coordinates + own.len();
            copy_few(&mut whole.coordinates[to], &motion.coordinates[own.clone()]);
        }
    }
}

/// Pairs of a place in a list and what is there, ascending by that.
fn in_order(list: &[u32]) -> Vec<(u32, u32)> {
    let mut pairs: Vec<_> = (0..).zip(list.iter().copied()).collect();
    pairs.sort_unstable_by_key(|pair| pair.1);
    pairs
}

/// The least range that holds all of these; an empty one at zero if there are none.
pub(super) fn span(ranges: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    let ranges = ranges.filter(|range| !range.is_empty());
    let both = ranges.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end));
    both.unwrap_or(0..0)
}

/// A piece of a state.
pub(super) struct Piece<'a> {
    blocks: &'a mut [StateBlock],
    memory: &'a mut [MemoryBlock],
    held: &'a mut [f64],
    multipliers: &'a mut [f64],
    coordinates: &'a mut [f64],
    /// The first block, row and coordinate.
    first: [usize; 3],
}

impl<'a> Piece<'a> {
    /// All of a state.
    pub fn all(state: &'a mut State) -> Piece<'a> {
        Piece {
            blocks: &mut state.blocks,
            memory: &mut state.memory,
            held: &mut state.held,
            multipliers: &mut state.multipliers,
            coordinates: &mut state.coordinates,
            first: [0; 3],
        }
    }

    /// The part before a block, a row and a coordinate, and the rest.
    pub fn split_at(self, ends: [usize; 3]) -> (Piece<'a>, Piece<'a>) {
        let [blocks, rows, coordinates] = [0, 1, 2].map(|k| ends[k] - self.first[k]);
        let (b1, b2) = self.blocks.split_at_mut(blocks);
        let (m1, m2) = self.memory.split_at_mut(blocks);
        let (h1, h2) = self.held.split_at_mut(rows);
        let (l1, l2) = self.multipliers.split_at_mut(rows);
        let (c1, c2) = self.coordinates.split_at_mut(coordinates);
        let piece = |blocks, memory, held, multipliers, coordinates, first| Piece {
            blocks,
            memory,
            held,
            multipliers,
            coordinates,
            first,
        };
        (
            piece(b1, m1, h1, l1, c1, self.first),
            piece(b2, m2, h2, l2, c2, ends),
        )
    }
}

/// First row of each joint in the dual system, and the end of the last one.
pub(super) fn row_starts(model: &Model) -> Vec<usize> {
    let mut starts = vec![0];
    for joint in &model.joints {
        starts.push(starts[starts.len() - 1] + joint.dual_rows());
    }
    starts
}

/// Copies the rows or coordinates of a joint. There are few, and a call takes longer than to copy
/// them.
#[inline(always)]
fn copy_few(to: &mut [f64], from: &[f64]) {
    match (to, from) {
        ([a], [b]) => *a = *b,
        ([a, b, c], [x, y, z]) => [*a, *b, *c] = [*x, *y, *z],
        ([a, b, c, d, e], [x, y, z, u, v]) => [*a, *b, *c, *d, *e] = [*x, *y, *z, *u, *v],
        (to, from) => to.copy_from_slice(from),
    }
}

/// Copies the motion of a body from one lane to another, moved by a shift, m.
#[inline(always)]
fn copy_motion(
    (from, lane): (&StateBlock, usize),
    (to, target): (&mut StateBlock, usize),
    shift: &V3,
) {
    scatter(&mut to.t, target, &add(&gather(&from.t, lane), shift));
    scatter(&mut to.a, target, &gather(&from.a, lane));
    scatter(&mut to.v, target, &gather(&from.v, lane));
    scatter(&mut to.w, target, &gather(&from.w, lane));
}

#[inline(always)]
fn copy_memory((from, lane): (&MemoryBlock, usize), (to, target): (&mut MemoryBlock, usize)) {
    scatter(&mut to.load, target, &gather(&from.load, lane));
    scatter(&mut to.slow, target, &gather(&from.slow, lane));
}
