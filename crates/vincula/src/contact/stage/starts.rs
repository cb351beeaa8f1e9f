//! Forces that contacts start from: those of the last step, or of the last attempt at this one.

use super::*;

/// Where the first stage starts, and what the last attempt at the step has found.
#[derive(Debug, Default)]
pub(super) struct Starts {
    /// Force and torque of each contact, world, where some are known.
    forces: Vec<Option<[V3; 2]>>,
    tried: Vec<(Key, [V3; 2])>,
}

impl Starts {
    /// Those of a contact.
    pub fn of(&self, index: usize) -> Option<[V3; 2]> {
        self.forces[index]
    }

    /// Finds the forces that contacts start from, given which contact of the last step each continues.
    pub fn find(&mut self, scene: &Scene<'_>, known: &[Option<u32>]) {
        let mut tried = self.tried.iter().peekable();
        self.forces.clear();
        for (point, known) in scene.points.iter().zip(known) {
            // Both are in the order of their names.
            let key = key_of(point);
            while tried.next_if(|(name, _)| *name < key).is_some() {}
            let again = tried.next_if(|(name, _)| *name == key).map(|t| t.1);
            let last = || known.map(|k| scene.memory.entries[k as usize].first);
            self.forces.push(again.or_else(last));
        }
    }
}

impl Stage {
    /// Forgets the attempts at a step, or part of one.
    pub fn start_afresh(&mut self) {
        self.starts.tried.clear();
    }

    /// The step will be made again, with these contacts and perhaps others: where joints hold something it
    /// starts from the forces that it has found, if they were solved for all at once.
    pub fn keep_forces(&mut self, points: &[ContactPoint]) {
        self.starts.tried.clear();
        // Where sweeps end before they agree, forces that did not do are a bad start.
        let agreed = self.holds_any() && self.is_direct();
        if !agreed || self.links.len() != points.len() {
            return;
        }
        for (link, point) in self.links.iter().zip(points) {
            let frame = frame_of(&point.normal);
            let force = link.first.map(|f| along(&frame, &f));
            self.starts.tried.push((key_of(point), force));
        }
    }
}
