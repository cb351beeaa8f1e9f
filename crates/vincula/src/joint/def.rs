//! How a user describes a joint.

use glam::{DMat3, DQuat, DVec3};

use super::axis::{Axis, AxisLaw, Drive, LimitMethod, Spring};
use super::{JointForm, JointKind, MAX_ROWS};
use crate::model::{Body, Endpoint, Pose};

/// A joint to be added to a model.
#[derive(Clone, Debug)]
pub struct JointDef {
    pub(super) name: String,
    pub(super) kind: JointKind,
    pub(super) a: Endpoint,
    pub(super) b: Endpoint,
    pub(super) form: JointForm,
    placement: Placement,
    laws: Vec<(usize, AxisLaw)>,
    /// Lead of a screw, m per turn.
    lead: Option<f64>,
}

/// Where the frames of a joint are.
#[derive(Clone, Debug)]
enum Placement {
    /// Given in the world, at the bodies' initial poses: first point, second point, axes.
    World {
        first: DVec3,
        second: DVec3,
        axis: DVec3,
        second_axis: Option<DVec3>,
    },
    /// Given in the shape frame of each body (in the world for the world).
    Frames([Pose; 2]),
}

impl JointDef {
    fn in_world(
        name: impl Into<String>,
        kind: JointKind,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        points: [DVec3; 2],
        axis: DVec3,
    ) -> Self {
        let placement = Placement::World {
            first: points[0],
            second: points[1],
            axis,
            second_axis: None,
        };
        JointDef {
            name: name.into(),
            kind,
            a: a.into(),
            b: b.into(),
            form: JointForm::Compact,
            placement,
            laws: Vec::new(),
            lead: None,
        }
    }

