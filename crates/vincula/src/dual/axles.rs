//! Axles: the square rows of bodies that joints hold at one or two points, eight bodies at a time.
//!
//! A row `C = ℓ u·w` with `u = A_a ū` and `w = A_b w̄` moves the first body by `ℓ w ⊗ ū` and the
//! second by `ℓ u ⊗ w̄`: an axis of its own, and one that the other body tells it (`other`). So
//! what joints exchange are vectors, and all the rest is done by kernels over whole blocks:
//! responses `H̄⁻¹ (Rᵀ other ⊗ own)`, what they do to points and to each other, and loads.
//!
//! Most bodies of arms and linkages are such bodies. What has more joints, or rows of another
//! kind, keeps its gradients (`linearize.rs`, `squares.rs`).

use super::linearize::{JointRows, SideRows, WORLD};
use super::ports::{PORTS, Points, PortBlock};
use super::{Dual, Hold, Incidence};
use crate::integrate::newton::NewtonBlock;
use crate::joint::rows::RowKind;
use crate::kernel;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;

/// Square rows at a port.
pub(crate) const ROWS: usize = 2;
/// Rows of a body.
pub(crate) const ALL: usize = PORTS * ROWS;

/// A vector for each row of eight bodies, by port.
pub(crate) type Axes = [[Lane; 3]; ALL];
/// Zero everywhere.
pub(crate) const NO_AXES: Axes = [[[0.0; LANES]; 3]; ALL];

/// Displacement of the points under a unit force of each row, world, m/N.
pub(crate) type AtPorts = [[[Lane; 3]; PORTS]; ALL];
/// Response of each row to each, m/N.
pub(crate) type Among = [[Lane; ALL]; ALL];

/// The rows of eight bodies; zero where there is none.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct AxleBlock {
    /// Own axes, in the body.
    pub own: Axes,
    /// The same in the world.
    pub world: Axes,
    /// The same where the free solve found the body; later their velocities, 1/s.
    pub moving: Axes,
    /// ℓ times the axis of the other body, world, m.
    pub other: Axes,
    /// Displacement of the points under a unit force of each row, world, m/N.
    pub points: AtPorts,
    /// Response of each row to each, m/N.
    pub among: Among,
    /// Forces λ, N.
    pub force: [Lane; ALL],
}

impl AxleBlock {
    pub(crate) const NONE: AxleBlock = AxleBlock {
        own: NO_AXES,
        world: NO_AXES,
        moving: NO_AXES,
        other: NO_AXES,
        points: [[[[0.0; LANES]; 3]; PORTS]; ALL],
        among: [[[0.0; LANES]; ALL]; ALL],
        force: [[0.0; LANES]; ALL],
    };

    /// Takes the forces of the joint at a port, N.
    #[inline(always)]
    pub(super) fn set_forces(&mut self, port: usize, lane: usize, forces: &[f64]) {
        for (own, force) in self.force[port * ROWS..].iter_mut().zip(forces) {
            own[lane] = *force;
        }
    }

    /// Rate of a row by the motion of this body, m/s.
    #[inline(always)]
    pub(super) fn rate(&self, port: usize, k: usize, lane: usize) -> f64 {
        let at = port * ROWS + k;
        let told: V3 = gather(&self.other[at], lane);
        dot(&told, &gather(&self.moving[at], lane))
    }
}

/// One end of a joint with square rows.
#[derive(Clone, Copy, Debug)]
struct End {
    body: u32,
    /// Its first row in the block of the body, if that has axles.
    first: Option<u8>,
    /// Its axes in the body, or in the world if there is none.
    axes: [V3; ROWS],
}

impl End {
    /// An axis in the world.
    #[inline(always)]
    fn axis(&self, k: usize, work: &[NewtonBlock], before: bool, ports: &[PortBlock]) -> V3 {
        if self.body == WORLD {
            return self.axes[k];
        }
        let (block, lane) = place(self.body as usize);
        if let Some(first) = self.first {
            let axles = ports[block].axles.as_ref().expect("a body with axles");
            let axes = if before { &axles.moving } else { &axles.world };
            return gather(&axes[first as usize + k], lane);
        }
        let n = &work[block];
        let a: M3 = gather(&n.a, lane);
        let moved = mul(&gather(&n.rot, lane), &gather(&n.p, lane));
        let a = if before { sub9(&a, &moved) } else { a };
        mul_vec(&a, &self.axes[k])
    }
}

