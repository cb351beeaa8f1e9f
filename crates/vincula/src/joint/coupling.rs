//! Couplings: rows that tie coordinates of several joints together, or velocities of bodies.
//!
//! | coupling | row |
//! |---|---|
//! | gear, rack, screw, sum | s (Σ kᵢ xᵢ − c) = 0 |
//! | rates | s (Σ kᵢ ẋᵢ − c) = 0 |
//! | skate | e·(u_b − u_a) = c, at a point and along an axis e of the second body |
//! | roll | e·(u_b − u_a) = 0, where a ball of radius r touches a plane of the first body |
//!
//! Coordinates x are those of `axis.rs`, angles counted over whole turns. The first line is
//! held on position level. The others are nonholonomic: they bind velocities and no pose
//! (Baraff 1996, section 2.1 speaks of velocity constraints). A step of length h takes them
//! as displacements, `J(middle) (q⁺ − q) = h c`. The length s makes rows displacements.

use glam::DVec3;

use super::axis::AxisKind;
use super::rows::{Carried, Gradient};
use super::{Joint, JointDef, JointKind, Side};
use crate::math::small::*;
use crate::model::{Body, Endpoint, JointId, Model, ModelError};

/// A free coordinate of a joint: which joint, and the number of the coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// The joint.
    pub joint: JointId,
    /// Number of its free coordinate, from 0.
    pub axis: usize,
}

impl From<JointId> for Coordinate {
    fn from(joint: JointId) -> Self {
        Coordinate { joint, axis: 0 }
    }
}

impl From<(JointId, usize)> for Coordinate {
    fn from((joint, axis): (JointId, usize)) -> Self {
        Coordinate { joint, axis }
    }
}

/// A coordinate with its factor k.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    /// The coordinate.
    pub coordinate: Coordinate,
    /// Its factor.
    pub factor: f64,
}

/// A coupling to be added to a model.
#[derive(Clone, Debug)]
pub struct CouplingDef {
    name: String,
    plan: Plan,
}

#[derive(Clone, Debug)]
enum Plan {
    Sum(Vec<Term>, Option<f64>),
    Rates(Vec<Term>, f64),
    Skate(JointDef, f64),
    Roll(JointDef, f64),
}

impl CouplingDef {
    fn sum_of(name: impl Into<String>, terms: &[(Coordinate, f64)]) -> Self {
        let term = |&(coordinate, factor)| Term { coordinate, factor };
        let terms = terms.iter().map(term).collect();
        CouplingDef {
            name: name.into(),
            plan: Plan::Sum(terms, None),
        }
    }

    /// The driven coordinate moves `ratio` times as far as the driver: two hinges are a pair
    /// of gears (a negative ratio for wheels that touch on the outside).
    pub fn gear(
        name: impl Into<String>,
        driver: impl Into<Coordinate>,
        driven: impl Into<Coordinate>,
        ratio: f64,
    ) -> Self {
        Self::sum_of(name, &[(driver.into(), -ratio), (driven.into(), 1.0)])
    }

    /// A rack and its pinion: the shift of `rail` per radian of `hinge`, m/rad.
    pub fn rack(
        name: impl Into<String>,
        hinge: impl Into<Coordinate>,
        rail: impl Into<Coordinate>,
        metres_per_radian: f64,
    ) -> Self {
        Self::gear(name, hinge, rail, metres_per_radian)
    }

    /// Makes a cylindrical joint a screw: the shift along its axis per turn, m.
    pub fn screw(name: impl Into<String>, cylindrical: JointId, lead: f64) -> Self {
        let per_radian = lead / std::f64::consts::TAU;
        Self::gear(name, (cylindrical, 0), (cylindrical, 1), per_radian)
    }

    /// Σ factor · coordinate stays what it is at the initial poses: a differential, say.
    pub fn sum(name: impl Into<String>, terms: &[(Coordinate, f64)]) -> Self {
        Self::sum_of(name, terms)
    }

    /// The constant of a coupling on position level, instead of its value at the initial
    /// poses. Velocity couplings have none and leave it aside.
    pub fn constant(mut self, value: f64) -> Self {
        if let Plan::Sum(_, constant) = &mut self.plan {
            *constant = Some(value);
        }
        self
    }

