//! `bench`: the time of a step per body.
//!
//! The machine may be shared, so every repetition also times two fixed loads, a chain of
//! multiplications and additions and a copy of memory. Their best against their median says
//! how quiet the machine was.

mod calibration;
pub mod contacts;
pub mod gallery;
mod load;
pub mod ratios;
mod yardstick;

use std::fs;
use std::path::Path;
use std::time::Instant;

use vincula::prelude::*;
use vincula::step::level_in_use;
use vincula_exchange::write_atomic;

use crate::motion::Outcome;
use crate::row::align;

/// Largest time per free body and step while in cache, ns.
const TARGET: f64 = 30.0;
const STEP: f64 = 0.01;
/// The fixed load that all times are compared with.
const FLOP: &str = "dependent flop";

/// Times of one load over all repetitions, ns per body and step.
struct Timing {
    name: &'static str,
    bodies: usize,
    times: Vec<f64>,
}

impl Timing {
    fn median(&self) -> f64 {
        median(self.times.clone())
    }

    fn best(&self) -> f64 {
        self.times.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The median; not a number of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// A scene and its settings, in one line.
fn name_of(scene: &str, settings: &[(&str, &str)]) -> String {
    let settings = settings
        .iter()
        .map(|(key, value)| format!(" {key}={value}"));
    [scene.to_owned(), settings.collect()].concat()
}

/// What is wanted, or that nothing is.
fn wish(wanted: f64) -> String {
    match wanted.is_nan() {
        true => "-".to_owned(),
        false => wanted.to_string(),
    }
}

/// Writes a table of scenes under `benchmarks`, with a note on the times.
fn write_scenes(
    root: &Path,
    kind: &str,
    note: &str,
    header: &[&str],
    rows: &[Vec<String>],
) -> Outcome<()> {
    let cpu = cpu_model();
    let mut text = format!("# {cpu}; {note}\n{}\n", header.join(",").replace(' ', "_"));
    for row in rows {
        text.push_str(&format!("{}\n", row.join(",")));
    }
    let folder = root.join("benchmarks");
    fs::create_dir_all(&folder)?;
    let name = format!("{}-{kind}.csv", slug(&cpu));
    write_atomic(folder.join(&name), text.as_bytes())?;
    println!("written to benchmarks/{name}");
    Ok(())
}

/// Times everything, prints a table and, unless quick, writes it under `benchmarks`.
pub fn run(root: &Path, quick: bool) -> Outcome<bool> {
    let mut flops = Timing {
        name: FLOP,
        bodies: 1,
        times: Vec::new(),
    };
    let mut copy = Timing {
        name: "copied byte",
        bodies: 1,
        times: Vec::new(),
    };
    let mut memory = calibration::Memory::new();
    let mut timings = Vec::new();
    let mut level = String::new();
    for (name, bodies) in load::LOADS {
        if quick && bodies > 100_000 {
            continue;
        }
        let model = load::build(name, bodies)?;
        let repetitions = repetitions(bodies, quick);
        let mut bench = Bench::new(&model);
        let mut times = Vec::new();
        for _ in 0..repetitions {
            times.push(bench.repeat()?);
            flops.times.push(calibration::flop());
            copy.times.push(memory.copied_byte());
        }
        level = format!("{:?}", level_in_use(&bench.work)).to_lowercase();
        timings.push(Timing {
            name,
            bodies,
            times,
        });
    }
    timings.push(flops);
    timings.push(copy);
    let cpu = cpu_model();
    println!("{cpu}, {level}, one thread; ns per body and step of 10 ms\n");
    print!(
        "{}",
        align(
            &["load", "bodies", "median", "best", "median / flop"],
            &cells(&timings)
        )
    );
    judge(&timings);
    if !quick {
        let folder = root.join("benchmarks");
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.csv", slug(&cpu)));
        write_atomic(&path, csv(&timings, &cpu, &level).as_bytes())?;
        println!("written to benchmarks/{}.csv", slug(&cpu));
    }
    Ok(true)
}

/// Many for what takes milliseconds, fewer for what takes tenths of a second.
fn repetitions(bodies: usize, quick: bool) -> usize {
    match (quick, bodies > 100_000) {
        (true, _) => 10,
        (false, false) => 75,
        (false, true) => 20,
    }
}

/// A model being stepped over and over.
struct Bench<'a> {
    model: &'a Model,
    state: State,
    work: Workspace,
    control: Control,
    steps: usize,
}

impl<'a> Bench<'a> {
    fn new(model: &'a Model) -> Bench<'a> {
        Bench {
            model,
            state: model.initial_state(),
            work: Workspace::new(model, Settings::default()),
            control: Control::new(model),
            // About 50,000 bodies a repetition: short enough to fall into a quiet spell.
            steps: (50_000 / model.bodies().len()).clamp(1, 5_000),
        }
    }

    /// Time of a step per body, ns.
    fn repeat(&mut self) -> Outcome<f64> {
        // The clock starts with a warm cache.
        step(
            self.model,
            &mut self.state,
            &self.control,
            &mut self.work,
            STEP,
        )?;
        let start = Instant::now();
        for _ in 0..self.steps {
            step(
                self.model,
                &mut self.state,
                &self.control,
                &mut self.work,
                STEP,
            )?;
        }
        let count = self.steps * self.model.bodies().len();
        Ok(start.elapsed().as_secs_f64() * 1e9 / count as f64)
    }
}

/// Name, bodies, median, best, and the median in units of a dependent flop, which a change of
/// clock or a busy neighbour leaves nearly alone.
fn cells(timings: &[Timing]) -> Vec<Vec<String>> {
    let flop = timings
        .iter()
        .find(|t| t.name == FLOP)
        .map_or(f64::NAN, Timing::median);
    let cell = |value: f64| format!("{value:.3}");
    let row = |t: &Timing| {
        let median = t.median();
        let name = t.name.to_owned();
        vec![
            name,
            t.bodies.to_string(),
            cell(median),
            cell(t.best()),
            cell(median / flop),
        ]
    };
    timings.iter().map(row).collect()
}

fn csv(timings: &[Timing], cpu: &str, level: &str) -> String {
    let mut text = format!("# {cpu}; {level}; one thread; ns per body and step of 10 ms\n");
    text.push_str("load,bodies,median_ns,best_ns,median_flops\n");
    for row in cells(timings) {
        text.push_str(&format!("{}\n", row.join(",")));
    }
    text
}

/// Says how the free bodies in cache stand against the target.
fn judge(timings: &[Timing]) {
    let Some(cached) = timings
        .iter()
        .find(|t| t.name == load::FREE && t.bodies == 1000)
    else {
        return;
    };
    let word = |time: f64| if time <= TARGET { "within" } else { "above" };
    println!(
        "\n1000 free bodies: median {} and best {} the target of {TARGET} ns",
        word(cached.median()),
        word(cached.best())
    );
    if let Some(flop) = timings.iter().find(|t| t.name == FLOP) {
        let noise = 100.0 * (flop.median() / flop.best() - 1.0);
        println!(
            "the fixed load's median is {noise:.0} % above its best: the noise of this machine"
        );
    }
}

/// The processor as the system names it, or the architecture.
fn cpu_model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split(':').nth(1)).map(str::trim);
    name.unwrap_or(std::env::consts::ARCH).to_owned()
}

/// A file name from a processor's name.
fn slug(cpu: &str) -> String {
    let plain = cpu.to_lowercase().replace("(r)", "").replace("(tm)", "");
    let words: Vec<&str> = plain
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    words.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_become_file_names() {
        assert_eq!(
            slug("Intel(R) Xeon(R) CPU @ 2.20GHz"),
            "intel-xeon-cpu-2-20ghz"
        );
    }

    #[test]
    fn a_small_load_is_timed() {
        let model = load::build(load::CHAIN, 3).unwrap();
        let mut bench = Bench::new(&model);
        bench.steps = 2;
        assert!(bench.repeat().unwrap() > 0.0);
    }
}
