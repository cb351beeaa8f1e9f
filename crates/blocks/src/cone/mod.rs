//! Coulomb's law on blocks of three: one normal row and two tangential ones.
//!
//! A block has an impulse λ = (λ_n, λ_t) and a slip u = (u_n, u_t) with `u = D λ + b`. The law is
//!
//! ```text
//! λ ∈ K = { |λ_t| ≤ μ λ_n },   u + μ |u_t| e_n ∈ K*,   λ ⟂ u + μ |u_t| e_n
//! ```
//!
//! (De Saxcé and Feng 1998): apart, sticking, or sliding with friction against the slip. The
//! added μ|u_t| is what keeps sliding from lifting. `local.rs` solves one block exactly,
//! `dense.rs` all of them block by block, `newton.rs` all at once, `splitting.rs` by turns
//! between a linear solve and the cone, and `accelerated.rs` by products with D alone. `direct.rs` comes
//! to the law from anywhere by few linear solves: for a full matrix, for contacts that a chain
//! (`strung.rs`) or a net (`netted.rs`) connects, for those of bodies that are loose or in small
//! mechanisms (`linked.rs`), and for those of both and of small mechanisms (`woven.rs`).

pub mod accelerated;
mod bead;
mod block;
pub mod dense;
pub mod direct;
mod full;
mod interior;
pub mod linked;
pub mod local;
pub mod mesh;
pub mod netted;
pub mod newton;
mod slides;
pub mod splitting;
pub mod string;
pub mod strung;
pub mod woven;

pub use accelerated::{Accelerated, Products};
pub use block::Block;
pub use dense::{ConeReport, Delassus};
pub use direct::{Direct, Mark, Response};
pub use linked::{Linked, Touch};
pub use local::{solve_block, solve_block_near};
pub use mesh::Mesh;
pub use netted::Netted;
pub use splitting::Splitting;
pub use string::Line;
pub use strung::{Knot, Strung};
pub use woven::{Tie, Woven};

/// One block: normal, first tangent, second tangent.
pub type Triple = [f64; 3];

/// The point of the cone |λ_t| ≤ μ λ_n nearest to λ.
#[inline]
pub fn project(lambda: &Triple, mu: f64) -> Triple {
    let [n, x, y] = *lambda;
    let t = (x * x + y * y).sqrt();
    if mu * t <= -n {
        return [0.0; 3];
    }
    if t <= mu * n {
        return *lambda;
    }
    if mu == 0.0 {
        return [n, 0.0, 0.0];
    }
    let normal = (n + mu * t) / (1.0 + mu * mu);
    let shrink = mu * normal / t;
    [normal, shrink * x, shrink * y]
}

/// How far a block is from Coulomb's law, in the unit of λ: the step that a projection with
/// the block's own compliance would still make. Zero exactly when the law holds.
#[inline]
pub fn violation(lambda: &Triple, slip: &Triple, mu: f64, compliance: f64) -> f64 {
    Mark { mu, compliance }.look(lambda, slip).violation(lambda)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next of a row of numbers between -1 and 1.
    pub(super) fn random(seed: &mut u64) -> f64 {
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (*seed >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }

    /// Asserts that the forces are those of the same problem solved densely. Counts the contacts that
    /// are apart, stick and slide.
    pub(super) fn assert_found(law: &Direct, dense: &mut Delassus, states: &mut [usize; 3]) {
        dense.solve(1e-12, 200);
        let largest = dense.lambda.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        for (k, (found, expected)) in law.lambda().iter().zip(&dense.lambda).enumerate() {
            assert!((found - expected).abs() < 1e-6 * largest, "number {k}");
        }
        for (l, mark) in law.lambda().chunks_exact(3).zip(law.marks()) {
            let friction = (l[1] * l[1] + l[2] * l[2]).sqrt();
            let state = usize::from(l[0] > 0.0) + usize::from(friction > 0.999 * mark.mu * l[0]);
            states[state.min(2)] += 1;
        }
    }

    #[test]
    fn a_projection_is_the_nearest_point_of_the_cone() {
        let mut seed = 1u64;
        let mut random = || random(&mut seed);
        for _ in 0..200 {
            let (x, mu) = ([random(), random(), random()], 0.1 + random().abs());
            let p = project(&x, mu);
            let distance = |q: &Triple| (0..3).map(|k| (q[k] - x[k]).powi(2)).sum::<f64>();
            assert!((p[1] * p[1] + p[2] * p[2]).sqrt() <= mu * p[0] + 1e-12);
            for _ in 0..50 {
                let n = random().abs() * 2.0;
                let (angle, part) = (random() * 3.2, random().abs().min(1.0));
                let q = [n, mu * n * part * angle.cos(), mu * n * part * angle.sin()];
                assert!(distance(&p) <= distance(&q) + 1e-12);
            }
        }
    }

    #[test]
    fn the_three_states_of_coulomb_have_no_violation_and_others_do() {
        let mu = 0.5;
        let apart = violation(&[0.0; 3], &[0.1, 2.0, -1.0], mu, 1.0);
        let stuck = violation(&[2.0, 0.6, 0.3], &[0.0; 3], mu, 1.0);
        let sliding = violation(&[2.0, 0.6, 0.8], &[0.0, -0.6, -0.8], mu, 1.0);
        assert!(apart < 1e-15 && stuck < 1e-15 && sliding < 1e-15);
        let lifting = violation(&[2.0, 0.6, 0.8], &[0.1, -0.6, -0.8], mu, 1.0);
        let sideways = violation(&[2.0, 1.0, 0.0], &[0.0, 0.0, 1.0], mu, 1.0);
        let inside = violation(&[0.0; 3], &[-0.1, 0.0, 0.0], mu, 1.0);
        assert!(lifting > 1e-2 && sideways > 1e-2 && inside > 1e-2);
    }
}
