//! Chores that run the engine: they are the work of the `vincula-validate` program.

use std::path::Path;

use crate::process::{cargo, run};

/// Where the program lives.
const PACKAGE_FOLDER: &str = "crates/validate";

/// `cargo xtask validate [--quick]`.
pub fn validate(root: &Path, arguments: &[String]) -> Result<(), String> {
    pass_on(root, "validate", arguments)
}

/// `cargo xtask bench`.
pub fn bench(root: &Path, arguments: &[String]) -> Result<(), String> {
    pass_on(root, "bench", arguments)
}

/// `cargo xtask peers`. Other engines are a workspace of their own, built only here.
pub fn peers(root: &Path, arguments: &[String]) -> Result<(), String> {
    let manifest = "peers/Cargo.toml";
    let target = "--target-dir=target/peers";
    let mut command = cargo(
        root,
        &[
            "run",
            "--release",
            "--manifest-path",
            manifest,
            target,
            "--",
        ],
    );
    run(command.args(arguments))
}

/// `cargo xtask figures`.
pub fn figures(root: &Path, arguments: &[String]) -> Result<(), String> {
    pass_on(root, "figures", arguments)
}

fn pass_on(root: &Path, chore: &str, arguments: &[String]) -> Result<(), String> {
    if !root.join(PACKAGE_FOLDER).join("Cargo.toml").exists() {
        return Err(format!(
            "`{chore}` is done by the package vincula-validate, and this tree has no {PACKAGE_FOLDER}"
        ));
    }
    let mut command = cargo(root, &["run", "--release", "-p", "vincula-validate", "--"]);
    run(command.arg(chore).args(arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_package_is_named() {
        let message = bench(Path::new("/no/such/workspace"), &[]).unwrap_err();
        assert!(message.contains("vincula-validate") && message.contains("`bench`"));
    }
}
