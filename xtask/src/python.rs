//! A Python with NumPy for the tests that open our files with it.
//!
//! It lives in `venv` under the target folder and is made once. Without Python or without a
//! network the tests that need it say that they were skipped; nothing else depends on it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::succeeds;

/// NumPy 2.5 drops the oldest Python that is supported here.
const NUMPY: &str = "numpy<2.5";

/// The interpreter to use: the one of `VINCULA_PYTHON`, or that of the environment made here.
pub fn interpreter(root: &Path) -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("VINCULA_PYTHON") {
        return Some(given.into());
    }
    let python = target_folder(root).join("venv/bin/python");
    if has_numpy(&python) {
        return Some(python);
    }
    match create(root, &python) {
        Ok(()) => Some(python),
        Err(reason) => {
            eprintln!("xtask: no Python with NumPy ({reason}); tests that need it are skipped");
            None
        }
    }
}

fn create(root: &Path, python: &Path) -> Result<(), String> {
    let folder = target_folder(root).join("venv");
    eprintln!("xtask: setting up {}", folder.display());
    let mut venv = Command::new("python3");
    if !succeeds(venv.args(["-m", "venv"]).arg(&folder)) {
        return Err("`python3 -m venv` failed; is Python 3 with venv installed?".to_owned());
    }
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--timeout", "20", NUMPY]);
    if !succeeds(&mut install) {
        return Err(format!(
            "`pip install '{NUMPY}'` failed; is there a network?"
        ));
    }
    if has_numpy(python) {
        return Ok(());
    }
    Err("NumPy was installed but cannot be imported".to_owned())
}

fn has_numpy(python: &Path) -> bool {
    python.exists() && succeeds(Command::new(python).args(["-c", "import numpy"]))
}

fn target_folder(root: &Path) -> PathBuf {
    let given = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root.join(given.unwrap_or_else(|| "target".into()))
}
