//! What acts along free coordinates, as rows of the dual system.
//!
//! A law λ = g x⁺ + q of the coordinate x⁺ at the end of the step is a row with compliance:
//! `(W + 1/g) λ = x_free + q/g`. A limit that is reached and friction that holds are rows
//! without compliance; a constant force is a row of very large compliance. Which of these a
//! coordinate is in follows from the signs of the solution, by a few rounds of solving.
//!
//! The spring is taken at `(1−θ) x + θ x⁺` with θ between ½ (slow: second order, keeps
//! energy) and 1 (faster than the step: damped), by the same ratio as in `tempered.rs`; a damper d
//! counts as a spring of stiffness d/h.

use super::Dual;
use super::linearize::{carried, map_of};
use crate::integrate::Scheme;
use crate::integrate::newton::NewtonBlock;
use crate::joint::Joint;
use crate::joint::axis::{AxisKind, AxisLaw};
use crate::math::angle;
use crate::model::{Control, Model, State};

/// A constant force is a row with this many times its own compliance.
const SOFT: f64 = 1e9;
/// Rounds of solving in which coordinates may change what they do.
pub(crate) const ROUNDS: usize = 20;

/// What a coordinate does in this step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// Follows its spring and its drive.
    Free,
    /// Slips against friction of this sign.
    Slip(f64),
    /// Friction holds it.
    Stick,
    /// At its lower limit.
    Lower,
    /// At its upper limit.
    Upper,
}

/// One coordinate along which something acts.
#[derive(Clone, Debug)]
pub(crate) struct AxisRow {
    pub(super) joint: usize,
    /// Which axis of the joint.
    axis: usize,
    kind: AxisKind,
    pub(super) law: AxisLaw,
    /// Row among all rows, and within the block of its joint.
    pub(super) row: usize,
    local: usize,
    /// Length that makes the row a displacement, m/rad, or 1.
    pub(super) unit: f64,
    pub(super) mode: Mode,
    /// Sign of a drive at the end of its effort.
    saturated: f64,
    /// Coordinate at the start of the step and at the iterate.
    pub(super) start: f64,
    pub(super) x: f64,
    /// θ, and how much of implicit Euler the second half takes.
    theta: f64,
    phi: f64,
    /// Own compliance of the row, without what the law adds, m/N.
    own: f64,
    /// The part of it that is an entry of the matrix: all but that of hubs, m/N.
    base: f64,
    /// Compliance that the law adds, m/N.
    added: f64,
    /// λ so far in this iteration, N.
    pub(super) lambda: f64,
    /// Force of the first half, N m or N.
    pub(super) held: f64,
    /// Displacement of the first half.
    moved: f64,
}

impl AxisRow {
    /// Whether it is a row without compliance.
    pub(super) fn is_hard(&self) -> bool {
        matches!(self.mode, Mode::Lower | Mode::Upper | Mode::Stick)
    }

    /// λ = g x⁺ + q, and the constant part of friction.
    pub(super) fn line(&self, h: f64) -> (f64, f64) {
        let [k, d, bias] = self.law.linear(self.saturated);
        let slip = if let Mode::Slip(sign) = self.mode {
            sign * self.law.friction
        } else {
            0.0
        } + self.push();
        let g = self.theta * k + d / h;
        (
            g,
            (1.0 - self.theta) * k * self.start - d / h * self.start - bias + slip,
        )
    }

    /// The explicit push of a clamped limit that the coordinate starts the step beyond.
    fn push(&self) -> f64 {
        let [lower, upper] = self.law.limits;
        let inside = self.start.max(lower).min(upper);
        self.law.clamp().unwrap_or(0.0) * (self.start - inside)
    }

    /// Added compliance (m/N) and right-hand side (m) of the first half.
    fn equation(&self, h: f64) -> (f64, f64) {
        let hard = match self.mode {
            Mode::Lower => Some(self.law.limits[0]),
            Mode::Upper => Some(self.law.limits[1]),
            Mode::Stick => Some(self.start),
            _ => None,
        };
        if let Some(target) = hard {
            return (0.0, self.unit * (self.x - target));
        }
        let (g, q) = self.line(h);
        let unit2 = self.unit * self.unit;
        if g * self.own > SOFT.recip() * unit2 {
            let added = unit2 / g;
            return (added, self.unit * (self.x + q / g) - added * self.lambda);
        }
        let added = SOFT * self.own;
        (added, added * ((g * self.x + q) / self.unit - self.lambda))
    }

