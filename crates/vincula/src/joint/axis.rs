//! Free coordinates of joints: what they measure, and what acts along them.
//!
//! A hinge has an angle, a prismatic joint a shift, a cylindrical joint both, a universal
//! joint two angles, a ball joint a rotation vector, swing and twist. Along each can act a
//! spring with a damper, dry friction, a drive and limits. Their force λ resists the coordinate x, N m or N:
//!
//! - spring and damper: λ = k (x − x₀) + d ẋ,
//! - drive: λ = k (x − target) + d (ẋ − speed), at most the effort,
//! - friction: |λ| ≤ f, and any value that keeps x from moving,
//! - limits: x ≥ lower with λ ≤ 0, x ≤ upper with λ ≥ 0.

use super::rotation;
use super::rows::{Carried, Gradient, Row};
use crate::math::angle::atan2;
use crate::math::small::*;

/// What a free coordinate measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AxisKind {
    /// Rotation of the second frame about the z axis of the first, rad.
    Angle,
    /// Rotation of the second frame about its own x axis, rad (universal joints).
    SecondAngle,
    /// Displacement of the second point along the z axis of the first frame, m.
    Shift,
    /// Displacement of the second point along axis 0 or 1 of the first frame, m.
    Across(usize),
    /// Component 0, 1 or 2 of the rotation vector of the second frame, in the first, rad;
    /// for rotations of less than half a turn.
    Rotation(usize),
    /// Angle between the z axes of the two frames, rad, from 0 to π: the half angle of a cone.
    Swing,
    /// Rotation about z that is left when the second frame is swung back the short way, rad.
    Twist,
}

/// How a limit is held.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum LimitMethod {
    /// By complementarity: the limit pushes as much as it must, and never pulls.
    #[default]
    Complementarity,
    /// As in He et al. 2026, section 4.6: a coordinate that would leave its range is held at
    /// its end for the iteration, whatever the sign of the force, and one that starts a step
    /// outside is pushed back by an explicit force of this stiffness, N m/rad or N/m. No
    /// row holds its velocity.
    Clamp {
        /// Stiffness of the push, N m/rad or N/m.
        stiffness: f64,
    },
}

/// A spring with a damper.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spring {
    /// Stiffness, N m/rad or N/m.
    pub stiffness: f64,
    /// Damping, N m s/rad or N s/m.
    pub damping: f64,
    /// Coordinate at rest, rad or m.
    pub rest: f64,
}

/// What a drive aims at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drive {
    /// Nothing.
    #[default]
    None,
    /// A position, rad or m, with gains as of a spring and a damper.
    Position {
        /// Target, rad or m.
        target: f64,
        /// Gain on the position error, N m/rad or N/m.
        stiffness: f64,
        /// Gain on the velocity, N m s/rad or N s/m.
        damping: f64,
    },
    /// A velocity, rad/s or m/s.
    Velocity {
        /// Target, rad/s or m/s.
        target: f64,
        /// Gain on the velocity error, N m s/rad or N s/m.
        damping: f64,
    },
    /// A torque or a force that drives the coordinate forwards, N m or N.
    Effort(f64),
}

/// What acts along one free coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisLaw {
    /// Lower and upper limit, rad or m; infinite where there is none.
    pub limits: [f64; 2],
    /// How the limits are held.
    pub limit_method: LimitMethod,
    /// Spring and damper.
    pub spring: Spring,
    /// Dry friction, N m or N.
    pub friction: f64,
    /// Drive.
    pub drive: Drive,
    /// Most the drive can exert, N m or N.
    pub effort: f64,
}

impl Default for AxisLaw {
    fn default() -> Self {
        AxisLaw {
            limits: [f64::NEG_INFINITY, f64::INFINITY],
            limit_method: LimitMethod::Complementarity,
            spring: Spring::default(),
            friction: 0.0,
            drive: Drive::None,
            effort: f64::INFINITY,
        }
    }
}

impl AxisLaw {
    /// Whether nothing acts.
    pub fn is_idle(&self) -> bool {
        *self == AxisLaw::default()
    }

