//! `cargo xtask test`: everything that must hold before a change goes in.
//!
//! One profile serves all: tests are built once, and clippy and rustdoc only need
//! metadata, so nothing heavy is compiled twice.

use std::path::Path;

use crate::process::{cargo, run as run_command, succeeds};
use crate::stage::{Stage, run_all};
use crate::{expect_no_arguments, python, tidy};

/// Runs the chore.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    expect_no_arguments("test", arguments)?;
    let python = python::interpreter(root);
    let mut stages = tidy::stages(root);
    stages.push(Stage::new("tests", || run_tests(root, python.as_deref())));
    stages.push(Stage::new("doc tests", || {
        run_command(&mut cargo(root, &["test", "--workspace", "--doc"]))
    }));
    run_all(stages)
}

/// Unit and integration tests, by nextest where it is installed.
fn run_tests(root: &Path, python: Option<&Path>) -> Result<(), String> {
    let mut command = if succeeds(&mut cargo(root, &["nextest", "--version"])) {
        cargo(root, &["nextest", "run", "--workspace"])
    } else {
        cargo(root, &["test", "--workspace", "--all-targets"])
    };
    if let Some(python) = python {
        command.env("VINCULA_PYTHON", python);
    }
    run_command(&mut command)
}
