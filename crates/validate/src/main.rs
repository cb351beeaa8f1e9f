//! Measures what the engine promises: known motions, orders of convergence, the figures of
//! the paper, the time of a step.

mod bench;
mod cases;
mod clock;
mod convergence;
mod figures;
mod motion;
mod page;
mod row;
mod trace;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use motion::Outcome;

#[derive(Parser)]
#[command(
    name = "vincula-validate",
    about = "Known motions, figures and timings"
)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Compare with known motions and write the tables of the book
    Validate {
        /// Leave out the finest steps and write nothing
        #[arg(long)]
        quick: bool,
    },
    /// Draw figures of the paper into out/figures
    Figures {
        /// Which: a number of He et al., a name such as linear-time or net, or all
        #[arg(default_value = "all")]
        which: String,
        /// Also renew the pictures of the book
        #[arg(long)]
        book: bool,
    },
    /// Time steps and write a table under benchmarks
    Bench {
        /// Fewer repetitions and no million bodies; writes nothing
        #[arg(long)]
        quick: bool,
        /// Time scenes of the gallery instead, against the times we want
        #[arg(long)]
        scenes: bool,
        /// Time what is wanted as a ratio instead: hinges against balls, two threads against one
        #[arg(long, conflicts_with_all = ["scenes", "quick"])]
        ratios: bool,
        /// Run scenes of contact instead, some minutes: times, overlaps, residuals and energies
        #[arg(long, conflicts_with_all = ["scenes", "ratios"])]
        contacts: bool,
        /// With --contacts: only this scene; writes nothing
        #[arg(long, value_name = "SCENE", requires = "contacts")]
        only: Option<String>,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Validate { quick } => validate(quick),
        Chore::Figures { which, book } => figures::draw(&workspace_root(), &which, book),
        Chore::Bench {
            quick,
            scenes: true,
            ..
        } => bench::gallery::run(&workspace_root(), quick),
        Chore::Bench { ratios: true, .. } => bench::ratios::run(),
        Chore::Bench {
            quick,
            contacts: true,
            only,
            ..
        } => bench::contacts::run(&workspace_root(), quick, only.as_deref()),
        Chore::Bench { quick, .. } => bench::run(&workspace_root(), quick),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("vincula-validate: {error}");
            ExitCode::from(2)
        }
    }
}

/// Known motions, then orders; true if everything holds.
fn validate(quick: bool) -> Outcome<bool> {
    let rows = cases::measure_all()?;
    print!("{}", row::text_table(&rows));
    let studies = convergence::study_all(quick)?;
    print!("\n{}", convergence::text_table(&studies));
    if !quick {
        let folder = workspace_root().join("docs/src/validation");
        page::write_table(&folder, &rows)?;
        page::write_convergence(&folder, &studies)?;
        page::write_pictures(&workspace_root().join("out/figures"), &studies)?;
    }
    let failures = rows.iter().filter(|row| !row.passes()).count()
        + studies.iter().filter(|study| !study.passes()).count();
    let total = rows.len() + studies.len();
    println!("\n{} of {total} rows hold", total - failures);
    Ok(failures == 0)
}

/// The folder above `crates`.
fn workspace_root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package).to_path_buf()
}