    /// Whether nothing but a spring, a damper and a drive that can exert anything acts.
    pub(crate) fn is_linear(&self) -> bool {
        let free = AxisLaw::default();
        self.limits == free.limits && self.friction == 0.0 && self.effort == free.effort
    }

    /// Stiffness of limits that are clamped.
    pub(crate) fn clamp(&self) -> Option<f64> {
        match self.limit_method {
            LimitMethod::Complementarity => None,
            LimitMethod::Clamp { stiffness } => Some(stiffness),
        }
    }

    /// What is wrong with it, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let [lower, upper] = self.limits;
        if lower.is_nan() || upper.is_nan() {
            return Some("a limit is not a number".into());
        }
        if lower > upper {
            return Some(format!(
                "its lower limit {lower} lies above its upper limit {upper}"
            ));
        }
        let (stiffness, damping, target) = match self.drive {
            Drive::None => (0.0, 0.0, 0.0),
            Drive::Position {
                target,
                stiffness,
                damping,
            } => (stiffness, damping, target),
            Drive::Velocity { target, damping } => (0.0, damping, target),
            Drive::Effort(effort) => (0.0, 0.0, effort),
        };
        let positive = [
            ("spring stiffness", self.spring.stiffness),
            ("spring damping", self.spring.damping),
            ("friction", self.friction),
            ("drive stiffness", stiffness),
            ("drive damping", damping),
            ("limit stiffness", self.clamp().unwrap_or(0.0)),
        ];
        if let Some((what, value)) = positive.iter().find(|(_, x)| !(*x >= 0.0 && x.is_finite())) {
            return Some(format!(
                "its {what} is {value}; it must be finite and not negative"
            ));
        }
        if !(target.is_finite() && self.spring.rest.is_finite()) {
            return Some("its drive target and its spring's rest must be finite".into());
        }
        if !(self.effort >= 0.0) {
            return Some(format!(
                "its effort is {}; it must not be negative",
                self.effort
            ));
        }
        None
    }

    /// The linear part of the law, λ = k x + d ẋ − bias: stiffness, damping, bias. A drive
    /// that is saturated contributes its effort (`saturated` is its sign) instead of gains.
    pub(crate) fn linear(&self, saturated: f64) -> [f64; 3] {
        let s = &self.spring;
        let mut law = [s.stiffness, s.damping, s.stiffness * s.rest];
        if saturated != 0.0 {
            law[2] -= saturated * self.effort;
            return law;
        }
        match self.drive {
            Drive::None => {}
            Drive::Position {
                target,
                stiffness,
                damping,
            } => {
                law[0] += stiffness;
                law[1] += damping;
                law[2] += stiffness * target;
            }
            Drive::Velocity { target, damping } => {
                law[1] += damping;
                law[2] += damping * target;
            }
            Drive::Effort(effort) => law[2] += effort.clamp(-self.effort, self.effort),
        }
        law
    }

    /// Force λ of the drive alone at a coordinate and a velocity, before its effort limits it.
    pub(crate) fn drive_force(&self, x: f64, v: f64) -> f64 {
        match self.drive {
            Drive::None | Drive::Effort(_) => 0.0,
            Drive::Position {
                target,
                stiffness,
                damping,
            } => stiffness * (x - target) + damping * v,
            Drive::Velocity { target, damping } => damping * (v - target),
        }
    }
}

/// A free coordinate of a joint and what acts along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub kind: AxisKind,
    /// What acts along it.
    pub law: AxisLaw,
}

impl AxisKind {
    /// The coordinate; angles between −π and π.
    pub fn value(self, a: &Carried, b: &Carried) -> f64 {
        match self {
            AxisKind::Shift => dot(&a.axes[2], &sub(&b.point, &a.point)),
            AxisKind::Across(k) => dot(&a.axes[k], &sub(&b.point, &a.point)),
            AxisKind::Rotation(k) => rotation::rotation(k, a, b),
            AxisKind::Swing => rotation::swing(a, b),
            AxisKind::Twist => rotation::twist(a, b),
            AxisKind::Angle => atan2(dot(&a.axes[1], &b.axes[0]), dot(&a.axes[0], &b.axes[0])),
            AxisKind::SecondAngle => {
                atan2(dot(&b.axes[1], &a.axes[2]), dot(&b.axes[2], &a.axes[2]))
            }
        }
    }

