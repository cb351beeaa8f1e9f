//! Webs: nets of ball joints whose bodies are held at one or two points, solved for the places of
//! the vertices where points meet.

use std::ops::Range;

use vincula_blocks::{BlockMatrix, Cholesky, CholeskyOptions, Factorization, both};

use super::Forces;
use super::elements::{self, Element};
use super::far::Ties;
use super::kinds::Kinds;
use super::mesh::{Mesh, NONE, body_and_port};
use super::passes::{AHEAD, Pass, answer, fetch_start, finish, prepare};
use super::record::Slot;
use super::room::{Room, in_halves};
use crate::dual::larger;
use crate::dual::ports::{NO_POINTS, PORTS, Points};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{LANES, gather, place, scatter};
use crate::math::small::*;
use crate::model::Model;
use crate::step::CLOSED;

/// Bodies from which on webs are streamed.
const LEAST: usize = 64;
/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 2048;

/// A web, and the memory of its step.
pub(super) struct Web {
    mesh: Mesh,
    pub threads: usize,
    elements: Vec<Element>,
    matrix: BlockMatrix,
    solver: Cholesky,
    /// Where vertices are counted from, and where they are from there, m.
    from: Vec<V3>,
    moved: Vec<f64>,
}

/// What a pass writes, by block.
struct Blocks<'a> {
    room: Room<'a>,
    elements: &'a mut [Element],
}

impl<'a> Blocks<'a> {
    fn halve(self) -> (Blocks<'a>, Blocks<'a>) {
        let half = self.elements.len() / 2;
        let (room, room2) = self.room.split(half);
        let (elements, elements2) = self.elements.split_at_mut(half);
        let second = Blocks {
            room: room2,
            elements: elements2,
        };
        (Blocks { room, elements }, second)
    }
}

impl Web {
    /// The web that a model is, if it is one.
    pub fn find(model: &Model, threads: usize) -> Option<(Web, Kinds)> {
        if model.bodies.len() < LEAST {
            return None;
        }
        let most = (model.bodies.len() / WORTH_A_THREAD).clamp(1, 2);
        Web::with(model, threads.min(most))
    }

    /// The same of any size, on so many threads.
    pub fn with(model: &Model, threads: usize) -> Option<(Web, Kinds)> {
        let (mesh, kinds) = Mesh::find(model)?;
        let mut solver = Cholesky::symbolic(&mesh.pattern, &CholeskyOptions::default()).ok()?;
        solver.threads = threads;
        let (blocks, free) = (mesh.corners.len(), mesh.free());
        let web = Web {
            threads,
            elements: vec![Element::ZERO; blocks],
            matrix: BlockMatrix::zeros(&mesh.pattern),
            solver,
            from: vec![[0.0; 3]; free + mesh.nails.len()],
            moved: vec![0.0; 3 * (free + mesh.nails.len())],
            mesh,
        };
        Some((web, kinds))
    }

    /// The next state and the joint forces. Returns the largest change of an entry of A and how far
    /// joints are open at most, m; nothing if the step is out of the ordinary.
    pub fn advance(
        &mut self,
        pass: &Pass,
        [first, second]: &mut Forces,
        mut room: Room,
    ) -> Option<[f64; 2]> {
        self.each_block(room.again(), |web, at| stiffen_all(pass, web, at))?;
        self.count_from(1.0);
        self.each_element(|web, block, element| pull(pass, web, block, element));
        self.factor()?;
        self.solve_vertices()?;
        let [update, off] = self.each_block(room.again(), |web, at| answer_all(pass, web, at))?;
        if !(off <= CLOSED * pass.rule.residual) {
            return None;
        }
        self.share_forces(first);
        if !pass.projects {
            return Some([update, 2.0 * off]);
        }
        self.count_from(0.0);
        self.each_element(|web, block, element| pull(pass, web, block, element));
        self.solve_vertices()?;
        self.each_block(room, |web, at| finish_all(pass, web, at))?;
        self.share_forces(second);
        Some([update, 2.0 * off])
    }