    /// Σ factor · velocity of the coordinate equals `rate`, rad/s or m/s. It binds
    /// velocities only; rate and factors can change while the simulation runs.
    pub fn rates(name: impl Into<String>, terms: &[(Coordinate, f64)], rate: f64) -> Self {
        let mut def = Self::sum_of(name, terms);
        if let Plan::Sum(terms, _) = def.plan {
            def.plan = Plan::Rates(terms, rate);
        }
        def
    }

    /// A blade: a point of the second end has no velocity relative to the first along a
    /// direction that is fixed to the second. Both in the world, at the initial poses.
    pub fn skate(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        point: DVec3,
        direction: DVec3,
    ) -> Self {
        let name = name.into();
        let frame = JointDef::new(name.clone(), JointKind::Ball, a, b, point, direction);
        CouplingDef {
            name,
            plan: Plan::Skate(frame, 0.0),
        }
    }

    /// A ball rolls without slip: the second end's point at `center − radius · normal` moves
    /// with the first end. The height of the centre above the plane is the affair of a
    /// [`JointKind::PointOnPlane`]. In the world, at the initial poses; m.
    pub fn roll(
        name: impl Into<String>,
        a: impl Into<Endpoint>,
        b: impl Into<Endpoint>,
        center: DVec3,
        normal: DVec3,
        radius: f64,
    ) -> Self {
        let name = name.into();
        let frame = JointDef::new(name.clone(), JointKind::Ball, a, b, center, normal);
        CouplingDef {
            name,
            plan: Plan::Roll(frame, radius),
        }
    }
}

/// What a coupling says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// Σ k x = constant.
    Sum {
        /// The coordinates.
        terms: Vec<Term>,
        /// rad or m.
        constant: f64,
    },
    /// Σ k ẋ = rate.
    Rates {
        /// The coordinates.
        terms: Vec<Term>,
        /// rad/s or m/s.
        rate: f64,
    },
    /// No velocity along the z axis of the second frame.
    Skate {
        /// Frames on the two ends.
        ends: Box<[Side; 2]>,
        /// Velocity along the axis, m/s.
        rate: f64,
    },
    /// A ball about the second frame rolls on a plane square to the z axis of the first.
    Roll {
        /// Frames on the two ends.
        ends: Box<[Side; 2]>,
        /// Radius of the ball, m.
        radius: f64,
    },
}

/// A coupling of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// Name, unique among couplings.
    pub name: String,
    /// What it says.
    pub rule: Rule,
    /// Displacement per unit of the sum, m/rad or 1.
    pub length: f64,
}

