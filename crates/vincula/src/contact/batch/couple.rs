//! Runs of contacts in which joints hold bodies: a push on one body moves another one too.
//!
//! How bodies answer is kept by body, not by lane: each is part of several contacts, and all together
//! they stay in the cache through a sweep, where copies for every run would not.

use super::pack::puck;
use super::{Batch, Puck};
use crate::contact::movers::Movers;
use crate::math::ahead::fetch;
use crate::math::lanes::{LANES, Lane, gather};
use crate::math::small::*;

/// How a body and its partner move per force and torque on the body, column by column. A column fills
/// one vector and half of another: six numbers of the body, the last two of the partner, and the first
/// four of the partner.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(in crate::contact) struct Couple {
    columns: [[f64; 12]; 6],
}

impl Couple {
    /// What does not move.
    pub const NONE: Couple = Couple {
        columns: [[0.0; 12]; 6],
    };

    /// Takes how a mover answers that has at most one partner; others take part in no run. Returns the
    /// puck of the partner, or the first one where there is none.
    pub fn set(&mut self, mover: u32, movers: &Movers) -> u32 {
        let partner = movers.partner(mover).filter(|_| movers.is_paired(mover));
        if partner.is_none() {
            *self = Couple::NONE;
        }
        if movers.is_paired(mover) {
            self.put([0, 1, 2, 3, 4, 5], &movers.block(mover, mover));
        }
        if let Some(partner) = partner {
            self.put([8, 9, 10, 11, 6, 7], &movers.block(partner, mover));
        }
        partner.map_or(0, puck)
    }

    fn put(&mut self, at: [usize; 6], block: &[f64; 36]) {
        for (column, entries) in self.columns.iter_mut().zip(block.chunks_exact(6)) {
            for i in 0..6 {
                column[at[i]] = entries[i];
            }
        }
    }

    /// Moves the body and its partner by a force and a torque.
    #[inline(always)]
    fn push(&self, [body, partner]: [u32; 2], wrench: &[f64; 6], pucks: &mut [Puck]) {
        let (mut head, mut tail) = ([0.0; 8], [0.0; 4]);
        for (column, w) in self.columns.iter().zip(wrench) {
            for k in 0..8 {
                head[k] += column[k] * w;
            }
            for k in 0..4 {
                tail[k] += column[8 + k] * w;
            }
        }
        // What that does to the filling means nothing.
        let own = &mut pucks[body as usize].moved;
        for k in 0..8 {
            own[k] += head[k];
        }
        if partner != 0 {
            let other = &mut pucks[partner as usize].moved;
            for k in 0..4 {
                other[k] += tail[k];
            }
            for k in 0..2 {
                other[4 + k] += head[6 + k];
            }
        }
    }
}

/// One pass over a run; `couples` and `partners` are those of all pucks. Those of the run that starts
/// with `next` are asked for meanwhile.
#[inline(always)]
pub(super) fn sweep_run(
    run: &mut [Batch],
    next: Option<&Batch>,
    couples: &[Couple],
    partners: &[u32],
    pucks: &mut [Puck],
    beta: f64,
    total: &mut (Lane, Lane),
) {
    let Some(at) = run.first().map(|batch| batch.at) else {
        return;
    };
    let depth = run.len();
    for k in 0..depth {
        let lanes = LANES * k / depth..LANES * (k + 1) / depth;
        let (before, after) = run.split_at_mut(k + 1);
        let Some(batch) = before.last_mut() else {
            return;
        };
        let follower = after.first().or(next).map_or(&[][..], std::slice::from_ref);
        batch.run_on(beta);
        let (a, b) = (spread(pucks, &at[0]), spread(pucks, &at[1]));
        let slip = batch.slip(&a, &b);
        let pushes = batch.answer(&slip, total);
        let wrenches = batch.wrenches(&pushes);
        for lane in 0..LANES {
            fetch(follower, 0, [lane, LANES]);
            if let Some(next) = next.filter(|_| lanes.contains(&lane)) {
                for body in next.at.map(|at| at[lane] as usize) {
                    fetch(couples, body, [0, 1]);
                    fetch(pucks, body, [0, 2]);
                }
            }
            // Most contacts that are only near do not push.
            if gather(&pushes, lane) == [0.0; 3] {
                continue;
            }
            for (at, wrenches) in at.iter().zip(&wrenches) {
                let body = at[lane];
                if body != 0 {
                    let both = [body, partners[body as usize]];
                    couples[body as usize].push(both, &gather(wrenches, lane), pucks);
                }
            }
        }
    }
}

impl Batch {
    /// Forces and torques of pushes on both sides.
    #[inline(always)]
    pub(super) fn wrenches(&self, pushes: &[Lane; 3]) -> [[Lane; 6]; 2] {
        let [x, y, z, u, v, w] = &self.arms;
        [
            wrenches(pushes, [x, y, z], -1.0),
            wrenches(pushes, [u, v, w], 1.0),
        ]
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
