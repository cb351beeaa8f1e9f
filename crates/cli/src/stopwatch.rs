//! How long a step takes: median and 95th percentile.
//!
//! Reading the clock takes tens of nanoseconds and the observers between two steps cool
//! the caches. Steps of a few microseconds are therefore timed once more, in batches and
//! with nobody watching.

use std::time::{Duration, Instant};

use serde::Serialize;
use vincula_scenes::Scene;

use crate::engine::Engine;

/// Steps shorter than this are timed in batches of about this length.
const BATCH: Duration = Duration::from_micros(50);
/// Most time spent on timing once more.
const BUDGET: Duration = Duration::from_millis(200);
/// Most single times kept.
const KEPT: usize = 4_000_000;

/// Duration of a step, ms.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StepTime {
    /// Half of the steps take less.
    pub median: f64,
    /// All but one in twenty take less.
    pub p95: f64,
}

/// Collects the durations of steps.
#[derive(Default)]
pub struct Stopwatch {
    seconds: Vec<f32>,
}

impl Stopwatch {
    /// Adds one step.
    pub fn add(&mut self, duration: Duration) {
        if self.seconds.len() < KEPT {
            self.seconds.push(duration.as_secs_f32());
        }
    }

    /// The durations of the steps of a run that is over; the engine is used up.
    pub fn finish(mut self, engine: &mut Engine, scene: &Scene) -> StepTime {
        let rough = percentiles(&mut self.seconds);
        if self.seconds.is_empty() || rough.median * 1e-3 > BATCH.as_secs_f64() {
            return rough;
        }
        let batch = (BATCH.as_secs_f64() / (rough.median * 1e-3))
            .clamp(1.0, 1e4)
            .ceil() as usize;
        let mut seconds = Vec::new();
        let begin = Instant::now();
        // A batch never runs past the steps that are known to succeed.
        let batch = batch.min(self.seconds.len());
        let rounds = (self.seconds.len() / batch).max(1);
        while begin.elapsed() < BUDGET && seconds.len() < 4000 {
            engine.reset(scene);
            for _ in 0..rounds {
                let start = Instant::now();
                for _ in 0..batch {
                    if engine.advance(scene).is_err() {
                        return rough;
                    }
                }
                seconds.push(start.elapsed().as_secs_f32() / batch as f32);
                if begin.elapsed() > BUDGET {
                    break;
                }
            }
        }
        percentiles(&mut seconds)
    }
}

fn percentiles(seconds: &mut [f32]) -> StepTime {
    seconds.sort_by(f32::total_cmp);
    let at = |share: f64| match seconds.len() {
        0 => f64::NAN,
        count => f64::from(seconds[((count - 1) as f64 * share).round() as usize]) * 1e3,
    };
    StepTime {
        median: at(0.5),
        p95: at(0.95),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_ramp() {
        let mut ramp: Vec<f32> = (0..=100).rev().map(|i| i as f32).collect();
        let time = percentiles(&mut ramp);
        assert_eq!((time.median, time.p95), (50e3, 95e3));
        assert!(percentiles(&mut []).median.is_nan());
    }
}
