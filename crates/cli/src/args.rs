//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use vincula::contact::ContactSolver;
use vincula::dual::SolverChoice;
use vincula::integrate::Integrator;

const EXAMPLES: &str = "\
Examples:
  vincula                                  the pendulum, with plots and an animation in out/pendulum
  vincula gallery                          what there is to see
  vincula gallery heavy-top                the parameters of one scene
  vincula run heavy-top --out out/top      run it; write trajectory, plots and animation
  vincula run pendulum --set h=0.001 --set angle=170
  vincula run t-handle --integrator rattle --json
  vincula run pendulum --method rigid-rk4 --out out/rk4 --csv
  vincula plan chain --set links=1000      which solver serves its joints, and why
  vincula compare six-link-chain           every method side by side
  vincula check peaucellier                which joints are redundant, and which do not hold";

/// Multibody dynamics with almost rigid affine bodies and exact joints.
///
/// Without a command it runs the pendulum and writes plots and an animation to
/// out/pendulum.
#[derive(Debug, Parser)]
#[command(name = "vincula", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scene of the gallery
    Run(RunArgs),
    /// List the scenes, or the parameters of one
    Gallery {
        /// Show the parameters of this scene
        scene: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which solver serves the joints of a scene, and why
    Plan {
        /// Name of a scene
        scene: String,
        /// Set a parameter of the scene; may be repeated
        #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
        settings: Vec<(String, String)>,
        /// automatic (default), cholesky, dense or gauss-seidel
        #[arg(
            long,
            value_name = "NAME",
            default_value = "automatic",
            hide_default_value = true
        )]
        solver: SolverChoice,
        /// Print one JSON object and nothing else
        #[arg(long)]
        json: bool,
    },
    /// Name redundant joints, reactions that are not unique, and joints that do not hold
    ///
    /// Looks at the initial pose, taking the bodies as rigid. Exit code 1 if a joint does
    /// not hold there.
    Check(CheckArgs),
    /// Run a scene by every method that can, and compare them
    Compare(CompareArgs),
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  vincula compare six-link-chain --methods all
  vincula compare pendulum --methods tempered,rigid-rk4,cline-pai --out out/compare
  vincula compare four-bar --set h=0.005 --json

What --out writes: compare.json, compare.svg, compare.png";

/// What to compare.
#[derive(Clone, Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// Name of a scene
    pub scene: String,
    /// Methods of --method, or integrators of affine bodies, separated by commas; or all
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "all"
    )]
    pub methods: Vec<String>,
    /// Set a parameter of the scene; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Number of steps, instead of the scene's duration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// Most time to spend on one method, s
    #[arg(long, value_name = "S", default_value_t = 60.0)]
    pub seconds: f64,
    /// Seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Write plots and numbers to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

/// What to check.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Name of a scene
    pub scene: String,
    /// Set a parameter of the scene; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  vincula run pendulum
  vincula run pendulum --set h=0.005 --set angle=120 --out out/pendulum
  vincula run spinning-box --set spin=100 --integrator rattle --json
  vincula run heavy-top --method rigid-implicit --out out/top --csv

What --out writes:
  trajectory.npz   numpy.load opens it: time, positions, quaternions (w, x, y, z), …
  trajectory.csv   the same as a table, with --csv
  summary.json     what --json prints
  *.svg, *.png     energy, momentum and the scene's own curves, reference dashed
  animation.glb    for Blender and every glTF viewer";

