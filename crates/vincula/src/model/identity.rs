//! A number that tells models apart: a hash of everything that a step reads.
//!
//! FNV-1a over 64-bit words. Two models that were built the same way have the same number,
//! on every machine; states, controls and workspaces carry it, so that a step can refuse
//! those of another model.

use std::fmt::{self, Write};

use glam::{DQuat, DVec3};

use super::{Body, Model, Pose};
use crate::joint::axis::{AxisLaw, Drive};
use crate::joint::{Coupling, Joint, Rule, Side};

/// The hash so far.
struct Words(u64);

/// Whatever can be printed can be hashed; floats print so that they read back the same.
impl Write for Words {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Byte by byte: where the pieces of a text end is the printer's affair.
        text.bytes().for_each(|byte| self.word(u64::from(byte)));
        Ok(())
    }
}

impl Words {
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3);
        // Multiplication carries upwards only; this brings high bits back down.
        self.0 ^= self.0 >> 29;
    }

    fn count(&mut self, count: usize) {
        self.word(count as u64);
    }

    fn number(&mut self, number: f64) {
        self.word(number.to_bits());
    }

    fn numbers(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|x| self.number(*x));
    }

    fn vector(&mut self, vector: DVec3) {
        self.numbers(&vector.to_array());
    }

    fn turn(&mut self, turn: DQuat) {
        self.numbers(&turn.to_array());
    }

    fn pose(&mut self, pose: &Pose) {
        self.vector(pose.translation);
        self.turn(pose.rotation);
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    fn body(&mut self, body: &Body) {
        self.text(&body.name);
        self.number(body.mass.mass);
        self.vector(body.mass.center);
        self.turn(body.mass.axes);
        self.vector(body.mass.second_moments);
        self.numbers(&[body.material.young, body.material.poisson]);
        self.numbers(&[body.damping.linear, body.damping.angular]);
        self.numbers(&[body.drag.linear, body.drag.quadratic, body.drag.angular]);
        self.number(body.gravity_scale);
        self.pose(&body.initial_pose);
        self.vector(body.initial_twist.linear);
        self.vector(body.initial_twist.angular);
    }

    fn side(&mut self, side: &Side) {
        self.count(side.endpoint.index().map_or(0, |i| i + 1));
        self.numbers(&side.point);
        self.numbers(side.axes.as_flattened());
    }

    fn joint(&mut self, joint: &Joint) {
        self.text(&joint.name);
        self.text(joint.kind.name());
        self.count(joint.rows());
        self.side(&joint.a);
        self.side(&joint.b);
        self.number(joint.length);
        for axis in &joint.axes {
            self.law(&axis.law);
        }
    }

    fn law(&mut self, law: &AxisLaw) {
        if law.is_idle() {
            return self.word(0);
        }
        self.numbers(&law.limits);
        self.number(law.clamp().unwrap_or(-1.0));
        self.numbers(&[law.spring.stiffness, law.spring.damping, law.spring.rest]);
        self.numbers(&[law.friction, law.effort]);
        match law.drive {
            Drive::None => self.word(1),
            Drive::Position {
                target,
                stiffness,
                damping,
            } => self.numbers(&[2.0, target, stiffness, damping]),
            Drive::Velocity { target, damping } => self.numbers(&[3.0, target, damping]),
            Drive::Effort(effort) => self.numbers(&[4.0, effort]),
        }
    }

    fn coupling(&mut self, coupling: &Coupling) {
        self.text(&coupling.name);
        for term in coupling.terms() {
            self.count(term.coordinate.joint.index());
            self.count(term.coordinate.axis);
            self.number(term.factor);
        }
        match &coupling.rule {
            Rule::Sum { constant, .. } => self.numbers(&[1.0, *constant]),
            Rule::Rates { rate, .. } => self.numbers(&[2.0, *rate]),
            Rule::Skate { ends, rate } => {
                ends.iter().for_each(|end| self.side(end));
                self.numbers(&[3.0, *rate]);
            }
            Rule::Roll { ends, radius } => {
                ends.iter().for_each(|end| self.side(end));
                self.numbers(&[4.0, *radius]);
            }
        }
    }
}

/// The number of a model.
pub(super) fn identity(model: &Model) -> u64 {
    let mut words = Words(0xcbf2_9ce4_8422_2325);
    words.vector(model.gravity);
    let wind = &model.wind;
    [wind.mean, wind.gust, wind.wave]
        .into_iter()
        .for_each(|v| words.vector(v));
    words.number(wind.frequency);
    if let Some(g) = &model.ground {
        words.numbers(&[g.height, g.stiffness, g.damping, g.friction, g.slip]);
    }
    words.count(model.bodies.len());
    model.bodies.iter().for_each(|body| words.body(body));
    words.count(model.joints.len());
    model.joints.iter().for_each(|joint| words.joint(joint));
    words.count(model.couplings.len());
    model.couplings.iter().for_each(|it| words.coupling(it));
    let collision = &model.collision;
    let (colliders, frames) = (&collision.colliders, &collision.frames);
    let ignored = collision.ignored.iter();
    ignored.for_each(|body| words.count(body.index()));
    let starts = collision.ignored_starts.iter();
    starts.for_each(|start| words.word(u64::from(*start)));
    let told = (colliders, frames);
    // Hashing cannot fail, only printing could.
    let _ = write!(words, "{told:?}");
    words.0
}
