//! Half-spaces: what reaches below them, and where forms touch them.

use glam::DVec3;

use super::bounds::Bounds;
use super::collide::{Placed, Touch};
use super::placing::Proxy;
use crate::model::Pose;

/// Whether a box reaches below a plane, or the plane may reach it in the step.
pub(super) fn over(plane: &Proxy, bounds: &Bounds) -> bool {
    let up = plane.pose.rotation * DVec3::Z;
    let middle = 0.5 * (bounds.low + bounds.high);
    let reach = (0.5 * (bounds.high - bounds.low)).dot(up.abs());
    let far = up.dot(middle - plane.pose.translation);
    // A plane that turns may come from anywhere.
    plane.turns || far <= reach + plane.margin + plane.motion.length()
}

/// Height of the lowest point of a form over a plane, m.
pub(super) fn lowest(plane: Pose, other: Placed) -> f64 {
    let up = plane.rotation * DVec3::Z;
    let mut low = f64::INFINITY;
    let own_up = other.pose.rotation.inverse() * up;
    other.form.low_points(own_up, DVec3::ZERO, &mut |point, _| {
        low = low.min(up.dot(other.pose.point(point) - plane.translation));
    });
    low
}

/// The points of a form over a half-space.
pub(super) fn touch_plane(
    plane: Pose,
    other: Placed,
    reach: f64,
    flipped: bool,
    out: &mut Vec<Touch>,
) {
    let up = plane.rotation * DVec3::Z;
    let own_up = other.pose.rotation.inverse() * up;
    let own_turn = other.pose.rotation.inverse() * other.turn;
    other
        .form
        .low_points(own_up, own_turn, &mut |point, number| {
            let above = other.pose.point(point);
            let gap = up.dot(above - plane.translation);
            if gap > reach {
                return;
            }
            let below = above - gap * up;
            let (first, second, normal) = if flipped {
                (above, below, -up)
            } else {
                (below, above, up)
            };
            out.push(Touch {
                first,
                second,
                normal,
                gap,
                ahead: gap,
                feature: u64::from(number),
                known: false,
            });
        });
}
