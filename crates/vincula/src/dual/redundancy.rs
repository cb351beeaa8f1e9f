//! Which joints say the same thing twice, and which contradict the pose of their bodies.
//!
//! Affine bodies give way a little, so `J H⁻¹ Jᵀ` is never quite singular. Whether a
//! mechanism of *rigid* bodies is overdetermined shows in its rigid mobility instead:
//! every gradient is projected onto the six rigid velocities of its body (force
//! `f = ∂C/∂t`, torque `τ = axial(∂C/∂A Aᵀ)`), and the rank of
//!
//! ```text
//! G = Σ_bodies  f fᵀ / m + τ I⁻¹ τᵀ
//! ```
//!
//! is found by Cholesky with pivoting. A row that leaves no pivot is a combination of
//! others: the forces of all rows that take part in such a combination are not unique.

use thiserror::Error;
use vincula_blocks::{BlockMatrix, FactorError, Pattern, redundancy};

use super::Dual;
use super::island::Island;
use crate::diagnostics::joint_gap;
use crate::joint::Joint;
use crate::joint::rows::Gradient;
use crate::math::small::*;
use crate::model::{BodyId, JointId, Model, State};

/// Most rows of an island with loops that are analysed: the cost is cubic.
pub const MOST_ROWS: usize = 4500;

/// Pivots below this fraction of the diagonal count as zero.
const TOLERANCE: f64 = 1e-10;

/// A gap above this is a violation, m.
pub const GAP_TOLERANCE: f64 = 1e-9;

/// A joint some of whose rows follow from other joints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedundantJoint {
    /// The joint. Which one of a redundant set is named is a matter of choice.
    pub joint: JointId,
    /// Its rows that follow from the others.
    pub rows: Vec<usize>,
    /// The joints they follow from.
    pub follows_from: Vec<JointId>,
}

/// What was found out about the joints of a model at a pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointAnalysis {
    /// Constraint rows.
    pub rows: usize,
    /// Rows that are independent, for rigid bodies.
    pub rank: usize,
    /// Rigid freedoms left: six per body less the rank.
    pub freedoms: usize,
    /// Joints with redundant rows.
    pub redundant: Vec<RedundantJoint>,
    /// Joints whose reactions are not unique, ascending.
    pub not_unique: Vec<JointId>,
    /// Joints that do not hold at the pose, with their gap, m; the worst first.
    pub violated: Vec<(JointId, f64)>,
    /// The first joint of every island that has loops and too many rows to be analysed.
    pub too_large: Vec<JointId>,
}

/// Why joints could not be analysed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The pose is not finite, or the rows of an island make no sense.
    #[error("the joints around '{joint}' could not be analysed: {source}")]
    Island {
        /// Name of a joint of the island.
        joint: String,
        /// What the factorization said.
        source: FactorError,
    },
}

impl Dual {
    /// Finds redundant joints, and joints that do not hold, at a state of the model.
    pub fn analyse(&self, model: &Model, state: &State) -> Result<JointAnalysis, AnalysisError> {
        let mut found = JointAnalysis {
            rows: model.rows(),
            ..JointAnalysis::default()
        };
        for island in &self.islands {
            self.analyse_island(model, state, island, &mut found)?;
        }
        found.freedoms = (6 * model.bodies.len()).saturating_sub(found.rank);
        found.not_unique.sort_unstable();
        found.not_unique.dedup();
        found.violated = model
            .joint_ids()
            .map(|id| (id, joint_gap(model, state, id)))
            .filter(|(_, gap)| gap.is_nan() || *gap > GAP_TOLERANCE)
            .collect();
        found.violated.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(found)
    }

    fn analyse_island(
        &self,
        model: &Model,
        state: &State,
        island: &Island,
        found: &mut JointAnalysis,
    ) -> Result<(), AnalysisError> {
        let rows: usize = island.joints.iter().map(|&j| model.joints[j].rows()).sum();
        let id = |node: usize| JointId::new(island.joints[node]);
        // Without a loop every joint moves a body of its own, and nothing can be redundant.
        if !has_loop(model, &island.joints) {
            found.rank += rows;
            return Ok(());
        }
        if rows > MOST_ROWS {
            found.rank += rows;
            found.too_large.push(id(0));
            return Ok(());
        }
        let matrix = self.rigid_mobility(model, state, island);
        let report = redundancy(&matrix, TOLERANCE).map_err(|source| AnalysisError::Island {
            joint: model.joint(id(0)).name.clone(),
            source,
        })?;
        found.rank += report.rank;
        for node in report.nodes {
            let follows_from: Vec<JointId> = node.depends_on.iter().map(|&n| id(n)).collect();
            found.not_unique.push(id(node.node));
            found.not_unique.extend(&follows_from);
            found.redundant.push(RedundantJoint {
                joint: id(node.node),
                rows: node.rows,
                follows_from,
            });
        }
        Ok(())
    }

