use crate::dual::axes::Mode;
use crate::prelude::*;

/// Pairs of rods on hinges, of which every third has limits that it has reached, or friction. The
/// others may be on ball joints.
pub(in crate::dual) fn pairs(balls: bool) -> Model {
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.5, 0.1, 0.05);
    for k in 0..20 {
        let middle = DVec3::Y * f64::from(k);
        let mut rod = |name: &str, x: f64| {
            let def = BodyDef::new(name, Shape::Box { half_extents }, 1000.0);
            builder.body(def.at(middle + DVec3::X * x))
        };
        let (a, b) = (rod(&format!("a{k}"), 0.0), rod(&format!("b{k}"), 1.0));
        let at = middle + DVec3::X * 0.5;
        let joint = JointDef::hinge(format!("hinge {k}"), a, b, at, DVec3::Y);
        builder.joint(match k % 6 {
            0 => joint.limits(0, -0.1, 0.0),
            3 => joint.friction(0, 2.0),
            _ if balls => JointDef::ball(format!("ball {k}"), a, b, at),
            _ => joint,
        });
    }
    builder.collider(ColliderDef::ground("ground", -100.0));
    builder.build().unwrap()
}

pub(in crate::dual) const H: f64 = 0.01;

/// Where some steps lead.
pub(in crate::dual) fn after_steps(model: &Model) -> Workspace {
    let mut work = Workspace::new(model, Settings::default());
    let (mut state, control) = (model.initial_state(), Control::new(model));
    for _ in 0..3 {
        step(model, &mut state, &control, &mut work, H).unwrap();
    }
    work
}

#[test]
fn a_trial_finds_of_mechanisms_that_may_give_way_what_a_whole_solve_finds() {
    let model = pairs(false);
    let mut work = after_steps(&model);
    let Workspace { dual, newton, .. } = &mut work;
    assert_eq!(
        dual.asked.as_ref().map(|asked| asked.islands.len()),
        Some(7)
    );
    // Every body is pushed.
    for (k, n) in newton.iter_mut().enumerate() {
        for lane in 0..8 {
            n.t[2][lane] += 1e-3 * (3.0 * (8 * k + lane) as f64).sin();
            n.v[1][lane] += 1e-2 * (5.0 * (8 * k + lane) as f64).cos();
        }
    }
    for rates in [false, true] {
        let mut find = |trial: bool| {
            for (k, n) in newton.iter().enumerate() {
                match rates {
                    true => dual.find_velocities(k, n),
                    false => dual.find_places(k, n),
                }
            }
            dual.lambda.fill(f64::NAN);
            match (trial, rates) {
                (true, false) => dual.try_places(&model, newton, H),
                (true, true) => dual.try_rates(newton, H),
                (false, false) => {
                    dual.violation(&model, newton, H);
                    dual.solve();
                }
                (false, true) => {
                    dual.drift(newton, H);
                    dual.solve();
                }
            }
            let rows = dual.axes.iter().flat_map(|axis| dual.rows_of(axis.joint));
            rows.map(|row| dual.lambda[row]).collect::<Vec<f64>>()
        };
        let (trial, whole) = (find(true), find(false));
        assert!(whole.iter().any(|x| x.abs() > 1e-3), "{whole:?}");
        assert_eq!(trial, whole);
    }
}

#[test]
fn solving_again_finds_what_solving_all_finds() {
    for balls in [false, true] {
        let model = pairs(balls);
        let mut work = after_steps(&model);
        let Workspace { dual, newton, .. } = &mut work;
        assert_eq!(dual.asked.as_ref().map(|asked| asked.plain), Some(balls));
        for (k, n) in newton.iter_mut().enumerate() {
            for lane in 0..8 {
                n.t[2][lane] += 1e-3 * (3.0 * (8 * k + lane) as f64).sin();
            }
            dual.find_places(k, n);
        }
        dual.violation(&model, newton, H);
        dual.solve();
        let before = dual.lambda.clone();
        for k in 0..dual.axes.len() {
            dual.axes[k].mode = Mode::Free;
            dual.alter(k);
        }
        dual.replace_compliance(|row| 1e3 * row.unit);
        dual.refactor_altered().unwrap();
        dual.solve_again(&model, newton, H);
        let again = dual.lambda.clone();
        dual.violation(&model, newton, H);
        dual.solve();
        assert_ne!(before, again);
        assert_eq!(dual.lambda, again);
    }
}