/// How to run a scene.
#[derive(Clone, Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// Name of a scene; `vincula gallery` lists them
    pub scene: String,
    /// Set a parameter of the scene; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    pub settings: Vec<(String, String)>,
    /// Number of steps, instead of the scene's duration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// tempered (default), rattle, linear-euler, implicit-euler or bdf2
    #[arg(long, value_name = "NAME")]
    pub integrator: Option<Integrator>,
    /// automatic (default), cholesky, dense or gauss-seidel: what solves for the joint forces
    #[arg(long, value_name = "NAME")]
    pub solver: Option<SolverChoice>,
    /// Solver of the contacts: automatic, anticipation, splitting, gauss-seidel or penalty
    #[arg(long, value_name = "NAME", default_value_t = ContactSolver::Automatic)]
    pub contact: ContactSolver,
    /// Go on with every step until Coulomb's law is violated by no more than this part of the largest
    /// contact force, such as 1e-6, which up to 300 contacts, or 64 with joints, or 2,000 of bodies that stand, are solved to anyway; without
    /// it other steps stop at what is mostly enough, and heaps keep up to a few per cent. Heaps of hundreds take ten times as long, larger ones hundreds of times; the summary
    /// says what was reached
    #[arg(long, value_name = "PART", value_parser = accuracy)]
    pub contact_accuracy: Option<f64>,
    /// Let loose bodies that lie still fall asleep until something touches them
    #[arg(long)]
    pub sleep: bool,
    /// The mechanics of a body
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Method::Affine)]
    pub method: Method,
    /// Threads to use at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Seed of random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Write trajectory, summary, plots and animation to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the trajectory as a table (with --out)
    #[arg(long, requires = "out")]
    pub csv: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

/// The mechanics that move the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Affine bodies with exact joints: every scene
    Affine,
    /// Rigid body, symplectic Euler: one body, free or on a pivot
    RigidSymplectic,
    /// Rigid bodies, implicit Euler, Newton on the joints
    RigidImplicit,
    /// Rigid body, Runge–Kutta of fourth order: one body, free or on a pivot
    RigidRk4,
    /// Co-rotated affine body, one Newton step (He et al., Alg. 1): one body, free
    Corotated,
    /// The same without polar decomposition (Eq. 17): one body, free
    CorotatedNormalised,
    /// Affine body with the orthogonality energy (Eq. 3): one body, free
    VanillaAbd,
    /// Sparse multipliers in linear time, loops and limits by anticipation (Baraff)
    Baraff,
    /// Impulses from predicted joints, contacts through their factors (Tomcin et al.)
    Tomcin,
    /// Time stepping with post-stabilization, contacts as a complementarity problem
    ClinePai,
    /// The same with Baumgarte's stabilization, 200 1/s
    ClinePaiBaumgarte,
    /// The same without stabilization
    ClinePaiPlain,
    /// Joints as springs of 1e6 N/m, implicit Euler
    Penalty,
}

impl Method {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Affine => "affine",
            Method::RigidSymplectic => "rigid-symplectic",
            Method::RigidImplicit => "rigid-implicit",
            Method::RigidRk4 => "rigid-rk4",
            Method::Corotated => "corotated",
            Method::CorotatedNormalised => "corotated-normalised",
            Method::VanillaAbd => "vanilla-abd",
            Method::Baraff => "baraff",
            Method::Tomcin => "tomcin",
            Method::ClinePai => "cline-pai",
            Method::ClinePaiBaumgarte => "cline-pai-baumgarte",
            Method::ClinePaiPlain => "cline-pai-plain",
            Method::Penalty => "penalty",
        }
    }
}

/// What happens without a command.
pub fn main_job() -> Command {
    Command::Run(RunArgs {
        scene: "pendulum".to_owned(),
        settings: Vec::new(),
        steps: None,
        integrator: None,
        solver: None,
        contact: ContactSolver::Automatic,
        contact_accuracy: None,
        sleep: false,
        method: Method::Affine,
        threads: None,
        seed: 0,
        out: Some(PathBuf::from("out/pendulum")),
        csv: false,
        json: false,
        quiet: false,
    })
}

/// A part of the largest force.
fn accuracy(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(part) if part > 0.0 && part < 1.0 => Ok(part),
        _ => Err("write a number between 0 and 1, such as 1e-6".to_owned()),
    }
}

/// Splits `key=value`.
fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it as KEY=VALUE, such as h=0.005".to_owned()),
    }
}

/// Prints help as it is, and anything else as one line.
pub fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.to_string();
    let told = text.lines().take_while(|line| !line.starts_with("Usage:"));
    let parts: Vec<&str> = told
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let parts: Vec<&str> = parts
        .into_iter()
        .filter(|part| !part.starts_with("For more information"))
        .collect();
    eprintln!("{}; try --help", parts.join("; ").replace(":; ", ": "));
    ExitCode::from(2)
}
