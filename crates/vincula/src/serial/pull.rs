//! What joints do to eight bodies, by their forces.

use super::joints::after;
use super::shape::{NO_ROWS, Rows, Socket};
use crate::dual::axles::{ALL, Axes, ROWS};
use crate::dual::ports::{NO_POINTS, Points};
use crate::integrate::newton::{AtPoints, Pull};
use crate::math::lanes::{LANES, Lane, gather};
use crate::math::small::*;

/// The forces of eight joints and of the next ones, N.
pub(super) struct Acting<'a> {
    pub own: &'a Rows,
    pub next: &'a Rows,
}

impl<'a> Acting<'a> {
    /// Of the joints of a block.
    pub fn on(forces: &'a [Rows], block: usize) -> Acting<'a> {
        Acting {
            own: &forces[block],
            next: forces.get(block + 1).unwrap_or(&NO_ROWS),
        }
    }
}

/// The forces at the points and of the square rows of eight bodies, N.
struct Forces {
    points: Points,
    squares: [Lane; ALL],
}

impl Forces {
    /// Of the joints before and after them.
    #[inline(always)]
    fn new<const LINE: bool>(acting: &Acting<'_>) -> Forces {
        let Acting { own, next } = acting;
        let mut forces = Forces {
            points: NO_POINTS,
            squares: [[0.0; LANES]; ALL],
        };
        for k in 0..3 {
            for lane in 0..LANES {
                forces.points[0][k][lane] = 0.0 - own[k][lane];
            }
            forces.points[1][k] = after::<LINE>(&own[k], &next[k]);
        }
        for k in 0..ROWS {
            forces.squares[k] = own[3 + k];
            forces.squares[ROWS + k] = after::<LINE>(&own[3 + k], &next[3 + k]);
        }
        forces
    }
}

/// The forces on eight bodies at their points and axes.
pub(super) struct AtSocket<'a> {
    socket: &'a Socket,
    told: &'a Axes,
    forces: Forces,
}

impl<'a> AtSocket<'a> {
    /// Those that act on bodies which joints hold there, and that were told these axes.
    #[inline(always)]
    pub fn new<const LINE: bool>(
        acting: &Acting<'_>,
        socket: &'a Socket,
        told: &'a Axes,
    ) -> AtSocket<'a> {
        AtSocket {
            socket,
            told,
            forces: Forces::new::<LINE>(acting),
        }
    }
}

impl Pull for AtSocket<'_> {
    #[inline(always)]
    fn on(&self, rot: &M3, lane: usize) -> (M3, V3) {
        let AtSocket {
            socket,
            told,
            forces,
        } = self;
        let at_points = AtPoints {
            points: &socket.points,
            forces: &forces.points,
        };
        let (mut load, thrust) = at_points.on(rot, lane);
        for k in 0..ALL {
            let pull = scale(&gather(&told[k], lane), -forces.squares[k][lane]);
            load = axpy9(&load, 1.0, &outer(&pull, &gather(&socket.own[k], lane)));
        }
        (load, thrust)
    }
}
