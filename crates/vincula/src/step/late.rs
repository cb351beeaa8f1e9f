//! Contacts that are seen only at the end of a step.
//!
//! Detection looks at the pose at the start. Where a box falls on an edge and turns, the corner that
//! is deepest at the end may not have been among the points. So steps with contacts are looked at again
//! where they end, unless a crowd of loose bodies, of which none is fast, makes that too dear. If something has gone in that
//! was apart at the start, its points join the others, and the step is made again from its start: the
//! points are material, and so is their gap at the start.

use super::Workspace;
use super::contact::mark_touched;
use super::parts::borne;
use super::travel::{measure_thickness, reach};
use crate::contact::stage::{Care, is_crowd};
use crate::contact::{ContactPoint, detect_but};
use crate::math::lanes::{gather, place};
use crate::math::rotation::polar;
use crate::math::small::*;
use crate::model::{BodyId, ColliderId, Control, Model, State};

/// Times at most that a step is made again, by how much care contacts get.
const REPEATS: [usize; 3] = [4, 4, 2];
/// The same for bodies without joints, unless there is a crowd of them.
const LOOSE_REPEATS: usize = 2;
/// Way of a contact in a step, over the thickness of the thinner of its bodies, with which nothing
/// goes in unseen.
const CALM: f64 = 0.005;
/// The same beyond which a crowd of loose bodies is looked at too: few steps of a heap have one so fast.
const FAST: f64 = 0.5;
/// Bodies for each contact up to which it is worth to know those that hardly move.
const FEW: usize = 4;
/// What may go in unseen, as a part of half the thickness of the thinner of the two: by bodies on
/// joints, and by loose ones. Moving them out again lifts what lies on them, which adds energy.
const UNSEEN: [f64; 2] = [1e-2, 1e-3];
/// Part of a step that detection looks ahead by, where only what overlaps counts.
const HARDLY: f64 = 1e-3;
/// Marks the names of points that were found late.
const LATE: u64 = 1 << 63;

/// Whether the start of the step may be needed again.
pub(super) fn may_repeat(model: &Model, state: &State, work: &mut Workspace, h: f64) -> bool {
    let count = work.contacts.points.len();
    let all = !work.dual.is_empty() || !is_crowd(count);
    count > 0 && (all || reach(model, [state; 2], work, h) > FAST)
}

/// How often the end of the step from `before` to `state` is worth a look. Many contacts of
/// mechanisms that hardly move are not looked at.
pub(super) fn repeats(
    model: &Model,
    [before, state]: [&State; 2],
    work: &mut Workspace,
    h: f64,
) -> usize {
    work.calm.clear();
    if !work.stage.has_begun() {
        return 0;
    }
    if !work.stage.holds_any() {
        let crowd = is_crowd(work.contacts.points.len());
        let slow = crowd && reach(model, [before, state], work, h) <= FAST;
        return if slow { 0 } else { LOOSE_REPEATS };
    }
    let care = work.stage.care();
    if care == Care::Exact {
        return REPEATS[care as usize];
    }
    if reach(model, [before, state], work, h) < CALM {
        return 0;
    }
    // Where few bodies touch something, most pairs are not looked at anyway.
    if FEW * work.contacts.points.len() > model.bodies.len() {
        work.calm.resize(model.bodies.len(), false);
    }
    REPEATS[care as usize]
}

/// Finds what overlaps at the end of a step from `before`. Pairs of bodies that hardly moved are not
/// looked at where contacts are many.
pub(super) fn look(
    model: &Model,
    [before, state]: [&State; 2],
    control: &Control,
    work: &mut Workspace,
    h: f64,
) {
    find_calm(model, [before, state], work);
    let calm = &work.calm;
    let sleeps = |body: BodyId| state.sleeps(body) || calm.get(body.index()) == Some(&true);
    detect_but(model, state, control, HARDLY * h, &sleeps, &mut work.late);
}

/// Marks the bodies that moved so little that two of them went in by nothing that counts, where marks
/// are wanted.
fn find_calm(model: &Model, [before, state]: [&State; 2], work: &mut Workspace) {
    measure_thickness(model, work);
    let thinnest = work.thinnest;
    for (body, calm) in work.calm.iter_mut().enumerate() {
        let (block, lane) = place(body);
        let [from, to] = [before, state].map(|state| &state.blocks[block]);
        let shift: V3 = sub(&gather(&to.t, lane), &gather(&from.t, lane));
        let turn: M3 = sub9(&gather(&to.a, lane), &gather(&from.a, lane));
        // How a map moves a point is bounded by its Frobenius norm.
        let swing = turn.iter().map(|x| x * x).sum::<f64>().sqrt();
        *calm = dot(&shift, &shift).sqrt() + swing * work.girth[body] < CALM * thinnest;
    }
}

/// Looks for points that went in unseen in the step from `before` to `state`, and adds them to the
/// contacts of the step. Says whether there were any.
pub(super) fn find_missed(
    model: &Model,
    before: &State,
    state: &State,
    control: &Control,
    work: &mut Workspace,
    h: f64,
) -> bool {
    look(model, [before, state], control, work, h);
    measure_thickness(model, work);
    let part = UNSEEN[usize::from(!work.stage.holds_any())];
    let known = work.contacts.points.len();
    let turns = known + work.late.points.len();
    let borne = match work.stage.is_strung() {
        true => borne(work),
        false => f64::INFINITY,
    };
    for point in &work.late.points {
        let thin = |c: ColliderId| work.thickness[c.index()];
        let unseen = part * thin(point.collider_a).min(thin(point.collider_b));
        // A frame that the user moves is looked at where it was.
        if !(point.gap < -unseen) || point.surface_velocity != [0.0; 3] {
            continue;
        }
        let [a, b] = [(point.a, &point.anchor_a), (point.b, &point.anchor_b)]
            .map(|(body, anchor)| place_of(before, body, anchor));
        let gap = dot(&point.normal, &sub(&b, &a));
        // What was inside at the start is on its way out, unless a link that rolls goes in deeper.
        let sinks = point.gap < gap.min(-borne);
        if gap < -0.5 * unseen && !sinks {
            continue;
        }
        let feature = (point.feature ^ turns as u64) | LATE;
        work.contacts.points.push(ContactPoint {
            gap,
            feature,
            ..*point
        });
    }
    if work.contacts.points.len() == known {
        return false;
    }
    work.stage.keep_forces(&work.contacts.points[..known]);
    let key = |c: &ContactPoint| (c.collider_a, c.collider_b, c.feature);
    let points = &mut work.contacts.points;
    points.sort_unstable_by(|p, q| key(p).cmp(&key(q)).then(p.gap.total_cmp(&q.gap)));
    mark_touched(work);
    true
}

/// Where a point of a body was, or a point of the world is, m.
fn place_of(state: &State, body: Option<BodyId>, anchor: &V3) -> V3 {
    let Some(body) = body else { return *anchor };
    let (block, lane) = place(body.index());
    let block = &state.blocks[block];
    let a: M3 = gather(&block.a, lane);
    let turned = mul_vec(&polar(&a).unwrap_or(a), anchor);
    add(&turned, &gather(&block.t, lane))
}
