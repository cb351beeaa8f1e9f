//! What one pass over a block of eight bodies leaves for the next.

use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{LANES, Lane};

/// The part of a [`NewtonBlock`] that outlives a pass.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Record {
    pub rot: [Lane; 9],
    pub a: [Lane; 9],
    pub t: [Lane; 3],
    pub w: [Lane; 9],
    pub v: [Lane; 3],
    pub inverse: [Lane; 16],
    pub slow: [Lane; 3],
    /// After the last pass: the load that the next step starts with.
    pub held: [Lane; 9],
    geometric: [Lane; 3],
    momentum: [Lane; 3],
    t_pred: [Lane; 3],
    p: [Lane; 9],
    a_pred: [Lane; 9],
}

impl Record {
    pub const ZERO: Record = Record {
        rot: [[0.0; LANES]; 9],
        a: [[0.0; LANES]; 9],
        t: [[0.0; LANES]; 3],
        w: [[0.0; LANES]; 9],
        v: [[0.0; LANES]; 3],
        inverse: [[0.0; LANES]; 16],
        slow: [[0.0; LANES]; 3],
        held: [[0.0; LANES]; 9],
        geometric: [[0.0; LANES]; 3],
        momentum: [[0.0; LANES]; 3],
        t_pred: [[0.0; LANES]; 3],
        p: [[0.0; LANES]; 9],
        a_pred: [[0.0; LANES]; 9],
    };

    /// After the free solve.
    pub fn keep_prediction(&mut self, n: &NewtonBlock) {
        self.keep_motion(n);
        self.geometric = n.geometric;
        self.momentum = n.momentum;
        self.a_pred = n.a_pred;
        self.t_pred = n.t_pred;
        self.p = n.p;
    }

    pub fn recall_prediction(&self, n: &mut NewtonBlock) {
        self.recall_motion(n);
        n.a = self.a;
        n.t = self.t;
        n.geometric = self.geometric;
        n.momentum = self.momentum;
        n.a_pred = self.a_pred;
        n.t_pred = self.t_pred;
        n.p = self.p;
        n.held = [[0.0; LANES]; 9];
    }

    /// After the velocity was turned and kicked.
    pub fn keep_motion(&mut self, n: &NewtonBlock) {
        self.rot = n.rot;
        self.a = n.a;
        self.t = n.t;
        self.w = n.w;
        self.v = n.v;
        self.inverse = n.inverse;
        self.slow = n.slow;
    }

    pub fn recall_motion(&self, n: &mut NewtonBlock) {
        n.rot = self.rot;
        n.w = self.w;
        n.v = self.v;
        n.inverse = self.inverse;
        n.slow = self.slow;
    }
}
