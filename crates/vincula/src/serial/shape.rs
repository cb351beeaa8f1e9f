//! Which worlds are serial mechanisms in lanes, and the constants of their joints.

use super::joints;
use crate::dual::axles::{ALL, Axes, NO_AXES, ROWS};
use crate::dual::ports::{NO_POINTS, Points};
use crate::integrate::tempered::Turnings;
use crate::joint::Joint;
use crate::joint::axis::{Axis, AxisKind};
use crate::joint::rows::RowKind;
use crate::math::alike::Alike;
use crate::math::dispatch::Level;
use crate::math::lanes::{LANES, Lane, place, scatter};
use crate::model::{Model, ParamBlock, State, StateBlock};

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

/// Where joints hold eight bodies: port 0 belongs to the joint before a body, port 1 to the one
/// after it.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Socket {
    /// Points in the body, m.
    pub points: Points,
    /// Own axes of the rows, in the body.
    pub own: Axes,
}

/// What is found of eight bodies in a pass, and used by the blocks beside them. Of the world all is
/// zero but where its points and axes are.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Found {
    /// Where the points are, m.
    pub place: Points,
    /// The axes in the world, and where they were predicted.
    pub world: Axes,
    pub flown: Axes,
    /// How far the axes turn before the joints act.
    pub lost: Axes,
    /// How the load of the joints turns the bodies.
    pub turnings: Turnings,
    /// Velocities of the points, m/s, and rates of the rows by the motion of these bodies, m/s.
    pub velocity: Points,
    pub rate: [Lane; ALL],
}

impl Found {
    pub const NONE: Found = Found {
        place: NO_POINTS,
        world: NO_AXES,
        flown: NO_AXES,
        lost: NO_AXES,
        turnings: [[0.0; LANES]; 9],
        velocity: NO_POINTS,
        rate: [[0.0; LANES]; ALL],
    };
}

/// The world does not turn.
const WORLD_MAP: [Lane; 9] = StateBlock::REST.a;

/// Constants of eight joints.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Eight {
    /// Length that makes a square row a displacement, m.
    pub length: Lane,
    /// One where a joint has no such row.
    pub pad: [Lane; ROWS],
    /// The axes that the angle of a hinge is between: two of the first body and one of the second.
    pub angle: [[Lane; 3]; 3],
    /// Joints in use, one in their lanes.
    pub used: usize,
    pub in_use: Lane,
    /// Where the rows of a joint are, after the first one of the block, and their number.
    pub rows: [(u8, u8); LANES],
    /// Whether all joints are in use and have all rows.
    pub is_full: bool,
}

/// Constants of a block of bodies and of the joints before them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kind {
    pub params: ParamBlock,
    pub socket: Socket,
    pub eight: Eight,
}

impl Kind {
    fn new(params: &ParamBlock) -> Kind {
        Kind {
            params: params.clone(),
            socket: Socket {
                points: NO_POINTS,
                own: NO_AXES,
            },
            eight: Eight {
                length: [0.0; LANES],
                pad: [[1.0; LANES]; ROWS],
                angle: [[[0.0; LANES]; 3]; 3],
                used: 0,
                in_use: [0.0; LANES],
                rows: [(0, 0); LANES],
                is_full: false,
            },
        }
    }
}

/// After the last block there is no joint.
static NO_LENGTH: Lane = [0.0; LANES];

/// The joints of a world and where they hold its bodies.
pub(super) struct Shape {
    pub layout: Layout,
    /// Whether every joint has one coordinate, the angle of a hinge.
    pub hinges: bool,
    /// Number of joints.
    pub joints: usize,
    /// What blocks that are alike have in common.
    kinds: Alike<Kind>,
    /// First row and first coordinate of every block.
    pub firsts: Vec<[u32; 2]>,
    /// The world, whose port 1 holds the first bodies.
    pub world: Found,
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

/// Enters a joint at both of its ends.
fn add(
    all: &mut [Kind],
    ground: &mut Found,
    layout: Layout,
    index: usize,
    joint: &Joint,
    squares: &[(usize, usize)],
) {
    let (block, lane) = place(index);
    let Kind { socket, eight, .. } = &mut all[block];
    eight.length[lane] = joint.length;
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
    scatter(&mut socket.points[0], lane, &joint.b.point);
    for (k, (_, j)) in squares.iter().enumerate() {
        scatter(&mut socket.own[k], lane, &joint.b.axes[*j]);
    }
    let (points, own, lane) = match joint.a.endpoint.index().map(place) {
        Some((block, lane)) => {
            let Socket { points, own } = &mut all[block].socket;
            (points, own, lane)
        }
        None => {
            let Found { place, world, .. } = ground;
            // Seen from the first block, the world is the body before.
            let lane = match layout {
                Layout::InLine => LANES - 1,
                Layout::Beside => lane,
            };
            (place, world, lane)
        }
    };
    scatter(&mut points[1], lane, &joint.a.point);
    for (k, (i, _)) in squares.iter().enumerate() {
        scatter(&mut own[ROWS + k], lane, &joint.a.axes[*i]);
    }
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
        let mut all: Vec<Kind> = model.params.iter().map(Kind::new).collect();
        let mut world = Found::NONE;
        let mut firsts = vec![[0; 2]; all.len()];
        let mut row = 0;
        for (index, (joint, squares)) in model.joints.iter().zip(&squares).enumerate() {
            add(&mut all, &mut world, layout, index, joint, squares);
            let (block, lane) = place(index);
            if lane == 0 {
                firsts[block] = [row, model.axis_starts[index] as u32];
            }
            let after = row - firsts[block][0];
            all[block].eight.rows[lane] = (after as u8, 3 + squares.len() as u8);
            row += joint.dual_rows() as u32;
        }
        for Kind { eight, .. } in &mut all {
            eight.is_full = eight.rows.iter().all(|(_, count)| *count as usize == SIZE);
        }
        // The world does not move.
        world.flown = world.world;
        Some(Shape {
            layout,
            hinges: model.joints.iter().all(is_hinge),
            joints: count,
            kinds: all.into_iter().collect(),
            firsts,
            world,
        })
    }

    /// Whether bodies that follow each other lie side by side.
    pub fn in_line(&self) -> bool {
        self.layout == Layout::InLine
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Constants of a block.
    #[inline(always)]
    pub fn kind(&self, block: usize) -> &Kind {
        self.kinds.of(block)
    }

    /// The lengths of the joints of a block and of the next one, m.
    pub fn lengths(&self, block: usize) -> [&Lane; 2] {
        let length = |k: usize| &self.kind(k).eight.length;
        let next = block + 1;
        [
            length(block),
            if next < self.len() {
                length(next)
            } else {
                &NO_LENGTH
            },
        ]
    }

    /// Reads the angles of hinges off the poses, near what they were.
    pub fn measure_angles(&self, level: Level, state: &mut State) {
        let mut last = &WORLD_MAP;
        for (k, block) in state.blocks.iter().enumerate() {
            let eight = &self.kind(k).eight;
            // A hinge has one coordinate.
            let first = self.firsts[k][1] as usize;
            let places = &mut state.coordinates[first..first + eight.used];
            let mut angles = [0.0; LANES];
            angles[..eight.used].copy_from_slice(places);
            joints::find_angles(level, self.in_line(), last, &block.a, eight, &mut angles);
            places.copy_from_slice(&angles[..eight.used]);
            last = &block.a;
        }
    }
}
