//! Contacts on their way into batches and out of them.

use super::Batch;
use crate::contact::movers::{FIXED, Movers};
use crate::contact::rows::{ContactRow, along};
use crate::kernel;
use crate::math::ahead::fetch_all;
use crate::math::lanes::{LANES, copy, gather, scatter};
use crate::math::small::*;

impl Batch {
    /// Whether a row can be part of a batch: no mechanism of its bodies is too large, or the same,
    /// and it has no friction of rotation.
    pub fn takes(row: &ContactRow, movers: &Movers) -> bool {
        let small = |m: u32| m == FIXED || movers.is_paired(m);
        let [a, b] = [row.a.mover, row.b.mover];
        !row.spins()
            && row.w[0] > 0.0
            && (row.is_loose() || (small(a) && small(b) && !movers.answer_alike(a, b)))
    }

    pub fn put(&mut self, lane: usize, row: &ContactRow, index: usize) {
        let [n, x, y] = row.frame;
        scatter(
            &mut self.frame,
            lane,
            &[n[0], n[1], n[2], x[0], x[1], x[2], y[0], y[1], y[2]],
        );
        scatter(&mut self.arms, lane, &join(&row.a.arm, &row.b.arm));
        scatter(&mut self.free, lane, &row.free);
        scatter(&mut self.lambda, lane, &row.lambda);
        scatter(&mut self.start, lane, &row.lambda);
        scatter(&mut self.along, lane, &[0.0; 3]);
        self.mu[lane] = row.mu;
        scatter(&mut self.soft, lane, &row.soft);
        scatter(&mut self.inverse, lane, &eliminated(&row.w));
        (self.at[0][lane], self.at[1][lane]) = (puck(row.a.mover), puck(row.b.mover));
        self.row[lane] = index as u32;
    }

    /// Makes a lane one without a contact.
    pub fn clear(&mut self, lane: usize) {
        let none = &Batch::EMPTY;
        scatter(&mut self.frame, lane, &gather(&none.frame, lane));
        scatter(&mut self.arms, lane, &gather(&none.arms, lane));
        scatter(&mut self.free, lane, &gather(&none.free, lane));
        scatter(&mut self.lambda, lane, &gather(&none.lambda, lane));
        scatter(&mut self.start, lane, &gather(&none.start, lane));
        scatter(&mut self.along, lane, &gather(&none.along, lane));
        scatter(&mut self.inverse, lane, &gather(&none.inverse, lane));
        self.mu[lane] = none.mu[lane];
        scatter(&mut self.soft, lane, &gather(&none.soft, lane));
        for (at, none) in self.at.iter_mut().zip(&none.at) {
            at[lane] = none[lane];
        }
        self.row[lane] = none.row[lane];
    }

    /// Takes the slip and the force of the rows, which are the same but for these.
    fn refresh(&mut self, rows: &[ContactRow]) {
        for lane in 0..LANES {
            if self.row[lane] != FIXED {
                let row = &rows[self.row[lane] as usize];
                scatter(&mut self.free, lane, &row.free);
                scatter(&mut self.lambda, lane, &row.lambda);
            }
        }
        copy(&self.lambda, &mut self.start);
        copy(&[[0.0; LANES]; 3], &mut self.along);
    }

    /// Asks for the slips and forces of its rows, which are not in the order of batches.
    #[inline(always)]
    fn fetch(&self, rows: &[ContactRow]) {
        for row in self.row.iter().filter_map(|&row| rows.get(row as usize)) {
            fetch_all(std::slice::from_ref(&row.free));
            fetch_all(std::slice::from_ref(&row.lambda));
        }
    }

    /// Takes anew the rows of bodies that answer in another way.
    pub fn weigh(&mut self, rows: &[ContactRow], altered: impl Fn(u32) -> bool) {
        for lane in 0..LANES {
            let index = self.row[lane];
            let movers = self.at.map(|at| at[lane].wrapping_sub(1));
            if index != FIXED && movers.into_iter().any(&altered) {
                self.put(lane, &rows[index as usize], index as usize);
            }
        }
    }

    /// Gives the forces back, and tells bodies how they changed if joints hold some.
    #[inline(always)]
    fn unpack(&self, held: bool, rows: &mut [ContactRow], movers: &mut Movers) {
        let mut pushes = [[0.0; LANES]; 3];
        for lane in (0..LANES).filter(|lane| self.row[*lane] != FIXED) {
            let row = &mut rows[self.row[lane] as usize];
            let new = gather(&self.lambda, lane);
            scatter(&mut pushes, lane, &sub(&new, &row.lambda));
            row.lambda = new;
        }
        if !held {
            return;
        }
        for lane in 0..LANES {
            let c: V3 = gather(&pushes, lane);
            let [n, x, y] = [0, 3, 6].map(|k| [0, 1, 2].map(|i| self.frame[k + i][lane]));
            scatter(&mut pushes, lane, &along(&[n, x, y], &c));
        }
        let wrenches = self.wrenches(&pushes);
        for lane in 0..LANES {
            if gather(&pushes, lane) == [0.0; 3] {
                continue;
            }
            for (at, wrenches) in self.at.iter().zip(&wrenches).rev() {
                let [a, b, c, d, e, f] = gather(wrenches, lane);
                let mover = mover_of(at[lane]);
                if mover != FIXED && !movers.all[mover as usize].loose {
                    movers.note(mover, &[a, b, c], &[d, e, f]);
                }
            }
        }
    }
}

kernel! {
    /// Gives the forces of all batches back, and tells bodies that joints hold how they changed.
    pub(in crate::contact) fn unpack(batches: &[Batch], rows: &mut [ContactRow], movers: &mut Movers) = unpack_all
}

#[inline(always)]
fn unpack_all(batches: &[Batch], rows: &mut [ContactRow], movers: &mut Movers) {
    let held = movers.all.iter().any(|mover| !mover.loose);
    for (k, batch) in batches.iter().enumerate() {
        if let Some(next) = batches.get(k + 1) {
            next.fetch(rows);
        }
        batch.unpack(held, rows, movers);
    }
}

/// Takes the slips and the forces of the rows into all batches, which are the same but for these.
pub(in crate::contact) fn refresh(batches: &mut [Batch], rows: &[ContactRow]) {
    for k in 0..batches.len() {
        if let Some(next) = batches.get(k + 1) {
            next.fetch(rows);
        }
        batches[k].refresh(rows);
    }
}

/// The puck of a mover.
pub(super) fn puck(mover: u32) -> u32 {
    mover.wrapping_add(1)
}

/// The mover of a puck.
fn mover_of(puck: u32) -> u32 {
    puck.wrapping_sub(1)
}

/// k, w, S and 1/det S of a block. What does not give way along a tangent has no friction.
fn eliminated(w: &M3) -> [f64; 7] {
    let normal = 1.0 / w[0];
    let (x, y) = (w[1] * normal, w[2] * normal);
    let s = [w[4] - w[1] * x, w[5] - w[1] * y, w[8] - w[2] * y];
    let det = s[0] * s[2] - s[1] * s[1];
    let per_det = 1.0 / det;
    let stiff = !(det > 0.0 && per_det.is_finite());
    [
        normal,
        x,
        y,
        s[0],
        s[1],
        s[2],
        if stiff { 0.0 } else { per_det },
    ]
}

fn join(a: &V3, b: &V3) -> [f64; 6] {
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}
