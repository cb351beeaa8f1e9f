//! Joints: which motions of two bodies are tied together.
//!
//! A joint carries a frame on each of its two ends and equates some of their coordinates
//! (`kind.rs` lists which). The z axis of the frame is the axis of the joint.

pub mod axis;
mod coupling;
mod def;
mod kind;
mod linear;
pub(crate) mod rotation;
pub mod rows;

pub(crate) use coupling::coordinate;
pub use coupling::{Coordinate, Coupling, CouplingDef, Rule, Term};
pub use def::JointDef;
pub use kind::JointKind;
pub use linear::JointForm;
pub(crate) use linear::expand;

use glam::{DMat3, DVec3};

use crate::math::small::{M3, V3};
use crate::model::{Body, Endpoint, ModelError, Pose};
use axis::Axis;
use rows::{Carried, Row, RowKind};

/// Most rows a joint can have.
pub const MAX_ROWS: usize = 6;

/// One end of a joint: a frame fixed to a body's principal frame, or to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// The body, or the world.
    pub endpoint: Endpoint,
    /// Attachment point, m, in the principal frame of the body.
    pub point: V3,
    /// x, y and z axes of the attachment frame, in the principal frame of the body.
    pub axes: [V3; 3],
}

/// A joint of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name, unique in the model.
    pub name: String,
    /// What it ties together.
    pub kind: JointKind,
    /// The first end (the parent).
    pub a: Side,
    /// The second end (the child).
    pub b: Side,
    /// Length that turns angles into displacements, m.
    pub length: f64,
    /// Its free coordinates.
    pub axes: Vec<Axis>,
    rows: Vec<RowKind>,
}

impl Joint {
    /// A joint between two frames in the principal frames of their bodies, with nothing acting
    /// along its free coordinates. `length` (m) turns angles into displacements.
    pub fn between(name: String, kind: JointKind, a: Side, b: Side, length: f64) -> Joint {
        Joint {
            name,
            kind,
            a,
            b,
            length,
            axes: Vec::new(),
            rows: kind.row_kinds(),
        }
    }

    /// Number of constraint rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Rows in the dual system: the constraints, and the coordinates along which something
    /// acts.
    pub fn dual_rows(&self) -> usize {
        self.rows.len() + self.axes.iter().filter(|axis| !axis.law.is_idle()).count()
    }

    /// The rows, in order.
    pub fn row_kinds(&self) -> &[RowKind] {
        &self.rows
    }

    /// The frame of one side, carried by its body at (A, t).
    #[inline(always)]
    pub fn carried(side: &Side, a: &M3, t: &V3) -> Carried {
        Carried::new(&side.point, &side.axes, a, t)
    }

    /// Largest violation among the rows, m.
    pub fn gap(&self, a: &Carried, b: &Carried) -> f64 {
        self.rows.iter().fold(0.0, |gap, row| {
            f64::max(gap, row.value(a, b, self.length).abs())
        })
    }

    /// Value and gradients of one row of the dual system.
    pub fn linearize(&self, row: usize, a: &Carried, b: &Carried) -> Row {
        if let Some(kind) = self.rows.get(row) {
            return kind.linearize(a, b, self.length);
        }
        let mut acting = self.axes.iter().filter(|axis| !axis.law.is_idle());
        let axis = acting
            .nth(row - self.rows.len())
            .expect("a row of this joint");
        let row = axis.kind.linearize(a, b);
        if axis.kind.is_angle() {
            row.scaled(self.length)
        } else {
            row
        }
    }

    pub(crate) fn build(def: JointDef, bodies: &[Body]) -> Result<Joint, ModelError> {
        let wrong = |reason: String| ModelError::Joint {
            joint: def.name.clone(),
            reason,
        };
        let kind = def.kind;
        kind.check().map_err(wrong)?;
        check_ends(&def, bodies).map_err(wrong)?;
        let linear = matches!(kind, JointKind::Ball | JointKind::Hinge);
        if def.form == JointForm::Linear && !linear {
            return Err(wrong(format!(
                "a {} joint has no linear form; use the compact one",
                kind.name()
            )));
        }
        let [frame_a, frame_b] = def.frames(bodies).map_err(wrong)?;
        let a = side(def.a, &frame_a, bodies);
        let b = side(def.b, &frame_b, bodies);
        let length = characteristic_length(&def, bodies);
        let axes = def.axes().map_err(wrong)?;
        Ok(Joint {
            name: def.name.clone(),
            kind,
            a,
            b,
            length,
            axes,
            rows: kind.rows_in(def.form),
        })
    }
}

/// A joint has two different ends, both in the model.
fn check_ends(def: &JointDef, bodies: &[Body]) -> Result<(), String> {
    if def.a == def.b {
        let who = match def.a {
            Endpoint::World => "the world",
            Endpoint::Body(_) => "the same body",
        };
        return Err(format!(
            "both ends are {who}; a joint needs two different ends"
        ));
    }
    let strange = |end: &Endpoint| end.index().is_some_and(|i| i >= bodies.len());
    if [def.a, def.b].iter().any(strange) {
        return Err("it names a body that is not in this model".into());
    }
    Ok(())
}

/// A frame given in the shape frame of a body, seen from its principal frame.
fn side(endpoint: Endpoint, frame: &Pose, bodies: &[Body]) -> Side {
    let local = match endpoint.index() {
        Some(i) => bodies[i].principal().inverse().compose(frame),
        None => *frame,
    };
    let axes = DMat3::from_quat(local.rotation);
    Side {
        endpoint,
        point: local.translation.to_array(),
        axes: [
            axes.x_axis.to_array(),
            axes.y_axis.to_array(),
            axes.z_axis.to_array(),
        ],
    }
}

/// The radius of gyration of the lighter end: angles times this are comparable to gaps.
fn characteristic_length(def: &JointDef, bodies: &[Body]) -> f64 {
    [def.a, def.b]
        .iter()
        .filter_map(|end| end.index())
        .map(|i| {
            let m: &crate::body::mass::MassProperties = &bodies[i].mass;
            let s: DVec3 = m.second_moments;
            ((s.x + s.y + s.z) / m.mass).sqrt()
        })
        .fold(f64::INFINITY, f64::min)
}
