//! Which body of a tree hangs from which.

use super::record::Slot;
use crate::dual::larger;
use crate::dual::ports::{NO_POINTS, Points};
use crate::joint::{Joint, JointKind};
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;

/// No joint.
pub(super) const NONE: u32 = u32::MAX;

/// What the body of a lane hangs from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Parent {
    Nothing,
    World(V3),
    Body(u32),
}

/// How eight bodies hang.
#[derive(Clone, Debug)]
pub(super) struct Hung {
    pub parents: [Parent; LANES],
    /// One where a body hangs from something, or zero.
    pub hangs: Lane,
    /// Whether one of them hangs from another.
    pub nested: bool,
    /// The joint that each hangs by, and the sign of its force on it.
    pub joints: [u32; LANES],
    pub signs: Lane,
}

impl Hung {
    const FREE: Hung = Hung {
        parents: [Parent::Nothing; LANES],
        hangs: [0.0; LANES],
        nested: false,
        joints: [NONE; LANES],
        signs: [0.0; LANES],
    };

    /// How far the bodies are from what they hang from, m: their first points, from the second ones
    /// of other blocks.
    pub fn open<'a>(
        &self,
        bases: &[Lane; 3],
        world: f64,
        tips: impl Fn(usize) -> &'a [Lane; 3],
    ) -> f64 {
        let mut most = 0.0;
        for lane in 0..LANES {
            let above = match self.parents[lane] {
                Parent::Nothing => continue,
                Parent::World(point) => scale(&point, world),
                Parent::Body(body) => {
                    let (above, at) = place(body as usize);
                    gather(tips(above), at)
                }
            };
            for gap in sub(&gather(bases, lane), &above) {
                most = larger(gap.abs(), most);
            }
        }
        most
    }

    /// How far all of these bodies are from what they hang from, m.
    pub fn most_open(all: &[Hung], slots: &[Slot], world: f64) -> f64 {
        let mut most = 0.0;
        for (hung, slot) in all.iter().zip(slots) {
            let tip = |above: usize| &slots[above].place[1];
            most = larger(hung.open(&slot.place[0], world, tip), most);
        }
        most
    }

    /// How the bodies of a model hang, and where joints hold them, if all joints are ball joints
    /// like this, every block of bodies is held, and the children of a body come after it and hang
    /// from one point.
    pub fn find(
        model: &Model,
        is_like: impl Fn(&Joint) -> bool,
    ) -> Option<(Vec<Hung>, Vec<Points>)> {
        if model.joints.is_empty() || model.bodies.len() >= NONE as usize {
            return None;
        }
        let blocks = model.params.len();
        let mut hung = vec![Hung::FREE; blocks];
        let mut points = vec![NO_POINTS; blocks];
        let mut has_children = vec![false; model.bodies.len()];
        let mut held = vec![false; blocks];
        for (index, joint) in model.joints.iter().enumerate() {
            if joint.kind != JointKind::Ball || !is_like(joint) {
                return None;
            }
            let ends = [(&joint.a, 1.0), (&joint.b, -1.0)];
            let later = joint.a.endpoint.index() > joint.b.endpoint.index();
            let [(child, sign), (parent, _)] = if later { ends } else { [ends[1], ends[0]] };
            let (block, lane) = place(child.endpoint.index()?);
            let at = &mut hung[block];
            if at.joints[lane] != NONE {
                return None;
            }
            (at.joints[lane], at.signs[lane], at.hangs[lane]) = (index as u32, sign, 1.0);
            held[block] = true;
            scatter(&mut points[block][0], lane, &child.point);
            let Some(body) = parent.endpoint.index() else {
                at.parents[lane] = Parent::World(parent.point);
                continue;
            };
            at.parents[lane] = Parent::Body(body as u32);
            let (above, lane) = place(body);
            at.nested |= above == block;
            held[above] = true;
            if std::mem::replace(&mut has_children[body], true)
                && gather(&points[above][1], lane) != parent.point
            {
                return None;
            }
            scatter(&mut points[above][1], lane, &parent.point);
        }
        let all = held.into_iter().all(|held| held);
        all.then_some((hung, points))
    }
}
