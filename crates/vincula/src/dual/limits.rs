//! Coordinates that a limit or friction holds, and what lets them go.
//!
//! In a mechanism that contacts touch, whether a limit has to push is known only once they push too.
//! So a limit that was reached in the last step is taken to be reached, and contacts decide whether
//! it stays so.

use super::axes::{AxisRow, Mode, coordinate};
use super::linearize::{carried, map_of};
use super::{Dual, DualFault};
use crate::integrate::newton::NewtonBlock;
use crate::math::small::{V3, axial, mult, scale};
use crate::model::Model;

/// Way from a limit, m, within which a coordinate is at it.
const AT: f64 = 1e-9;

impl AxisRow {
    /// The limit that the coordinate starts the step at, if one pushed it in the last step, `held` in N.
    fn lasting_limit(&self, held: f64) -> Option<Mode> {
        if self.law.friction > 0.0 || self.law.clamp().is_some() {
            return None;
        }
        let near = |limit: f64| self.unit * (self.start - limit).abs() <= AT;
        let [lower, upper] = self.law.limits.map(near);
        match held {
            _ if held < 0.0 && lower => Some(Mode::Lower),
            _ if held > 0.0 && upper => Some(Mode::Upper),
            _ => None,
        }
    }

    /// Whether a limit would have to pull with this force, N.
    fn pulls(&self, force: f64) -> bool {
        match self.mode {
            Mode::Lower => force > 0.0,
            Mode::Upper => force < 0.0,
            _ => false,
        }
    }

    pub(super) fn is_at_limit(&self) -> bool {
        matches!(self.mode, Mode::Lower | Mode::Upper)
    }
}

impl Dual {
    /// Notes which mechanisms contacts may touch in this step, by their bodies.
    pub(crate) fn note_touched(&mut self, bodies: impl Iterator<Item = usize>) {
        self.touched.fill(false);
        for body in bodies {
            if let Some(island) = self.island_at(body) {
                self.touched[island] = true;
            }
        }
    }

    /// Limits of touched mechanisms are where the last step left them, with these forces, N.
    pub(super) fn start_limits(&mut self, held: &[f64]) {
        for k in 0..self.axes.len() {
            if self.is_touched(&self.axes[k]) {
                let row = &mut self.axes[k];
                row.mode = row.lasting_limit(held[row.row]).unwrap_or(row.mode);
            }
        }
    }

    /// Whether a coordinate is at a limit that only contacts can decide on.
    pub(super) fn waits(&self, row: &AxisRow) -> bool {
        row.is_at_limit() && self.is_touched(row)
    }

    /// Notes that a coordinate has changed what it does, and so how its mechanism answers.
    pub(super) fn alter(&mut self, axis: usize) {
        let island = self.joints_place(self.axes[axis].joint).0;
        self.altered[island] = true;
    }

    /// Whether coordinates of an island have changed what they do since this was forgotten.
    pub(crate) fn is_altered(&self, island: usize) -> bool {
        self.altered[island]
    }

    /// The same of any island.
    pub(crate) fn has_altered(&self) -> bool {
        self.altered.contains(&true)
    }

    pub(crate) fn forget_altered(&mut self) {
        self.altered.fill(false);
    }

    /// Writes the coordinates whose limits have changed what they do since this was asked for.
    pub(crate) fn take_contested(&mut self, into: &mut Vec<usize>) {
        into.clear();
        for (k, row) in self.axes.iter_mut().enumerate() {
            if std::mem::take(&mut row.contested) {
                into.push(k);
            }
        }
    }

    /// The bodies that a coordinate is between.
    pub(crate) fn sides_of(&self, model: &Model, axis: usize) -> [Option<usize>; 2] {
        let joint = &model.joints[self.axes[axis].joint];
        [&joint.a, &joint.b].map(|side| side.endpoint.index())
    }

    /// Leaves the limits of a coordinate to contacts. Says whether the upper one is the nearer, or nothing
    /// if they cannot decide on it.
    pub(crate) fn release(
        &mut self,
        model: &Model,
        work: &[NewtonBlock],
        axis: usize,
    ) -> Option<bool> {
        let row = &mut self.axes[axis];
        if row.released || row.law.friction > 0.0 || row.law.clamp().is_some() {
            return None;
        }
        let upper = match row.mode {
            Mode::Lower => false,
            Mode::Upper => true,
            _ => {
                let x = coordinate(&model.joints[row.joint], row, work);
                let [lower, upper] = row.law.limits;
                upper - x < x - lower
            }
        };
        let was_held = row.is_at_limit();
        (row.released, row.mode) = (true, Mode::Free);
        if was_held {
            self.alter(axis);
        }
        Some(upper)
    }