    /// Decides what the coordinate does from the trial solution; true when it changed.
    fn decide(&mut self, h: f64, trial: f64) -> bool {
        let before = (self.mode, self.saturated);
        let force = self.unit * (self.lambda + trial);
        let (g, q) = self.line(h);
        let soft = |x: f64| g * x + q;
        let end = match self.mode {
            Mode::Lower => self.law.limits[0],
            Mode::Upper => self.law.limits[1],
            Mode::Stick => self.start,
            // (W + added) λ = r  ⇒  x⁺ = x − (r − added λ)/unit.
            _ => {
                let (added, r) = self.equation(h);
                self.x - (r - added * trial) / self.unit
            }
        };
        match self.mode {
            Mode::Free | Mode::Slip(_) => {
                self.saturate(h, end);
                let moved = end - self.start;
                if end < self.law.limits[0] {
                    self.mode = Mode::Lower;
                } else if end > self.law.limits[1] {
                    self.mode = Mode::Upper;
                } else if let Mode::Slip(sign) = self.mode
                    && moved * sign < 0.0
                {
                    self.mode = Mode::Stick;
                }
            }
            Mode::Stick => {
                self.saturate(h, end);
                let friction = force - soft(end);
                if self.start < self.law.limits[0] {
                    self.mode = Mode::Lower;
                } else if self.start > self.law.limits[1] {
                    self.mode = Mode::Upper;
                } else if friction.abs() > self.law.friction {
                    self.mode = Mode::Slip(friction.signum());
                }
            }
            // A clamped limit stays where it is until the step ends, whatever its sign.
            Mode::Lower | Mode::Upper if self.law.clamp().is_some() => {}
            Mode::Lower if force - soft(end) > 0.0 => self.mode = Mode::Free,
            Mode::Upper if force - soft(end) < 0.0 => self.mode = Mode::Free,
            _ => {}
        }
        (self.mode, self.saturated) != before
    }

    fn saturate(&mut self, h: f64, end: f64) {
        let x = (1.0 - self.theta) * self.start + self.theta * end;
        let drive = self.law.drive_force(x, (end - self.start) / h);
        if self.saturated == 0.0 && drive.abs() > self.law.effort {
            self.saturated = drive.signum();
        } else if self.saturated != 0.0 && drive * self.saturated < self.law.effort {
            self.saturated = 0.0;
        }
    }

    /// Added compliance and right-hand side of the second half, for the free rate u·unit.
    pub(super) fn rate_equation(&self, h: f64, free: f64) -> (f64, f64) {
        if self.is_hard() {
            return (0.0, free);
        }
        let [k, d, _] = self.law.linear(self.saturated);
        let g = self.phi * (k + d / h);
        let constant = (self.held - self.phi * d / h * self.moved) / self.unit;
        let unit2 = self.unit * self.unit;
        if g * self.own > SOFT.recip() * unit2 {
            let added = unit2 / g;
            return (added, free + added * (constant - self.lambda));
        }
        (SOFT * self.own, SOFT * self.own * (constant - self.lambda))
    }
}

impl Dual {
    /// The coordinates of a model along which something acts.
    pub(super) fn axis_rows(model: &Model, offsets: &[usize]) -> Vec<AxisRow> {
        let mut found = Vec::new();
        for (joint, def) in model.joints.iter().enumerate() {
            let acting = def
                .axes
                .iter()
                .enumerate()
                .filter(|(_, axis)| !axis.law.is_idle());
            for (k, (axis, it)) in acting.enumerate() {
                found.push(AxisRow {
                    joint,
                    axis,
                    kind: it.kind,
                    law: it.law,
                    row: offsets[joint] + def.rows() + k,
                    local: def.rows() + k,
                    unit: if it.kind.is_angle() { def.length } else { 1.0 },
                    mode: Mode::Free,
                    saturated: 0.0,
                    start: 0.0,
                    x: 0.0,
                    theta: 1.0,
                    phi: 1.0,
                    own: 0.0,
                    base: 0.0,
                    added: 0.0,
                    lambda: 0.0,
                    held: 0.0,
                    moved: 0.0,
                });
            }
        }
        found
    }

