//! Rows that push, with the joints behind them, as one complementarity problem.
//!
//! With the velocity u₀ that the joints allow, and û_r the change of velocity that a unit
//! impulse along row r makes when the joints answer (`û = (1 − M⁻¹Jᵀ W⁻¹ J) M⁻¹ rᵀ`), the rows
//! of Cline and Pai's Eq. 8 are, without velocities and joint impulses:
//!
//! ```text
//! ⎡ a ⎤   ⎡ N û_N   N û_F   0 ⎤ ⎡ λ_N ⎤   ⎡ N u₀ + c ⎤
//! ⎢ σ ⎥ = ⎢ F û_N   F û_F   E ⎥ ⎢ λ_F ⎥ + ⎢ F u₀     ⎥ ≥ 0   ⊥   λ_N, λ_F, γ ≥ 0
//! ⎣ ζ ⎦   ⎣ μ       −Eᵀ     0 ⎦ ⎣  γ  ⎦   ⎣ 0        ⎦
//! ```
//!
//! N holds normals and limits, F pairs of opposite tangents, γ the speed of slip. The matrix is
//! copositive, so Lemke's algorithm finds a solution (Anitescu and Potra 1997).

use glam::DMat3;

use crate::articulation::{Articulation, add_scaled};
use crate::contact::PairRow;
use crate::lcp::{Lcp, Lemke, Outcome};
use crate::system::rows::Six;
use crate::system::{MethodError, System, apply_inverse_mass};

/// A row that pushes, with the tangents along which friction acts.
#[derive(Clone, Copy, Debug)]
struct Pusher {
    /// Coefficient of friction.
    friction: f64,
    /// First of its tangents among the rows.
    tangents: usize,
    /// c: what is added to its rate.
    offset: f64,
}

/// Rows that push, and the memory to solve for them.
#[derive(Default)]
pub struct Pushes {
    /// Rows that push, then half of the tangents: the others are their opposites.
    rows: Vec<PairRow>,
    tangents: Vec<PairRow>,
    pushers: Vec<Pusher>,
    /// Directions of friction of a contact, halved.
    half: usize,
    /// û of each row, for all bodies.
    response: Vec<Six>,
    /// Rate of row r for a unit impulse along row s.
    coupling: Vec<f64>,
    lambda: Vec<f64>,
    zero: Vec<f64>,
    problem: Lcp,
    lemke: Lemke,
}

impl Pushes {
    /// Forgets all rows; contacts will have `directions` directions of friction, an even
    /// number.
    pub fn clear(&mut self, directions: usize) {
        self.rows.clear();
        self.tangents.clear();
        self.pushers.clear();
        self.half = directions / 2;
    }

    /// Number of rows that push.
    pub fn len(&self) -> usize {
        self.pushers.len()
    }

    /// Whether nothing pushes.
    pub fn is_empty(&self) -> bool {
        self.pushers.is_empty()
    }

    /// Adds a row that keeps `rate + offset ≥ 0`.
    pub fn add(&mut self, row: PairRow, offset: f64) {
        let pusher = Pusher {
            friction: 0.0,
            tangents: self.tangents.len(),
            offset,
        };
        self.pushers.push(pusher);
        self.rows.push(row);
    }

    /// Adds friction to the last row, along half of its directions.
    pub fn add_friction(&mut self, coefficient: f64, tangents: impl Iterator<Item = PairRow>) {
        if let Some(last) = self.pushers.last_mut() {
            last.friction = coefficient;
            self.tangents.extend(tangents.take(self.half));
        }
    }

    /// Impulses of the rows that push, N s, after [`Pushes::solve`].
    pub fn impulses(&self) -> &[f64] {
        &self.lemke.solution()[..self.len()]
    }

