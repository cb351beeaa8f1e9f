//! Two boxes: separating axes, then the faces clipped against each other.
//!
//! Along a direction n from the first to the second, boxes with half extents a, b are apart by
//!
//! ```text
//! s(n) = n · t − Σ aᵢ |n · Aᵢ| − Σ bⱼ |n · Bⱼ|
//! ```
//!
//! The largest s over the six face normals and the nine products of edges (Gottschalk et al. 1996)
//! decides. At a face, the opposite face of the other box is clipped by the sides of this one
//! (Sutherland and Hodgman 1974), and every corner of what is left is a point, with its own gap:
//! also those that are still apart, so that a face which turns into contact is held by all of
//! them. Where two edges cross, their closest points are one more. The direction of the last step is kept
//! until another one is better by more than a little: in a heap where two of them take turns forces never rest.
//!
//! What must not be entered at the end of a step is the face as it lies then. So the normal is the
//! one that the face is going to have: with that of the start a point which slides by δ over a face
//! that turns by θ would sink in by θδ.

use glam::{DMat3, DVec3};

use super::collide::Touch;

/// By how much, of the smaller box, two edges must be farther apart than any face for their
/// product to count. Faces are steady while bodies rock, products of edges are not.
const EDGES: f64 = 1e-3;
/// The same for a face of the second box where one of the first lies along it: boxes that lie on each
/// other rock, and the points of one face have other names and places than those of the other.
const FACES: f64 = 1e-3;
/// Sine of the angle below which two edges are parallel.
const PARALLEL: f64 = 1e-3;
/// What being that of the last step is worth to an axis, of the smaller box.
const STEADY: f64 = 1e-3;
/// Cosine of the angle up to which a face is clipped along a product of edges.
const ALIGNED: f64 = 0.95;

/// Distance, of the smaller box, up to which a corner is where two edges cross.
const SAME: f64 = 2e-3;
/// Names of points where edges cross start here; those of faces are smaller.
const CROSSED: u64 = 1 << 24;

/// Turn of a box in a step at most that its normals follow, rad.
const MOST_TURN: f64 = 0.1;

/// A box in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    half: [f64; 3],
    axes: [DVec3; 3],
    center: DVec3,
    /// How it is going to turn in the step, rad.
    turn: DVec3,
}

impl Block {
    /// A box with its middle at `center`, along the columns of `axes`.
    pub fn new(half_extents: DVec3, center: DVec3, axes: &DMat3, turn: DVec3) -> Block {
        Block {
            half: half_extents.to_array(),
            axes: [axes.x_axis, axes.y_axis, axes.z_axis],
            center,
            // What turns far in a step will not do so once it touches.
            turn: if turn.length() <= MOST_TURN {
                turn
            } else {
                DVec3::ZERO
            },
        }
    }

    /// Half its smallest edge, m.
    fn least(&self) -> f64 {
        self.half.iter().fold(f64::INFINITY, |m, x| m.min(*x))
    }

    /// Whether a plane along one of its faces, or along a triangle, lies between the two with more than
    /// `reach`, m. Most triangles near a box are beside it.
    pub fn is_off(&self, corners: [DVec3; 3], reach: f64) -> bool {
        let [a, b, c] = corners.map(|corner| {
            let away = corner - self.center;
            DVec3::from_array(self.axes.map(|axis| axis.dot(away)))
        });
        let half = DVec3::from_array(self.half);
        let beyond = a.min(b).min(c).max(-a.max(b).max(c)) - half;
        if beyond.max_element() > reach {
            return true;
        }
        let across = (b - a).cross(c - a);
        let height = across.dot(a).abs() - across.abs().dot(half);
        height > reach * across.length()
    }

    /// Where a direction fixed to it points at the end of the step.
    fn turned(&self, direction: DVec3) -> DVec3 {
        (direction + self.turn.cross(direction)).normalize()
    }

    /// The axis whose face looks most along n, and to which side.
    fn facing(&self, n: DVec3) -> (usize, f64) {
        let along = self.axes.map(|axis| n.dot(axis));
        let mut best = 0;
        for k in 1..3 {
            if along[k].abs() > along[best].abs() {
                best = k;
            }
        }
        (best, if along[best] < 0.0 { -1.0 } else { 1.0 })
    }

