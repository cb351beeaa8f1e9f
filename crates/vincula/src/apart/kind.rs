//! Groups of mechanisms that differ in nothing but their place.
//!
//! A thousand arms of one make need the constants and the memory of one group only, which then
//! stay in the cache. Each mechanism is seen from an anchor of its own, the first point at which
//! a joint holds it to the world; seen from there, equal mechanisms are equal.

use super::groups::Members;
use crate::joint::{Joint, Side};
use crate::math::lanes::{LANES, gather};
use crate::math::small::*;
use crate::model::Model;

/// Relative difference of two lengths that is rounding.
const ROUNDING: f64 = 1e-12;
/// A group is compared with this many kinds before it becomes one of its own.
const COMPARED: usize = 8;

/// The world of a group, seen from its anchors, for each kind of group.
#[derive(Default)]
pub(super) struct Kinds {
    pub models: Vec<Model>,
}

impl Kinds {
    /// The kind of a group, and the anchor of each of its bodies in the world, m.
    pub fn enter(&mut self, whole: &Model, members: &Members) -> (usize, Vec<V3>) {
        let mut model = whole.subset(&members.bodies, &members.joints);
        if members.beside < 2 || !looks_the_same_everywhere(whole) {
            self.models.push(model);
            let nowhere = vec![[0.0; 3]; members.bodies.len()];
            return (self.models.len() - 1, nowhere);
        }
        let mut anchors = [None; LANES];
        for (k, joint) in model.joints.iter_mut().enumerate() {
            let anchor = &mut anchors[k % members.beside];
            for side in [&mut joint.a, &mut joint.b] {
                if side.endpoint.index().is_none() {
                    side.point = sub(&side.point, anchor.get_or_insert(side.point));
                }
            }
        }
        let anchor = |k: usize| anchors[k % members.beside].unwrap_or([0.0; 3]);
        let anchors = (0..members.bodies.len()).map(anchor).collect();
        let known = self.models.iter().rev().take(COMPARED);
        let known = known.into_iter().position(|other| is_equal(other, &model));
        let kind = match known {
            Some(back) => self.models.len() - 1 - back,
            None => {
                self.models.push(model);
                self.models.len() - 1
            }
        };
        (kind, anchors)
    }
}

/// Whether nothing that acts on a body depends on where it is.
fn looks_the_same_everywhere(model: &Model) -> bool {
    let still = |body: &crate::model::Body| body.drag == Default::default();
    model.ground.is_none() && model.bodies.iter().all(still)
}

/// Whether two worlds have equal bodies and joints but for rounding and names.
fn is_equal(one: &Model, other: &Model) -> bool {
    one.bodies.len() == other.bodies.len()
        && one.joints.len() == other.joints.len()
        && one
            .bodies
            .iter()
            .zip(&other.bodies)
            .all(|(a, b)| a.gravity_scale == b.gravity_scale && a.damping == b.damping)
        && one.params.iter().zip(&other.params).all(|(a, b)| {
            (0..LANES).all(|lane| {
                let (x, y) = (a.affine(lane), b.affine(lane));
                is_near(&[x.mass, x.shear, x.bulk], &[y.mass, y.shear, y.bulk])
                    && is_near(&gather(&a.second, lane), &gather(&b.second, lane))
            })
        })
        && one
            .joints
            .iter()
            .zip(&other.joints)
            .all(|(a, b)| is_equal_joint(a, b))
}

fn is_equal_joint(one: &Joint, other: &Joint) -> bool {
    let side = |a: &Side, b: &Side| {
        let turned = a.axes.iter().zip(&b.axes).all(|(x, y)| {
            let off = sub(x, y);
            dot(&off, &off) <= ROUNDING * ROUNDING
        });
        a.endpoint == b.endpoint && turned && is_near(&a.point, &b.point)
    };
    one.kind == other.kind
        && one.row_kinds() == other.row_kinds()
        && one.axes == other.axes
        && is_near(&[one.length; 3], &[other.length; 3])
        && side(&one.a, &other.a)
        && side(&one.b, &other.b)
}

/// Whether three numbers of one kind differ by rounding only.
fn is_near(a: &V3, b: &V3) -> bool {
    let off = sub(a, b);
    dot(&off, &off) <= ROUNDING * ROUNDING * dot(a, a).max(f64::MIN_POSITIVE)
}
