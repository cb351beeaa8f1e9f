//! Groups of contacts that push bodies, loose or in small mechanisms, as problems of
//! `vincula_blocks::cone::linked`.

use vincula_blocks::cone::{ConeReport, Linked, Touch};

use super::movers::{ALONE, FIXED, Movers};
use super::rows::{Arm, ContactRow};
use super::ways::{UnitWays, Ways};

/// No place.
const NOWHERE: u32 = u32::MAX;

/// A loose body or a small mechanism that contacts push: its first body in the problem, and the ways in
/// which a mechanism moves.
#[derive(Clone, Copy, Debug)]
struct Hand {
    first: u32,
    ways: Option<UnitWays>,
}

/// One group at a time, with N numbers for each body of the problem; what contacts push, and the place
/// among that of each mover.
#[derive(Debug, Default)]
pub(super) struct Links<const N: usize> {
    problem: Linked<N>,
    hands: Vec<Hand>,
    places: Vec<u32>,
    ways: Ways,
}

impl<const N: usize> Links<N> {
    /// Makes the problem of a group of bodies that are loose, or answer together with their mechanisms.
    pub fn load(
        &mut self,
        members: &[u32],
        rows: &[ContactRow],
        movers: &Movers,
    ) -> &mut Linked<N> {
        self.problem.clear();
        self.hands.clear();
        self.ways.clear();
        self.places.resize(movers.all.len(), NOWHERE);
        for row in members.iter().map(|k| &rows[*k as usize]) {
            let touch = Touch {
                soft: row.soft,
                mu: row.mu,
                compliance: row.w[0] + row.w[4] + row.w[8],
            };
            self.problem
                .add_touch(touch, row.slip(&movers.all), row.lambda);
            for (arm, sign) in [(&row.a, -1.0), (&row.b, 1.0)] {
                if arm.mover != FIXED {
                    let hand = self.hand_of(arm.mover, movers);
                    self.reach(hand, row, arm, sign);
                }
            }
        }
        for row in members.iter().map(|k| &rows[*k as usize]) {
            for arm in [&row.a, &row.b].into_iter().filter(|a| a.mover != FIXED) {
                self.places[movers.together_with(arm.mover)].fill(NOWHERE);
            }
        }
        &mut self.problem
    }

    /// Solves a group to a relative violation, whatever it takes.
    pub fn settle(
        &mut self,
        members: &[u32],
        rows: &[ContactRow],
        movers: &Movers,
        tolerance: f64,
    ) -> ConeReport {
        let problem = self.load(members, rows, movers);
        problem.plan();
        problem.settle(tolerance)
    }

    /// The answer, three numbers a contact.
    pub fn lambda(&self) -> &[f64] {
        self.problem.lambda()
    }

    /// What a mover belongs to, which becomes part of the problem if it is none yet.
    fn hand_of(&mut self, mover: u32, movers: &Movers) -> Hand {
        if let Some(hand) = self.hands.get(self.places[mover as usize] as usize) {
            return *hand;
        }
        let (first, place) = (self.problem.bodies(), self.hands.len() as u32);
        self.places[movers.together_with(mover)].fill(place);
        let body = &movers.all[mover as usize];
        let ways = if body.cluster == ALONE {
            self.problem.add_body(body.per_force, body.per_torque);
            None
        } else {
            let ways = self.ways.add(movers.unit_of(mover), movers);
            for _ in 0..ways.count.div_ceil(N as u32) {
                self.problem.add_ways();
            }
            Some(ways)
        };
        self.hands.push(Hand { first, ways });
        Hand { first, ways }
    }

    /// Tells what moves one side of the last contact.
    fn reach(&mut self, hand: Hand, row: &ContactRow, arm: &Arm, sign: f64) {
        let Some(ways) = &hand.ways else {
            let lever = arm.lever(&row.frame);
            let mut gradient = [[0.0; N]; 3];
            for (i, moved) in gradient.iter_mut().enumerate() {
                let all = row.frame[i].iter().chain(&lever[i]);
                for (moved, v) in moved.iter_mut().zip(all) {
                    *moved = sign * v;
                }
            }
            self.problem.add_reach(hand.first, gradient);
            return;
        };
        let size = N as u32;
        for part in 0..ways.count.div_ceil(size) {
            let mut gradient = [[0.0; N]; 3];
            for way in size * part..ways.count.min(size * (part + 1)) {
                let sway = self.ways.sway(ways, way, row, arm, sign);
                for (axis, moved) in gradient.iter_mut().zip(sway) {
                    axis[(way % size) as usize] = moved;
                }
            }
            self.problem.add_reach(hand.first + part, gradient);
        }
    }
}
