//! `bench --ratios`: what is wanted as a ratio, of steps by turns, so that a machine which is slow for
//! a while is slow for both.
//!
//! Cores may share a cache, or belong to somebody else for a while. So where threads are compared, two
//! pieces of work that have nothing to do with each other take a turn too: one after the other, and on two
//! threads. No step can gain more than these do.

use std::time::Instant;

use vincula::prelude::*;
use vincula_scenes::Scene;

use super::median;
use super::yardstick::Yardstick;
use crate::motion::Outcome;
use crate::row::align;

type Parameters = &'static [(&'static str, &'static str)];

/// Bodies that are stepped in a turn at least.
const TURN: usize = 30_000;

/// One side of a comparison.
struct Side {
    scene: &'static str,
    parameters: Parameters,
    threads: usize,
}

/// Two sides, whose times a step are compared.
struct Pair {
    name: &'static str,
    over: Side,
    under: Side,
    /// Divides the ratio: bodies of the upper side for one of the lower.
    share: f64,
    rounds: usize,
    /// Bound of the ratio.
    wanted: Bound,
}

enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

const fn chain(parameters: Parameters, threads: usize) -> Side {
    Side {
        scene: "chain",
        parameters,
        threads,
    }
}

const NET: Parameters = &[("rows", "100"), ("columns", "100")];
const THOUSAND: Parameters = &[("links", "1000")];
const MILLION: Parameters = &[("links", "1076748")];

const fn hinges(name: &'static str, over: Parameters, under: Parameters, rounds: usize) -> Pair {
    Pair {
        name,
        over: chain(over, 1),
        under: chain(under, 1),
        share: 1.0,
        rounds,
        wanted: Bound::AtMost(2.5),
    }
}

const PAIRS: &[Pair] = &[
    hinges(
        "1,000 links: hinges / balls",
        &[("links", "1000"), ("joint", "hinge")],
        THOUSAND,
        40,
    ),
    hinges(
        "10,000 links: hinges / balls",
        &[("links", "10000"), ("joint", "hinge")],
        &[("links", "10000")],
        40,
    ),
    hinges(
        "100,000 links: hinges / balls",
        &[("links", "100000"), ("joint", "hinge")],
        &[("links", "100000")],
        20,
    ),
    Pair {
        name: "net of 100 x 100: one thread / two",
        over: Side {
            scene: "net",
            parameters: NET,
            threads: 1,
        },
        under: Side {
            scene: "net",
            parameters: NET,
            threads: 2,
        },
        share: 1.0,
        rounds: 20,
        wanted: Bound::AtLeast(1.6),
    },
    Pair {
        name: "1,076,748 links: one thread / two",
        over: chain(MILLION, 1),
        under: chain(MILLION, 2),
        share: 1.0,
        rounds: 10,
        wanted: Bound::AtLeast(1.6),
    },
    Pair {
        name: "a link of 1,076,748 / of 1,000",
        over: chain(MILLION, 1),
        under: chain(THOUSAND, 1),
        share: 1076.748,
        rounds: 10,
        wanted: Bound::AtMost(1.8),
    },
];

/// A world that is stepped and timed.
struct Run {
    scene: Scene,
    state: State,
    work: Workspace,
    control: Control,
    times: Vec<f64>,
}

impl Run {
    fn new(side: &Side, integrator: Integrator) -> Outcome<Run> {
        let scene = vincula_scenes::build(side.scene, side.parameters)?;
        let settings = Settings {
            threads: side.threads,
            ..Settings::with_integrator(integrator)
        };
        Ok(Run {
            state: scene.state.clone(),
            work: Workspace::new(&scene.model, settings),
            control: Control::new(&scene.model),
            scene,
            times: Vec::new(),
        })
    }

    /// Takes a turn, and keeps the time of its middle step, ms. Few bodies make several steps, since
    /// the first ones find in the cache what the other side left there.
    fn turn(&mut self) -> Outcome<()> {
        let steps = (TURN / self.scene.model.bodies().len()).max(1);
        let mut times = Vec::new();
        for _ in 0..steps {
            let start = Instant::now();
            let Run { scene, state, .. } = self;
            step(&scene.model, state, &self.control, &mut self.work, scene.h)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        self.times.push(median(times));
        Ok(())
    }
}

/// Times every pair and prints a table.
pub fn run() -> Outcome<bool> {
    let mut rows = Vec::new();
    for pair in PAIRS {
        for integrator in [Integrator::Tempered, Integrator::LinearEuler] {
            let row = compare(pair, integrator)?;
            println!("{}", row.join("  "));
            rows.push(row);
        }
    }
    let header = [
        "pair",
        "integrator",
        "ms",
        "ms",
        "ratio",
        "wanted",
        "possible",
    ];
    println!("\n{}", align(&header, &rows));
    println!("ratio: the median over rounds, in which both sides take a turn");
    println!("possible: what two threads gain in the same rounds on work that shares nothing");
    Ok(true)
}

fn compare(pair: &Pair, integrator: Integrator) -> Outcome<Vec<String>> {
    let mut over = Run::new(&pair.over, integrator)?;
    let mut under = Run::new(&pair.under, integrator)?;
    let mut work = match pair.over.threads == pair.under.threads {
        true => None,
        false => Some([Yardstick::new()?, Yardstick::new()?]),
    };
    let mut gains = Vec::new();
    for _ in 0..=pair.rounds {
        over.turn()?;
        under.turn()?;
        if let Some(work) = &mut work {
            gains.push(gain(work)?);
        }
    }
    // The first turn is not counted.
    let rounds = over.times.iter().zip(&under.times).skip(1);
    let ratio = median(rounds.map(|(x, y)| x / y / pair.share).collect());
    Ok(vec![
        pair.name.to_owned(),
        integrator.to_string(),
        format!("{:.4}", median(over.times[1..].to_vec())),
        format!("{:.4}", median(under.times[1..].to_vec())),
        format!("{ratio:.2}"),
        match pair.wanted {
            Bound::AtMost(most) => format!("at most {most}"),
            Bound::AtLeast(least) => format!("at least {least}"),
        },
        match gains.is_empty() {
            true => "-".to_owned(),
            false => format!("{:.2}", median(gains)),
        },
    ])
}

/// How many times faster two pieces of work are done on two threads than one after the other.
fn gain([one, two]: &mut [Yardstick; 2]) -> Outcome<f64> {
    let start = Instant::now();
    one.lay()?;
    two.lay()?;
    let alone = start.elapsed().as_secs_f64();
    let start = Instant::now();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| two.lay().map_err(|fault| fault.to_string()));
        one.lay()?;
        let done = other.join();
        done.unwrap_or_else(|_| Err("the other thread has panicked".to_owned()))?;
        Outcome::Ok(())
    })?;
    Ok(alone / start.elapsed().as_secs_f64())
}
