//! The time of a step.
use crate::motion::Outcome;
use std::path::Path;
pub fn run(_root: &Path, _quick: bool) -> Outcome<bool> {
    Ok(true)
}
