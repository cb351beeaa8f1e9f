//! Webs: nets of ball joints whose bodies are held at one or two points, solved for the places of
//! the vertices where points meet.

mod bent;

use std::ops::Range;

use vincula_blocks::{BlockMatrix, Cholesky, CholeskyOptions, Factorization, both};

use super::elements::{self, Element};
use super::kinds::Kinds;
use super::mesh::{Mesh, NONE, body_and_port};
use super::passes::{Ending, Pass, answer, finish, prepare, write_down};
use super::record::Slot;
use super::{Forces, REMEMBERED, Target};
use crate::dual::larger;
use crate::dual::ports::{PORTS, Points};
use crate::integrate::newton::NewtonBlock;
use crate::math::lanes::{LANES, Lane, gather, place, scatter};
use crate::math::small::*;
use crate::model::{MemoryBlock, Model, StateBlock};

/// Bodies from which on webs are streamed.
const LEAST: usize = 64;
/// Bodies a thread is worth.
const WORTH_A_THREAD: usize = 2048;
/// How far points may be from their vertices at the end of a step, in units of the tolerance.
const CLOSED: f64 = 10.0;

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
    /// The unknowns and their points; empty where predicting twice is cheaper than keeping them.
    newton: Vec<NewtonBlock>,
    slots: Vec<Slot>,
    /// Rotational stiffness of the bodies, N m; only where nothing is kept.
    geometric: Vec<[Lane; 3]>,
    /// What bodies were bent by, rad; only where they are kept.
    turns: Vec<[Lane; 3]>,
    /// Forces of joints that are still to be added, N.
    more: Vec<[f64; 3]>,
}

/// What a pass writes, by block.
struct Blocks<'a> {
    first: usize,
    elements: &'a mut [Element],
    newton: &'a mut [NewtonBlock],
    slots: &'a mut [Slot],
    geometric: &'a mut [[Lane; 3]],
    turns: &'a mut [[Lane; 3]],
    next: &'a mut [StateBlock],
    memory: &'a mut [MemoryBlock],
}

impl<'a> Blocks<'a> {
    fn split(self, half: usize) -> (Blocks<'a>, Blocks<'a>) {
        let kept = half.min(self.newton.len());
        let (elements, elements2) = self.elements.split_at_mut(half);
        let (newton, newton2) = self.newton.split_at_mut(kept);
        let (slots, slots2) = self.slots.split_at_mut(kept);
        let (geometric, geometric2) = self.geometric.split_at_mut(half);
        let (turns, turns2) = self.turns.split_at_mut(kept);
        let (next, next2) = self.next.split_at_mut(half);
        let (memory, memory2) = self.memory.split_at_mut(half);
        let first = Blocks {
            first: 0,
            elements,
            newton,
            slots,
            geometric,
            turns,
            next,
            memory,
        };
        let second = Blocks {
            first: half,
            elements: elements2,
            newton: newton2,
            slots: slots2,
            geometric: geometric2,
            turns: turns2,
            next: next2,
            memory: memory2,
        };
        (first, second)
    }
}

impl Web {
    /// The web that a model is, if it is one.
    pub fn find(model: &Model, threads: usize) -> Option<(Web, Kinds)> {
        if model.bodies.len() < LEAST {
            return None;
        }
        let most = (model.bodies.len() / WORTH_A_THREAD).clamp(1, 2);
        Web::with(model, threads.min(most), model.bodies.len() <= REMEMBERED)
    }

    /// The same of any size, on so many threads.
    pub fn with(model: &Model, threads: usize, keep: bool) -> Option<(Web, Kinds)> {
        let (mesh, kinds) = Mesh::find(model)?;
        let mut solver = Cholesky::symbolic(&mesh.pattern, &CholeskyOptions::default()).ok()?;
        solver.threads = threads;
        let (blocks, free) = (mesh.corners.len(), mesh.free());
        let kept = if keep { blocks } else { 0 };
        let web = Web {
            threads,
            elements: vec![Element::ZERO; blocks],
            matrix: BlockMatrix::zeros(&mesh.pattern),
            solver,
            from: vec![[0.0; 3]; free + mesh.nails.len()],
            moved: vec![0.0; 3 * (free + mesh.nails.len())],
            newton: vec![NewtonBlock::ZERO; kept],
            slots: vec![Slot::ZERO; kept],
            geometric: vec![[[0.0; LANES]; 3]; blocks],
            turns: vec![[[0.0; LANES]; 3]; kept],
            more: vec![[0.0; 3]; model.joints.len()],
            mesh,
        };
        Some((web, kinds))
    }

