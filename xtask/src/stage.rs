//! Stages of a chore: run in order, timed, all of them.

use std::time::Instant;

type Work<'a> = Box<dyn FnOnce() -> Result<(), String> + 'a>;

/// One named part of a chore.
pub struct Stage<'a> {
    name: &'static str,
    work: Work<'a>,
}

impl<'a> Stage<'a> {
    /// A stage that is done when `work` returns.
    pub fn new(name: &'static str, work: impl FnOnce() -> Result<(), String> + 'a) -> Stage<'a> {
        Stage {
            name,
            work: Box::new(work),
        }
    }
}

/// Runs every stage, prints how long each took, and fails if any failed.
pub fn run_all(stages: Vec<Stage>) -> Result<(), String> {
    let mut lines = Vec::new();
    let mut failures = Vec::new();
    for stage in stages {
        eprintln!("\n── {}", stage.name);
        let start = Instant::now();
        let outcome = (stage.work)();
        let seconds = start.elapsed().as_secs_f64();
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        lines.push(format!("  {:<22}{seconds:>8.1} s  {word}", stage.name));
        if let Err(reason) = outcome {
            eprintln!("{reason}");
            failures.push(stage.name);
        }
    }
    eprintln!("\n{}", lines.join("\n"));
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("failed: {}", failures.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn later_stages_run_after_a_failure() {
        let ran = Cell::new(false);
        let outcome = run_all(vec![
            Stage::new("first", || Err("broken".to_owned())),
            Stage::new("second", || {
                ran.set(true);
                Ok(())
            }),
        ]);
        assert!(ran.get());
        assert_eq!(outcome.unwrap_err(), "failed: first");
    }
}
