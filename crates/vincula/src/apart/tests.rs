use super::*;
use crate::prelude::*;

/// Arms of three hinges, of one make or each a little different with free boxes between them.
fn arms(count: usize, equal: bool) -> Model {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.2, 0.03, 0.03);
    for arm in 0..count {
        let base = DVec3::new(0.0, 1.3 * arm as f64, 0.1 * arm as f64);
        let other = if equal { 0.0 } else { arm as f64 };
        let mut before = None;
        for k in 0..3 {
            let start = base + DVec3::X * (0.4 * f64::from(k));
            let name = format!("link {arm} {k}");
            let def = BodyDef::new(name, Shape::Box { half_extents }, 800.0 + 10.0 * other);
            let body = builder.body(def.at(start + DVec3::X * 0.2));
            let name = format!("joint {arm} {k}");
            let axis = DVec3::new(0.0, 1.0, 0.3 * f64::from(k) + 0.001 * other);
            builder.joint(match before {
                None => JointDef::hinge(name, World, body, start, axis),
                Some(before) => JointDef::hinge(name, before, body, start, axis),
            });
            before = Some(body);
        }
        if arm % 5 == 0 && !equal {
            let name = format!("free {arm}");
            builder.body(BodyDef::new(name, Shape::Box { half_extents }, 500.0).at(base));
        }
    }
    builder.build().unwrap()
}

fn run(model: &Model, work: &mut Workspace, steps: usize) -> State {
    let mut state = model.initial_state();
    let mut control = Control::new(model);
    control.add_torque(BodyId::new(4), DVec3::new(0.1, 0.2, 0.3));
    for _ in 0..steps {
        step(model, &mut state, &control, work, 5e-3).unwrap();
    }
    state
}

#[test]
fn groups_move_as_the_whole_world_does() {
    compare(&arms(100, false), 13);
}

#[test]
fn so_do_groups_that_share_an_engine() {
    compare(&arms(100, true), 2);
}

/// A hundred arms of some kinds of groups, and as a whole.
fn compare(model: &Model, kinds: usize) {
    for integrator in [Integrator::Tempered, Integrator::LinearEuler] {
        compare_with(model, kinds, Settings::with_integrator(integrator));
    }
}

fn compare_with(model: &Model, kinds: usize, settings: Settings) {
    let mut work = Workspace::new(model, settings);
    let share = &work.apart.as_ref().unwrap().shares[0];
    assert_eq!(share.groups.len(), 13);
    assert_eq!(share.engines.iter().flatten().count(), kinds);
    let grouped = run(model, &mut work, 40);
    let whole = run(model, &mut Workspace::whole(model, settings), 40);
    for id in model.body_ids() {
        let off = grouped.center(id) - whole.center(id);
        // Rows are closed to 1e-11 m, in the whole world by its worst joint.
        assert!(
            off.length() < 1e-9,
            "{} is off by {off}",
            model.body(id).name
        );
    }
    let off = grouped.multipliers.iter().zip(&whole.multipliers);
    let off = off.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(off < 1e-5, "forces differ by {off} N");
    assert_eq!(grouped.time, whole.time);
}

#[test]
fn threads_do_not_change_a_bit() {
    for equal in [false, true] {
        compare_threads(&arms(1500, equal), equal);
    }
}

fn compare_threads(model: &Model, equal: bool) {
    let with = |threads| {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        let mut work = Workspace::new(model, settings);
        assert_eq!(work.threads(), threads.min(4));
        // Free boxes are spread over the world, and so is the share that has them.
        let in_line = work.apart.as_ref().unwrap().next.is_some();
        assert_eq!(in_line, equal || work.threads() == 1);
        run(model, &mut work, 5)
    };
    let one = with(1);
    for threads in [2, 3, 8] {
        assert!(one == with(threads), "{threads} threads");
    }
}

#[test]
fn an_error_leaves_the_whole_state() {
    let model = arms(100, true);
    let mut work = Workspace::new(&model, Settings::default());
    let mut state = model.initial_state();
    let body = model.find_body("link 93 1").unwrap();
    let mut control = Control::new(&model);
    control.add_torque(body, DVec3::splat(f64::INFINITY));
    let before = state.clone();
    let error = step(&model, &mut state, &control, &mut work, 5e-3).unwrap_err();
    assert!(error.to_string().contains("joint 93"), "{error}");
    assert!(state == before);
}

#[test]
fn what_hangs_together_stays_together() {
    let mut builder = ModelBuilder::new();
    let mut before: Option<BodyId> = None;
    for k in 0..600 {
        let at = DVec3::X * f64::from(k);
        let half_extents = DVec3::splat(0.4);
        let def = BodyDef::new(format!("{k}"), Shape::Box { half_extents }, 1.0).at(at);
        let body = builder.body(def);
        if let Some(before) = before {
            let name = format!("joint {k}");
            builder.joint(JointDef::hinge(name, before, body, at, DVec3::Y));
        }
        before = Some(body);
    }
    let model = builder.build().unwrap();
    assert!(Workspace::new(&model, Settings::default()).apart.is_none());
}
