//! Contacts of bodies, loose or in small mechanisms: all of them at once, by way of the bodies.
//!
//! Forces λ move bodies of compliance C, six by six, by `q = C Jᵀ λ`, so that `D = J C Jᵀ + s` with
//! what contacts give way by themselves, s. In a step towards Coulomb's law (`direct.rs`),
//! `Y δ + Z D δ = r`, contacts are eliminated one by one with N = (Y + Z s)⁻¹, which leaves
//!
//! ```text
//! (C⁻¹ + Jᵀ N Z J) q = Jᵀ N r,   δ = N (r − Z J q)
//! ```
//!
//! a sparse system of six rows a body. What a mechanism answers is C = G Gᵀ, with a column of G for each
//! way in which it moves: with q = G w it takes a body of compliance one for every six ways w, and
//! J G for J. Four corners of a box that lean on each other make D singular,
//! but not this. A wall of a hundred bricks and a thousand points takes a few milliseconds a step,
//! where sweeps need thousands to pass forces from its top to its foot.

mod factor;
mod products;
#[cfg(test)]
mod tests;

use super::Triple;
use super::block::{Block, IDENTITY, inverse, product, times};
use super::dense::{ConeReport, triple};
use super::direct::{Direct, Mark, Response};
use crate::vectors::vectorized;
use factor::{Columns, Factor, pivoted_inverse};

/// Times at most that a linear solve is refined.
const REFINED: usize = 3;
/// Steps at most of Newton's method, and contacts at most from which it finds the law.
const STEPS: usize = 20;
const FEW: usize = 1_000;
/// Violation up to which it finds the law for more contacts too, if at all in so many steps.
const NEAR: f64 = 1e-4;
const NEAR_STEPS: usize = 3;
/// Rounds at most of steps of the method of multipliers, and how many these are; and by turns s and the
/// turns before each, but for the first where contacts are few.
const ROUNDS: usize = 20;
const MULTIPLIERS: usize = 8;
const TURNS: [(f64, usize); 2] = [(0.05, 100), (0.01, 200)];

/// One contact.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// What the contact gives way by along its normal, and across, per force.
    pub soft: [f64; 2],
    /// Coefficient of friction.
    pub mu: f64,
    /// Trace of what the contact answers to itself.
    pub compliance: f64,
}

/// What displacement and rotation of a body, or ways to move, do to the slip of a contact.
#[derive(Clone, Copy, Debug)]
struct Reach<const N: usize> {
    body: u32,
    gradient: [[f64; N]; 3],
}

/// The bodies that each contact moves with, from `starts[contact]` on.
#[derive(Clone, Debug, Default)]
struct Reaches<const N: usize> {
    all: Vec<Reach<N>>,
    starts: Vec<usize>,
}

/// Displacement per force, and rotation per torque, of a body; and the inverse.
#[derive(Clone, Copy, Debug)]
struct Ease {
    per_force: f64,
    per_torque: Block,
    inertia: Block,
}

/// A problem with N numbers for each body, and the memory to solve it, kept for reuse: six, or
/// more where mechanisms that move in more ways are most of them.
#[derive(Clone, Debug, Default)]
pub struct Linked<const N: usize> {
    law: Direct,
    bodies: Bodies<N>,
}

/// The bodies with their contacts.
#[derive(Clone, Debug, Default)]
struct Bodies<const N: usize> {
    eases: Vec<Ease>,
    touches: Vec<Touch>,
    reaches: Reaches<N>,
    factor: Factor<N>,
    /// Y, N and N Z of each contact.
    softs: Vec<Block>,
    inverses: Vec<Block>,
    gains: Vec<Block>,
    motion: Vec<[f64; N]>,
    rest: Vec<f64>,
    moved: Vec<f64>,
}

impl<const N: usize> Linked<N> {
    /// Forgets all bodies and contacts.
    pub fn clear(&mut self) {
        self.bodies.eases.clear();
        self.forget_touches();
    }

    fn forget_touches(&mut self) {
        self.law.clear();
        self.bodies.touches.clear();
        self.bodies.reaches.clear();
    }