    /// Starts a step: where the coordinates are, and what the drives aim at.
    pub(crate) fn start_axes(&mut self, model: &Model, state: &State, control: &Control) {
        self.start_border(model, state, control);
        for row in &mut self.axes {
            let index = model.axis_starts[row.joint] + row.axis;
            row.start = state.coordinates[index];
            row.law = model.joints[row.joint].axes[row.axis].law;
            if let Some(drive) = control.drives.get(index).copied().flatten() {
                row.law.drive = drive;
            }
            row.mode = if row.law.friction > 0.0 {
                Mode::Stick
            } else {
                Mode::Free
            };
            row.saturated = 0.0;
        }
        self.start_limits(&state.held);
        self.forget_altered();
    }

    /// After assembly: reads the own compliance of each row and adds that of its law.
    pub(super) fn soften(&mut self, work: &[NewtonBlock], scheme: &Scheme, projects: bool) {
        self.measure_axes(work);
        for k in 0..self.axes.len() {
            let (island, node) = self.joints_place(self.axes[k].joint);
            let size = self.islands[island].matrix.pattern().size(node);
            let row = &mut self.axes[k];
            let entry = &mut self.islands[island].matrix.diagonal_mut(node)[row.local * (size + 1)];
            row.lambda = 0.0;
            let [stiffness, damping, _] = row.law.linear(row.saturated);
            let stiffness = stiffness + damping / scheme.h;
            let ratio = (0.5 * stiffness * row.own / (row.unit * row.unit)).min(1e6);
            row.phi = if projects {
                ratio * ratio / (1.0 + ratio * ratio)
            } else {
                1.0
            };
            row.theta = 0.5 + 0.5 * row.phi;
            row.added = row.equation(scheme.h).0;
            *entry += row.added;
        }
    }

    /// Coordinates at the iterate, and the right-hand sides of their rows. Returns the
    /// largest violation of limits and held friction, m.
    pub(super) fn axis_sides(&mut self, model: &Model, work: &[NewtonBlock], h: f64) -> f64 {
        for k in 0..self.axes.len() {
            if self.is_open(self.axes[k].joint) {
                let row = &mut self.axes[k];
                row.x = coordinate(&model.joints[row.joint], row, work);
            }
        }
        self.law_sides(h)
    }

    /// The same where the coordinates are known.
    pub(super) fn law_sides(&mut self, h: f64) -> f64 {
        let mut worst = 0.0f64;
        for row in &self.axes {
            let (added, side) = row.equation(h);
            self.lambda[row.row] = side;
            if added == 0.0 {
                worst = worst.max(side.abs());
            }
        }
        worst
    }

    /// After a trial solve: lets coordinates change what they do; true when one did, with
    /// the matrix factored anew. `early` says that contacts do not push yet.
    pub(crate) fn decide_axes(&mut self, h: f64, early: bool) -> Result<bool, super::DualFault> {
        let mut changed = false;
        for k in 0..self.axes.len() {
            if early && self.waits(&self.axes[k]) {
                continue;
            }
            let trial = self.lambda[self.axes[k].row];
            if self.axes[k].decide(h, trial) {
                self.alter(k);
                changed = true;
            }
        }
        if changed {
            self.replace_compliance(|row| row.equation(h).0);
            self.refactor_altered()?;
        }
        Ok(changed)
    }

    pub(super) fn replace_compliance(&mut self, added: impl Fn(&AxisRow) -> f64) {
        for k in 0..self.axes.len() {
            let (island, node) = self.joints_place(self.axes[k].joint);
            let size = self.islands[island].matrix.pattern().size(node);
            let row = &mut self.axes[k];
            row.added = added(row);
            self.islands[island].matrix.diagonal_mut(node)[row.local * (size + 1)] =
                row.base + row.added;
        }
    }

    /// Factors the islands whose coordinates have changed what they do.
    pub(super) fn refactor_altered(&mut self) -> Result<(), super::DualFault> {
        for (island, altered) in self.islands.iter_mut().zip(&self.altered) {
            if *altered {
                island.factor()?;
            }
        }
        self.refactor_border()
    }

    /// Adds the accepted solution to the forces of the coordinates.
    pub(crate) fn keep_axes(&mut self) {
        for row in &mut self.axes {
            row.lambda += self.lambda[row.row];
        }
    }

