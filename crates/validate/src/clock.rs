//! A stopwatch that stands still while other programs have the processor.

use std::time::Instant;
use std::{fs, thread};

/// Measures processor time of the calling thread where the system tells it (Linux), and time on
/// the wall elsewhere.
pub struct Stopwatch {
    wall: Instant,
    processor: Option<u64>,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Stopwatch {
        Stopwatch {
            processor: processor_time(),
            wall: Instant::now(),
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        let wall = self.wall.elapsed().as_secs_f64();
        match (self.processor, processor_time()) {
            (Some(start), Some(end)) => (1e-9 * (end - start) as f64).min(wall),
            _ => wall,
        }
    }
}

/// Nanoseconds that this thread has run. The count is brought up to date when a thread offers
/// the processor to others.
fn processor_time() -> Option<u64> {
    thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn sleep_does_not_count_where_processor_time_is_known() {
        let watch = Stopwatch::start();
        thread::sleep(Duration::from_millis(60));
        if watch.processor.is_some() {
            assert!(watch.seconds() < 0.03);
        } else {
            assert!(watch.seconds() >= 0.06);
        }
    }

    #[test]
    fn work_counts() {
        let (watch, start) = (Stopwatch::start(), Instant::now());
        let mut x = 1.0f64;
        while start.elapsed() < Duration::from_millis(40) {
            x = (x + 1.0).sqrt();
        }
        assert!(x > 1.0 && watch.seconds() > 0.002);
    }
}
