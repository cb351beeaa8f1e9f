//! How a surface rubs, bounces and yields, and what two of them do together.

/// Properties of a surface. The default is dry, hard and does not bounce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Coefficient of friction μ.
    pub friction: f64,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// Lever arm of rolling friction, m.
    pub rolling: f64,
    /// Lever arm of torsional friction about the normal, m.
    pub torsional: f64,
    /// Displacement of a touching point per force on it, along the normal and, while it sticks, across, m/N.
    pub compliance: f64,
}

impl Default for Surface {
    fn default() -> Self {
        Surface {
            friction: 0.5,
            restitution: 0.0,
            rolling: 0.0,
            torsional: 0.0,
            compliance: 0.0,
        }
    }
}

impl Surface {
    /// The default with another coefficient of friction.
    pub fn with_friction(friction: f64) -> Self {
        Surface {
            friction,
            ..Surface::default()
        }
    }

    /// The same with a coefficient of restitution, 0 to 1.
    pub fn bouncing(self, restitution: f64) -> Self {
        Surface {
            restitution,
            ..self
        }
    }

    /// What two surfaces do together: friction is the geometric mean, so that one slippery
    /// side is enough; restitution and lever arms are the larger ones; compliances add, as of
    /// springs in series.
    pub fn combined(&self, other: &Surface) -> Surface {
        Surface {
            friction: (self.friction * other.friction).sqrt(),
            restitution: self.restitution.max(other.restitution),
            rolling: self.rolling.max(other.rolling),
            torsional: self.torsional.max(other.torsional),
            compliance: self.compliance + other.compliance,
        }
    }

    /// The first number that is impossible: its name, its value and what is asked of it.
    pub(crate) fn fault(&self) -> Option<(&'static str, f64, &'static str)> {
        let not_negative = "it must be finite and not negative";
        let numbers = [
            ("friction", self.friction),
            ("rolling friction", self.rolling),
            ("torsional friction", self.torsional),
            ("compliance", self.compliance),
        ];
        for (what, value) in numbers {
            if !(value >= 0.0 && value.is_finite()) {
                return Some((what, value, not_negative));
            }
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return Some(("restitution", self.restitution, "it must lie in 0 to 1"));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combining_is_symmetric_and_keeps_equal_surfaces() {
        let a = Surface {
            friction: 0.9,
            restitution: 0.2,
            rolling: 0.01,
            torsional: 0.0,
            compliance: 1e-6,
        };
        let b = Surface::with_friction(0.4).bouncing(0.7);
        assert_eq!(a.combined(&b), b.combined(&a));
        assert!((a.combined(&b).friction - 0.6).abs() < 1e-15);
        assert_eq!(a.combined(&b).restitution, 0.7);
        assert_eq!(a.combined(&a).compliance, 2e-6);
        let frictionless = Surface::with_friction(0.0);
        assert_eq!(a.combined(&frictionless).friction, 0.0);
    }

    #[test]
    fn impossible_numbers_are_named() {
        let fault = |surface: Surface| surface.fault().map(|(what, ..)| what);
        assert_eq!(fault(Surface::default()), None);
        assert_eq!(fault(Surface::with_friction(-0.1)), Some("friction"));
        assert_eq!(fault(Surface::with_friction(f64::NAN)), Some("friction"));
        assert_eq!(fault(Surface::default().bouncing(1.1)), Some("restitution"));
    }
}