    /// Runs a pass over all blocks, in two halves on two threads.
    fn each_block(
        &mut self,
        room: Room,
        run: impl Fn(&Vertices, Blocks) -> Option<[f64; 2]> + Sync,
    ) -> Option<[f64; 2]> {
        let vertices = Vertices {
            mesh: &self.mesh,
            from: &self.from,
            moved: &self.moved,
        };
        let elements = &mut self.elements[..];
        let blocks = Blocks { room, elements };
        in_halves(self.threads, blocks, Blocks::halve, |at| run(&vertices, at))
    }

    /// The same for what concerns nothing else.
    fn each_element(&mut self, run: impl Fn(&Vertices, usize, &mut Element) + Sync) {
        let vertices = Vertices {
            mesh: &self.mesh,
            from: &self.from,
            moved: &self.moved,
        };
        let half = self.elements.len() / 2;
        let (one, two) = self.elements.split_at_mut(half);
        let walk = |first: usize, elements: &mut [Element]| {
            for (k, element) in elements.iter_mut().enumerate() {
                run(&vertices, first + k, element);
            }
        };
        both(self.threads, || walk(0, one), || walk(half, two));
    }

    /// Counts vertices from where their first points would be; those that do not move from where
    /// they are times `nailed`.
    fn count_from(&mut self, nailed: f64) {
        let Web {
            mesh,
            from,
            elements,
            ..
        } = self;
        let (free, nails) = from.split_at_mut(mesh.free());
        for (from, start) in free.iter_mut().zip(&mesh.starts) {
            let (body, port) = body_and_port(mesh.points[*start]);
            let (block, lane) = place(body);
            *from = gather(&elements[block].places[port], lane);
        }
        for (from, nail) in nails.iter_mut().zip(&mesh.nails) {
            *from = scale(nail, nailed);
        }
    }

    /// Factors the stiffness of the vertices.
    fn factor(&mut self) -> Option<()> {
        self.assemble();
        let report = self.solver.factor(&self.matrix).ok()?;
        (report.dropped == 0).then_some(())
    }

    /// The stiffness of the vertices.
    fn assemble(&mut self) {
        let Web {
            mesh,
            elements,
            matrix,
            threads,
            ..
        } = self;
        let (mesh, elements) = (&*mesh, &elements[..]);
        let (vertices, edges) = (mesh.free(), mesh.edge_starts.len() - 1);
        let (own, mutual) = matrix.values_mut().split_at_mut(9 * vertices);
        let (own, own2) = own.split_at_mut(9 * (vertices / 2));
        let (mutual, mutual2) = mutual.split_at_mut(9 * (edges / 2));
        let run =
            |vertices: Range<usize>, own: &mut [f64], edges: Range<usize>, mutual: &mut [f64]| {
                for (vertex, block) in vertices.zip(own.chunks_exact_mut(9)) {
                    let mut sum = [0.0; 6];
                    for point in &mesh.points[mesh.starts[vertex]..mesh.starts[vertex + 1]] {
                        let (body, port) = body_and_port(*point);
                        let (at, lane) = place(body);
                        for (sum, k) in sum.iter_mut().zip(elements[at].own(lane, port)) {
                            *sum += k;
                        }
                    }
                    block.copy_from_slice(&full(&sum));
                }
                for (edge, block) in edges.zip(mutual.chunks_exact_mut(9)) {
                    let mut sum = [0.0; 9];
                    for (body, back) in
                        &mesh.bodies[mesh.edge_starts[edge]..mesh.edge_starts[edge + 1]]
                    {
                        let (at, lane) = place(*body as usize);
                        let k = elements[at].mutual(lane);
                        sum = axpy9(&sum, 1.0, &if *back { transpose(&k) } else { k });
                    }
                    block.copy_from_slice(&sum);
                }
            };
        both(
            *threads,
            || run(0..vertices / 2, own, 0..edges / 2, mutual),
            || run(vertices / 2..vertices, own2, edges / 2..edges, mutual2),
        );
    }