    /// The pairs of nodes whose joints share a body.
    fn pairs(&self, bodies: &[usize]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for &body in bodies {
            let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
            let node = |at: &super::Incidence| self.joints_place(at.joint as usize).1;
            for (k, i) in at_body.iter().enumerate() {
                pairs.extend(at_body[k + 1..].iter().map(|j| (node(i), node(j))));
            }
        }
        pairs
    }

    /// The matrix G of one island.
    fn rigid_mobility(&self, model: &Model, state: &State, island: &Island) -> BlockMatrix {
        // The island's own matrix also has rows for springs and drives; they bind nothing.
        let sizes: Vec<usize> = island
            .joints
            .iter()
            .map(|&j| model.joints[j].rows())
            .collect();
        let mut bodies: Vec<usize> = ends(model, &island.joints).flatten().collect();
        bodies.sort_unstable();
        bodies.dedup();
        let pattern = Pattern::new(&sizes, &self.pairs(&bodies))
            .expect("joints have one to six rows and never tie a body to itself");
        let mut matrix = BlockMatrix::zeros(&pattern);
        for body in bodies {
            let mobility = Mobility::new(model, state, body);
            let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
            let pushes: Vec<(usize, Vec<Push>)> = at_body
                .iter()
                .map(|at| {
                    let joint = &model.joints[at.joint as usize];
                    let node = self.joints_place(at.joint as usize).1;
                    (node, pushes(joint, at.first, state, &mobility))
                })
                .collect();
            for (k, (i, rows)) in pushes.iter().enumerate() {
                couple(matrix.diagonal_mut(*i), rows, rows, &mobility);
                for (j, columns) in &pushes[k + 1..] {
                    let (low, high) = if i < j {
                        (rows, columns)
                    } else {
                        (columns, rows)
                    };
                    if let Some(edge) = matrix.edge_index(*i.min(j), *i.max(j)) {
                        couple(matrix.edge_mut(edge), low, high, &mobility);
                    }
                }
            }
        }
        matrix
    }
}

/// How a rigid body answers forces and torques.
struct Mobility {
    affine: M3,
    rotation: M3,
    inverse_mass: f64,
    inverse_inertia: V3,
}

/// A unit force of a row on a rigid body: force, world, and torque about its centre,
/// principal frame.
struct Push {
    force: V3,
    torque: V3,
}

impl Mobility {
    fn new(model: &Model, state: &State, body: usize) -> Mobility {
        let id = BodyId::new(body);
        let mechanics = model.affine(id);
        Mobility {
            affine: state.affine_map(id),
            rotation: state.principal_rotation(id),
            inverse_mass: 1.0 / mechanics.mass,
            inverse_inertia: mechanics.inverse_inertia,
        }
    }

    /// `∂C/∂A : [ω]A = ω · τ` for every ω.
    fn push(&self, gradient: &Gradient) -> Push {
        let n = mult(&gradient.a, &self.affine);
        let torque = [n[7] - n[5], n[2] - n[6], n[3] - n[1]];
        Push {
            force: gradient.t,
            torque: tmul_vec(&self.rotation, &torque),
        }
    }

    fn dot(&self, a: &Push, b: &Push) -> f64 {
        let i = &self.inverse_inertia;
        let turn: f64 = (0..3).map(|k| a.torque[k] * i[k] * b.torque[k]).sum();
        self.inverse_mass * dot(&a.force, &b.force) + turn
    }
}

/// The rows of a joint as pushes on one of its bodies.
fn pushes(joint: &Joint, first: bool, state: &State, mobility: &Mobility) -> Vec<Push> {
    let (a, b) = (state.carried(&joint.a), state.carried(&joint.b));
    (0..joint.rows())
        .map(|row| {
            let row = joint.linearize(row, &a, &b);
            mobility.push(if first { &row.a } else { &row.b })
        })
        .collect()
}

