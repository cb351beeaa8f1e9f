//! What the gallery promises: every scene builds, starts on its references and stays near.

use vincula::diagnostics::{energy, worst_gap};
use vincula::prelude::*;
use vincula_scenes::{Entry, Kind, Scene, SceneError, View, build, find, gallery};

/// The scenes in which nothing collides; the others have tests of their own.
fn without_contact() -> impl Iterator<Item = &'static Entry> {
    gallery().iter().filter(|entry| {
        let scene = entry.build(&[], 0).unwrap();
        scene.model.colliders().is_empty()
    })
}

#[test]
fn names_and_keys_are_unique_and_documented() {
    for (index, entry) in gallery().iter().enumerate() {
        assert!(
            gallery()[..index]
                .iter()
                .all(|other| other.name != entry.name)
        );
        assert!(!entry.summary.is_empty() && !entry.summary.contains('\n'));
        for (place, param) in entry.params.iter().enumerate() {
            assert!(!param.help.is_empty(), "{}.{}", entry.name, param.key);
            assert!(
                entry.params[..place]
                    .iter()
                    .all(|other| other.key != param.key)
            );
        }
        assert!(
            entry.params.iter().any(|param| param.key == "h"),
            "{}",
            entry.name
        );
        assert!(
            entry.params.iter().any(|param| param.key == "young"),
            "{}",
            entry.name
        );
    }
}

#[test]
fn defaults_lie_in_their_ranges() {
    for entry in gallery() {
        for param in entry.params {
            let text = param.default_text();
            let built = entry.build(&[(param.key, &text)], 0);
            assert!(
                built.is_ok(),
                "{}.{} = {text}: {:?}",
                entry.name,
                param.key,
                built.err()
            );
        }
    }
}

#[test]
fn probes_start_on_their_references() {
    for entry in gallery() {
        let scene = entry.build(&[], 0).unwrap();
        let view = View {
            model: &scene.model,
            state: &scene.state,
            pivot_force: None,
        };
        for probe in &scene.probes {
            let Some(exact) = probe.reference(0.0) else {
                continue;
            };
            let value = probe.measure(&view);
            // The precession of a top at its cusp is 0/0 in the reference.
            let close = (value - exact).abs() <= 1e-9 * exact.abs().max(1.0);
            assert!(
                close || value.is_nan(),
                "{}.{}: {value} {exact}",
                entry.name,
                probe.name
            );
        }
    }
}

/// Largest distance of each probe from its reference in a run of `duration` seconds.
fn errors(entry: &Entry, settings: &[(&str, &str)], duration: f64) -> Vec<(&'static str, f64)> {
    let scene = entry.build(settings, 0).unwrap();
    let mut state = scene.state.clone();
    let mut work = Workspace::new(&scene.model, Settings::with_integrator(scene.integrator));
    let mut control = Control::new(&scene.model);
    let mut worst: Vec<(&str, f64)> = scene.probes.iter().map(|p| (p.name, 0.0)).collect();
    for _ in 0..(duration / scene.h).round() as usize {
        scene.control(&state, &mut control);
        step(&scene.model, &mut state, &control, &mut work, scene.h).unwrap();
        let view = View {
            model: &scene.model,
            state: &state,
            pivot_force: None,
        };
        for (probe, (_, worst)) in scene.probes.iter().zip(&mut worst) {
            let meant = probe.time_meant(state.time, scene.h);
            if let Some(exact) = probe.reference(meant) {
                *worst = worst.max((probe.measure(&view) - exact).abs());
            }
        }
    }
    worst
}

#[test]
fn fine_steps_follow_the_references() {
    let cases: [(&str, f64, &[f64]); 7] = [
        ("pendulum", 1.0, &[1e-4, 0.1]),
        ("spinning-box", 1.0, &[1e-12, 1e-12, 1e-12]),
        ("t-handle", 1.0, &[1e-4, 1e-9]),
        ("heavy-top", 1.0, &[0.02, 0.02]),
        ("rolling-cylinder", 0.5, &[0.003, 0.01]),
        ("rotor", 1.0, &[1e-4]),
        ("double-pendulum", 1.0, &[1e-9, 2e-4, 5e-4]),
    ];
    for (name, duration, tolerances) in cases {
        let worst = errors(find(name).unwrap(), &[("h", "0.001")], duration);
        for ((probe, error), tolerance) in worst.iter().zip(tolerances) {
            assert!(error <= tolerance, "{name}.{probe}: {error} > {tolerance}");
        }
    }
}

#[test]
fn every_scene_takes_ten_steps() {
    for entry in without_contact() {
        let worst = errors(entry, &[], 10.0 * entry.build(&[], 0).unwrap().h);
        assert!(
            worst.iter().all(|(_, error)| error.is_finite()),
            "{}",
            entry.name
        );
    }
}

/// Twenty steps of a scene: whether all is finite, the largest gap, m, and the gain of energy
/// over the kinetic energy at the end.
fn twenty_steps(entry: &Entry) -> (f64, f64) {
    let scene = entry.build(&[], 0).unwrap();
    let mut state = scene.state.clone();
    let mut work = Workspace::new(&scene.model, Settings::with_integrator(scene.integrator));
    let mut control = Control::new(&scene.model);
    let start = energy(&scene.model, &state).total();
    let mut gap = 0.0f64;
    for _ in 0..20 {
        scene.control(&state, &mut control);
        let report = step(&scene.model, &mut state, &control, &mut work, scene.h).unwrap();
        assert!(report.converged, "{}", entry.name);
        gap = gap.max(worst_gap(&scene.model, &state).0);
    }
    let end = energy(&scene.model, &state);
    let gain = if scene.is_driven() {
        0.0
    } else {
        (end.total() - start) / end.kinetic
    };
    (gap, gain)
}

