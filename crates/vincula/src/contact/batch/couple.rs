//! Runs of contacts in which joints hold bodies: a push on one body moves another one too.
//!
//! How bodies answer is kept by body, not by lane: each is part of several contacts, and all together
//! they stay in the cache through a sweep, where copies for every run would not.

use super::{Batch, Puck, WIDE, puck};
use crate::contact::movers::Movers;
use crate::math::lanes::{LANES, Lane, gather};
use crate::math::small::*;

/// Motion per force and torque, column by column, each filled up with zeros.
type Columns = [[f64; WIDE]; 6];

/// How a body and its partner answer to a push on the body.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(in crate::contact) struct Couple {
    own: Columns,
    /// Motion of the partner.
    mutual: Columns,
    /// The puck of the partner; the first one where there is none.
    partner: u32,
}

impl Couple {
    /// What does not move.
    pub const NONE: Couple = Couple {
        own: [[0.0; WIDE]; 6],
        mutual: [[0.0; WIDE]; 6],
        partner: 0,
    };

    /// How a mover answers that has at most one partner; others take part in no run.
    pub fn new(mover: u32, movers: &Movers) -> Couple {
        let mut couple = Couple::NONE;
        if !movers.is_paired(mover) {
            return couple;
        }
        couple.own = columns(&movers.block(mover, mover));
        if let Some(partner) = movers.partner(mover) {
            couple.mutual = columns(&movers.block(partner, mover));
            couple.partner = puck(partner);
        }
        couple
    }

    /// Moves the body and its partner by a force and a torque.
    #[inline(always)]
    fn push(&self, body: u32, wrench: &[f64; 6], pucks: &mut [Puck]) {
        advance(&mut pucks[body as usize].moved, &self.own, wrench);
        if self.partner != 0 {
            advance(
                &mut pucks[self.partner as usize].moved,
                &self.mutual,
                wrench,
            );
        }
    }
}

fn columns(block: &[f64; 36]) -> Columns {
    let mut columns = [[0.0; WIDE]; 6];
    for (j, column) in columns.iter_mut().enumerate() {
        for i in 0..6 {
            column[i] = block[6 * i + j];
        }
    }
    columns
}

#[inline(always)]
fn advance(moved: &mut [f64; WIDE], by: &Columns, wrench: &[f64; 6]) {
    let mut sum = *moved;
    for (column, w) in by.iter().zip(wrench) {
        for k in 0..WIDE {
            sum[k] += column[k] * w;
        }
    }
    *moved = sum;
}

/// One pass over a run; `couples` are those of all pucks.
#[inline(always)]
pub(super) fn sweep_run(
    run: &mut [Batch],
    couples: &[Couple],
    pucks: &mut [Puck],
    beta: f64,
    total: &mut (Lane, Lane),
) {
    let Some(at) = run.first().map(|batch| batch.at) else {
        return;
    };
    for batch in run {
        batch.run_on(beta);
        let (a, b) = (spread(pucks, &at[0]), spread(pucks, &at[1]));
        let slip = batch.slip(&a, &b);
        let pushes = batch.answer(&slip, total);
        let [x, y, z, u, v, w] = &batch.arms;
        let wrenches = [
            wrenches(&pushes, [x, y, z], -1.0),
            wrenches(&pushes, [u, v, w], 1.0),
        ];
        for lane in 0..LANES {
            // Most contacts that are only near do not push.
            if gather(&pushes, lane) == [0.0; 3] {
                continue;
            }
            for (at, wrenches) in at.iter().zip(&wrenches) {
                let body = at[lane];
                if body != 0 {
                    couples[body as usize].push(body, &gather(wrenches, lane), pucks);
                }
            }
        }
    }
}

/// Forces and torques of pushes at the arms.
#[inline(always)]
fn wrenches(pushes: &[Lane; 3], arms: [&Lane; 3], sign: f64) -> [Lane; 6] {
    let mut all = [[0.0; LANES]; 6];
    for lane in 0..LANES {
        let f = scale(&gather(pushes, lane), sign);
        let t = cross(&arms.map(|arm| arm[lane]), &f);
        for k in 0..3 {
            all[k][lane] = f[k];
            all[3 + k][lane] = t[k];
        }
    }
    all
}

#[inline(always)]
fn spread(pucks: &[Puck], at: &[u32; LANES]) -> [Lane; 6] {
    let mut all = [[0.0; LANES]; 6];
    for lane in 0..LANES {
        let moved = &pucks[at[lane] as usize].moved;
        for k in 0..6 {
            all[k][lane] = moved[k];
        }
    }
    all
}