    /// Adds to a velocity, which the joints allow, what the pushes change; returns the pivots.
    pub fn solve(
        &mut self,
        method: &'static str,
        system: &System,
        joints: &mut Articulation,
        velocity: &mut [Six],
    ) -> Result<usize, MethodError> {
        self.respond(system, joints)?;
        self.state_problem(velocity);
        match self.lemke.solve(&self.problem) {
            Outcome::Solved { pivots, .. } => {
                self.apply(velocity);
                Ok(pivots)
            }
            Outcome::Ray { pivots } => Err(MethodError::Solver {
                method,
                reason: format!(
                    "the contacts and joints contradict each other: Lemke's algorithm ended on \
                     a ray after {pivots} pivots with {} rows that push",
                    self.len()
                ),
            }),
            Outcome::PivotLimit { pivots } => Err(MethodError::Solver {
                method,
                reason: format!(
                    "Lemke's algorithm did not end in {pivots} pivots with {} rows that push; \
                     take fewer directions of friction",
                    self.len()
                ),
            }),
        }
    }

    fn row(&self, index: usize) -> &PairRow {
        let normals = self.rows.len();
        if index < normals {
            &self.rows[index]
        } else {
            &self.tangents[index - normals]
        }
    }

    /// û for every row, and their couplings.
    fn respond(&mut self, system: &System, joints: &mut Articulation) -> Result<(), MethodError> {
        let (count, bodies) = (self.rows.len() + self.tangents.len(), system.bodies.len());
        self.response.clear();
        self.response.resize(count * bodies, [0.0; 6]);
        self.lambda.resize(joints.rows(), 0.0);
        self.zero.resize(joints.rows(), 0.0);
        for index in 0..count {
            let row = *self.row(index);
            let part = &mut self.response[index * bodies..(index + 1) * bodies];
            for (end, gradient) in row.ends.iter().zip(&row.gradients) {
                if let Some(body) = *end {
                    let it = &system.bodies[body];
                    let push = apply_inverse_mass(it, &DMat3::from_quat(it.q), gradient);
                    add_scaled(&mut part[body], 1.0, &push);
                }
            }
            joints.project(part, &self.zero, &mut self.lambda)?;
        }
        self.coupling.clear();
        for r in 0..count {
            let row = *self.row(r);
            for s in 0..count {
                let part = &self.response[s * bodies..(s + 1) * bodies];
                self.coupling.push(row.rate(part) - row.offset);
            }
        }
        Ok(())
    }

    /// Row and sign of every impulse: normals, then tangents with their opposites.
    fn impulse(&self, index: usize) -> (usize, f64) {
        let normals = self.rows.len();
        if index < normals {
            return (index, 1.0);
        }
        let k = index - normals;
        (
            normals + k / 2,
            if k.is_multiple_of(2) { 1.0 } else { -1.0 },
        )
    }

    fn state_problem(&mut self, velocity: &[Six]) {
        let normals = self.rows.len();
        let count = normals + self.tangents.len();
        let impulses = normals + 2 * self.tangents.len();
        let rough = self.pushers.iter().filter(|p| p.friction > 0.0).count();
        let size = impulses + rough;
        let mut problem = std::mem::take(&mut self.problem);
        let (matrix, vector) = problem.reset(size);
        for i in 0..impulses {
            let (r, sign) = self.impulse(i);
            for j in 0..impulses {
                let (s, other) = self.impulse(j);
                matrix[i * size + j] = sign * other * self.coupling[r * count + s];
            }
            vector[i] = sign * self.row(r).rate(velocity);
        }
        let with_friction = self.pushers.iter().enumerate();
        for (k, (contact, pusher)) in with_friction.filter(|(_, p)| p.friction > 0.0).enumerate() {
            let slip = impulses + k;
            matrix[slip * size + contact] = pusher.friction;
            let first = normals + 2 * pusher.tangents;
            for tangent in first..first + 2 * self.half {
                matrix[tangent * size + slip] = 1.0;
                matrix[slip * size + tangent] = -1.0;
            }
        }
        for (row, pusher) in vector.iter_mut().zip(&self.pushers) {
            *row += pusher.offset;
        }
        self.problem = problem;
    }

    fn apply(&self, velocity: &mut [Six]) {
        let bodies = velocity.len();
        let impulses = self.rows.len() + 2 * self.tangents.len();
        for (index, &z) in self.lemke.solution()[..impulses].iter().enumerate() {
            if z != 0.0 {
                let (r, sign) = self.impulse(index);
                let part = &self.response[r * bodies..(r + 1) * bodies];
                for (to, from) in velocity.iter_mut().zip(part) {
                    add_scaled(to, sign * z, from);
                }
            }
        }
    }
}
