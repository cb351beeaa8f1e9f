//! Which worlds are serial mechanisms in lanes, and the constants of their joints.

use super::bodies::Beside;
use super::joints;
use crate::dual::axles::{ALL, Axes, NO_AXES, ROWS};
use crate::dual::ports::{NO_POINTS, Points};
use crate::integrate::tempered::Turnings;
use crate::joint::Joint;
use crate::joint::axis::{Axis, AxisKind};
use crate::joint::rows::RowKind;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane, place, scatter};
use crate::model::{Model, State, StateBlock};

/// Rows of a joint: a point and up to two axes that stay square. What a joint has less of is
/// padded.
pub(super) const SIZE: usize = 3 + ROWS;

/// A number in every row of eight joints.
pub(super) type Rows = [Lane; SIZE];
/// Zero everywhere.
pub(super) const NO_ROWS: Rows = [[0.0; LANES]; SIZE];

/// Which bodies lie side by side in a block. Joint j holds body j from its second end in either
/// case, so that a block of joints goes with a block of bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One mechanism: bodies that follow each other.
    InLine,
    /// Eight mechanisms: the same body of each.
    Beside,
}

/// The points and square rows of eight bodies: port 0 belongs to the joint before a body, port 1
/// to the one after it. Of the world all is zero but where its points and axes are.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Slot {
    /// Points in the body, m.
    pub points: Points,
    /// Own axes of the rows, in the body.
    pub own: Axes,
    /// Where the points are, m.
    pub place: Points,
    /// The axes in the world, and where they were predicted.
    pub world: Axes,
    pub flown: Axes,
    /// How far the axes turn before the joints act.
    pub lost: Axes,
    /// ℓ times the axes of the other bodies, in the frame of the rotation, m.
    pub told: Axes,
    /// How the load of the joints turns the bodies.
    pub turnings: Turnings,
    /// Velocities of the points, m/s, and rates of the rows by the motion of these bodies, m/s.
    pub velocity: Points,
    pub rate: [Lane; ALL],
}

impl Slot {
    pub const NONE: Slot = Slot {
        points: NO_POINTS,
        own: NO_AXES,
        place: NO_POINTS,
        world: NO_AXES,
        flown: NO_AXES,
        lost: NO_AXES,
        told: NO_AXES,
        turnings: [[0.0; LANES]; 9],
        velocity: NO_POINTS,
        rate: [[0.0; LANES]; ALL],
    };
}

/// The world does not turn.
const WORLD_MAP: [Lane; 9] = StateBlock::REST.a;

/// Constants of eight joints.
#[derive(Clone, Debug)]
pub(super) struct Eight {
    /// Length that makes a square row a displacement, m.
    pub length: Lane,
    /// One where a joint has no such row.
    pub pad: [Lane; ROWS],
    /// The axes that the angle of a hinge is between: two of the first body and one of the second.
    pub angle: [[Lane; 3]; 3],
    /// Where the angle is among the coordinates.
    pub coordinates: [u32; LANES],
    /// Joints in use, one in their lanes, and the first row of each and their number.
    pub used: usize,
    pub in_use: Lane,
    pub rows: [(u32, u8); LANES],
}

impl Eight {
    const NONE: Eight = Eight {
        length: [0.0; LANES],
        pad: [[1.0; LANES]; ROWS],
        angle: [[[0.0; LANES]; 3]; 3],
        coordinates: [0; LANES],
        used: 0,
        in_use: [0.0; LANES],
        rows: [(0, 0); LANES],
    };
}

/// What is after the last block.
static NO_SLOT: Slot = Slot::NONE;
const NO_LENGTH: Lane = [0.0; LANES];

/// The joints of a world and where they hold its bodies.
pub(super) struct Shape {
    pub layout: Layout,
    pub eights: Vec<Eight>,
    /// Whether every joint has one coordinate, the angle of a hinge.
    pub hinges: bool,
    /// The world first, whose port 1 holds the first bodies, then the blocks of bodies.
    pub slots: Vec<Slot>,
}

/// Axes that stay square, if a joint is a point and up to two of these.
fn squares(joint: &Joint) -> Option<Vec<(usize, usize)>> {
    let rows = joint.row_kinds();
    let points = rows.len() >= 3 && (0..3).all(|k| rows[k] == RowKind::Point(k));
    if !points || rows.len() > SIZE || joint.dual_rows() != rows.len() {
        return None;
    }
    let square = |row: &RowKind| match row {
        RowKind::Square(i, j) => Some((*i, *j)),
        _ => None,
    };
    rows[3..].iter().map(square).collect()
}

fn is_hinge(joint: &Joint) -> bool {
    matches!(
        joint.axes[..],
        [Axis {
            kind: AxisKind::Angle,
            ..
        }]
    )
}