    /// The corners of a face in order, with their numbers.
    fn face(&self, axis: usize, side: f64) -> Polygon {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut polygon = Polygon::default();
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            let mut signs = [0.0; 3];
            (signs[axis], signs[u], signs[v]) = (side, x, y);
            let mut number = 0;
            let mut at = self.center;
            for k in 0..3 {
                at += signs[k] * self.half[k] * self.axes[k];
                number |= u32::from(signs[k] > 0.0) << k;
            }
            polygon.push(at, number);
        }
        polygon
    }

    /// The middle of the edge along an axis that lies farthest along n.
    fn edge(&self, axis: usize, n: DVec3) -> DVec3 {
        let others = (0..3).filter(|k| *k != axis);
        others.fold(self.center, |at, k| {
            let side = if n.dot(self.axes[k]) < 0.0 { -1.0 } else { 1.0 };
            at + side * self.half[k] * self.axes[k]
        })
    }
}

/// A convex polygon: four corners cut by four planes have at most eight.
#[derive(Clone, Copy, Debug)]
struct Polygon {
    corners: [(DVec3, u32); 8],
    count: usize,
}

impl Default for Polygon {
    fn default() -> Self {
        Polygon {
            corners: [(DVec3::ZERO, 0); 8],
            count: 0,
        }
    }
}

impl Polygon {
    fn push(&mut self, at: DVec3, number: u32) {
        if self.count < self.corners.len() {
            self.corners[self.count] = (at, number);
            self.count += 1;
        }
    }

    fn corners(&self) -> &[(DVec3, u32)] {
        &self.corners[..self.count]
    }

    /// Keeps what lies on the inner side of a plane: n · x ≤ d. New corners are named by the edge
    /// that they lie on and the plane.
    fn cut(&mut self, n: DVec3, d: f64, plane: u32) {
        let mut beyond = [0.0; 8];
        for (beyond, (p, _)) in beyond.iter_mut().zip(self.corners()) {
            *beyond = n.dot(*p) - d;
        }
        if beyond[..self.count].iter().all(|far| *far <= 0.0) {
            return;
        }
        let mut kept = Polygon::default();
        for k in 0..self.count {
            let next = if k + 1 < self.count { k + 1 } else { 0 };
            let ((p, one), (q, two)) = (self.corners[k], self.corners[next]);
            let (from, to) = (beyond[k], beyond[next]);
            if from <= 0.0 {
                kept.push(p, one);
            }
            if (from < 0.0 && to > 0.0) || (from > 0.0 && to < 0.0) {
                let (low, high) = (one.min(two), one.max(two));
                let number = 16 + ((low * 61 + high) * 5 + plane) % 4000;
                kept.push(p + (q - p) * (from / (from - to)), number);
            }
        }
        *self = kept;
    }
}

/// Which direction separates best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Axis {
    /// A face of the first or of the second box.
    Face(usize, usize),
    /// The product of an edge of each.
    Edges(usize, usize),
}

impl Axis {
    /// The one that the names of the points of two boxes tell of. Those of an edge of each are only among
    /// them where their product was the best.
    pub fn of_names(names: impl Iterator<Item = u64>) -> Option<Axis> {
        let mut face = None;
        // Names of points that were found late, or of other pieces, are larger.
        for name in names.filter(|name| *name < 2 * CROSSED) {
            if name >= CROSSED {
                let edges = (name - CROSSED) as usize;
                return (edges < 9).then_some(Axis::Edges(edges / 3, edges % 3));
            }
            let axis = (name >> 17 & 7) as usize;
            if axis < 3 {
                face = Some(Axis::Face((name >> 20) as usize & 1, axis));
            }
        }
        face
    }
}

/// The direction that separates best so far.
struct Best {
    axis: Axis,
    /// How far apart they are along it, and what it is worth beside others, m.
    apart: f64,
    worth: f64,
    /// The one of the last step, and what that adds to its worth, m.
    last: Option<Axis>,
    bonus: f64,
}

