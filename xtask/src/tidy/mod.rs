//! `cargo xtask tidy`: formatting, lints and documentation by the usual tools, and our own
//! rules by the checks below. Each offence is reported as `file:line`.

mod book;
mod files;
mod layers;
mod markdown;
mod markers;
mod paths;
mod source;

use std::fmt;
use std::path::Path;

use crate::docs::build_api;
use crate::expect_no_arguments;
use crate::process::{cargo, run as run_command};
use crate::stage::{Stage, run_all};
use files::Tree;

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offence {
    file: String,
    line: usize,
    what: String,
}

impl Offence {
    /// In a file (path from the root), at a line counted from 1.
    fn new(file: &str, line: usize, what: impl Into<String>) -> Offence {
        Offence {
            file: file.to_owned(),
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// Runs the chore.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    expect_no_arguments("tidy", arguments)?;
    run_all(stages(root))
}

/// The quick ones first.
pub fn stages(root: &Path) -> Vec<Stage<'_>> {
    let clippy = "clippy --workspace --all-targets -- -D warnings";
    vec![
        Stage::new("formatting", || {
            run_command(&mut cargo(root, &["fmt", "--all", "--check"]))
        }),
        Stage::new("own rules", || check_own_rules(root)),
        Stage::new("clippy", move || {
            let words: Vec<_> = clippy.split(' ').collect();
            run_command(&mut cargo(root, &words))
        }),
        Stage::new("rustdoc", || build_api(root)),
    ]
}

/// Dependency directions, paths and links in the docs, the book's table of contents, markers.
pub fn check_own_rules(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let mut offences = layers::check(&tree);
    offences.extend(paths::check(&tree));
    offences.extend(book::check(&tree));
    offences.extend(markers::check(&tree));
    offences.sort();
    if offences.is_empty() {
        return Ok(());
    }
    let lines: Vec<_> = offences.iter().map(Offence::to_string).collect();
    Err(lines.join("\n"))
}