impl Coupling {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self.rule {
            Rule::Roll { .. } => 2,
            _ => 1,
        }
    }

    /// The coordinates that it ties together.
    pub fn terms(&self) -> &[Term] {
        match &self.rule {
            Rule::Sum { terms, .. } | Rule::Rates { terms, .. } => terms,
            Rule::Skate { .. } | Rule::Roll { .. } => &[],
        }
    }

    /// Whether it binds velocities only.
    pub fn is_velocity(&self) -> bool {
        !matches!(self.rule, Rule::Sum { .. })
    }

    /// The velocity that it asks for; zero on position level.
    pub fn rate(&self) -> f64 {
        match self.rule {
            Rule::Rates { rate, .. } | Rule::Skate { rate, .. } => rate,
            Rule::Sum { .. } | Rule::Roll { .. } => 0.0,
        }
    }

    /// The ends of its bodies, with repetitions.
    pub(crate) fn ends<'a>(&'a self, joints: &'a [Joint]) -> Vec<&'a Side> {
        match &self.rule {
            Rule::Sum { terms, .. } | Rule::Rates { terms, .. } => terms
                .iter()
                .flat_map(|term| {
                    let joint = &joints[term.coordinate.joint.index()];
                    [&joint.a, &joint.b]
                })
                .collect(),
            Rule::Skate { ends, .. } | Rule::Roll { ends, .. } => ends.iter().collect(),
        }
    }

    /// Gradients of one row, for frames carried to some pose and factors k; `add` gets one
    /// for each end, m per unit of the coordinates.
    pub(crate) fn linearize(
        &self,
        joints: &[Joint],
        factors: &[f64],
        part: usize,
        carried: impl Fn(&Side) -> Carried,
        mut add: impl FnMut(&Side, &Gradient),
    ) {
        match &self.rule {
            Rule::Sum { terms, .. } | Rule::Rates { terms, .. } => {
                for (term, k) in terms.iter().zip(factors) {
                    let (joint, kind) = coordinate(joints, term);
                    let row = kind.linearize(&carried(&joint.a), &carried(&joint.b));
                    let row = row.scaled(k * self.length);
                    add(&joint.a, &row.a);
                    add(&joint.b, &row.b);
                }
            }
            Rule::Skate { ends, .. } | Rule::Roll { ends, .. } => {
                let [a, b] = [carried(&ends[0]), carried(&ends[1])];
                let (along, place) = self.touch(part, &a, &b);
                for (end, frame, sign) in [(&ends[0], &a, -1.0), (&ends[1], &b, 1.0)] {
                    let mut gradient = Gradient::ZERO;
                    gradient.add_point(sign, &along, &body_point(frame, &local(frame, &place)));
                    add(end, &gradient);
                }
            }
        }
    }

    /// Direction and place of a velocity row.
    fn touch(&self, part: usize, a: &Carried, b: &Carried) -> (V3, V3) {
        match self.rule {
            Rule::Roll { radius, .. } => (a.axes[part], axpy(&b.point, -radius, &a.axes[2])),
            _ => (b.axes[2], b.point),
        }
    }

    /// How far the bodies of a velocity row have slipped, m, between two poses.
    pub(crate) fn slip(&self, part: usize, start: &[Carried; 2], now: &[Carried; 2]) -> f64 {
        let middle = [0, 1].map(|k: usize| between(&start[k], &now[k]));
        let (along, place) = self.touch(part, &middle[0], &middle[1]);
        let moved = |k: usize| {
            let at = local(&middle[k], &place);
            sub(&world_point(&now[k], &at), &world_point(&start[k], &at))
        };
        dot(&along, &sub(&moved(1), &moved(0)))
    }

    pub(crate) fn build(
        def: CouplingDef,
        joints: &[Joint],
        bodies: &[Body],
    ) -> Result<Coupling, ModelError> {
        let name = def.name;
        let wrong = |reason: String| ModelError::Coupling {
            coupling: name.clone(),
            reason,
        };
        let rule = match def.plan {
            Plan::Sum(terms, constant) => Rule::Sum {
                terms: checked(terms, joints).map_err(wrong)?,
                // What is not given is measured at the initial poses, later.
                constant: finite("constant", constant.unwrap_or(0.0)).map_err(wrong)?,
            },
            Plan::Rates(terms, rate) => Rule::Rates {
                terms: checked(terms, joints).map_err(wrong)?,
                rate: finite("rate", rate).map_err(wrong)?,
            },
            Plan::Skate(frame, rate) => Rule::Skate {
                ends: ends_of(frame, bodies).map_err(wrong)?,
                rate,
            },
            Plan::Roll(frame, radius) => {
                if !(radius > 0.0 && radius.is_finite()) {
                    return Err(wrong(format!(
                        "its radius is {radius} m; it must be positive and finite"
                    )));
                }
                let ends = ends_of(frame, bodies).map_err(wrong)?;
                Rule::Roll { ends, radius }
            }
        };
        let mut coupling = Coupling {
            name,
            rule,
            length: 1.0,
        };
        coupling.length = coupling.scale(joints);
        Ok(coupling)
    }

    /// Whether the constant of this definition is that of the initial poses.
    pub(crate) fn measures(def: &CouplingDef) -> bool {
        matches!(def.plan, Plan::Sum(_, None))
    }

    /// The length that gives the strongest term a gradient of about one.
    fn scale(&self, joints: &[Joint]) -> f64 {
        let strength = |term: &Term| {
            let (joint, kind) = coordinate(joints, term);
            let unit = if kind.is_angle() { joint.length } else { 1.0 };
            term.factor.abs() / unit
        };
        let most = self.terms().iter().map(strength).fold(0.0, f64::max);
        if most > 0.0 { 1.0 / most } else { 1.0 }
    }
}

/// The joint of a term and what its coordinate measures.
pub(crate) fn coordinate<'a>(joints: &'a [Joint], term: &Term) -> (&'a Joint, AxisKind) {
    let joint = &joints[term.coordinate.joint.index()];
    (joint, joint.axes[term.coordinate.axis].kind)
}