impl Best {
    fn new(last: Option<Axis>, bonus: f64) -> Best {
        Best {
            axis: Axis::Face(0, 0),
            apart: f64::NEG_INFINITY,
            worth: f64::NEG_INFINITY,
            last,
            bonus,
        }
    }

    /// Takes an axis along which they are so far apart, if it is better by more than a margin.
    fn try_axis(&mut self, axis: Axis, apart: f64, margin: f64) {
        let steady = if self.last == Some(axis) {
            self.bonus
        } else {
            0.0
        };
        let worth = apart - margin + steady;
        if worth > self.worth {
            (self.axis, self.apart, self.worth) = (axis, apart, worth);
        }
    }
}

/// What they are farthest apart along, the direction from the first box to the second, and how far;
/// nothing when that is more than `reach`.
///
/// With cᵢⱼ = Aᵢ · Bⱼ no direction has to be written down to know how far apart they are along it.
fn separate(
    one: &Block,
    two: &Block,
    reach: f64,
    last: Option<Axis>,
) -> Option<(Axis, DVec3, f64)> {
    let t = two.center - one.center;
    let (a, b) = (&one.half, &two.half);
    let size = one.least().min(two.least());
    let c = one.axes.map(|u| two.axes.map(|v| u.dot(v)));
    let far = c.map(|row| row.map(f64::abs));
    let (p, q) = (one.axes.map(|u| u.dot(t)), two.axes.map(|v| v.dot(t)));
    let mut faces = [[0.0; 3]; 2];
    for k in 0..3 {
        let (row, column) = (&far[k], far.map(|row| row[k]));
        faces[0][k] = p[k].abs() - a[k] - (b[0] * row[0] + b[1] * row[1] + b[2] * row[2]);
        faces[1][k] = q[k].abs() - b[k] - (a[0] * column[0] + a[1] * column[1] + a[2] * column[2]);
    }
    // The first of two that are as good, to rounding.
    let largest = |s: &[f64; 3]| {
        let better = |best: usize, k: usize| {
            if s[k] > s[best] + 1e-9 * size {
                k
            } else {
                best
            }
        };
        (0..3).fold(0, better)
    };
    let [i, j] = [largest(&faces[0]), largest(&faces[1])];
    if faces[0][i].max(faces[1][j]) > reach {
        return None;
    }
    let mut best = Best::new(last, STEADY * size);
    best.try_axis(Axis::Face(0, i), faces[0][i], 0.0);
    let margin = size * if far[i][j] > ALIGNED { FACES } else { 1e-9 };
    best.try_axis(Axis::Face(1, j), faces[1][j], margin);
    if let Some(Axis::Face(which, axis)) = last {
        best.try_axis(Axis::Face(which, axis), faces[which][axis], 0.0);
    }
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let square = 1.0 - c[i][j] * c[i][j];
            if square < PARALLEL * PARALLEL {
                continue;
            }
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            let between = (p[i2] * c[i1][j] - p[i1] * c[i2][j]).abs();
            let own = a[i1] * far[i2][j] + a[i2] * far[i1][j];
            let others = b[j1] * far[i][j2] + b[j2] * far[i][j1];
            let s = (between - own - others) / square.sqrt();
            if s > reach {
                return None;
            }
            best.try_axis(Axis::Edges(i, j), s, EDGES * size);
        }
    }
    let n = match best.axis {
        Axis::Face(which, axis) => [one, two][which].axes[axis],
        Axis::Edges(i, j) => one.axes[i].cross(two.axes[j]).normalize(),
    };
    Some((best.axis, if n.dot(t) < 0.0 { -n } else { n }, best.apart))
}

/// How two boxes are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nearness {
    /// Farther apart than asked for.
    Apart,
    /// Points were found.
    Found,
    /// They may be close, but no face or edge lies over another: at corners only.
    Corners,
}

