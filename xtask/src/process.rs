//! Running other programs, with their output going straight to the terminal.

use std::path::Path;
use std::process::{Command, Stdio};

/// A cargo command at the root, with the cargo that runs this program.
pub fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(arguments);
    command
}

/// Runs to the end; a failure says which command it was.
pub fn run(command: &mut Command) -> Result<(), String> {
    let shown = shown(command);
    let status = command
        .status()
        .map_err(|error| format!("`{shown}` could not be started: {error}"))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("`{shown}` failed ({status})"))
}

/// Whether the command runs and succeeds; its output is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let mut words = vec![name.to_string_lossy().into_owned()];
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command() {
        let message = run(&mut Command::new("/no/such/program")).unwrap_err();
        assert!(message.starts_with("`program` could not be started"));
        assert!(!succeeds(&mut Command::new("/no/such/program")));
    }

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "--doc"]);
        assert_eq!(shown(&command), "cargo test --doc");
    }
}
