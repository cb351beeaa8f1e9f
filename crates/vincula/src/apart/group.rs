//! A few mechanisms of a world, as a world of their own.

use std::ops::Range;

use crate::math::lanes::{gather, place, scatter};
use crate::model::{Control, MemoryBlock, Model, State, StateBlock};
use crate::settings::{Settings, Workspace};
use crate::step::{StepError, StepReport, advance};

/// The world of a group, and where its numbers are in the whole one.
pub(super) struct Group {
    model: Model,
    state: State,
    control: Control,
    work: Workspace,
    /// The body of the whole world that each one is.
    bodies: Vec<u32>,
    /// Rows and free coordinates of each joint: here, and where they start in the whole world.
    rows: Vec<(Range<usize>, usize)>,
    coordinates: Vec<(Range<usize>, usize)>,
}

impl Group {
    /// These bodies and joints of a world whose joints have their rows at `starts`.
    pub fn new(
        whole: &Model,
        starts: &[usize],
        (bodies, joints): &(Vec<u32>, Vec<u32>),
        settings: Settings,
    ) -> Group {
        let model = whole.subset(bodies, joints);
        let own = row_starts(&model);
        let rows = joints.iter().enumerate();
        let rows = rows.map(|(k, &joint)| (own[k]..own[k + 1], starts[joint as usize]));
        let rows = rows.collect();
        let coordinates = joints.iter().enumerate().filter_map(|(k, &joint)| {
            let count = model.joints[k].axes.len();
            let start = model.axis_starts[k];
            let range = (start..start + count, whole.axis_starts[joint as usize]);
            (count > 0).then_some(range)
        });
        Group {
            state: State::at_rest(&model),
            control: Control::new(&model),
            work: Workspace::whole(&model, settings),
            bodies: bodies.to_vec(),
            rows,
            coordinates: coordinates.collect(),
            model,
        }
    }

    /// Advances the group from the state of the whole world by h seconds.
    pub fn step(
        &mut self,
        whole: &State,
        control: &Control,
        h: f64,
    ) -> Result<StepReport, StepError> {
        self.read(whole, control);
        let Group {
            model,
            state,
            control,
            work,
            ..
        } = self;
        advance(model, state, control, work, h)
    }

    fn read(&mut self, whole: &State, control: &Control) {
        self.state.time = whole.time;
        for (own, body) in self.bodies.iter().enumerate() {
            let (from, to) = (place(*body as usize), place(own));
            copy_motion(
                &whole.blocks[from.0],
                from.1,
                &mut self.state.blocks[to.0],
                to.1,
            );
            copy_memory(
                &whole.memory[from.0],
                from.1,
                &mut self.state.memory[to.0],
                to.1,
            );
        }
        for (own, start) in &self.rows {
            let from = *start..start + own.len();
            self.state.held[own.clone()].copy_from_slice(&whole.held[from.clone()]);
            self.state.multipliers[own.clone()].copy_from_slice(&whole.multipliers[from]);
        }
        for (own, start) in &self.coordinates {
            let from = *start..start + own.len();
            self.state.coordinates[own.clone()].copy_from_slice(&whole.coordinates[from.clone()]);
            self.control.drives[own.clone()].clone_from_slice(&control.drives[from]);
        }
        self.control.active = control.active;
        if control.active {
            for (own, body) in self.bodies.iter().enumerate() {
                let (from, to) = (place(*body as usize), place(own));
                let (from, lane) = (&control.blocks[from.0], from.1);
                let target = &mut self.control.blocks[to.0];
                scatter(&mut target.force, to.1, &gather(&from.force, lane));
                scatter(&mut target.torque, to.1, &gather(&from.torque, lane));
            }
        }
    }

    /// Writes the motion of the group to the state of the whole world.
    pub fn write_back(&self, whole: &mut State) {
        for (own, body) in self.bodies.iter().enumerate() {
            let (from, to) = (place(own), place(*body as usize));
            copy_motion(
                &self.state.blocks[from.0],
                from.1,
                &mut whole.blocks[to.0],
                to.1,
            );
            copy_memory(
                &self.state.memory[from.0],
                from.1,
                &mut whole.memory[to.0],
                to.1,
            );
        }
        for (own, start) in &self.rows {
            let to = *start..start + own.len();
            whole.held[to.clone()].copy_from_slice(&self.state.held[own.clone()]);
            whole.multipliers[to].copy_from_slice(&self.state.multipliers[own.clone()]);
        }
        for (own, start) in &self.coordinates {
            let to = *start..start + own.len();
            whole.coordinates[to].copy_from_slice(&self.state.coordinates[own.clone()]);
        }
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

#[inline(always)]
fn copy_motion(from: &StateBlock, lane: usize, to: &mut StateBlock, target: usize) {
    scatter(&mut to.t, target, &gather(&from.t, lane));
    scatter(&mut to.a, target, &gather(&from.a, lane));
    scatter(&mut to.v, target, &gather(&from.v, lane));
    scatter(&mut to.w, target, &gather(&from.w, lane));
}

#[inline(always)]
fn copy_memory(from: &MemoryBlock, lane: usize, to: &mut MemoryBlock, target: usize) {
    scatter(&mut to.load, target, &gather(&from.load, lane));
    scatter(&mut to.slow, target, &gather(&from.slow, lane));
}
