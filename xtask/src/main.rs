//! Chores of the workspace, in plain Rust: `cargo xtask CHORE`.
//!
//! A chore is a list of named stages. Every stage runs even if an earlier one failed, so
//! that one run tells everything that is wrong; the chore fails if any stage did.

mod docs;
mod numbers;
mod process;
mod python;
mod stage;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A chore: its name, what it does, and how to run it with the remaining arguments.
struct Chore {
    name: &'static str,
    purpose: &'static str,
    run: fn(&Path, &[String]) -> Result<(), String>,
}

const CHORES: [Chore; 7] = [
    Chore {
        name: "test",
        purpose: "set up what the tests need, then tidy and every test",
        run: test::run,
    },
    Chore {
        name: "tidy",
        purpose: "formatting, clippy, rustdoc, dependency directions, paths in the docs, markers",
        run: tidy::run,
    },
    Chore {
        name: "validate",
        purpose: "compare the engine with known motions and write the table [--quick]",
        run: numbers::validate,
    },
    Chore {
        name: "bench",
        purpose: "measure the time of steps [--quick | --scenes | --ratios | --contacts]",
        run: numbers::bench,
    },
    Chore {
        name: "peers",
        purpose: "run the pile beside Rapier, step by step [SOLIDS [STEPS]]",
        run: numbers::peers,
    },
    Chore {
        name: "figures",
        purpose: "draw figures of the papers [a number such as 11, a name such as net, or all] [--book]",
        run: numbers::figures,
    },
    Chore {
        name: "docs",
        purpose: "build the API documentation and, with mdbook installed, the book",
        run: docs::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), String> {
    let name = arguments.first().map_or("help", String::as_str);
    if ["help", "--help", "-h"].contains(&name) {
        print!("{}", help());
        return Ok(());
    }
    let chore = CHORES
        .iter()
        .find(|chore| chore.name == name)
        .ok_or_else(|| format!("there is no chore '{name}'; `cargo xtask help` lists them"))?;
    (chore.run)(&workspace_root(), &arguments[1..])
}

fn help() -> String {
    let mut text = String::from("Chores of the workspace.\n\nUsage: cargo xtask CHORE\n\n");
    for chore in &CHORES {
        text.push_str(&format!("  {:<10}{}\n", chore.name, chore.purpose));
    }
    text.push_str(&format!("  {:<10}{}\n", "help", "this list"));
    text
}

/// The folder above the one this package lives in.
fn workspace_root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// Refuses arguments where a chore takes none.
fn expect_no_arguments(chore: &str, arguments: &[String]) -> Result<(), String> {
    match arguments.first() {
        None => Ok(()),
        Some(first) => Err(format!("`{chore}` takes no arguments, but got '{first}'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_chore() {
        let text = help();
        assert!(CHORES.iter().all(|chore| text.contains(chore.name)));
    }

    #[test]
    fn an_unknown_chore_is_refused_by_name() {
        let message = dispatch(&["polish".to_owned()]).unwrap_err();
        assert!(message.contains("'polish'"));
    }

    #[test]
    fn arguments_are_refused_where_none_are_taken() {
        assert!(expect_no_arguments("tidy", &[]).is_ok());
        assert!(expect_no_arguments("tidy", &["--fast".to_owned()]).is_err());
    }
}
