//! A few mechanisms of a world, as a world of their own, and what steps them.

use std::ops::Range;

use super::groups::Members;
use crate::math::lanes::{gather, place, scatter};
use crate::math::small::*;
use crate::model::{Control, MemoryBlock, Model, State, StateBlock};
use crate::settings::{Settings, Workspace};
use crate::step::{StepError, StepReport, step_together};

/// What steps the groups of one kind, one after the other.
pub(super) struct Engine {
    model: Model,
    control: Control,
    work: Workspace,
}

impl Engine {
    pub fn new(model: &Model, settings: Settings) -> Engine {
        Engine {
            control: Control::new(model),
            work: Workspace::whole(model, settings),
            model: model.clone(),
        }
    }
}

/// The motion of a group, and where its numbers are in the whole world.
pub(super) struct Group {
    pub kind: usize,
    members: Members,
    /// What each body is seen from, m.
    anchors: Vec<V3>,
    state: State,
    /// Rows and free coordinates of each joint: here, and where they start in the whole world.
    rows: Vec<(Range<usize>, usize)>,
    coordinates: Vec<(Range<usize>, usize)>,
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
        let joints = || members.joints.iter().enumerate();
        let rows = joints().map(|(k, &joint)| (own[k]..own[k + 1], starts[joint as usize]));
        let coordinates = joints().filter_map(|(k, &joint)| {
            let count = model.joints[k].axes.len();
            let start = model.axis_starts[k];
            let range = (start..start + count, whole.axis_starts[joint as usize]);
            (count > 0).then_some(range)
        });
        Group {
            kind,
            anchors,
            state: State::at_rest(model),
            rows: rows.collect(),
            coordinates: coordinates.collect(),
            members,
        }
    }

    /// Advances the group from the state of the whole world by h seconds.
    pub fn step(
        &mut self,
        engine: &mut Engine,
        (whole, state): (&Model, &State),
        control: &Control,
        h: f64,
    ) -> Result<StepReport, StepError> {
        self.read(state, control, &mut engine.control);
        let Engine {
            model,
            control: own,
            work,
        } = engine;
        let done = step_together(model, &mut self.state, own, work, h);
        done.map_err(|error| self.name_error(whole, state, control, &work.settings, h, error))
    }

    /// The engine knows the names of the first group of its kind: those of this one are found by
    /// failing again as a world of its own.
    fn name_error(
        &mut self,
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
        let anchors = std::mem::replace(&mut self.anchors, nowhere);
        self.read(state, control, &mut own.control);
        self.anchors = anchors;
        let again = step_together(&model, &mut self.state, &own.control, &mut own.work, h);
        again.err().unwrap_or(error)
    }

    fn read(&mut self, whole: &State, control: &Control, own_control: &mut Control) {
        self.state.time = whole.time;
        for (own, body) in self.members.bodies.iter().enumerate() {
            let (from, to) = (place(*body as usize), place(own));
            let target = (&mut self.state.blocks[to.0], to.1);
            let shift = scale(&self.anchors[own], -1.0);
            copy_motion((&whole.blocks[from.0], from.1), target, &shift);
            let target = (&mut self.state.memory[to.0], to.1);
            copy_memory((&whole.memory[from.0], from.1), target);
        }
        for (own, start) in &self.rows {
            let from = *start..start + own.len();
            self.state.held[own.clone()].copy_from_slice(&whole.held[from.clone()]);
            self.state.multipliers[own.clone()].copy_from_slice(&whole.multipliers[from]);
        }
        for (own, start) in &self.coordinates {
            let from = *start..start + own.len();
            self.state.coordinates[own.clone()].copy_from_slice(&whole.coordinates[from.clone()]);
            own_control.drives[own.clone()].clone_from_slice(&control.drives[from]);
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

    /// Writes the motion of the group to a piece of the state of the whole world.
    pub fn write_back(&self, whole: &mut Piece<'_>) {
        let [blocks, rows, coordinates] = whole.first;
        for (own, body) in self.members.bodies.iter().enumerate() {
            let (from, to) = (place(own), place(*body as usize));
            let target = (&mut whole.blocks[to.0 - blocks], to.1);
            let source = (&self.state.blocks[from.0], from.1);
            copy_motion(source, target, &self.anchors[own]);
            let target = (&mut whole.memory[to.0 - blocks], to.1);
            copy_memory((&self.state.memory[from.0], from.1), target);
        }
        for (own, start) in &self.rows {
            let to = start - rows..start - rows + own.len();
            whole.held[to.clone()].copy_from_slice(&self.state.held[own.clone()]);
            whole.multipliers[to].copy_from_slice(&self.state.multipliers[own.clone()]);
        }
        for (own, start) in &self.coordinates {
            let to = start - coordinates..start - coordinates + own.len();
            whole.coordinates[to].copy_from_slice(&self.state.coordinates[own.clone()]);
        }
    }
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
