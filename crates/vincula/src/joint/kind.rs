//! The kinds of joints and the rows each is made of.
//!
//! The compact forms of He et al. 2026 (sections 4.2 to 4.5): a ball takes 3 rows, a hinge
//! 5, a universal joint 4, a prismatic joint 5. The linear hinge is two ball joints on the
//! axis, 6 rows, one of which only the stiffness of the bodies resists.

use super::JointForm;
use super::axis::AxisKind;
use super::rows::RowKind::{self, Distance, Far, Point, Slide, Square};

/// What a joint ties together. The axis is the z axis of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointKind {
    /// The two points coincide: 3 rows.
    Ball,
    /// Rotation about the axis only: 5 rows.
    Hinge,
    /// Rotation about the z axis of the first frame and the x axis of the second: 4 rows.
    Universal,
    /// Translation along the axis only: 5 rows.
    Prismatic,
    /// No relative motion: 6 rows.
    Fixed,
    /// Rotation about and translation along the axis: 4 rows.
    Cylindrical,
    /// Translation square to the axis and rotation about it: 3 rows.
    Planar,
    /// The second point stays on the axis of the first frame: 2 rows.
    PointOnLine,
    /// The second point stays in the plane square to the axis of the first frame: 1 row.
    PointOnPlane,
    /// The two points keep this distance, m: 1 row.
    Distance(f64),
}

impl JointKind {
    /// The name used in files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            JointKind::Ball => "ball",
            JointKind::Hinge => "hinge",
            JointKind::Universal => "universal",
            JointKind::Prismatic => "prismatic",
            JointKind::Fixed => "fixed",
            JointKind::Cylindrical => "cylindrical",
            JointKind::Planar => "planar",
            JointKind::PointOnLine => "point-on-line",
            JointKind::PointOnPlane => "point-on-plane",
            JointKind::Distance(_) => "distance",
        }
    }

    /// The rows of this joint in one of its forms.
    pub(super) fn rows_in(&self, form: JointForm) -> Vec<RowKind> {
        match (form, self) {
            (JointForm::Linear, JointKind::Hinge) => {
                vec![Point(0), Point(1), Point(2), Far(0), Far(1), Far(2)]
            }
            _ => self.row_kinds(),
        }
    }

    /// The rows of this joint in its compact form.
    pub fn row_kinds(&self) -> Vec<RowKind> {
        match self {
            JointKind::Ball => vec![Point(0), Point(1), Point(2)],
            JointKind::Hinge => vec![Point(0), Point(1), Point(2), Square(0, 2), Square(1, 2)],
            JointKind::Universal => vec![Point(0), Point(1), Point(2), Square(2, 0)],
            JointKind::Prismatic => {
                vec![Slide(0), Slide(1), Square(0, 1), Square(0, 2), Square(1, 2)]
            }
            JointKind::Fixed => {
                vec![
                    Point(0),
                    Point(1),
                    Point(2),
                    Square(0, 1),
                    Square(0, 2),
                    Square(1, 2),
                ]
            }
            JointKind::Cylindrical => vec![Slide(0), Slide(1), Square(0, 2), Square(1, 2)],
            JointKind::Planar => vec![Slide(2), Square(0, 2), Square(1, 2)],
            JointKind::PointOnLine => vec![Slide(0), Slide(1)],
            JointKind::PointOnPlane => vec![Slide(2)],
            JointKind::Distance(length) => vec![Distance(*length)],
        }
    }

    /// The free coordinates that can be measured, limited and driven.
    pub fn axes(&self) -> &'static [AxisKind] {
        match self {
            JointKind::Hinge => &[AxisKind::Angle],
            JointKind::Universal => &[AxisKind::Angle, AxisKind::SecondAngle],
            JointKind::Prismatic => &[AxisKind::Shift],
            JointKind::Cylindrical => &[AxisKind::Angle, AxisKind::Shift],
            JointKind::Planar => &[AxisKind::Across(0), AxisKind::Across(1), AxisKind::Angle],
            JointKind::PointOnLine => &[AxisKind::Shift],
            JointKind::PointOnPlane => &[AxisKind::Across(0), AxisKind::Across(1)],
            JointKind::Ball => &[
                AxisKind::Rotation(0),
                AxisKind::Rotation(1),
                AxisKind::Rotation(2),
                AxisKind::Swing,
                AxisKind::Twist,
            ],
            JointKind::Fixed | JointKind::Distance(_) => &[],
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        match self {
            JointKind::Distance(l) if !(*l > 0.0 && l.is_finite()) => Err(format!(
                "the distance is {l} m; it must be positive (use a ball joint for zero)"
            )),
            _ => Ok(()),
        }
    }
}
