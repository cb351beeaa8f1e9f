//! Body splitting (Tomcin et al., section 5): a body with many joints becomes several parts
//! with a share of its mass each, fixed to each other in a row, and its joints are handed out.
//!
//! How many parts? Let the joints of the body have N rows and each part take m of them. The
//! joints of a part and its two fixations, 12 rows, are coupled all with all, so a factorization
//! costs about `N/m · (m + 12)³` and a solve `N/m · (m + 12)²`. The first is least at m = 6,
//! the second at m = 12. One factorization serves several solves, and few large blocks are
//! handled faster than many small ones, so m = 12 is taken. Unsplit, the factorization costs
//! N³, which is worse from N = 34; the gain becomes worth while at about twice that.

use vincula::joint::{Joint, JointKind, Side};
use vincula::model::{Endpoint, Model};

use crate::system::System;

/// Rows of joints that one part takes.
const ROWS_PER_PART: usize = 12;
/// Bodies with more rows than this are split.
const WORTH_WHILE: usize = 72;

/// A body that was split: itself and its further parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The body, which is the first part.
    pub body: usize,
    /// The other parts, in the order of their fixations.
    pub others: std::ops::Range<usize>,
}

/// Splits every body of the system for which it pays, and says which.
pub fn split_bodies(model: &Model, system: &mut System) -> Vec<Parts> {
    let mut rows = vec![0; system.bodies.len()];
    for (joint, ends) in system.joints.iter().zip(&system.ends) {
        ends.iter()
            .flatten()
            .for_each(|&body| rows[body] += joint.rows());
    }
    (0..rows.len())
        .filter(|&body| rows[body] > WORTH_WHILE)
        .map(|body| split(model, system, body, rows[body].div_ceil(ROWS_PER_PART)))
        .collect()
}

fn split(model: &Model, system: &mut System, body: usize, count: usize) -> Parts {
    let share = 1.0 / count as f64;
    system.bodies[body].mass *= share;
    system.bodies[body].inertia *= share;
    let first = system.bodies.len();
    let part = system.bodies[body];
    system.bodies.resize(first + count - 1, part);
    hand_out(system, body, first, count);
    let name = &model.bodies()[body].name;
    for k in 1..count {
        let from = if k == 1 { body } else { first + k - 2 };
        let ends = [from, first + k - 1];
        let joint = fixation(model, body, format!("{name}, part {k}"));
        system.joints.push(joint);
        system.ends.push(ends.map(Some));
    }
    Parts {
        body,
        others: first..first + count - 1,
    }
}

/// Gives each part its share of the rows, neighbours in the list of joints together.
fn hand_out(system: &mut System, body: usize, first: usize, count: usize) {
    let mine = |ends: &[Option<usize>; 2]| ends.contains(&Some(body));
    let sizes = system.joints.iter().map(Joint::rows);
    let total: usize = sizes
        .zip(&system.ends)
        .filter(|(_, ends)| mine(ends))
        .map(|(rows, _)| rows)
        .sum();
    let mut given = 0;
    for (joint, ends) in system.joints.iter().zip(&mut system.ends) {
        if !mine(ends) {
            continue;
        }
        let part = (given * count / total).min(count - 1);
        given += joint.rows();
        if part > 0 {
            let end = ends.iter_mut().find(|end| **end == Some(body));
            *end.expect("the joint is mine") = Some(first + part - 1);
        }
    }
}

/// Six rows at the common centre of mass.
fn fixation(model: &Model, body: usize, name: String) -> Joint {
    let mass = &model.bodies()[body].mass;
    let length = (mass.second_moments.element_sum() / mass.mass).sqrt();
    let side = Side {
        endpoint: Endpoint::World,
        point: [0.0; 3],
        axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    };
    Joint::between(name, JointKind::Fixed, side, side, length)
}