    /// Factors mechanisms anew whose limits were left to contacts; says whether there are any.
    pub(crate) fn renew_released(&mut self, h: f64) -> Result<bool, DualFault> {
        let altered = self.has_altered();
        if altered {
            self.renew_laws(h)?;
        }
        Ok(altered)
    }

    /// Leaves no limits to contacts.
    pub(crate) fn hold_limits(&mut self) {
        for row in &mut self.axes {
            (row.released, row.contested) = (false, false);
        }
    }

    /// The way to a limit at the iterate, m, and force and torque on the two bodies of a unit force that
    /// opens it.
    pub(crate) fn gap_of(
        &self,
        model: &Model,
        work: &[NewtonBlock],
        axis: usize,
        upper: bool,
    ) -> (f64, [[V3; 2]; 2]) {
        let row = &self.axes[axis];
        let joint = &model.joints[row.joint];
        let x = coordinate(joint, row, work);
        let [lower_limit, upper_limit] = row.law.limits;
        let (gap, sign) = match upper {
            true => (upper_limit - x, -row.unit),
            false => (x - lower_limit, row.unit),
        };
        let (a, b) = carried(joint, work);
        let gradients = row.kind.linearize(&a, &b);
        let by = [(&joint.a, &gradients.a), (&joint.b, &gradients.b)].map(|(side, gradient)| {
            // A rotation θ changes A by [θ] A.
            let torque = axial(&mult(&gradient.a, &map_of(side, work)));
            [scale(&gradient.t, sign), scale(&torque, 2.0 * sign)]
        });
        (row.unit * gap, by)
    }

    /// Takes a limit as one that pushed with a force, N, and writes that to those of all rows.
    pub(crate) fn end_stop(&mut self, axis: usize, upper: bool, force: f64, forces: &mut [f64]) {
        let row = &mut self.axes[axis];
        (row.mode, row.lambda) = match upper {
            true => (Mode::Upper, force),
            false => (Mode::Lower, -force),
        };
        forces[row.row] = row.lambda;
    }

    fn is_touched(&self, row: &AxisRow) -> bool {
        self.touched[self.joints_place(row.joint).0]
    }

    /// Marks the islands of coordinates that ran into a limit in this step, by their forces at
    /// its start and at its end, N; true if there is one.
    pub(crate) fn struck_limits(&self, before: &[f64], now: &[f64], struck: &mut [bool]) -> bool {
        let mut any = false;
        for row in &self.axes {
            if row.is_at_limit() && before[row.row] == 0.0 && now[row.row] != 0.0 {
                struck[self.joints_place(row.joint).0] = true;
                any = true;
            }
        }
        any
    }

    /// After a trial projection: releases limits that would pull, but for those that contacts are
    /// still to decide on; true when there was one.
    pub(crate) fn release_limits(&mut self, h: f64) -> Result<bool, DualFault> {
        let mut changed = false;
        for k in 0..self.axes.len() {
            if self.is_touched(&self.axes[k]) {
                continue;
            }
            let row = &mut self.axes[k];
            if row.pulls(self.lambda[row.row]) {
                row.mode = Mode::Free;
                row.held = 0.0;
                self.alter(k);
                changed = true;
            }
        }
        self.renew_altered(changed, h)
    }

    /// Whether friction or a limit holds a coordinate.
    pub(crate) fn holds_axes(&self) -> bool {
        let held = |row: &AxisRow| matches!(row.mode, Mode::Stick | Mode::Lower | Mode::Upper);
        self.axes.iter().any(held)
    }

    /// After a trial projection with contacts: lets go of what friction cannot hold and of limits
    /// that would pull; true when something was, with the matrix factored anew.
    pub(crate) fn yield_rates(&mut self, h: f64) -> Result<bool, DualFault> {
        let mut changed = false;
        for k in 0..self.axes.len() {
            let row = &mut self.axes[k];
            let force = row.unit * (row.lambda + self.lambda[row.row]);
            let (g, q) = row.line(h);
            let soft = g * row.x + q;
            if row.pulls(force) {
                (row.mode, row.held) = (Mode::Free, soft);
            } else if row.mode == Mode::Stick && (force - soft).abs() > row.law.friction {
                let sign = (force - soft).signum();
                (row.mode, row.held) = (Mode::Slip(sign), soft + sign * row.law.friction);
            } else {
                continue;
            }
            self.alter(k);
            changed = true;
        }
        self.renew_altered(changed, h)
    }

    /// Factors the projection anew if coordinates have changed what they do; says whether they have.
    fn renew_altered(&mut self, changed: bool, h: f64) -> Result<bool, DualFault> {
        if changed {
            self.replace_compliance(|row| row.rate_equation(h, 0.0).0);
            self.refactor_altered()?;
        }
        Ok(changed)
    }
}