    /// Whether it is an angle about one axis, which `turn` finds.
    pub(crate) fn is_turn(self) -> bool {
        matches!(self, AxisKind::Angle | AxisKind::SecondAngle)
    }

    /// The angle of a hinge, or the second one of a universal joint, whose axes two maps carry, rad.
    #[inline(always)]
    pub(crate) fn turn(self, maps: &[M3; 2], axes: [&[V3; 3]; 2]) -> f64 {
        // The direction that turns, and the two that it turns between.
        let (one, k, other, [i, j]) = match self {
            AxisKind::SecondAngle => (0, 2, 1, [2, 1]),
            _ => (1, 0, 0, [0, 1]),
        };
        let x = mul_vec(&maps[one], &axes[one][k]);
        let along = |k: usize| dot(&mul_vec(&maps[other], &axes[other][k]), &x);
        atan2(along(j), along(i))
    }

    /// Whether it is an angle.
    pub fn is_angle(self) -> bool {
        !matches!(self, AxisKind::Shift | AxisKind::Across(_))
    }

    /// Whether it is an angle that counts whole turns.
    pub fn wraps(self) -> bool {
        matches!(
            self,
            AxisKind::Angle | AxisKind::SecondAngle | AxisKind::Twist
        )
    }

    /// The coordinate and its gradients.
    pub fn linearize(self, a: &Carried, b: &Carried) -> Row {
        let mut row = Row {
            value: self.value(a, b),
            a: Gradient::ZERO,
            b: Gradient::ZERO,
        };
        match self {
            AxisKind::Rotation(k) => return rotation::rotation_row(k, a, b),
            AxisKind::Swing => return rotation::swing_row(a, b),
            AxisKind::Twist => return rotation::twist_row(a, b),
            AxisKind::Shift | AxisKind::Across(_) => {
                let k = if let AxisKind::Across(k) = self { k } else { 2 };
                let d = sub(&b.point, &a.point);
                row.a.add_outer(&d, &a.axes_body[k]);
                row.a.add_point(-1.0, &a.axes[k], &a.point_body);
                row.b.add_point(1.0, &a.axes[k], &b.point_body);
            }
            AxisKind::Angle => {
                let (s, c) = (dot(&a.axes[1], &b.axes[0]), dot(&a.axes[0], &b.axes[0]));
                let r = 1.0 / (s * s + c * c).max(f64::MIN_POSITIVE);
                row.a.add_outer(&scale(&b.axes[0], c * r), &a.axes_body[1]);
                row.a.add_outer(&scale(&b.axes[0], -s * r), &a.axes_body[0]);
                let turned = sub(&scale(&a.axes[1], c * r), &scale(&a.axes[0], s * r));
                row.b.add_outer(&turned, &b.axes_body[0]);
            }
            AxisKind::SecondAngle => {
                let (s, c) = (dot(&b.axes[1], &a.axes[2]), dot(&b.axes[2], &a.axes[2]));
                let r = 1.0 / (s * s + c * c).max(f64::MIN_POSITIVE);
                row.b.add_outer(&scale(&a.axes[2], c * r), &b.axes_body[1]);
                row.b.add_outer(&scale(&a.axes[2], -s * r), &b.axes_body[2]);
                let turned = sub(&scale(&b.axes[1], c * r), &scale(&b.axes[2], s * r));
                row.a.add_outer(&turned, &a.axes_body[2]);
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rotation::exp;

    const KINDS: [AxisKind; 10] = [
        AxisKind::Angle,
        AxisKind::SecondAngle,
        AxisKind::Shift,
        AxisKind::Across(0),
        AxisKind::Across(1),
        AxisKind::Rotation(0),
        AxisKind::Rotation(1),
        AxisKind::Rotation(2),
        AxisKind::Swing,
        AxisKind::Twist,
    ];

    fn carried(map: &M3, place: &V3, axes: &M3) -> Carried {
        let column = |k: usize| [axes[k], axes[3 + k], axes[6 + k]];
        Carried::new(
            &[0.2, -0.3, 0.1],
            &[column(0), column(1), column(2)],
            map,
            place,
        )
    }

    #[test]
    fn every_gradient_matches_finite_differences() {
        let axes = exp::<false>(&[0.3, -0.2, 0.8]);
        let maps = [
            exp::<false>(&[0.5, 0.1, 0.2]),
            exp::<false>(&[0.4, 0.3, 0.9]),
        ];
        let places = [[0.1, 0.2, 0.3], [-0.5, 0.4, 0.6]];
        let step = 1e-6;
        for kind in KINDS {
            let both = |maps: &[M3; 2], places: &[V3; 2]| {
                [0, 1].map(|i: usize| carried(&maps[i], &places[i], &axes))
            };
            let [a, b] = both(&maps, &places);
            let row = kind.linearize(&a, &b);
            for body in 0..2 {
                let gradient = if body == 0 { row.a } else { row.b };
                for k in 0..12 {
                    let value = |delta: f64| {
                        let (mut m, mut p) = (maps, places);
                        if k < 9 {
                            m[body][k] += delta
                        } else {
                            p[body][k - 9] += delta
                        }
                        let [a, b] = both(&m, &p);
                        kind.value(&a, &b)
                    };
                    let slope = (value(step) - value(-step)) / (2.0 * step);
                    let exact = if k < 9 {
                        gradient.a[k]
                    } else {
                        gradient.t[k - 9]
                    };
                    assert!(
                        (slope - exact).abs() < 1e-8,
                        "{kind:?} body {body} entry {k}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_turn_about_the_axis_is_its_angle() {
        let turned = exp::<false>(&[0.0, 0.0, 0.7]);
        let (a, b) = (
            carried(&IDENTITY, &[0.0; 3], &IDENTITY),
            carried(&turned, &[0.0; 3], &IDENTITY),
        );
        assert!((AxisKind::Angle.value(&a, &b) - 0.7).abs() < 1e-15);
        let turned = exp::<false>(&[0.4, 0.0, 0.0]);
        let b = carried(&turned, &[0.0; 3], &IDENTITY);
        assert!((AxisKind::SecondAngle.value(&a, &b) - 0.4).abs() < 1e-15);
    }

    #[test]
    fn swing_twist_and_rotation_vector_read_a_turn_back() {
        let vector = [0.4, -0.7, 0.5];
        let read = |vector: &V3, kind: AxisKind| {
            let b = carried(&exp::<false>(vector), &[0.0; 3], &IDENTITY);
            kind.value(&carried(&IDENTITY, &[0.0; 3], &IDENTITY), &b)
        };
        for scale_by in [1e-9, 1e-5, 1.0, 3.0] {
            let vector = scale(&vector, scale_by);
            for k in 0..3 {
                let x = read(&vector, AxisKind::Rotation(k));
                assert!(
                    (x - vector[k]).abs() < 1e-14 * (1.0 + 10.0 * scale_by),
                    "{x}"
                );
            }
        }
        // A twist about z, then a swing about an axis square to z.
        let (swing, twist) = ([0.6, 0.8, 0.0], 0.9);
        let m = mul(
            &exp::<false>(&scale(&swing, 1.1)),
            &exp::<false>(&[0.0, 0.0, twist]),
        );
        let (a, b) = (
            carried(&IDENTITY, &[0.0; 3], &IDENTITY),
            carried(&m, &[0.0; 3], &IDENTITY),
        );
        assert!((AxisKind::Swing.value(&a, &b) - 1.1).abs() < 1e-14);
        assert!((AxisKind::Twist.value(&a, &b) - twist).abs() < 1e-14);
    }

    /// Where the axes are parallel the direction of swing is arbitrary, but never none.
    #[test]
    fn swing_has_a_gradient_of_length_one_everywhere() {
        for angle in [0.0, 1e-12, 1e-7, 0.3, 3.0] {
            let a = carried(&IDENTITY, &[0.0; 3], &IDENTITY);
            let b = carried(&exp::<false>(&[angle, 0.0, 0.0]), &[0.0; 3], &IDENTITY);
            let row = AxisKind::Swing.linearize(&a, &b);
            for g in [row.a, row.b] {
                let length = g.a.iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!((length - 1.0).abs() < 1e-6, "{angle}: {length}");
            }
        }
    }
}