    /// The next state and the joint forces. Returns the largest change of an entry of A and how far
    /// joints are open at most, m; nothing if the step is out of the ordinary.
    pub fn advance(
        &mut self,
        pass: &Pass,
        forces: &mut Forces,
        mut target: Target,
    ) -> Option<[f64; 2]> {
        self.each_block(&mut target, |web, at| stiffen_all(pass, web, at))?;
        self.count_from(1.0);
        self.each_block(&mut target, |web, at| pull_all(pass, web, at))?;
        self.factor()?;
        self.solve()?;
        let found = self.each_block(&mut target, |web, at| answer_all(pass, web, at));
        let [update, off] = match found {
            Some(found) => found,
            None if self.newton.is_empty() => return None,
            None => return self.advance_bent(pass, forces, &mut target),
        };
        if !(off <= CLOSED * pass.rule.residual) {
            return None;
        }
        let [first, second] = forces;
        self.share_forces(first);
        self.count_from(0.0);
        self.each_block(&mut target, |web, at| pull_all(pass, web, at))?;
        self.solve()?;
        self.each_block(&mut target, |web, at| finish_all(pass, web, at))?;
        self.share_forces(second);
        Some([update, 2.0 * off])
    }

    /// Runs a pass over all blocks, in two halves on two threads.
    fn each_block(
        &mut self,
        target: &mut Target,
        run: impl Fn(&Vertices, Blocks) -> Option<[f64; 2]> + Sync,
    ) -> Option<[f64; 2]> {
        let vertices = Vertices {
            mesh: &self.mesh,
            from: &self.from,
            moved: &self.moved,
        };
        let blocks = Blocks {
            first: 0,
            elements: &mut self.elements,
            newton: &mut self.newton,
            slots: &mut self.slots,
            geometric: &mut self.geometric,
            turns: &mut self.turns,
            next: target.next,
            memory: target.memory,
        };
        if self.threads < 2 {
            return run(&vertices, blocks);
        }
        let (one, two) = blocks.split(self.mesh.corners.len() / 2);
        let (one, two) = both(self.threads, || run(&vertices, one), || run(&vertices, two));
        let (one, two) = (one?, two?);
        Some([0, 1].map(|k| larger(one[k], two[k])))
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
    fn solve(&mut self) -> Option<()> {
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

/// First pass: predicts bodies and finds their stiffness.
fn stiffen_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let kept = !blocks.newton.is_empty();
    let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        let block = blocks.first + k;
        let (n, slot) = match kept {
            true => (&mut blocks.newton[k], &mut blocks.slots[k]),
            false => (&mut local, &mut slot),
        };
        prepare(pass, block, n, slot)?;
        let both = &vertices.mesh.corners[block].both;
        elements::stiffen(pass.level, &slot.ports, both, element);
    }
    Some([0.0; 2])
}

/// The forces at the points if the vertices were where they are counted from.
fn pull_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        elements::pull(pass.level, &vertices.from(blocks.first + k), element);
    }
    Some([0.0; 2])
}

/// Second pass: what the forces do to the bodies. Returns the largest change of an entry of A and
/// how far points are from their vertices, m.
fn answer_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let kept = !blocks.newton.is_empty();
    let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
    let (mut update, mut off) = (0.0, 0.0);
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        let block = blocks.first + k;
        let moved = vertices.moved(block);
        elements::relax(pass.level, &moved, element);
        slot.ports.force = element.forces;
        let n = blocks.newton.get_mut(k).unwrap_or(&mut local);
        update = larger(answer(pass, block, kept, n, &mut slot)?, update);
        if !kept {
            blocks.geometric[k] = n.geometric;
            write_down(n, &mut blocks.next[k]);
        }
        off = larger(vertices.off(block, &moved, &slot.ports.place), off);
        element.places = slot.drifts(pass.scheme.h);
    }
    Some([update, off])
}

/// Third pass: the velocities that the joints allow.
fn finish_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let kept = !blocks.newton.is_empty();
    let (mut local, mut slot) = (NewtonBlock::ZERO, Slot::ZERO);
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        let block = blocks.first + k;
        elements::relax(pass.level, &vertices.moved(block), element);
        slot.ports.force = element.forces;
        let n = blocks.newton.get_mut(k).unwrap_or(&mut local);
        let ending = Ending {
            geometric: &blocks.geometric[k],
            next: &mut blocks.next[k],
            memory: &mut blocks.memory[k],
        };
        finish(pass, block, kept, n, &mut slot, ending)?;
    }
    Some([0.0; 2])
}