    /// Adds a body, by its displacement per force and its rotation per torque. One that does not
    /// turn under every torque leaves forces finite, but may leave them far from the law.
    pub fn add_body(&mut self, per_force: f64, per_torque: Block) {
        self.bodies.eases.push(Ease {
            per_force,
            per_torque,
            inertia: inverse(&per_torque).unwrap_or([0.0; 9]),
        });
    }

    /// Adds N ways in which a mechanism moves, those of it that are left with zeros.
    pub fn add_ways(&mut self) {
        self.bodies.eases.push(Ease {
            per_force: 1.0,
            per_torque: IDENTITY,
            inertia: IDENTITY,
        });
    }

    /// Number of bodies, of which the next one is named by it.
    pub fn bodies(&self) -> u32 {
        self.bodies.eases.len() as u32
    }

    /// Adds a contact, with a first guess of its force and the slip that all guesses together cause.
    /// The bodies that it moves with follow.
    pub fn add_touch(&mut self, touch: Touch, slip: Triple, lambda: Triple) {
        let Touch { mu, compliance, .. } = touch;
        self.law.add(Mark { mu, compliance });
        let contact = self.bodies.touches.len();
        self.bodies.touches.push(touch);
        self.bodies.reaches.add_contact();
        self.law.start(contact, slip, lambda);
    }

    /// Adds a body that the last contact moves with, by what displacement and rotation of it do to the
    /// slip.
    pub fn add_reach(&mut self, body: u32, gradient: [[f64; N]; 3]) {
        self.bodies.reaches.all.push(Reach { body, gradient });
    }

    /// The answer, three numbers a contact.
    pub fn lambda(&self) -> &[f64] {
        self.law.lambda()
    }

    /// Makes ready to solve; returns what a step is going to cost, in products of blocks of six by
    /// six.
    pub fn plan(&mut self) -> usize {
        let bodies = &mut self.bodies;
        bodies
            .factor
            .plan(bodies.eases.len(), bodies.reaches.pairs())
    }

    /// Solves to a relative violation what is planned.
    pub fn solve(&mut self, tolerance: f64) -> ConeReport {
        self.law.solve(&mut self.bodies, tolerance)
    }

    /// Solves to a relative violation what is planned, whatever it takes: by Newton's method where contacts
    /// are few, and by that of multipliers. Turns between all contacts and the cones take forces far before
    /// that: from the start where contacts are many, and else where it found nothing.
    pub fn settle(&mut self, tolerance: f64) -> ConeReport {
        let Linked { law, bodies } = self;
        let many = bodies.touches.len() > FEW;
        let mut report = law.search(bodies, tolerance, if many { 0 } else { STEPS });
        law.stay(bodies);
        if many && (tolerance..NEAR).contains(&report.residual) {
            report.follow(&law.search(bodies, tolerance, NEAR_STEPS));
            law.stay(bodies);
        }
        for round in 0..ROUNDS {
            if report.residual <= tolerance {
                break;
            }
            if many || round > 0 {
                let turns = TURNS[round % TURNS.len()];
                report.follow(&law.turn_with(bodies, tolerance, turns));
            }
            report.follow(&law.settle(bodies, tolerance, MULTIPLIERS));
            law.stay(bodies);
        }
        report
    }
}

impl<const N: usize> Reaches<N> {
    fn clear(&mut self) {
        self.all.clear();
        self.starts.clear();
    }

    /// Adds a contact without bodies.
    fn add_contact(&mut self) {
        self.starts.push(self.all.len());
    }

    /// The bodies that a contact moves with.
    #[inline(always)]
    fn of(&self, contact: usize) -> &[Reach<N>] {
        let end = self.starts.get(contact + 1);
        &self.all[self.starts[contact]..end.map_or(self.all.len(), |end| *end)]
    }

