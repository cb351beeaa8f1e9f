//! How hard it is to turn a body in an implicit step: its inertia, what the turn of the inertia
//! adds, and the stiffness that the impulses of its joints give it.
//!
//! ```text
//! H = sym(∂(R⁺ I R⁺ᵀ ω⁺)/∂(δθ/h)) + h K,    K = −λ ∂²C/∂θ²
//! ```

use glam::{DMat3, DVec3};
use vincula::body::rigid::RigidBody;
use vincula::joint::rows::RowKind;

use crate::momentum::{skew, turn_rate};
use crate::system::System;

/// Least eigenvalue of H relative to the inertia.
const SOFTEST: f64 = 0.1;
/// Sweeps of Jacobi's rotations over three off-diagonal entries.
const SWEEPS: usize = 6;

/// H of a body whose joints resist its turning by `k` (N m s, with the factor h in it), its
/// eigenvalues relative to the inertia made positive: a direction in which the impulses push the
/// body over is taken for as stiff as it is soft.
pub(crate) fn rotational(body: &RigidBody, k: &DMat3, h: f64) -> DMat3 {
    let root = body.inertia.map(f64::sqrt);
    let r = DMat3::from_quat(body.q);
    let down = r * DMat3::from_diagonal(1.0 / root);
    let more = *k + spin_stiffness(body, h);
    let (values, vectors) = eigen(&(down.transpose() * more * down));
    let stiff = |x: f64| (1.0 + x).abs().max(SOFTEST);
    let up = r * DMat3::from_diagonal(root) * vectors;
    up * DMat3::from_diagonal(values.map(stiff)) * up.transpose()
}

/// What the turn of the inertia adds to it: the symmetric part of the derivative of
/// R⁺ I R⁺ᵀ ω⁺ with respect to δθ/h, without R⁺ I R⁺ᵀ.
fn spin_stiffness(body: &RigidBody, h: f64) -> DMat3 {
    let inertia = body.inertia_world();
    let all = inertia * (turn_rate(h * body.omega) + skew(body.omega) * h) - inertia;
    (all + all.transpose()) * 0.5
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi's rotations.
fn eigen(matrix: &DMat3) -> (DVec3, DMat3) {
    let (mut a, mut v) = (*matrix, DMat3::IDENTITY);
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off = a.col(q)[p];
            if off == 0.0 {
                continue;
            }
            let theta = (a.col(q)[q] - a.col(p)[p]) / (2.0 * off);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let mut turn = DMat3::IDENTITY;
            (turn.col_mut(p)[p], turn.col_mut(q)[q]) = (c, c);
            (turn.col_mut(q)[p], turn.col_mut(p)[q]) = (t * c, -t * c);
            a = turn.transpose() * a * turn;
            v *= turn;
        }
    }
    (DVec3::new(a.x_axis.x, a.y_axis.y, a.z_axis.z), v)
}

/// Adds `K = −λ ∂²C/∂θ²` of every row to its two bodies, the other one held.
pub(crate) fn add_stiffness(system: &System, impulse: &[f64], out: &mut [DMat3]) {
    let mut row = 0;
    for (joint, ends) in system.joints.iter().zip(&system.ends) {
        let places = ends.map(|end| system.place(end));
        let levers = [
            places[0].r * DVec3::from_array(joint.a.point),
            places[1].r * DVec3::from_array(joint.b.point),
        ];
        let axes = [&joint.a, &joint.b].map(|side| side.axes.map(DVec3::from_array));
        let axis = |side: usize, k: usize| places[side].r * axes[side][k];
        // From each centre to the other attachment point.
        let (near, far) = (places[0].x + levers[0], places[1].x + levers[1]);
        let reach = [far - places[0].x, near - places[1].x];
        for kind in joint.row_kinds() {
            let lambda = impulse[row];
            row += 1;
            let [a, b] = match *kind {
                RowKind::Point(k) => {
                    let f = DVec3::AXES[k] * lambda;
                    [turning(levers[0], f), turning(levers[1], -f)]
                }
                RowKind::Far(k) => {
                    let f = DVec3::AXES[k] * lambda;
                    let far = |side: usize| levers[side] + joint.length * axis(side, 2);
                    [turning(far(0), f), turning(far(1), -f)]
                }
                RowKind::Square(i, j) => {
                    let (a, b) = (axis(0, i), axis(1, j));
                    let l = joint.length * lambda;
                    [turning(a, b * l), turning(b, a * l)]
                }
                RowKind::Slide(i) => {
                    let a = axis(0, i) * lambda;
                    [turning(a, reach[0]), turning(levers[1], a)]
                }
                RowKind::Distance(l) => {
                    let k = -lambda / l;
                    [0, 1].map(|side| turning(levers[side], reach[side] * k))
                }
            };
            for (end, part) in ends.iter().zip([a, b]) {
                if let Some(body) = *end {
                    out[body] += part;
                }
            }
        }
    }
}