fn finite(what: &str, value: f64) -> Result<f64, String> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("its {what} is {value}; it must be finite"))
    }
}

fn checked(terms: Vec<Term>, joints: &[Joint]) -> Result<Vec<Term>, String> {
    if terms.is_empty() {
        return Err("it couples nothing; name at least one coordinate".into());
    }
    for (k, term) in terms.iter().enumerate() {
        let Coordinate { joint, axis } = term.coordinate;
        let Some(joint) = joints.get(joint.index()) else {
            return Err("it names a joint that is not in this model".into());
        };
        if axis >= joint.axes.len() {
            return Err(format!(
                "joint '{}' has {} free coordinates; there is no number {axis}",
                joint.name,
                joint.axes.len()
            ));
        }
        if !(term.factor.is_finite() && term.factor != 0.0) {
            return Err(format!(
                "the factor of joint '{}' is {}; it must be finite and not zero",
                joint.name, term.factor
            ));
        }
        if terms[..k].iter().any(|t| t.coordinate == term.coordinate) {
            return Err(format!(
                "it names the same coordinate of joint '{}' twice",
                joint.name
            ));
        }
    }
    Ok(terms)
}

/// The frames of a velocity coupling, checked like those of a joint.
fn ends_of(frame: JointDef, bodies: &[Body]) -> Result<Box<[Side; 2]>, String> {
    match Joint::build(frame, bodies) {
        Ok(joint) => Ok(Box::new([joint.a, joint.b])),
        Err(ModelError::Joint { reason, .. }) => Err(reason),
        Err(other) => Err(other.to_string()),
    }
}

/// Coordinates of a place in a carried frame; its axes are almost orthonormal.
fn local(frame: &Carried, place: &V3) -> V3 {
    let d = sub(place, &frame.point);
    [0, 1, 2].map(|k: usize| dot(&frame.axes[k], &d) / dot(&frame.axes[k], &frame.axes[k]))
}

fn combined(point: &V3, axes: &[V3; 3], at: &V3) -> V3 {
    (0..3).fold(*point, |p, k| axpy(&p, at[k], &axes[k]))
}

fn world_point(frame: &Carried, at: &V3) -> V3 {
    combined(&frame.point, &frame.axes, at)
}

fn body_point(frame: &Carried, at: &V3) -> V3 {
    combined(&frame.point_body, &frame.axes_body, at)
}

/// The frame half-way between two poses.
fn between(start: &Carried, now: &Carried) -> Carried {
    let axis = |k: usize| {
        let sum = add(&start.axes[k], &now.axes[k]);
        scale(&sum, 1.0 / dot(&sum, &sum).sqrt().max(f64::MIN_POSITIVE))
    };
    Carried {
        point: scale(&add(&start.point, &now.point), 0.5),
        axes: [axis(0), axis(1), axis(2)],
        ..*now
    }
}