#[test]
fn every_scene_holds_its_joints_and_gains_no_energy() {
    for entry in without_contact() {
        let (gap, gain) = twenty_steps(entry);
        assert!(gap <= 1e-9, "{}: {gap} m", entry.name);
        assert!(gain.is_finite() && gain <= 1e-3, "{}: {gain}", entry.name);
    }
}

#[test]
fn the_net_has_the_counts_of_the_literature() {
    let net = build("net", &[]).unwrap();
    let pins = 10;
    assert_eq!(net.model.bodies().len(), 280);
    assert_eq!(net.model.joints().len(), 360 + pins);
}

#[test]
fn arms_side_by_side_move_as_one_alone() {
    let alone = build("arm7", &[]).unwrap();
    let many = build("arm7", &[("copies", "5")]).unwrap();
    assert_eq!(many.model.bodies().len(), 35);
    let run = |scene: &Scene| {
        let mut state = scene.state.clone();
        let mut work = Workspace::new(&scene.model, Settings::default());
        let control = Control::new(&scene.model);
        for _ in 0..100 {
            step(&scene.model, &mut state, &control, &mut work, scene.h).unwrap();
        }
        let places: Vec<_> = scene.model.body_ids().map(|id| state.center(id)).collect();
        places
    };
    let (one, five) = (run(&alone), run(&many));
    let starts: Vec<_> = many
        .model
        .body_ids()
        .map(|id| many.state.center(id))
        .collect();
    for (arm, (now, start)) in five.chunks(7).zip(starts.chunks(7)).enumerate() {
        let base = start[0] - starts[0];
        assert_eq!(base.length() > 1.9, arm > 0, "arm {arm} stands at {base}");
        for (link, place) in now.iter().enumerate() {
            let error = (*place - base - one[link]).length();
            assert!(error < 1e-9, "arm {arm}, link {link}: {error} m");
        }
    }
}

#[test]
fn trees_follow_their_seed() {
    let tree = |seed| {
        let scene = find("tree").unwrap().build(&[], seed).unwrap();
        scene.model.bodies()[99].initial_pose
    };
    assert_eq!(tree(1), tree(1));
    assert_ne!(tree(1), tree(2));
}

#[test]
fn peaucellier_draws_a_straight_line() {
    let worst = errors(find("peaucellier").unwrap(), &[], 1.0);
    let (name, deviation) = worst[2];
    assert_eq!(name, "deviation");
    assert!(deviation < 1e-6, "{deviation} m");
}

#[test]
fn a_rolling_start_keeps_its_speed() {
    let entry = find("rolling-cylinder").unwrap();
    let worst = errors(entry, &[("start", "rolling")], 0.5);
    assert!(worst.iter().all(|(_, error)| *error < 1e-6), "{worst:?}");
}

#[test]
fn unknown_scenes_suggest_the_nearest() {
    let error = build("pendulm", &[]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "there is no scene 'pendulm' (did you mean 'pendulum'?)"
    );
    assert!(matches!(
        error,
        SceneError::UnknownScene {
            nearest: Some("pendulum"),
            ..
        }
    ));
}

#[test]
fn chains_have_the_links_asked_for() {
    let scene = build(
        "chain",
        &[("links", "7"), ("folded", "true"), ("end_mass", "5")],
    )
    .unwrap();
    assert_eq!((scene.model.bodies().len(), scene.model.rows()), (7, 21));
    let mass = |index: usize| scene.model.bodies()[index].mass.mass;
    assert!((mass(6) / mass(0) - 5.0).abs() < 1e-12);
    let x = |index: usize| scene.model.bodies()[index].initial_pose.translation.x;
    assert!((x(0) - x(1)).abs() < 1e-12);
}

/// Least and greatest value of a parameter, as text; long chains are left out.
fn extremes(kind: Kind) -> Vec<String> {
    match kind {
        Kind::Float { least, most, .. } => vec![least.to_string(), most.to_string()],
        Kind::Int { least, most, .. } => vec![least.to_string(), most.min(500).to_string()],
        Kind::Bool { .. } => vec!["true".into(), "false".into()],
        Kind::Choice { words, .. } => words.iter().map(|word| word.to_string()).collect(),
    }
}

#[test]
fn extreme_values_run_or_are_refused() {
    for entry in without_contact() {
        for param in entry.params {
            for text in extremes(param.kind) {
                let Ok(scene) = entry.build(&[(param.key, &text)], 0) else {
                    continue;
                };
                let mut state = scene.state.clone();
                let mut work = Workspace::new(&scene.model, Settings::default());
                let mut control = Control::new(&scene.model);
                for _ in 0..3 {
                    scene.control(&state, &mut control);
                    let done = step(&scene.model, &mut state, &control, &mut work, scene.h);
                    let view = View {
                        model: &scene.model,
                        state: &state,
                        pivot_force: None,
                    };
                    scene.probes.iter().for_each(|probe| {
                        probe.measure(&view);
                        probe.reference(state.time);
                    });
                    if let Err(error) = done {
                        println!("{} {}={text}: {error}", entry.name, param.key);
                        break;
                    }
                }
            }
        }
    }
}
