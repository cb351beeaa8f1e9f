//! The built program, called as a user calls it.

mod check;
mod compare;
mod errors;
mod files;
mod listing;
mod run;

use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs the program in an empty directory of its own.
fn vincula(arguments: &[&str]) -> Answer {
    vincula_in(&scratch(), arguments)
}

fn vincula_in(directory: &PathBuf, arguments: &[&str]) -> Answer {
    let output = Command::new(env!("CARGO_BIN_EXE_vincula"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the program starts");
    Answer::new(output)
}

/// A new empty directory.
fn scratch() -> PathBuf {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static SERIAL: AtomicUsize = AtomicUsize::new(0);
    let name = format!(
        "program-{}-{}",
        std::process::id(),
        SERIAL.fetch_add(1, Ordering::Relaxed)
    );
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the test can write");
    path
}

/// Names of everything in a directory, sorted.
fn listing_of(directory: &PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("the directory exists");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Answer {
    fn new(output: Output) -> Answer {
        Answer {
            code: output.status.code().expect("an exit code"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).expect("JSON on standard output")
    }
}
