//! `cargo xtask docs`: the API documentation and the book.

use std::path::Path;
use std::process::Command;

use crate::process::{cargo, run as run_command, succeeds};
use crate::stage::{Stage, run_all};
use crate::{expect_no_arguments, tidy};

/// Runs the chore.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    expect_no_arguments("docs", arguments)?;
    run_all(vec![
        Stage::new("rustdoc", || build_api(root)),
        Stage::new("book checks", || tidy::check_own_rules(root)),
        Stage::new("book", || build_book(root)),
    ])
}

/// Rustdoc of every crate, where a warning is an error.
pub fn build_api(root: &Path) -> Result<(), String> {
    let mut command = cargo(root, &["doc", "--workspace", "--no-deps"]);
    run_command(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn build_book(root: &Path) -> Result<(), String> {
    if !succeeds(Command::new("mdbook").arg("--version")) {
        eprintln!("mdbook is not installed: the book reads as it is, from docs/src/SUMMARY.md on;");
        eprintln!("`cargo install mdbook` takes some minutes and then builds it as pages");
        return Ok(());
    }
    run_command(
        Command::new("mdbook")
            .current_dir(root)
            .args(["build", "docs"]),
    )
}