    /// Any two bodies of a contact.
    fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let contacts = (0..self.starts.len()).map(|k| self.of(k));
        contacts.flat_map(|bodies| {
            let pairs = bodies.iter().enumerate();
            pairs.flat_map(|(i, a)| bodies[..i].iter().map(|b| [a.body, b.body]))
        })
    }

    /// J q of a contact.
    #[inline(always)]
    fn moved(&self, contact: usize, motion: &[[f64; N]]) -> Triple {
        let mut u = [0.0; 3];
        for reach in self.of(contact) {
            let q = &motion[reach.body as usize];
            for (u, row) in u.iter_mut().zip(&reach.gradient) {
                *u += row.iter().zip(q).map(|(g, q)| g * q).sum::<f64>();
            }
        }
        u
    }
}

impl<const N: usize> Bodies<N> {
    /// Moves the bodies by forces, if they were alone.
    #[inline(always)]
    fn gather(&mut self, x: &[f64]) {
        self.motion.clear();
        self.motion.resize(self.eases.len(), [0.0; N]);
        for k in 0..self.touches.len() {
            let x = triple(x, k);
            if x == [0.0; 3] {
                continue;
            }
            for reach in self.reaches.of(k) {
                let load = &mut self.motion[reach.body as usize];
                for (row, x) in reach.gradient.iter().zip(x) {
                    for (l, g) in load.iter_mut().zip(row) {
                        *l += g * x;
                    }
                }
            }
        }
    }

    /// Overwrites r by what the factors say of δ.
    #[inline(always)]
    fn solve_once(&mut self, r: &mut [f64]) {
        for (k, n) in self.inverses.iter().enumerate() {
            let eased = times(n, &triple(r, k));
            r[3 * k..3 * k + 3].copy_from_slice(&eased);
        }
        self.gather(r);
        self.factor.solve(&mut self.motion);
        for (k, gain) in self.gains.iter().enumerate() {
            let back = times(gain, &self.reaches.moved(k, &self.motion));
            for i in 0..3 {
                r[3 * k + i] -= back[i];
            }
        }
    }
}

vectorized! {
    fn multiply<const N: usize>(bodies: &mut Bodies<N>, x: &[f64], y: &mut [f64]) = Bodies::<N>::multiply
}

vectorized! {
    fn load<const N: usize>(bodies: &mut Bodies<N>, softs: &[Block], slopes: &[Block]) -> bool = Bodies::<N>::load
}

vectorized! {
    fn respond<const N: usize>(bodies: &mut Bodies<N>, slopes: &[Block], r: &mut [f64], tolerance: f64) -> Option<usize> = Bodies::<N>::respond_to
}

impl<const N: usize> Response for Bodies<N> {
    fn product(&mut self, x: &[f64], y: &mut [f64]) {
        multiply(self, x, y);
    }

    /// Contacts are eliminated by the inverse of Y, which must not lose too many digits.
    fn shift(&self) -> f64 {
        1e-7
    }

    fn prepare(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        load(self, softs, slopes) && self.factor.run(self.is_symmetric())
    }

    fn respond(&mut self, slopes: &[Block], r: &mut [f64], tolerance: f64) -> Option<usize> {
        respond(self, slopes, r, tolerance)
    }
}

impl<const N: usize> Bodies<N> {
    /// Whether the system that was loaded is symmetric, as that of turns is.
    fn is_symmetric(&self) -> bool {
        let is = |g: &Block| g[1] == g[3] && g[2] == g[6] && g[5] == g[7];
        self.gains.iter().all(is)
    }

    /// Writes D x to y.
    #[inline(always)]
    fn multiply(&mut self, x: &[f64], y: &mut [f64]) {
        self.gather(x);
        for (q, ease) in self.motion.iter_mut().zip(&self.eases) {
            let turn = times(&ease.per_torque, &[q[3], q[4], q[5]]);
            q[..3].iter_mut().for_each(|q| *q *= ease.per_force);
            q[3..6].copy_from_slice(&turn);
        }
        for (k, touch) in self.touches.iter().enumerate() {
            let u = self.reaches.moved(k, &self.motion);
            for i in 0..3 {
                y[3 * k + i] = u[i] + touch.soft[i.min(1)] * x[3 * k + i];
            }
        }
    }