    /// A joint at a point of the world with its axis in the world, at the initial poses.
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
        axis: DVec3,
    ) -> Self {
        Self::in_world(name, kind, a, b, [point, point], axis)
    }

    /// Ties a point of one body to a point of another.
    pub fn ball(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
    ) -> Self {
        Self::new(name, JointKind::Ball, a, b, point, DVec3::Z)
    }

    /// Rotation about an axis through a point.
    pub fn hinge(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
        axis: DVec3,
    ) -> Self {
        Self::new(name, JointKind::Hinge, a, b, point, axis)
    }

    /// Rotation about two perpendicular axes through a point: one fixed to the first end,
    /// one to the second.
    pub fn universal(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
        axes: [DVec3; 2],
    ) -> Self {
        let mut def = Self::new(name, JointKind::Universal, a, b, point, axes[0]);
        if let Placement::World { second_axis, .. } = &mut def.placement {
            *second_axis = Some(axes[1]);
        }
        def
    }

    /// Translation along an axis.
    pub fn prismatic(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
        axis: DVec3,
    ) -> Self {
        Self::new(name, JointKind::Prismatic, a, b, point, axis)
    }

    /// Translation along an axis that goes with rotation about it: a cylindrical joint whose
    /// two coordinates a coupling of the same name ties together. The lead is the shift per
    /// turn, m; a left-handed thread has a negative one.
    pub fn screw(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
        axis: DVec3,
        lead: f64,
    ) -> Self {
        let mut def = Self::new(name, JointKind::Cylindrical, a, b, point, axis);
        def.lead = Some(lead);
        def
    }

    /// Name and lead of a screw.
    pub(crate) fn thread(&self) -> Option<(&str, f64)> {
        self.lead.map(|lead| (self.name.as_str(), lead))
    }

    /// No relative motion.
    pub fn fixed(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
    ) -> Self {
        Self::new(name, JointKind::Fixed, a, b, point, DVec3::Z)
    }

    /// Keeps the distance of two points as it is at the initial poses.
    pub fn distance(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        points: [DVec3; 2],
    ) -> Self {
        let kind = JointKind::Distance(points[0].distance(points[1]));
        Self::in_world(name, kind, a, b, points, DVec3::Z)
    }

    /// A joint whose frames are given in the shape frame of each body.
    pub fn with_frames(
        name: impl Into<String>,
        kind: JointKind,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        frames: [Pose; 2],
    ) -> Self {
        let placement = Placement::Frames(frames);
        JointDef {
            name: name.into(),
            kind,
            a: a.into(),
            b: b.into(),
            form: JointForm::Compact,
            placement,
            laws: Vec::new(),
            lead: None,
        }
    }

    /// Compact or linear rows, of a hinge or a universal joint.
    pub fn form(mut self, form: JointForm) -> Self {
        self.form = form;
        self
    }

    /// Whether anything acts along a free coordinate.
    pub(super) fn has_laws(&self) -> bool {
        self.laws.iter().any(|(_, law)| !law.is_idle())
    }

    fn law(&mut self, axis: usize) -> &mut AxisLaw {
        let place = match self.laws.iter().position(|(index, _)| *index == axis) {
            Some(place) => place,
            None => {
                self.laws.push((axis, AxisLaw::default()));
                self.laws.len() - 1
            }
        };
        &mut self.laws[place].1
    }

    /// Limits of a free coordinate (0 is the first), rad or m.
    pub fn limits(mut self, axis: usize, lower: f64, upper: f64) -> Self {
        self.law(axis).limits = [lower, upper];
        self
    }

    /// How the limits of a free coordinate are held.
    pub fn limit_method(mut self, axis: usize, method: LimitMethod) -> Self {
        self.law(axis).limit_method = method;
        self
    }

    /// Keeps the z axes of a ball joint's frames within an angle, rad: a cone.
    pub fn cone(self, half_angle: f64) -> Self {
        self.limits(SWING, f64::NEG_INFINITY, half_angle)
    }

    /// Limits of the twist of a ball joint about the z axis of its frames, rad.
    pub fn twist_limits(self, lower: f64, upper: f64) -> Self {
        self.limits(TWIST, lower, upper)
    }

    /// A spring with a damper that turns a ball joint back, the same about every axis.
    pub fn rotation_spring(self, spring: Spring) -> Self {
        (0..3).fold(self, |def, axis| def.spring(axis, spring))
    }

    /// A spring with a damper along a free coordinate.
    pub fn spring(mut self, axis: usize, spring: Spring) -> Self {
        self.law(axis).spring = spring;
        self
    }

    /// Dry friction along a free coordinate, N m or N.
    pub fn friction(mut self, axis: usize, friction: f64) -> Self {
        self.law(axis).friction = friction;
        self
    }

    /// A drive along a free coordinate, with the most it can exert, N m or N.
    pub fn drive(mut self, axis: usize, drive: Drive, effort: f64) -> Self {
        let law = self.law(axis);
        law.drive = drive;
        law.effort = effort;
        self
    }

    /// The free coordinates with what acts along them.
    pub(super) fn axes(&self) -> Result<Vec<Axis>, String> {
        let kinds = self.kind.axes();
        for (index, law) in &self.laws {
            if *index >= kinds.len() {
                return Err(format!(
                    "a {} joint has {} free coordinates to limit or drive; there is no number {index}",
                    self.kind.name(),
                    kinds.len()
                ));
            }
            if let Some(fault) = law.fault() {
                return Err(fault);
            }
        }
        let acting = self.laws.iter().filter(|(_, law)| !law.is_idle()).count();
        let room = MAX_ROWS - self.kind.rows_in(self.form).len();
        if acting > room {
            return Err(format!(
                "laws act along {acting} of its coordinates; a {} joint has room for {room}",
                self.kind.name()
            ));
        }
        // Ball joints come by the million: without laws nobody keeps track of theirs.
        if self.kind == JointKind::Ball && acting == 0 {
            return Ok(Vec::new());
        }
        let law = |k: usize| {
            self.laws
                .iter()
                .find(|(index, _)| *index == k)
                .map_or_else(AxisLaw::default, |(_, law)| *law)
        };
        Ok(kinds
            .iter()
            .enumerate()
            .map(|(k, kind)| Axis {
                kind: *kind,
                law: law(k),
            })
            .collect())
    }

    /// Where x and y of the frame are coordinates of their own, x lies as near to the x axis
    /// of the world as it can (or to y, when the axis of the joint is x).
    fn usual_second_axis(&self, axis: DVec3) -> Option<DVec3> {
        let named = [JointKind::Ball, JointKind::Planar, JointKind::PointOnPlane];
        let z = axis
            .try_normalize()
            .filter(|_| named.contains(&self.kind))?;
        let x = if z.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
        (x - z * z.dot(x)).try_normalize()
    }

    /// The frames in the shape frames of the two ends.
    pub(super) fn frames(&self, bodies: &[Body]) -> Result<[Pose; 2], String> {
        match &self.placement {
            Placement::Frames(frames) => {
                for frame in frames {
                    if !frame.is_finite() || (frame.rotation.length() - 1.0).abs() > 1e-6 {
                        return Err("its frames must be finite, with unit quaternions".into());
                    }
                }
                Ok(*frames)
            }
            Placement::World {
                first,
                second,
                axis,
                second_axis,
            } => {
                if !(first.is_finite() && second.is_finite()) {
                    return Err("its point must be finite".into());
                }
                let second_axis = second_axis.or_else(|| self.usual_second_axis(*axis));
                let rotation = frame_rotation(*axis, second_axis)?;
                let world = [first, second].map(|p| Pose {
                    translation: *p,
                    rotation,
                });
                let local = |end: Endpoint, pose: &Pose| match end.index() {
                    Some(i) => bodies[i].initial_pose.inverse().compose(pose),
                    None => *pose,
                };
                Ok([local(self.a, &world[0]), local(self.b, &world[1])])
            }
        }
    }
}

/// Numbers of a ball joint's swing and twist among its coordinates.
const SWING: usize = 3;
const TWIST: usize = 4;

/// A frame whose z axis is `axis` and whose x axis is `second` (or any normal).
fn frame_rotation(axis: DVec3, second: Option<DVec3>) -> Result<DQuat, String> {
    if !axis.is_finite() {
        return Err("its axis must be finite".into());
    }
    let z = axis
        .try_normalize()
        .ok_or("its axis has no direction; give a vector of non-zero length")?;
    let x = match second {
        None => z.any_orthonormal_vector(),
        Some(s) => {
            let s = s
                .try_normalize()
                .ok_or("its second axis has no direction")?;
            if s.dot(z).abs() > 1e-6 {
                return Err(format!(
                    "its two axes must be perpendicular; they meet at {:.4}°",
                    s.dot(z).clamp(-1.0, 1.0).acos().to_degrees()
                ));
            }
            (s - z * s.dot(z)).normalize()
        }
    };
    Ok(DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z)).normalize())
}