    /// Prepares the velocity projection: forces of springs and drives as they were, limits
    /// and held friction as rows. The factors may stay those of the old pose; without `keep`,
    /// `renew_rates` comes next.
    pub(crate) fn start_rates(
        &mut self,
        model: &Model,
        work: &[NewtonBlock],
        h: f64,
        keep: bool,
    ) -> Result<(), super::DualFault> {
        // The gradients of the new pose.
        self.linearize(model, work, false, false);
        if self.axes.is_empty() {
            return Ok(());
        }
        for row in &mut self.axes {
            row.held = row.unit * row.lambda;
            row.lambda = 0.0;
            row.x = coordinate(&model.joints[row.joint], row, work);
            row.moved = row.x - row.start;
            if row.law.clamp().is_some() && matches!(row.mode, Mode::Lower | Mode::Upper) {
                row.mode = Mode::Free;
                let (g, q) = row.line(h);
                row.held = g * row.x + q;
            }
        }
        self.replace_compliance(|row| row.rate_equation(h, 0.0).0);
        if !keep {
            return Ok(());
        }
        for island in &mut self.islands {
            island.factor()?;
        }
        self.refactor_border()
    }

    /// The matrix of the velocity projection at the new pose, factored. Compliances of points
    /// are up to date, and `start_rates` came before.
    pub(crate) fn renew_rates(
        &mut self,
        model: &Model,
        work: &[NewtonBlock],
        h: f64,
    ) -> Result<(), super::DualFault> {
        if self.is_empty() {
            return Ok(());
        }
        self.linearize(model, work, false, true);
        self.assemble(work);
        self.measure_axes(work);
        self.replace_compliance(|row| row.rate_equation(h, 0.0).0);
        for island in &mut self.islands {
            island.factor()?;
        }
        self.factor_border(work)
    }

    /// After assembly: reads the own compliance of each row.
    fn measure_axes(&mut self, work: &[NewtonBlock]) {
        for k in 0..self.axes.len() {
            let of_hubs = self.hub_compliance(self.axes[k].joint, self.axes[k].local, work);
            let (island, node) = self.joints_place(self.axes[k].joint);
            let size = self.islands[island].matrix.pattern().size(node);
            let row = &mut self.axes[k];
            row.base = self.islands[island].matrix.diagonal(node)[row.local * (size + 1)];
            row.own = row.base + of_hubs;
        }
    }

    /// The right-hand sides of the coordinates' rows in the projection: `lambda` holds h
    /// times their rates. Returns the largest rate of limits and held friction, m.
    pub(super) fn rate_sides(&mut self, h: f64) -> f64 {
        let mut worst = 0.0f64;
        for row in &self.axes {
            let (added, side) = row.rate_equation(h, self.lambda[row.row]);
            self.lambda[row.row] = side;
            if added == 0.0 {
                worst = worst.max(side.abs());
            }
        }
        worst
    }

    /// Whether something acts along a coordinate.
    pub(crate) fn has_axes(&self) -> bool {
        !self.axes.is_empty()
    }

    /// Whether all that acts along coordinates is linear in them, and so has a potential.
    pub(crate) fn has_potential(&self) -> bool {
        self.axes.iter().all(|row| row.law.is_linear())
    }

    /// The potential of what acts along coordinates at the iterate, `½ g x² + q x`, J.
    pub(crate) fn potential(&self, model: &Model, work: &[NewtonBlock], h: f64) -> f64 {
        let of = |row: &AxisRow| {
            let x = coordinate(&model.joints[row.joint], row, work);
            let (g, q) = row.line(h);
            (0.5 * g * x + q) * x
        };
        self.axes.iter().map(of).sum()
    }
}

/// A coordinate at the iterate, near where it was at the start of the step.
fn coordinate(joint: &Joint, row: &AxisRow, work: &[NewtonBlock]) -> f64 {
    let value = match row.kind.is_turn() {
        // It is looked at often, and two maps are all that it needs.
        true => {
            let maps = [&joint.a, &joint.b].map(|side| map_of(side, work));
            row.kind.turn(&maps, [&joint.a.axes, &joint.b.axes])
        }
        false => {
            let (a, b) = carried(joint, work);
            row.kind.value(&a, &b)
        }
    };
    unwrap(row.kind, value, row.start)
}

/// The angle that is nearest to where the coordinate was.
pub(crate) fn unwrap(kind: AxisKind, value: f64, near: f64) -> f64 {
    if !kind.wraps() {
        return value;
    }
    angle::unwrap(value, near)
}