    /// Lets the vertices go where forces cancel.
    fn solve_vertices(&mut self) -> Option<()> {
        let Web {
            mesh,
            elements,
            moved,
            solver,
            threads,
            ..
        } = self;
        let (mesh, elements) = (&*mesh, &elements[..]);
        let free = mesh.free();
        let (rhs, rest) = moved.split_at_mut(3 * (free / 2));
        let rest = &mut rest[..3 * (free - free / 2)];
        let run = |vertices: Range<usize>, rhs: &mut [f64]| {
            for (vertex, rhs) in vertices.zip(rhs.chunks_exact_mut(3)) {
                let mut sum = [0.0; 3];
                for point in &mesh.points[mesh.starts[vertex]..mesh.starts[vertex + 1]] {
                    let (body, port) = body_and_port(*point);
                    let (at, lane) = place(body);
                    sum = add(&sum, &gather(&elements[at].forces[port], lane));
                }
                rhs.copy_from_slice(&sum);
            }
        };
        both(
            *threads,
            || run(0..free / 2, rhs),
            || run(free / 2..free, rest),
        );
        solver.solve(&mut moved[..3 * free]).ok()
    }

    /// The forces of joints from those at the points, which are used up.
    fn share_forces(&mut self, forces: &mut [[f64; 3]]) {
        for tie in &self.mesh.ties {
            let (body, port) = body_and_port(tie.leaf);
            let (block, lane) = place(body);
            let force: V3 = gather(&self.elements[block].forces[port], lane);
            forces[tie.joint as usize] = scale(&force, tie.sign);
            if tie.toward != NONE {
                let (body, port) = body_and_port(tie.toward);
                let (block, lane) = place(body);
                for (to, f) in self.elements[block].forces[port].iter_mut().zip(force) {
                    to[lane] += f;
                }
            }
        }
    }
}

/// What passes read of the vertices.
struct Vertices<'a> {
    mesh: &'a Mesh,
    from: &'a [V3],
    moved: &'a [f64],
}

impl Vertices<'_> {
    /// A vector of the vertices, by the points of a block.
    #[inline(always)]
    fn at_points(&self, block: usize, of: impl Fn(usize) -> V3) -> Points {
        let mut at = [[[0.0; LANES]; 3]; PORTS];
        for port in 0..PORTS {
            for lane in 0..LANES {
                let vertex = self.mesh.corners[block].vertex[port][lane];
                if vertex != NONE {
                    scatter(&mut at[port], lane, &of(vertex as usize));
                }
            }
        }
        at
    }

    /// How far points are from vertices that have moved, m.
    fn off(&self, block: usize, moved: &Points, places: &Points) -> f64 {
        let from = self.from(block);
        let mut off = 0.0;
        for port in 0..PORTS {
            for axis in 0..3 {
                for lane in 0..LANES {
                    if self.mesh.corners[block].vertex[port][lane] != NONE {
                        let there = from[port][axis][lane] + moved[port][axis][lane];
                        off = larger((places[port][axis][lane] - there).abs(), off);
                    }
                }
            }
        }
        off
    }

    fn from(&self, block: usize) -> Points {
        self.at_points(block, |vertex| self.from[vertex])
    }

    fn moved(&self, block: usize) -> Points {
        self.at_points(block, |vertex| {
            let x = &self.moved[3 * vertex..3 * vertex + 3];
            [x[0], x[1], x[2]]
        })
    }
}

impl Ties for Web {
    fn threads(&self) -> usize {
        self.threads
    }

