//! `vincula compare`: one scene by every method that can run it, side by side.

mod drawing;
mod race;
mod telling;

use clap::ValueEnum;
use vincula::integrate::Integrator;
use vincula_exchange::{OutputDir, write_json};
use vincula_scenes::find;

use crate::args::{CompareArgs, Method};
use crate::commands::{borrowed, say};
use crate::fault::Fault;
use race::{Limits, Track, run};

/// Width of the PNG plot, pixels.
const PNG_WIDTH: u32 = 1600;

/// A method by its name: affine bodies go by the name of their integrator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contestant {
    /// Name in tables and legends.
    pub name: &'static str,
    /// The mechanics.
    pub method: Method,
    /// The integrator of affine bodies.
    pub integrator: Option<Integrator>,
}

/// Runs and compares.
pub fn compare(request: &CompareArgs) -> Result<(), Fault> {
    let entry = find(&request.scene)?;
    let contestants = choose(&request.methods)?;
    let scene = entry.build(&borrowed(&request.settings), request.seed)?;
    let directory = request.out.as_ref().map(OutputDir::create).transpose()?;
    let limits = Limits {
        steps: request.steps.map_or_else(|| scene.steps(), |n| n as usize),
        seconds: request.seconds,
    };
    let mut tracks: Vec<Track> = Vec::new();
    for contestant in contestants {
        if !request.json {
            eprintln!("{} …", contestant.name);
        }
        let track = run(
            &scene,
            &contestant,
            &limits,
            tracks.iter().find(|t| t.ran()),
        );
        tracks.push(track);
    }
    let told = telling::json(&scene, &tracks);
    if let Some(directory) = directory {
        write_json(directory.path("compare.json")?, &told)?;
        let figure = drawing::figure(&scene, &tracks);
        figure.write_svg(directory.path("compare.svg")?)?;
        figure.write_png(directory.path("compare.png")?, PNG_WIDTH)?;
        directory.commit()?;
    }
    if request.json {
        say(&format!("{told}\n"));
    } else {
        say(&telling::table(&scene, &tracks));
        if let Some(out) = &request.out {
            let out = out.display();
            say(&format!("{out}: compare.json, compare.svg, compare.png\n"));
        }
    }
    match tracks.iter().any(Track::ran) {
        true => Ok(()),
        false => Err(Fault::Request(format!(
            "none of these methods can run scene '{}'; try --methods all",
            scene.name
        ))),
    }
}

/// Everything there is.
fn everybody() -> Vec<Contestant> {
    let affine = Integrator::ALL.into_iter().map(|integrator| Contestant {
        name: integrator.name(),
        method: Method::Affine,
        integrator: Some(integrator),
    });
    let others = Method::value_variants()
        .iter()
        .filter(|method| **method != Method::Affine)
        .map(|&method| Contestant {
            name: method.name(),
            method,
            integrator: None,
        });
    affine.chain(others).collect()
}

/// The contestants of a list of names; `all` is everybody.
fn choose(names: &[String]) -> Result<Vec<Contestant>, Fault> {
    let all = everybody();
    if names.iter().any(|name| name == "all") {
        return Ok(all);
    }
    let pick = |name: &String| {
        // `affine` means the engine with its default integrator.
        let wanted = match name.as_str() {
            "affine" => Integrator::default().name(),
            other => other,
        };
        let known = || all.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
        all.iter()
            .find(|contestant| contestant.name == wanted)
            .copied()
            .ok_or_else(|| {
                let known = known();
                Fault::Request(format!(
                    "there is no method '{name}'; choose all or {known}"
                ))
            })
    };
    names.iter().map(pick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_are_distinct_and_each_can_be_asked_for() {
        let all = everybody();
        for (k, one) in all.iter().enumerate() {
            assert!(all[k + 1..].iter().all(|other| other.name != one.name));
            assert_eq!(
                choose(&[one.name.to_owned()]).expect("known")[0].name,
                one.name
            );
        }
        assert_eq!(
            choose(&["affine".to_owned()]).expect("known")[0].name,
            "tempered"
        );
        let fault = choose(&["verlet".to_owned()]).expect_err("unknown");
        assert!(fault.to_string().contains("'verlet'") && fault.to_string().contains("penalty"));
    }
}
