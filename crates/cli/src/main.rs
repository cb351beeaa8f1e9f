//! The `vincula` program: parse arguments, call the libraries, print.
//!
//! Exit codes: 0 done, 1 the simulation failed or the joints conflict, 2 the request cannot
//! be met, 130 a run was interrupted.

mod animation;
mod args;
mod check;
mod classic;
mod commands;
mod compare;
mod engine;
mod fault;
mod interrupt;
mod output;
mod plots;
mod progress;
mod recording;
mod report;
mod rigid;
mod simulate;
mod single;
mod stopwatch;
mod table;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use fault::Fault;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return args::explain(&error),
    };
    match dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {fault}");
            fault.exit_code()
        }
    }
}

fn dispatch(cli: Cli) -> Result<(), Fault> {
    match cli.command.unwrap_or_else(args::main_job) {
        Command::Run(request) => commands::run(&request),
        Command::Gallery { scene, json } => commands::gallery(scene.as_deref(), json),
        Command::Plan {
            scene,
            settings,
            solver,
            json,
        } => commands::plan(&scene, &settings, solver, json),
        Command::Check(request) => check::check(&request),
        Command::Compare(request) => compare::compare(&request),
    }
}
