//! The motion of the air that drag acts against.

use glam::DVec3;

use crate::model::ModelError;

/// A wind field: a mean velocity and one travelling gust.
///
/// u(x, t) = mean + gust · sin(k·x − ω t). Both zero by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wind {
    /// Mean velocity, m/s.
    pub mean: DVec3,
    /// Amplitude of the gust, m/s.
    pub gust: DVec3,
    /// Wave vector k of the gust, rad/m.
    pub wave: DVec3,
    /// Frequency ω of the gust, rad/s.
    pub frequency: f64,
}

impl Wind {
    /// A steady wind, m/s.
    pub fn steady(mean: DVec3) -> Wind {
        Wind {
            mean,
            ..Wind::default()
        }
    }

    /// Velocity of the air at a place and time, m/s.
    pub fn velocity(&self, place: DVec3, time: f64) -> DVec3 {
        if self.gust == DVec3::ZERO {
            return self.mean;
        }
        self.mean + self.gust * (self.wave.dot(place) - self.frequency * time).sin()
    }

    pub(crate) fn check(&self) -> Result<(), ModelError> {
        let finite = self.mean.is_finite()
            && self.gust.is_finite()
            && self.wave.is_finite()
            && self.frequency.is_finite();
        if finite {
            return Ok(());
        }
        Err(ModelError::World {
            what: "wind",
            reason: "every number must be finite".into(),
        })
    }
}
