//! What one pass over a block of eight bodies leaves for the next.

use crate::dual::ports::{NO_POINTS, Points, PortBlock};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{LANES, Lane};

/// What the passes of a step leave of a block of eight bodies.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// The points of the joints.
    pub ports: PortBlock,
    /// Their velocities, m/s.
    pub rates: Points,
    /// The pose at the end of the step.
    pub a: [Lane; 9],
    pub t: [Lane; 3],
    rot: [Lane; 9],
    w: [Lane; 9],
    v: [Lane; 3],
    geometric: [Lane; 3],
}

impl Slot {
    pub const ZERO: Slot = Slot {
        ports: PortBlock::NONE,
        rates: NO_POINTS,
        a: [[0.0; LANES]; 9],
        t: [[0.0; LANES]; 3],
        rot: [[0.0; LANES]; 9],
        w: [[0.0; LANES]; 9],
        v: [[0.0; LANES]; 3],
        geometric: [[0.0; LANES]; 3],
    };

    /// After the velocity was turned and kicked.
    pub fn keep(&mut self, n: &NewtonBlock) {
        self.a = n.a;
        self.t = n.t;
        self.rot = n.rot;
        self.w = n.w;
        self.v = n.v;
        self.geometric = n.geometric;
    }

    /// What the projection of the velocity needs; the inverse follows from the rest.
    pub fn recall(&self, n: &mut NewtonBlock) {
        n.rot = self.rot;
        n.w = self.w;
        n.v = self.v;
        n.geometric = self.geometric;
    }
}

/// The part of a [`NewtonBlock`] after the free solve that answering joint forces needs.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Prediction {
    rot: [Lane; 9],
    a: [Lane; 9],
    t: [Lane; 3],
    a_pred: [Lane; 9],
    t_pred: [Lane; 3],
    w: [Lane; 9],
    v: [Lane; 3],
    p: [Lane; 9],
    inverse: [Lane; 16],
    geometric: [Lane; 3],
    slow: [Lane; 3],
    momentum: [Lane; 3],
}

impl Prediction {
    pub const ZERO: Prediction = Prediction {
        rot: [[0.0; LANES]; 9],
        a: [[0.0; LANES]; 9],
        t: [[0.0; LANES]; 3],
        a_pred: [[0.0; LANES]; 9],
        t_pred: [[0.0; LANES]; 3],
        w: [[0.0; LANES]; 9],
        v: [[0.0; LANES]; 3],
        p: [[0.0; LANES]; 9],
        inverse: [[0.0; LANES]; 16],
        geometric: [[0.0; LANES]; 3],
        slow: [[0.0; LANES]; 3],
        momentum: [[0.0; LANES]; 3],
    };

    pub fn keep(&mut self, n: &NewtonBlock) {
        self.rot = n.rot;
        self.a = n.a;
        self.t = n.t;
        self.a_pred = n.a_pred;
        self.t_pred = n.t_pred;
        self.w = n.w;
        self.v = n.v;
        self.p = n.p;
        self.inverse = n.inverse;
        self.geometric = n.geometric;
        self.slow = n.slow;
        self.momentum = n.momentum;
    }

    pub fn recall(&self, n: &mut NewtonBlock) {
        n.rot = self.rot;
        n.a = self.a;
        n.t = self.t;
        n.a_pred = self.a_pred;
        n.t_pred = self.t_pred;
        n.w = self.w;
        n.v = self.v;
        n.p = self.p;
        n.inverse = self.inverse;
        n.geometric = self.geometric;
        n.slow = self.slow;
        n.momentum = self.momentum;
        // The free solve leaves no load behind.
        n.held = [[0.0; LANES]; 9];
    }
}
