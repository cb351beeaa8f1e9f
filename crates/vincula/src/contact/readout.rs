//! What contacts did in the last step, for users.

use glam::DVec3;

use super::rows::{along, frame_of};
use super::stage::Care;
use super::{ContactPoint, ContactSolver};
use crate::model::{BodyId, ColliderId, Wrench};
use crate::workspace::Workspace;

/// A contact in the last step. Forces are those on the second body; the first feels the
/// opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactReading {
    /// Body of the first collider; `None` when it is static or moved by the user.
    pub a: Option<BodyId>,
    /// Body of the second collider.
    pub b: Option<BodyId>,
    /// The two colliders.
    pub colliders: [ColliderId; 2],
    /// Where it was at the start of the step, as the second collider has it, m.
    pub point: DVec3,
    /// Unit normal from the first to the second.
    pub normal: DVec3,
    /// Gap at the start of the step, m; negative when they overlapped.
    pub gap: f64,
    /// Normal impulse over the step, N s.
    pub impulse: f64,
    /// Friction impulse over the step, N s.
    pub friction: DVec3,
    /// Torque impulse of rolling and torsional friction, N m s.
    pub torque: DVec3,
    /// Velocity of the second surface against the first at the end, tangential, m/s; zero where
    /// they do not touch then.
    pub slip: DVec3,
    /// From the centre of mass of each body to the contact, m.
    arms: [DVec3; 2],
}

impl ContactReading {
    /// The impulse and torque impulse about the centre of mass that a body got from it.
    pub fn on(&self, body: BodyId) -> Wrench {
        let force = self.normal * self.impulse + self.friction;
        let mut total = Wrench::default();
        for (side, arm, sign) in [(self.a, self.arms[0], -1.0), (self.b, self.arms[1], 1.0)] {
            if side == Some(body) {
                total.force += sign * force;
                total.torque += sign * (arm.cross(force) + self.torque);
            }
        }
        total
    }
}

impl Workspace {
    /// The contacts of the last step that pushed, in the order of their colliders. The state
    /// must be the one that the step ended with.
    pub fn contact_readings(&self) -> impl Iterator<Item = ContactReading> + '_ {
        let points = self.contacts.points.iter().enumerate();
        points.filter_map(|(index, point)| self.reading(index, point))
    }

    fn reading(&self, index: usize, point: &ContactPoint) -> Option<ContactReading> {
        let done = self.stage.outcome(index)?;
        let frame = frame_of(&point.normal);
        // Both stages act for half a step, if there are two.
        let halves = self.settings.integrator.projects();
        let share = self.last_h * if halves { 0.5 } else { 1.0 };
        let [force, torque] = done.total;
        if force[0] <= 0.0 {
            return None;
        }
        // The end of the step may have been slowed since.
        let slowed = point
            .a
            .or(point.b)
            .map_or(1.0, |id| self.passive.factor(id));
        let slip = done
            .slip
            .map_or([0.0; 3], |s| [0.0, slowed * s[1], slowed * s[2]]);
        let world = |x: [f64; 3], k: f64| DVec3::from_array(along(&frame, &x)) * k;
        Some(ContactReading {
            a: point.a,
            b: point.b,
            colliders: [point.collider_a, point.collider_b],
            point: DVec3::from_array(done.at),
            normal: DVec3::from_array(point.normal),
            gap: point.gap,
            impulse: share * force[0],
            friction: world([0.0, force[1], force[2]], share),
            torque: world(torque, share),
            slip: world(slip, 1.0 / self.last_h),
            arms: done.arms.map(DVec3::from_array),
        })
    }

    /// Sum of the contact impulses of the last step on a body, N s and N m s about its centre.
    pub fn contact_impulse(&self, body: BodyId) -> Wrench {
        let mut total = Wrench::default();
        for reading in self.contact_readings() {
            let one = reading.on(body);
            total.force += one.force;
            total.torque += one.torque;
        }
        total
    }

    /// What solves the contacts, and why; `None` when nothing can touch.
    pub fn contact_plan(&self) -> Option<String> {
        let why = match self.settings.contact_solver {
            ContactSolver::Automatic if self.stage.care() != Care::Exact => {
                "an accelerated projection, each round a solve with the joint factors"
            }
            ContactSolver::Automatic => {
                "Gauss–Seidel, then anticipation for groups of up to 130 points"
            }
            _ => "asked for",
        };
        let points = self.contacts.points.len();
        (points > 0).then(|| {
            let solver = self.settings.contact_solver;
            format!("contacts by {solver}: {points} points at last ({why})")
        })
    }

    /// Pairs of colliders with a sensor that overlapped at the start of the last step.
    pub fn sensed(&self) -> &[[ColliderId; 2]] {
        &self.contacts.sensed
    }
}