/// A joint at least one body of which has axles.
#[derive(Clone, Copy, Debug)]
struct Brace {
    ends: [End; 2],
    length: f64,
    count: u8,
    /// Where its square rows are in the dual system.
    row: u32,
    /// Whether no end needs gradients.
    whole: bool,
}

/// The axles of a model.
#[derive(Debug, Default)]
pub(super) struct Axles {
    braces: Vec<Brace>,
    /// Blocks of bodies that have any.
    blocks: Vec<u32>,
}

kernel! {
    /// Axes in the world, and where they were before the free solve.
    pub(super) fn find_before(n: &NewtonBlock, axles: &mut AxleBlock) = find_before_lanes
}

#[inline(always)]
fn find_before_lanes(n: &NewtonBlock, axles: &mut AxleBlock) {
    for lane in 0..LANES {
        let a: M3 = gather(&n.a, lane);
        let moved = mul(&gather(&n.rot, lane), &gather(&n.p, lane));
        let before = sub9(&a, &moved);
        for k in 0..ALL {
            let own: V3 = gather(&axles.own[k], lane);
            scatter(&mut axles.world[k], lane, &mul_vec(&a, &own));
            scatter(&mut axles.moving[k], lane, &mul_vec(&before, &own));
        }
    }
}

kernel! {
    /// Axes in the world.
    pub(super) fn find_world(n: &NewtonBlock, axles: &mut AxleBlock) = find_world_lanes
}

#[inline(always)]
fn find_world_lanes(n: &NewtonBlock, axles: &mut AxleBlock) {
    for lane in 0..LANES {
        let a: M3 = gather(&n.a, lane);
        for k in 0..ALL {
            let own: V3 = gather(&axles.own[k], lane);
            scatter(&mut axles.world[k], lane, &mul_vec(&a, &own));
        }
    }
}

kernel! {
    /// Axes in the world and their velocities, for rates in the body frame.
    pub(super) fn find_rates(n: &NewtonBlock, axles: &mut AxleBlock) = find_rates_lanes
}

#[inline(always)]
fn find_rates_lanes(n: &NewtonBlock, axles: &mut AxleBlock) {
    for lane in 0..LANES {
        let rate = mul(&gather(&n.rot, lane), &gather(&n.w, lane));
        let a: M3 = gather(&n.a, lane);
        for k in 0..ALL {
            let own: V3 = gather(&axles.own[k], lane);
            scatter(&mut axles.world[k], lane, &mul_vec(&a, &own));
            scatter(&mut axles.moving[k], lane, &mul_vec(&rate, &own));
        }
    }
}

kernel! {
    /// What each row does to the points and to the other rows.
    pub(super) fn find_responses(n: &NewtonBlock, points: &Points, axles: &mut AxleBlock) = find_responses_lanes
}

#[inline(always)]
fn find_responses_lanes(n: &NewtonBlock, points: &Points, axles: &mut AxleBlock) {
    let mut local = NO_AXES;
    for (other, local) in axles.other.iter().zip(&mut local) {
        for lane in 0..LANES {
            let x = tmul_vec(&gather(&n.rot, lane), &gather(other, lane));
            scatter(local, lane, &x);
        }
    }
    let AxleBlock {
        own,
        points: at,
        among,
        ..
    } = axles;
    respond_to(n, points, own, &local, at, among);
}

/// What rows with these axes of the bodies do to the points, and to each other; `local` are ℓ times
/// the axes of the other bodies, in the frame `rot`.
#[inline(always)]
pub(crate) fn respond_to(
    n: &NewtonBlock,
    points: &Points,
    own: &Axes,
    local: &Axes,
    at_points: &mut AtPorts,
    among: &mut Among,
) {
    for k in 0..ALL {
        let mut response = [[0.0; LANES]; 9];
        for lane in 0..LANES {
            let gradient = outer(&gather(&local[k], lane), &gather(&own[k], lane));
            scatter(&mut response, lane, &n.inverse_of(lane).solve(&gradient));
        }
        for lane in 0..LANES {
            let rot: M3 = gather(&n.rot, lane);
            let p: M3 = gather(&response, lane);
            for port in 0..PORTS {
                let moved = mul_vec(&p, &gather(&points[port], lane));
                scatter(&mut at_points[k][port], lane, &mul_vec(&rot, &moved));
            }
        }
        for j in k..ALL {
            for lane in 0..LANES {
                let p: M3 = gather(&response, lane);
                let moved = mul_vec(&p, &gather(&own[j], lane));
                let both = dot(&gather(&local[j], lane), &moved);
                among[k][j][lane] = both;
                among[j][k][lane] = both;
            }
        }
    }
}

