//! A step of a web that turns bodies so far that it must be bent (`newton::bend`): the increment is
//! taken as a rotation and a strain, and the joints are closed again with the same factors. The
//! velocity is then projected until little of its drift is left.

use super::super::passes::{bend, end, is_settled, press, project, turn};
use super::*;
use crate::dual::ports;
use crate::step::{BENT, DRIFT, LEFT, PASSES};

impl Web {
    /// Makes the step again from the start, bent. The vertices are where the first solve put them.
    pub(super) fn advance_bent(
        &mut self,
        pass: &Pass,
        [first, second]: &mut Forces,
        target: &mut Target,
    ) -> Option<[f64; 2]> {
        self.each_block(target, |web, at| stiffen_all(pass, web, at))?;
        self.count_from(1.0);
        self.each_block(target, |web, at| pull_all(pass, web, at))?;
        self.each_block(target, |web, at| bend_all(pass, web, at))?;
        self.share_forces(first);
        self.count_from(1.0);
        self.each_block(target, |web, at| pull_all(pass, web, at))?;
        self.solve()?;
        let [update, off] = self.each_block(target, |web, at| settle_all(pass, web, at))?;
        if !(off <= CLOSED * pass.rule.residual) {
            return None;
        }
        self.share_forces(second);
        add_to(first, second);
        self.count_from(0.0);
        let [drift, _] = self.each_block(target, |web, at| Some([drift(web, at), 0.0]))?;
        let enough = (LEFT * drift).max(DRIFT * pass.rule.residual);
        let (mut left, mut renewed) = (drift, false);
        for turn in 0..PASSES {
            self.each_block(target, |web, at| pull_all(pass, web, at))?;
            self.solve()?;
            let before = left;
            [left, _] = self.each_block(target, |web, at| project_all(pass, turn == 0, web, at))?;
            if turn == 0 {
                self.share_forces(second);
            } else {
                let mut more = std::mem::take(&mut self.more);
                self.share_forces(&mut more);
                add_to(second, &more);
                self.more = more;
            }
            if left <= enough {
                break;
            }
            if !(left < 0.5 * before) {
                if std::mem::replace(&mut renewed, true) {
                    return None;
                }
                // What the old matrix did too much lies in what the new one projects away.
                self.each_block(target, |web, at| renew_all(pass, web, at))?;
                self.factor()?;
            }
            self.count_from(0.0);
        }
        self.each_block(target, |_, at| end_all(pass, at))?;
        (left <= enough).then_some([update, 2.0 * off])
    }
}

/// Adds forces.
fn add_to(sum: &mut [[f64; 3]], more: &[[f64; 3]]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = add(sum, more);
    }
}

/// The answer to the first forces, bent.
fn bend_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        let block = blocks.first + k;
        let (n, slot) = (&mut blocks.newton[k], &mut blocks.slots[k]);
        elements::relax(pass.level, &vertices.moved(block), element);
        slot.ports.force = element.forces;
        if !(press(pass, block, n, slot) <= BENT) {
            return None;
        }
        bend(pass, &mut blocks.turns[k], n, slot);
        element.places = slot.ports.place;
    }
    Some([0.0; 2])
}

/// The answer to the second forces. Returns the largest change of an entry of A and how far points
/// are from their vertices, m; nothing if the bodies are still stretched.
fn settle_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let (mut update, mut off) = (0.0, 0.0);
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        let block = blocks.first + k;
        let (n, slot) = (&mut blocks.newton[k], &mut blocks.slots[k]);
        let moved = vertices.moved(block);
        elements::relax(pass.level, &moved, element);
        slot.ports.force = element.forces;
        let change = press(pass, block, n, slot);
        if !is_settled(pass, block, change, &blocks.turns[k], n) {
            return None;
        }
        update = larger(change, update);
        turn(pass, block, n, slot)?;
        off = larger(vertices.off(block, &moved, &slot.ports.place), off);
        element.places = slot.drifts(pass.scheme.h);
    }
    Some([update, off])
}

/// How far points would drift from where their vertices are counted from, m.
fn drift(vertices: &Vertices, blocks: Blocks) -> f64 {
    let still = [[[0.0; LANES]; 3]; PORTS];
    let mut most = 0.0;
    for (k, element) in blocks.elements.iter().enumerate() {
        most = larger(
            vertices.off(blocks.first + k, &still, &element.places),
            most,
        );
    }
    most
}

/// Projects the velocity, the `first` time or once more. Returns how far points still drift, m.
fn project_all(pass: &Pass, first: bool, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    let mut off = 0.0;
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        let block = blocks.first + k;
        let (n, slot) = (&mut blocks.newton[k], &mut blocks.slots[k]);
        let moved = vertices.moved(block);
        elements::relax(pass.level, &moved, element);
        slot.ports.force = element.forces;
        project(pass, first, n, slot);
        element.places = slot.drifts(pass.scheme.h);
        off = larger(vertices.off(block, &moved, &element.places), off);
    }
    Some([off, 0.0])
}

/// The stiffness of the pose at the end.
fn renew_all(pass: &Pass, vertices: &Vertices, blocks: Blocks) -> Option<[f64; 2]> {
    for (k, element) in blocks.elements.iter_mut().enumerate() {
        let block = blocks.first + k;
        let slot = &mut blocks.slots[k];
        ports::find_compliances(pass.level, &blocks.newton[k], &mut slot.ports);
        let both = &vertices.mesh.corners[block].both;
        elements::stiffen(pass.level, &slot.ports, both, element);
        element.places = slot.drifts(pass.scheme.h);
    }
    Some([0.0; 2])
}

/// Writes the next state.
fn end_all(pass: &Pass, blocks: Blocks) -> Option<[f64; 2]> {
    for k in 0..blocks.elements.len() {
        let ending = Ending {
            geometric: &blocks.geometric[k],
            next: &mut blocks.next[k],
            memory: &mut blocks.memory[k],
        };
        end(pass, blocks.first + k, &mut blocks.newton[k], ending)?;
    }
    Some([0.0; 2])
}