/// Adds a block, row-major.
fn couple(block: &mut [f64], rows: &[Push], columns: &[Push], mobility: &Mobility) {
    let products = rows
        .iter()
        .flat_map(|row| columns.iter().map(|column| mobility.dot(row, column)));
    for (entry, product) in block.iter_mut().zip(products) {
        *entry += product;
    }
}

/// The two ends of each joint: the index of a body, or none for the world.
fn ends(model: &Model, joints: &[usize]) -> impl Iterator<Item = Option<usize>> {
    joints.iter().flat_map(|&j| {
        let joint = &model.joints[j];
        [joint.a.endpoint.index(), joint.b.endpoint.index()]
    })
}

/// Whether the joints of an island close a loop, the world being one body.
fn has_loop(model: &Model, joints: &[usize]) -> bool {
    let mut bodies: Vec<Option<usize>> = ends(model, joints).collect();
    bodies.sort_unstable();
    bodies.dedup();
    // A connected graph without loops has one edge less than nodes. An island that hangs on
    // the world by several joints is connected through bodies, so the count still holds.
    joints.len() + 1 > bodies.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::axis::Spring;
    use crate::joint::{JointDef, JointKind};
    use crate::model::Pose;
    use crate::prelude::*;
    use crate::step::Workspace;

    fn door() -> (ModelBuilder, BodyId) {
        let mut builder = ModelBuilder::new();
        let half_extents = DVec3::new(0.4, 0.02, 1.0);
        let shape = Shape::Box { half_extents };
        let door = builder.body(BodyDef::new("door", shape, 700.0).at(DVec3::X * 0.4));
        (builder, door)
    }

    fn analyse(builder: ModelBuilder) -> (Model, JointAnalysis) {
        let model = builder.build().unwrap();
        let work = Workspace::new(&model, Settings::default());
        let state = model.initial_state();
        let found = work.dual().analyse(&model, &state).unwrap();
        (model, found)
    }

    #[test]
    fn two_balls_on_an_axis_are_redundant_along_it() {
        let (mut builder, door) = door();
        builder.joint(JointDef::ball("low", World, door, DVec3::Z * -0.8));
        builder.joint(JointDef::ball("high", World, door, DVec3::Z * 0.8));
        let (model, found) = analyse(builder);
        assert_eq!((found.rows, found.rank, found.freedoms), (6, 5, 1));
        assert_eq!(found.redundant.len(), 1);
        let named = &found.redundant[0];
        assert_eq!(
            (model.joint(named.joint).name.as_str(), &named.rows[..]),
            ("high", &[2][..])
        );
        assert_eq!(found.not_unique.len(), 2);
        assert!(found.violated.is_empty());
    }

    #[test]
    fn a_hinge_is_not_redundant() {
        let (mut builder, door) = door();
        builder.joint(JointDef::hinge("hinge", World, door, DVec3::ZERO, DVec3::Z));
        let (_, found) = analyse(builder);
        assert_eq!((found.rank, found.freedoms), (5, 1));
        assert!(found.redundant.is_empty() && found.not_unique.is_empty());
    }

    #[test]
    fn a_spring_is_no_constraint() {
        let (mut builder, door) = door();
        let spring = Spring {
            stiffness: 10.0,
            ..Spring::default()
        };
        let hinge = JointDef::hinge("hinge", World, door, DVec3::ZERO, DVec3::Z);
        builder.joint(hinge.spring(0, spring));
        builder.joint(JointDef::ball("high", World, door, DVec3::Z * 0.8));
        let (_, found) = analyse(builder);
        assert_eq!((found.rows, found.rank, found.freedoms), (8, 5, 1));
    }

    #[test]
    fn a_joint_that_does_not_hold_is_named_with_its_gap() {
        let (mut builder, door) = door();
        builder.joint(JointDef::ball("low", World, door, DVec3::Z * -0.8));
        let apart = [
            Pose::at(DVec3::Z * 0.9),
            Pose::at(DVec3::new(-0.4, 0.0, 0.8)),
        ];
        builder.joint(JointDef::with_frames(
            "high",
            JointKind::Ball,
            World,
            door,
            apart,
        ));
        let (model, found) = analyse(builder);
        assert_eq!(found.violated.len(), 1);
        let (joint, gap) = found.violated[0];
        assert_eq!(model.joint(joint).name, "high");
        assert!((gap - 0.1).abs() < 1e-12);
    }
}