/// `(f·r) 1 − sym(r fᵀ)`: how a turning lever r under a constant force f resists.
fn turning(r: DVec3, f: DVec3) -> DMat3 {
    let outer = DMat3::from_cols(r * f.x, r * f.y, r * f.z);
    DMat3::from_diagonal(DVec3::splat(f.dot(r))) - (outer + outer.transpose()) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use vincula::joint::JointKind;
    use vincula::prelude::*;

    #[test]
    fn stiffness_is_minus_the_second_derivative_of_the_rows_along_a_rotation() {
        for kind in [
            JointKind::Ball,
            JointKind::Hinge,
            JointKind::Prismatic,
            JointKind::Fixed,
            JointKind::Planar,
            JointKind::Distance(0.8),
        ] {
            let model = pair(kind);
            let mut system = System::new(&model, &model.initial_state());
            let impulse: Vec<f64> = (0..system.rows()).map(|k| 1.0 + 0.3 * k as f64).collect();
            let mut stiffness = [DMat3::ZERO; 2];
            add_stiffness(&system, &impulse, &mut stiffness);
            let omega = DVec3::new(0.4, -0.9, 0.6);
            for body in 0..2 {
                let rest = system.bodies.clone();
                system.bodies[0].omega = DVec3::ZERO;
                system.bodies[1].omega = DVec3::ZERO;
                system.bodies[body].omega = omega;
                system.bodies.iter_mut().for_each(|b| b.v = DVec3::ZERO);
                let bias = system.biases(0);
                let exact: f64 = impulse.iter().zip(bias).map(|(l, c)| -l * c).sum();
                let ours = omega.dot(stiffness[body] * omega);
                assert!(
                    (ours - exact).abs() < 1e-12,
                    "{kind:?} {body}: {ours} {exact}"
                );
                system.bodies = rest;
            }
        }
    }

    /// Two bodies with a joint that is badly violated, so that no term vanishes by chance.
    fn pair(kind: JointKind) -> Model {
        let mut builder = ModelBuilder::new();
        let shape = Shape::Box {
            half_extents: DVec3::new(0.5, 0.2, 0.1),
        };
        let a = builder.body(BodyDef::new("a", shape.clone(), 1000.0));
        let turn = DQuat::from_rotation_x(0.8) * DQuat::from_rotation_z(0.3);
        let b = builder.body(
            BodyDef::new("b", shape, 700.0)
                .turned(turn)
                .at(DVec3::new(0.9, 0.3, -0.4)),
        );
        let frame = |t: DVec3, angle: f64| Pose {
            translation: t,
            rotation: DQuat::from_rotation_y(angle),
        };
        let frames = [
            frame(DVec3::new(0.4, -0.1, 0.2), 0.7),
            frame(DVec3::new(-0.2, 0.3, 0.1), 1.1),
        ];
        builder.joint(JointDef::with_frames("j", kind, a, b, frames));
        builder.build().expect("a model")
    }
}