/// Appends the points of two boxes that are closer than `reach`, m.
pub(crate) fn touch_boxes(
    one: &Block,
    two: &Block,
    reach: f64,
    last: Option<Axis>,
    out: &mut Vec<Touch>,
) -> Nearness {
    let Some((axis, n, _)) = separate(one, two, reach, last) else {
        return Nearness::Apart;
    };
    let before = out.len();
    match axis {
        Axis::Face(which, face) => {
            let blocks = if which == 0 { [one, two] } else { [two, one] };
            clip(blocks, face, n, which == 1, reach, out);
        }
        Axis::Edges(i, j) => {
            cross([one, two], [i, j], n, reach, out);
            let slants = [one, two].map(|b| b.axes[b.facing(n).0].dot(n).abs());
            let which = usize::from(slants[1] > slants[0]);
            if slants[which] > ALIGNED {
                let blocks = if which == 0 { [one, two] } else { [two, one] };
                let crossing = out.get(before).map(|touch| touch.first);
                let first = out.len();
                clip(blocks, blocks[0].facing(n).0, n, which == 1, reach, out);
                drop_near(out, first, crossing, SAME * one.least().min(two.least()));
            }
        }
    }
    match out.len() > before {
        true => Nearness::Found,
        false => Nearness::Corners,
    }
}

/// Drops the corners from one on that are where edges cross: they are that point once more.
fn drop_near(out: &mut Vec<Touch>, first: usize, crossing: Option<DVec3>, same: f64) {
    let Some(at) = crossing else { return };
    let mut kept = first;
    for k in first..out.len() {
        if out[k].first.distance(at) > same {
            out.swap(k, kept);
            kept += 1;
        }
    }
    out.truncate(kept);
}

/// Clips the face of the other box by a face of this one, and measures along n, which points from
/// the first to the second; `flipped` when this one is the second.
fn clip(
    [this, other]: [&Block; 2],
    face: usize,
    n: DVec3,
    flipped: bool,
    reach: f64,
    out: &mut Vec<Touch>,
) {
    let outward = if flipped { -n } else { n };
    let side = if this.axes[face].dot(outward) < 0.0 {
        -1.0
    } else {
        1.0
    };
    let normal = side * this.axes[face];
    let (turned, back) = other.facing(-normal);
    let mut polygon = other.face(turned, back);
    let level = normal.dot(this.center) + this.half[face];
    let slant = normal.dot(outward);
    for (plane, axis) in [(face + 1) % 3, (face + 2) % 3].into_iter().enumerate() {
        // Not the point but its foot along n lies on the face.
        let (u, middle) = (this.axes[axis], this.axes[axis].dot(this.center));
        let lean = u.dot(outward) / slant;
        let (across, shift) = (u - lean * normal, lean * level);
        let plane = 2 * plane as u32;
        polygon.cut(across, middle + this.half[axis] - shift, plane);
        polygon.cut(-across, this.half[axis] - middle + shift, plane + 1);
    }
    let end = this.turned(n);
    let (of_this, of_other) = (2 * face as u32 + u32::from(side > 0.0), turned as u32);
    for &(at, number) in polygon.corners() {
        let gap = (normal.dot(at) - level) / slant;
        if gap > reach {
            continue;
        }
        let under = at - gap * outward;
        let (first, second) = if flipped { (at, under) } else { (under, at) };
        let name = (u32::from(flipped) << 20) | (of_this << 16) | (of_other << 14) | number;
        out.push(Touch::new(first, second, end, u64::from(name)));
    }
}

/// The closest points of two edges that cross.
fn cross([one, two]: [&Block; 2], [i, j]: [usize; 2], n: DVec3, reach: f64, out: &mut Vec<Touch>) {
    let (p, q) = (one.edge(i, n), two.edge(j, -n));
    let (u, v) = (one.axes[i], two.axes[j]);
    let (between, c) = (q - p, u.dot(v));
    let k = 1.0 / (1.0 - c * c);
    let s = k * (between.dot(u) - c * between.dot(v));
    let t = k * (c * between.dot(u) - between.dot(v));
    // Edges that pass beside each other are no contact.
    if s.abs() > one.half[i] || t.abs() > two.half[j] {
        return;
    }
    let (first, second) = (p + s * u, q + t * v);
    if n.dot(second - first) <= reach {
        let product = one.turned(u).cross(two.turned(v));
        let end = product.try_normalize().unwrap_or(n);
        let end = if end.dot(n) < 0.0 { -end } else { end };
        let name = CROSSED + (3 * i + j) as u64;
        out.push(Touch::new(first, second, end, name));
    }
}

#[cfg(test)]
mod tests;