impl Model {
    /// Sets the constants that are those of the initial poses.
    pub(crate) fn measure_couplings(&mut self, measured: &[bool]) {
        let state = self.initial_state();
        for (coupling, _) in self.couplings.iter_mut().zip(measured).filter(|(_, m)| **m) {
            if let Rule::Sum { terms, constant } = &mut coupling.rule {
                let value = |t: &Term| {
                    let first = self.axis_starts[t.coordinate.joint.index()];
                    t.factor * state.coordinates[first + t.coordinate.axis]
                };
                *constant = terms.iter().map(value).sum();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rotation::exp;
    use crate::prelude::*;

    /// Two boxes that a joint holds and a third on a hinge, none of them aligned.
    fn model(couple: impl Fn([BodyId; 3], [JointId; 2]) -> CouplingDef) -> Model {
        let mut builder = ModelBuilder::new();
        let shape = Shape::Box {
            half_extents: DVec3::new(0.1, 0.2, 0.3),
        };
        let body = |k: usize| {
            BodyDef::new(format!("box {k}"), shape.clone(), 500.0)
                .at(DVec3::new(0.4 * k as f64, 0.1, -0.2))
                .turned(DQuat::from_scaled_axis(DVec3::new(
                    0.3,
                    -0.2,
                    0.1 * k as f64,
                )))
        };
        let bodies = [0, 1, 2].map(|k| builder.body(body(k)));
        let at = DVec3::new(0.2, 0.1, 0.0);
        let slide = JointDef::new(
            "slide",
            JointKind::Cylindrical,
            bodies[0],
            bodies[1],
            at,
            DVec3::X,
        );
        let hinge = JointDef::hinge("hinge", bodies[1], bodies[2], at, DVec3::new(0.0, 1.0, 1.0));
        let joints = [builder.joint(slide), builder.joint(hinge)];
        builder.coupling(couple(bodies, joints));
        builder.build().unwrap()
    }

    /// A pose away from the initial one.
    fn poses() -> Vec<(M3, V3)> {
        (0..3)
            .map(|k| {
                let k = f64::from(k);
                let turn = exp::<false>(&[0.4, 0.2 * k, -0.3]);
                (turn, [0.3 * k, 0.1, 0.05 * k])
            })
            .collect()
    }

    fn carried(poses: &[(M3, V3)]) -> impl Fn(&Side) -> Carried {
        move |side: &Side| match side.endpoint.index() {
            None => Joint::carried(side, &IDENTITY, &[0.0; 3]),
            Some(body) => Joint::carried(side, &poses[body].0, &poses[body].1),
        }
    }

    /// Gradients of one row by body, and its value relative to a pose `start`.
    fn check(model: &Model, part: usize) {
        let coupling = &model.couplings()[0];
        let factors: Vec<f64> = coupling.terms().iter().map(|t| t.factor).collect();
        let start = poses();
        let value = |poses: &[(M3, V3)]| match &coupling.rule {
            Rule::Sum { terms, .. } | Rule::Rates { terms, .. } => {
                let at = carried(poses);
                let x = |t: &Term| {
                    let (joint, kind) = coordinate(model.joints(), t);
                    t.factor * kind.value(&at(&joint.a), &at(&joint.b))
                };
                coupling.length * terms.iter().map(x).sum::<f64>()
            }
            Rule::Skate { ends, .. } | Rule::Roll { ends, .. } => {
                let frames = |p: &[(M3, V3)]| [carried(p)(&ends[0]), carried(p)(&ends[1])];
                coupling.slip(part, &frames(&start), &frames(poses))
            }
        };
        let mut gradients = [Gradient::ZERO; 3];
        coupling.linearize(
            model.joints(),
            &factors,
            part,
            carried(&start),
            |side, g| {
                if let Some(body) = side.endpoint.index() {
                    for k in 0..9 {
                        gradients[body].a[k] += g.a[k];
                    }
                    gradients[body].t = add(&gradients[body].t, &g.t);
                }
            },
        );
        let step = 1e-6;
        for body in 0..3 {
            for k in 0..12 {
                let moved = |delta: f64| {
                    let mut poses = poses();
                    if k < 9 {
                        poses[body].0[k] += delta;
                    } else {
                        poses[body].1[k - 9] += delta;
                    }
                    value(&poses)
                };
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                let g = &gradients[body];
                let exact = if k < 9 { g.a[k] } else { g.t[k - 9] };
                assert!(
                    (slope - exact).abs() < 1e-8,
                    "{:?} body {body} entry {k}: {slope} {exact}",
                    coupling.rule
                );
            }
        }
    }

    #[test]
    fn every_gradient_matches_finite_differences() {
        check(&model(|_, [s, h]| CouplingDef::gear("gear", s, h, -2.5)), 0);
        check(
            &model(|_, [s, h]| CouplingDef::rack("rack", h, (s, 1), 0.3)),
            0,
        );
        check(&model(|_, [s, _]| CouplingDef::screw("screw", s, 0.1)), 0);
        let terms = |[s, h]: [JointId; 2]| [(s.into(), 1.0), ((s, 1).into(), 3.0), (h.into(), 0.5)];
        check(
            &model(|_, j| CouplingDef::rates("rates", &terms(j), 0.7)),
            0,
        );
        let at = DVec3::new(0.3, -0.1, 0.2);
        check(
            &model(|b, _| CouplingDef::skate("blade", b[0], b[2], at, DVec3::Y)),
            0,
        );
        check(
            &model(|b, _| CouplingDef::skate("blade", World, b[1], at, DVec3::Y)),
            0,
        );
        for part in 0..2 {
            check(
                &model(|b, _| CouplingDef::roll("ball", b[0], b[2], at, DVec3::Z, 0.2)),
                part,
            );
        }
    }
}