kernel! {
    /// Puts the forces of the rows on the bodies.
    pub(super) fn put_loads(axles: &AxleBlock, n: &mut NewtonBlock) = put_loads_lanes
}

#[inline(always)]
fn put_loads_lanes(axles: &AxleBlock, n: &mut NewtonBlock) {
    for lane in 0..LANES {
        let rot: M3 = gather(&n.rot, lane);
        let mut load: M3 = gather(&n.load, lane);
        for k in 0..ALL {
            let x = tmul_vec(&rot, &gather(&axles.other[k], lane));
            let pull = scale(&x, -axles.force[k][lane]);
            load = axpy9(&load, 1.0, &outer(&pull, &gather(&axles.own[k], lane)));
        }
        scatter(&mut n.load, lane, &load);
    }
}

impl Axles {
    /// Finds the bodies whose rows can be done in blocks, and tells their joints.
    pub fn new(dual: &mut Dual, model: &Model) -> Axles {
        let mut axles = Axles::default();
        // Contacts and couplings read gradients.
        if !model.collision.colliders.is_empty() || !model.couplings.is_empty() {
            return axles;
        }
        for body in 0..model.bodies.len() {
            if !dual.has_axles(body) {
                continue;
            }
            dual.holds[body] = Hold::Axles;
            let new = || Box::new(AxleBlock::NONE);
            dual.ports[place(body).0].axles.get_or_insert_with(new);
            axles.blocks.push(place(body).0 as u32);
            for k in dual.starts[body]..dual.starts[body + 1] {
                let Incidence { joint, first, .. } = dual.incidences[k];
                let rows = &mut dual.joints[joint as usize];
                let side = if first { &mut rows.a } else { &mut rows.b };
                side.axle = side.count > 0;
            }
        }
        for (index, rows) in dual.joints.iter().enumerate() {
            if rows.a.axle || rows.b.axle {
                axles.add(model, index, rows, dual.offsets[index], &mut dual.ports);
            }
        }
        axles.blocks.dedup();
        axles
    }

    fn add(
        &mut self,
        model: &Model,
        index: usize,
        rows: &JointRows,
        offset: usize,
        ports: &mut [PortBlock],
    ) {
        let joint = &model.joints[index];
        let count = rows.squares.1 as usize;
        let mut axes = [[[0.0; 3]; ROWS]; 2];
        for (k, kind) in joint.row_kinds()[3..3 + count].iter().enumerate() {
            if let RowKind::Square(i, j) = kind {
                (axes[0][k], axes[1][k]) = (joint.a.axes[*i], joint.b.axes[*j]);
            }
        }
        let mut end = |side: &SideRows, axes: [V3; ROWS]| {
            let first = side.axle.then(|| side.port * ROWS as u8);
            if let (Some(first), Some(body)) = (first, side.body()) {
                let (block, lane) = place(body);
                let axles = axles_of(&mut ports[block]);
                for (k, axis) in axes.iter().take(count).enumerate() {
                    scatter(&mut axles.own[first as usize + k], lane, axis);
                }
            }
            End {
                body: side.body().map_or(WORLD, |body| body as u32),
                first,
                axes,
            }
        };
        let ends = [end(&rows.a, axes[0]), end(&rows.b, axes[1])];
        self.braces.push(Brace {
            ends,
            length: joint.length,
            count: count as u8,
            row: (offset + 3) as u32,
            whole: rows.is_braced(),
        });
    }

    /// Tells every body the axes of the others; as they were before the free solve if it has
    /// `moved` the bodies since the step equation was linearised.
    pub fn exchange(&self, work: &[NewtonBlock], moved: bool, ports: &mut [PortBlock]) {
        for brace in &self.braces {
            for (end, from) in [(0, 1), (1, 0)] {
                let End { body, first, .. } = brace.ends[end];
                let Some(first) = first else { continue };
                let (block, lane) = place(body as usize);
                for k in 0..brace.count as usize {
                    let axis = brace.ends[from].axis(k, work, moved, ports);
                    let told = &mut axles_of(&mut ports[block]).other[first as usize + k];
                    scatter(told, lane, &scale(&axis, brace.length));
                }
            }
        }
    }

