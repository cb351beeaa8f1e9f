//! How far contacts move in a step, which says how many parts it needs.
//!
//! A linearisation follows a body that is struck and turns by a fraction of a radian. What strikes
//! at the speed u turns what it strikes, or itself, by about u h over its size in a step. Where
//! many contacts or large mechanisms are solved to a stated accuracy only, a step in which that is
//! not small is taken in equal parts from the beginning: to try it as a whole first costs more.

use super::Workspace;
use crate::contact::ContactPoint;
use crate::contact::stage::{MANY_HELD, relative};
use crate::math::small::*;
use crate::model::{BodyId, ColliderId, Model, State};

/// What a contact may close in by in a part, over the thickness of the thinner of its bodies: among
/// many or at a large mechanism, and at a long chain, which hardly follows the link that is struck and
/// is solved all at once. What goes too deep there is made again in halves.
const CLOSING: [f64; 2] = [0.3, 4.0];
/// Rows of a mechanism from which on it is large.
const LARGE: usize = 200;

/// Equal parts that the motion at the contacts asks for, at most `most`.
pub(super) fn parts_wanted(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    h: f64,
    most: usize,
) -> usize {
    if work.dual.is_empty() || work.contacts.points.is_empty() || most < 2 {
        return 1;
    }
    measure_thickness(model, work);
    let points = &work.contacts.points;
    let many = points.len() > MANY_HELD;
    let closing = |body: &BodyId| {
        let (island, rows) = work.dual.island_of(body.index())?;
        match rows > LARGE {
            true => Some(CLOSING[usize::from(work.dual.is_line(island))]),
            false => many.then_some(CLOSING[0]),
        }
    };
    let mut wanted = 0.0f64;
    for point in points {
        let speed = dot(&point.normal, &relative(point, &state.blocks));
        // Most are only near.
        if point.gap + h * speed >= 0.0 {
            continue;
        }
        let sides = [point.a, point.b];
        if let Some(closing) = sides.iter().flatten().filter_map(closing).reduce(f64::max) {
            wanted = wanted.max(-h * speed / (closing * thinner(point, work)));
        }
    }
    (wanted.ceil() as usize).clamp(1, most)
}

/// The farthest that the two sides of a contact move against each other in a step at the speeds of
/// these states, over the thickness of the thinner one.
pub(super) fn reach(model: &Model, states: [&State; 2], work: &mut Workspace, h: f64) -> f64 {
    measure_thickness(model, work);
    let mut farthest = 0.0f64;
    for point in &work.contacts.points {
        for state in states {
            let v = relative(point, &state.blocks);
            farthest = farthest.max(h * dot(&v, &v).sqrt() / thinner(point, work));
        }
    }
    farthest
}

/// Thickness of the thinner of the two bodies of a contact, m.
fn thinner(point: &ContactPoint, work: &Workspace) -> f64 {
    let half = |c: ColliderId| work.thickness[c.index()];
    2.0 * half(point.collider_a).min(half(point.collider_b))
}

/// Finds half the smallest extent of every collider, m, and from the centre of every body to the
/// farthest point of its colliders, m, once.
pub(super) fn measure_thickness(model: &Model, work: &mut Workspace) {
    if !work.thickness.is_empty() {
        return;
    }
    let count = model.colliders().len();
    work.thickness.resize(count, f64::INFINITY);
    for leaf in &model.collision.leaves {
        let least = &mut work.thickness[leaf.collider.index()];
        *least = least.min(leaf.thickness);
        work.thinnest = work.thinnest.min(leaf.thickness);
    }
    work.girth.resize(model.bodies.len(), 0.0);
    for leaf in &model.collision.leaves {
        if let Some(body) = model.collider(leaf.collider).carrier.body() {
            let girth = &mut work.girth[body.index()];
            *girth = girth.max(leaf.center.length() + leaf.radius);
        }
    }
}
