//! A progress bar on the terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const EVERY: Duration = Duration::from_millis(100);

/// Simulated time, steps a second and real-time factor while a scene runs. Invisible when
/// standard error is not a terminal.
pub struct Progress {
    bar: ProgressBar,
    begin: Instant,
    shown: Instant,
    h: f64,
    steps: usize,
}

impl Progress {
    /// A bar for `steps` steps of `h` seconds, or nothing at all when `quiet`.
    pub fn new(steps: usize, h: f64, quiet: bool) -> Progress {
        let target = if quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}") {
            bar.set_style(style);
        }
        let begin = Instant::now();
        Progress {
            bar,
            begin,
            shown: begin,
            h,
            steps,
        }
    }

    /// Tells how many steps are done; cheap enough for every few steps.
    pub fn show(&mut self, done: usize) {
        let now = Instant::now();
        if self.bar.is_hidden() || now - self.shown < EVERY {
            return;
        }
        self.shown = now;
        let rate = done as f64 / (now - self.begin).as_secs_f64();
        self.bar.set_position(done as u64);
        self.bar.set_message(format!(
            "t = {:.2} s   {}   {:.3} × real time   {} left",
            done as f64 * self.h,
            pace(rate),
            rate * self.h,
            remaining(self.steps.saturating_sub(done) as f64 / rate)
        ));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Steps a second, or seconds a step where these are long.
fn pace(rate: f64) -> String {
    match rate >= 2.0 {
        true => format!("{rate:.0} steps/s"),
        false => format!("{:.1} s/step", 1.0 / rate),
    }
}

/// A time that is left, s, in words.
fn remaining(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "unknown".to_owned(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_and_fast_runs_are_told_in_units_that_fit() {
        assert_eq!(
            (pace(250.0), pace(0.4)),
            ("250 steps/s".into(), "2.5 s/step".into())
        );
        let told = [12.0, 600.0, 7200.0, f64::INFINITY].map(remaining);
        assert_eq!(told, ["12 s", "10 min", "2.0 h", "unknown"]);
    }
}
