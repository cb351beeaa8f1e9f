//! Coordinates that a limit or friction holds, and what lets them go.
//!
//! In a mechanism that contacts touch, whether a limit has to push is known only once they push too.
//! So a limit that was reached in the last step is taken to be reached, and contacts decide whether
//! it stays so.

use super::axes::{AxisRow, Mode};
use super::{Dual, DualFault};

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

    fn is_at_limit(&self) -> bool {
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
