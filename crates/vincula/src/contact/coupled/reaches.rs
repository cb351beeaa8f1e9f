//! What contacts and bodies do to each other, packed for products.

use super::super::movers::FIXED;
use super::super::rows::ContactRow;
use crate::kernel;
use crate::math::dispatch::detected;
use crate::math::small::*;

/// One contact.
#[derive(Clone, Copy, Debug)]
struct Reach {
    movers: [u32; 2],
    /// Compliance of the contact itself along n, and across, m/N.
    soft: [f64; 2],
    /// Of each side: force and torque on its mover of a unit force along each axis. The same numbers say
    /// how far the mover takes the contact.
    by: [[[f64; 6]; 3]; 2],
}

/// Some contacts, in the order of the problem.
#[derive(Debug, Default)]
pub(super) struct Reaches {
    all: Vec<Reach>,
}

impl Reaches {
    /// Takes these rows.
    pub fn find<'a>(&mut self, rows: impl Iterator<Item = &'a ContactRow>) {
        self.all.clear();
        self.all.extend(rows.map(|row| {
            let sides = [(&row.a, -1.0), (&row.b, 1.0)];
            // A side that does not move is one that nothing does to the other's mover.
            let mover = row.a.mover.min(row.b.mover);
            Reach {
                movers: sides.map(|(arm, _)| match arm.mover {
                    FIXED => mover,
                    own => own,
                }),
                soft: row.soft,
                by: sides.map(|(arm, sign)| match arm.mover {
                    FIXED => [[0.0; 6]; 3],
                    _ => row.frame.map(|axis| {
                        let (f, t) = (scale(&axis, sign), scale(&cross(&arm.arm, &axis), sign));
                        [f[0], f[1], f[2], t[0], t[1], t[2]]
                    }),
                }),
            }
        }));
    }

    /// Adds what forces x along the axes do to the movers.
    pub fn load(&self, x: &[f64], wrench: &mut [[V3; 2]]) {
        load(detected(), &self.all, x, wrench);
    }

    /// Writes how far the contacts move along their axes.
    pub fn read(&self, x: &[f64], motion: &[[V3; 2]], y: &mut [f64]) {
        read(detected(), &self.all, x, motion, y);
    }
}

kernel! {
    fn load(all: &[Reach], x: &[f64], wrench: &mut [[V3; 2]]) = load_each
}

#[inline(always)]
fn load_each(all: &[Reach], x: &[f64], wrench: &mut [[V3; 2]]) {
    for (reach, x) in all.iter().zip(x.chunks_exact(3)) {
        for (mover, [a, b, c]) in reach.movers.iter().zip(&reach.by) {
            let wrench = wrench[*mover as usize].as_flattened_mut();
            for (k, w) in wrench.iter_mut().enumerate() {
                *w += (a[k] * x[0] + b[k] * x[1]) + c[k] * x[2];
            }
        }
    }
}

kernel! {
    fn read(all: &[Reach], x: &[f64], motion: &[[V3; 2]], y: &mut [f64]) = read_each
}

#[inline(always)]
fn read_each(all: &[Reach], x: &[f64], motion: &[[V3; 2]], y: &mut [f64]) {
    let contacts = x.chunks_exact(3).zip(y.chunks_exact_mut(3));
    for (reach, (x, y)) in all.iter().zip(contacts) {
        let [a, b] = reach.movers.map(|mover| &motion[mover as usize]);
        let (a, b) = (a.as_flattened(), b.as_flattened());
        for i in 0..3 {
            let [by_a, by_b] = [&reach.by[0][i], &reach.by[1][i]];
            let mut sum = [0.0; 6];
            for k in 0..6 {
                sum[k] = by_a[k] * a[k] + by_b[k] * b[k];
            }
            y[i] = ((sum[0] + sum[3]) + (sum[1] + sum[4])) + (sum[2] + sum[5]);
        }
        let [n, t] = reach.soft;
        (y[0], y[1], y[2]) = (y[0] + n * x[0], y[1] + t * x[1], y[2] + t * x[2]);
    }
}