    fn solve(
        &mut self,
        pass: &Pass,
        _: &[NewtonBlock],
        slots: &mut [Slot],
        fresh: bool,
        world: f64,
        forces: &mut [[f64; 3]],
    ) -> Option<()> {
        let at = &*slots;
        self.each_element(|web, block, element| {
            if fresh {
                let both = &web.mesh.corners[block].both;
                elements::stiffen(pass.level, &at[block], both, element);
            }
            element.places = at[block].place;
        });
        self.count_from(world);
        self.each_element(|web, block, element| pull(pass, web, block, element));
        if fresh {
            self.factor()?;
        }
        self.solve_vertices()?;
        self.each_element(|web, block, element| {
            elements::relax(pass.level, &web.moved(block), element);
        });
        for (slot, element) in slots.iter_mut().zip(&self.elements) {
            slot.force = element.forces;
        }
        self.share_forces(forces);
        Some(())
    }

    fn open(&mut self, slots: &[Slot], world: f64) -> f64 {
        for (slot, element) in slots.iter().zip(&mut self.elements) {
            element.places = slot.place;
        }
        self.count_from(world);
        let vertices = Vertices {
            mesh: &self.mesh,
            from: &self.from,
            moved: &self.moved,
        };
        let mut most = 0.0;
        for (block, slot) in slots.iter().enumerate() {
            let off = vertices.off(block, &NO_POINTS, &slot.place);
            most = larger(off, most);
        }
        most
    }
}

/// First pass: predicts bodies and finds their stiffness.
fn stiffen_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let Blocks { room, elements } = blocks;
    let kept = room.is_kept();
    let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
    for (k, element) in elements.iter_mut().enumerate() {
        let block = room.first + k;
        let (n, slot) = match kept {
            true => (&mut room.newton[k], &mut room.slots[k]),
            false => (&mut local, &mut slot),
        };
        (0..2).for_each(|third| fetch_start(pass, block + AHEAD, third));
        prepare(pass, block, false, n, slot)?;
        fetch_start(pass, block + AHEAD, 2);
        let both = &vertices.mesh.corners[block].both;
        elements::stiffen(pass.level, slot, both, element);
    }
    Some([0.0; 2])
}

/// The forces at the points if the vertices were where they are counted from.
fn pull(pass: &Pass, vertices: &Vertices, block: usize, element: &mut Element) {
    elements::pull(pass.level, &vertices.from(block), element);
}

/// Second pass: what the forces do to the bodies. Returns the largest change of an entry of A and
/// how far points are from their vertices, m.
fn answer_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let Blocks { mut room, elements } = blocks;
    let kept = room.is_kept();
    let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
    let unknowns = std::mem::take(&mut room.newton);
    let (mut update, mut off) = (0.0, 0.0);
    for (k, element) in elements.iter_mut().enumerate() {
        let block = room.first + k;
        let moved = vertices.moved(block);
        elements::relax(pass.level, &moved, element);
        slot.force = element.forces;
        room.fetch_ahead(pass, k, 0);
        let n = unknowns.get_mut(k).unwrap_or(&mut local);
        let ending = Some(room.ending(k));
        update = larger(answer(pass, block, kept, n, &mut slot, ending)?, update);
        room.fetch_ahead(pass, k, 1);
        off = larger(vertices.off(block, &moved, &slot.place), off);
        element.places = slot.drifts(pass.scheme.h);
        room.fetch_ahead(pass, k, 2);
    }
    Some([update, off])
}

/// Third pass: the velocities that the joints allow.
fn finish_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let Blocks { mut room, elements } = blocks;
    let kept = room.is_kept();
    let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
    let unknowns = std::mem::take(&mut room.newton);
    for (k, element) in elements.iter_mut().enumerate() {
        let block = room.first + k;
        elements::relax(pass.level, &vertices.moved(block), element);
        slot.force = element.forces;
        let n = unknowns.get_mut(k).unwrap_or(&mut local);
        room.fetch_last(k);
        finish(pass, block, kept, n, &slot, room.ending(k))?;
    }
    Some([0.0; 2])
}