    /// Responses of all rows of all blocks.
    pub fn respond(&self, level: Level, work: &[NewtonBlock], ports: &mut [PortBlock]) {
        for block in self.blocks.iter().map(|&block| block as usize) {
            let ports = &mut ports[block];
            if let Some(axles) = &mut ports.axles {
                find_responses(level, &work[block], &ports.point, axles);
            }
        }
    }

    /// Values of the rows of joints without gradients, m.
    pub fn measure(&self, ports: &[PortBlock], rows: &mut [f64]) {
        for brace in self.braces.iter().filter(|brace| brace.whole) {
            for k in 0..brace.count as usize {
                let [u, w] = [0, 1].map(|end: usize| brace.ends[end].axis(k, &[], false, ports));
                rows[brace.row as usize + k] = brace.length * dot(&u, &w);
            }
        }
    }
}

impl Dual {
    /// Whether all rows of a body are points and square rows that fit a block.
    fn has_axles(&self, body: usize) -> bool {
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let mut taken = [false; PORTS];
        let mut fits = |&at: &Incidence| {
            let rows = &self.joints[at.joint as usize];
            let side = self.side(at).0;
            if side.count == 0 {
                return (at.port as usize) < PORTS;
            }
            rows.points
                && rows.squares == (0, side.count)
                && side.count as usize <= ROWS
                && (at.port as usize) < PORTS
                && !std::mem::replace(&mut taken[at.port as usize], true)
        };
        self.hubs[body].is_none() && at_body.iter().all(&mut fits) && taken.contains(&true)
    }

    /// Adds a body with axles to the matrix.
    pub(super) fn add_axle(&mut self, body: usize) {
        let (block, lane) = place(body);
        let ports = &self.ports[block];
        let axles = ports.axles.as_ref().expect("a body with axles");
        let at_body = &self.incidences[self.starts[body]..self.starts[body + 1]];
        let mut edge = self.edge_starts[body];
        for (k, i) in at_body.iter().enumerate() {
            let (island, node_i) = self.joints_place(i.joint as usize);
            let matrix = &mut self.islands[island].matrix;
            let own = ports.between(i.port, i.port, lane);
            let row = AtAxle::new(&self.joints, i);
            add_pair(axles, lane, row, row, &own, matrix.diagonal_mut(node_i));
            for j in &at_body[k + 1..] {
                let node_j = self.places[j.joint as usize].1 as usize;
                // Edges run from the lower to the higher node.
                let (low, high) = if node_i < node_j { (i, j) } else { (j, i) };
                let mutual = ports.between(low.port, high.port, lane);
                let target = matrix.edge_mut(self.edges[edge] as usize);
                let [low, high] = [low, high].map(|at| AtAxle::new(&self.joints, at));
                add_pair(axles, lane, low, high, &mutual, target);
                edge += 1;
            }
        }
    }
}

/// A joint at a body with axles: its port, the sign of its point, and its square rows.
#[derive(Clone, Copy)]
struct AtAxle {
    port: usize,
    sign: f64,
    count: usize,
}

impl AtAxle {
    #[inline(always)]
    fn new(joints: &[JointRows], at: &Incidence) -> AtAxle {
        let rows = &joints[at.joint as usize];
        let side = if at.first { &rows.a } else { &rows.b };
        AtAxle {
            port: at.port as usize,
            sign: side.sign,
            count: side.count as usize,
        }
    }
}

/// Adds the block of two joints at a body, row-major; `between` is the part of their points but
/// for the signs.
#[inline(always)]
fn add_pair(
    axles: &AxleBlock,
    lane: usize,
    i: AtAxle,
    j: AtAxle,
    between: &M3,
    target: &mut [f64],
) {
    let columns = 3 + j.count;
    for r in 0..3 {
        let row = &mut target[r * columns..(r + 1) * columns];
        for c in 0..3 {
            row[c] += i.sign * j.sign * between[3 * r + c];
        }
        for c in 0..j.count {
            row[3 + c] += i.sign * axles.points[j.port * ROWS + c][i.port][r][lane];
        }
    }
    for r in 0..i.count {
        let row = &mut target[(3 + r) * columns..(4 + r) * columns];
        let of_row = i.port * ROWS + r;
        for c in 0..3 {
            row[c] += j.sign * axles.points[of_row][j.port][c][lane];
        }
        for c in 0..j.count {
            row[3 + c] += axles.among[of_row][j.port * ROWS + c][lane];
        }
    }
}

fn axles_of(ports: &mut PortBlock) -> &mut AxleBlock {
    ports.axles.as_mut().expect("a body with axles")
}
