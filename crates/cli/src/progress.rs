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
            "t = {:.2} s   {rate:.0} steps/s   {:.3} × real time",
            done as f64 * self.h,
            rate * self.h
        ));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