impl Shape {
    /// The shape of a model: from the world on, every joint leads from the body before to the
    /// next one, in one mechanism or in eight of the same length.
    pub fn find(model: &Model) -> Option<Shape> {
        let count = model.joints.len();
        if count == 0 || count != model.bodies.len() {
            return None;
        }
        let leads = |stride: usize| {
            let mut joints = model.joints.iter().enumerate();
            joints.all(|(k, joint)| {
                let ends = [&joint.a, &joint.b].map(|side| side.endpoint.index());
                ends == [k.checked_sub(stride), Some(k)]
            })
        };
        let layout = if leads(1) {
            Layout::InLine
        } else if count.is_multiple_of(LANES) && leads(LANES) {
            Layout::Beside
        } else {
            return None;
        };
        let squares: Option<Vec<_>> = model.joints.iter().map(squares).collect();
        let squares = squares?;
        let mut shape = Shape {
            layout,
            eights: vec![Eight::NONE; model.params.len()],
            hinges: model.joints.iter().all(is_hinge),
            slots: vec![Slot::NONE; model.params.len() + 1],
        };
        let mut row = 0;
        for (index, (joint, squares)) in model.joints.iter().zip(&squares).enumerate() {
            shape.add(index, joint, squares, row);
            let (block, lane) = place(index);
            shape.eights[block].coordinates[lane] = model.axis_starts[index] as u32;
            row += joint.dual_rows();
        }
        // The world does not move.
        let world = &mut shape.slots[0];
        (world.place, world.world, world.flown) = (world.points, world.own, world.own);
        Some(shape)
    }

    fn add(&mut self, index: usize, joint: &Joint, squares: &[(usize, usize)], row: usize) {
        let (block, lane) = place(index);
        let eight = &mut self.eights[block];
        eight.length[lane] = joint.length;
        eight.rows[lane] = (row as u32, 3 + squares.len() as u8);
        eight.used = lane + 1;
        eight.in_use[lane] = 1.0;
        for k in 0..squares.len() {
            eight.pad[k][lane] = 0.0;
        }
        for (k, axis) in [joint.a.axes[0], joint.a.axes[1], joint.b.axes[0]]
            .iter()
            .enumerate()
        {
            scatter(&mut eight.angle[k], lane, axis);
        }
        let own = &mut self.slots[block + 1];
        scatter(&mut own.points[0], lane, &joint.b.point);
        for (k, (_, j)) in squares.iter().enumerate() {
            scatter(&mut own.own[k], lane, &joint.b.axes[*j]);
        }
        let (block, lane) = match (joint.a.endpoint.index(), self.layout) {
            (Some(body), _) => (place(body).0 + 1, place(body).1),
            // Seen from the first block, the world is the body before.
            (None, Layout::InLine) => (0, LANES - 1),
            (None, Layout::Beside) => (0, lane),
        };
        let before = &mut self.slots[block];
        scatter(&mut before.points[1], lane, &joint.a.point);
        for (k, (i, _)) in squares.iter().enumerate() {
            scatter(&mut before.own[ROWS + k], lane, &joint.a.axes[*i]);
        }
    }

    /// The slots of the blocks before and after the joints of a block, and these.
    pub fn joints(&self, block: usize) -> ([&Slot; 2], &Eight) {
        (
            [&self.slots[block], &self.slots[block + 1]],
            &self.eights[block],
        )
    }

    /// The slot of a block and what is beside it.
    pub fn around(&mut self, block: usize) -> (Beside<'_>, &mut Slot) {
        let Shape {
            layout,
            eights,
            slots,
            ..
        } = self;
        let length = |k: usize| {
            eights
                .get(k)
                .map_or(&NO_LENGTH, |eight: &Eight| &eight.length)
        };
        let (last, rest) = slots.split_at_mut(block + 1);
        let (own, next) = rest.split_first_mut().expect("a block has a slot");
        let beside = Beside {
            layout: *layout,
            last: &last[block],
            next: next.first().unwrap_or(&NO_SLOT),
            lengths: [length(block), length(block + 1)],
        };
        (beside, own)
    }

    /// Reads the angles of hinges off the poses, near what they were.
    pub fn measure_angles(&self, level: Level, state: &mut State) {
        let mut last = &WORLD_MAP;
        for (eight, block) in self.eights.iter().zip(&state.blocks) {
            let places = &eight.coordinates[..eight.used];
            let mut angles = [0.0; LANES];
            for (angle, at) in angles.iter_mut().zip(places) {
                *angle = state.coordinates[*at as usize];
            }
            joints::find_angles(level, self.layout, last, &block.a, eight, &mut angles);
            for (angle, at) in angles.iter().zip(places) {
                state.coordinates[*at as usize] = *angle;
            }
            last = &block.a;
        }
    }
}