    #[inline(always)]
    fn load(&mut self, softs: &[Block], slopes: &[Block]) -> bool {
        self.softs.clear();
        self.softs.extend_from_slice(softs);
        self.inverses.clear();
        self.gains.clear();
        self.factor.reset();
        for (node, ease) in self.eases.iter().enumerate() {
            let own = self.factor.block(node as u32, node as u32);
            for i in 0..3 {
                own[i][i] = 1.0 / ease.per_force;
                for j in 0..3 {
                    own[3 + j][3 + i] = ease.inertia[3 * i + j];
                }
            }
            for i in 6..N {
                own[i][i] = 1.0;
            }
        }
        for (k, ((touch, y), z)) in self.touches.iter().zip(softs).zip(slopes).enumerate() {
            let mut eased = *y;
            for (e, (eased, z)) in eased.iter_mut().zip(z).enumerate() {
                *eased += z * touch.soft[(e % 3).min(1)];
            }
            // One by minors would lose twice the digits of what is stiff along one direction only.
            let Some(n) = pivoted_inverse(&[0, 1, 2].map(|i| triple(&eased, i))) else {
                return false;
            };
            let n = std::array::from_fn(|e| n[e / 3][e % 3]);
            let gain = product(&n, z);
            self.inverses.push(n);
            self.gains.push(gain);
            if gain == [0.0; 9] {
                continue;
            }
            let bodies = self.reaches.of(k);
            for (to, from) in bodies
                .iter()
                .flat_map(|a| bodies.iter().map(move |b| (a, b)))
            {
                let block = self.factor.block(to.body, from.body);
                add_squeezed(block, &to.gradient, &gain, &from.gradient);
            }
        }
        true
    }

    /// Solves, and refines what that found.
    #[inline(always)]
    fn respond_to(&mut self, slopes: &[Block], r: &mut [f64], tolerance: f64) -> Option<usize> {
        let mut rest = std::mem::take(&mut self.rest);
        let mut moved = std::mem::take(&mut self.moved);
        rest.clear();
        rest.extend_from_slice(r);
        moved.clear();
        moved.resize(r.len(), 0.0);
        let aim = length(r);
        self.solve_once(r);
        let refined = if tolerance < 1.0 { REFINED } else { 0 };
        for _ in 0..refined {
            // r − Y δ − Z D δ, of which δ is to make nothing.
            self.multiply(r, &mut moved);
            let mut left = 0.0;
            for (k, (y, z)) in self.softs.iter().zip(slopes).enumerate() {
                let (a, b) = (times(y, &triple(r, k)), times(z, &triple(&moved, k)));
                for i in 0..3 {
                    moved[3 * k + i] = rest[3 * k + i] - a[i] - b[i];
                    left += moved[3 * k + i] * moved[3 * k + i];
                }
            }
            if left.sqrt() <= tolerance * aim {
                break;
            }
            self.solve_once(&mut moved);
            for (r, more) in r.iter_mut().zip(&moved) {
                *r += more;
            }
        }
        (self.rest, self.moved) = (rest, moved);
        r.iter().all(|x| x.is_finite()).then_some(0)
    }
}

/// Adds leftᵀ gain right.
#[inline(always)]
fn add_squeezed<const N: usize>(
    block: &mut Columns<N>,
    left: &[[f64; N]; 3],
    gain: &Block,
    right: &[[f64; N]; 3],
) {
    let mut turned = [[0.0; N]; 3];
    for i in 0..3 {
        for j in 0..N {
            let (x, y, z) = (right[0][j], right[1][j], right[2][j]);
            turned[i][j] = gain[3 * i] * x + gain[3 * i + 1] * y + gain[3 * i + 2] * z;
        }
    }
    for j in 0..N {
        let (x, y, z) = (turned[0][j], turned[1][j], turned[2][j]);
        for i in 0..N {
            block[j][i] += left[0][i] * x + left[1][i] * y + left[2][i] * z;
        }
    }
}

#[inline(always)]
fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
