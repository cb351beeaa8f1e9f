//! What acts from outside: damping, drag and wind against closed forms, wrenches, work.

mod common;

use common::{run, six_momenta, total_energy};
use vincula::force::wind::Wind;
use vincula::model::{Damping, Drag};
use vincula::prelude::*;
use vincula::reference::DraggedFall;

const GRAVITY: DVec3 = DVec3::new(0.0, 0.0, -9.81);

fn box_body() -> BodyDef {
    let half_extents = DVec3::new(0.2, 0.1, 0.05);
    BodyDef::new("box", Shape::Box { half_extents }, 500.0)
}

/// A model of one body.
fn alone(body: BodyDef, gravity: DVec3, wind: Wind) -> (Model, BodyId) {
    let mut builder = ModelBuilder::new();
    builder.gravity(gravity).wind(wind);
    let id = builder.body(body);
    (builder.build().unwrap(), id)
}

fn state_after(model: &Model, integrator: Integrator, h: f64, steps: usize) -> State {
    let mut state = model.initial_state();
    let mut work = Workspace::new(model, Settings::with_integrator(integrator));
    run(model, &mut state, &mut work, h, steps);
    state
}

#[test]
fn a_spinning_box_keeps_its_momenta() {
    let body = box_body().moving(DVec3::new(0.3, -0.2, 0.1), DVec3::new(1.0, 10.0, 0.5));
    let (model, _) = alone(body, DVec3::ZERO, Wind::default());
    let start = six_momenta(&model, &model.initial_state());
    for integrator in [Integrator::Tempered, Integrator::Rattle] {
        let state = state_after(&model, integrator, 0.01, 1000);
        let end = six_momenta(&model, &state);
        for k in 0..2 {
            let error = (end[k] - start[k]).length() / start[k].length();
            assert!(error < 1e-10, "{integrator}: {error:.2e}");
        }
        let energy = total_energy(&model, &model.initial_state());
        let error = total_energy(&model, &state) / energy - 1.0;
        assert!(error.abs() < 1e-9, "{integrator}: {error:.2e}");
    }
}

#[test]
fn a_dragged_fall_follows_its_closed_form() {
    let (x, v) = (DVec3::Z * 2.0, DVec3::new(3.0, 0.0, 1.0));
    let drag = Drag {
        linear: 6.0,
        ..Drag::default()
    };
    let (model, body) = alone(
        box_body().at(x).moving(v, DVec3::ZERO).drag(drag),
        GRAVITY,
        Wind::default(),
    );
    let fall = DraggedFall {
        mass: model.body(body).mass.mass,
        gravity: GRAVITY,
        drag: 6.0,
        x,
        v,
    };
    fall.check().unwrap();
    // Second order: the error falls fourfold with half the step.
    let error = |h: f64, steps: usize| {
        let state = state_after(&model, Integrator::Tempered, h, steps);
        state.center(body).distance(fall.position(h * steps as f64))
    };
    let (coarse, fine) = (error(0.02, 100), error(0.01, 200));
    assert!(
        coarse < 2e-3 && fine < 0.27 * coarse,
        "{coarse:.2e} {fine:.2e}"
    );
    // v∞ of half a decay, a kick, half a decay is a h / (2 sinh(γh/2)).
    let (h, rate) = (0.02, 6.0 / fall.mass);
    let state = state_after(&model, Integrator::Tempered, h, 4000);
    let settled = state.twist(&model, body).linear;
    let discrete = GRAVITY * (h / (2.0 * (0.5 * rate * h).sinh()));
    assert!(
        settled.distance(discrete) < 1e-9 * settled.length(),
        "{settled} {discrete}"
    );
    assert!(settled.distance(fall.terminal()) < (rate * h).powi(2) / 20.0 * settled.length());
}

#[test]
fn quadratic_drag_settles_where_it_balances_the_weight() {
    let drag = Drag {
        quadratic: 0.8,
        ..Drag::default()
    };
    let (model, body) = alone(box_body().drag(drag), GRAVITY, Wind::default());
    let state = state_after(&model, Integrator::Tempered, 0.002, 5000);
    let expected = (model.body(body).mass.mass * 9.81 / 0.8).sqrt();
    let speed = -state.twist(&model, body).linear.z;
    assert!((speed / expected - 1.0).abs() < 1e-5, "{speed} {expected}");
}

#[test]
fn a_body_with_drag_takes_the_velocity_of_the_wind() {
    let drag = Drag {
        linear: 10.0,
        quadratic: 1.0,
        angular: 0.1,
    };
    let wind = DVec3::new(4.0, -2.0, 1.0);
    let (model, body) = alone(box_body().drag(drag), DVec3::ZERO, Wind::steady(wind));
    let state = state_after(&model, Integrator::Tempered, 0.01, 1000);
    assert!(state.twist(&model, body).linear.distance(wind) < 1e-6);
    let (model, body) = alone(box_body(), DVec3::ZERO, Wind::steady(wind));
    let state = state_after(&model, Integrator::Tempered, 0.01, 10);
    assert_eq!(
        state.twist(&model, body).linear,
        DVec3::ZERO,
        "no drag, no push"
    );
}

#[test]
fn exponential_damping_is_exact() {
    let rates = Damping {
        linear: 0.7,
        angular: 1.3,
    };
    let (v, omega) = (DVec3::new(1.0, 2.0, 3.0), DVec3::Z * 4.0);
    let (model, body) = alone(
        box_body().moving(v, omega).damping(rates),
        DVec3::ZERO,
        Wind::default(),
    );
    for integrator in [Integrator::Tempered, Integrator::Rattle] {
        let state = state_after(&model, integrator, 0.05, 40);
        let twist = state.twist(&model, body);
        let expected = v * (-0.7 * 2.0f64).exp();
        assert!(twist.linear.distance(expected) < 1e-12, "{integrator}");
        // About a principal axis the rotation is damped alone.
        let expected = omega * (-1.3 * 2.0f64).exp();
        let error = twist.angular.distance(expected);
        assert!(error < 1e-11, "{integrator}: {error:.2e}");
    }
}

#[test]
fn a_force_at_a_point_gives_the_angular_acceleration_of_its_torque() {
    let turn = DQuat::from_rotation_x(0.4) * DQuat::from_rotation_z(1.1);
    let (model, body) = alone(box_body().turned(turn), DVec3::ZERO, Wind::default());
    let (force, arm) = (DVec3::new(3.0, -1.0, 2.0), DVec3::new(0.05, 0.1, -0.02));
    let mass = &model.body(body).mass;
    let rotation = DMat3::from_quat(turn);
    let inertia = rotation * mass.inertia_tensor() * rotation.transpose();
    let h = 1e-5;
    for integrator in Integrator::ALL {
        let mut state = model.initial_state();
        let mut control = Control::new(&model);
        control.add_force_at(&state, body, force, state.center(body) + arm);
        let mut work = Workspace::new(&model, Settings::with_integrator(integrator));
        step(&model, &mut state, &control, &mut work, h).unwrap();
        let twist = state.twist(&model, body);
        let expected = inertia.inverse() * arm.cross(force);
        let error = (twist.angular / h - expected).length() / expected.length();
        assert!(error < 1e-6, "{integrator}: {error:.2e}");
        assert!(
            (twist.linear / h).distance(force / mass.mass) < 1e-9,
            "{integrator}"
        );
    }
}

/// Kinetic, potential and elastic energy grow by the work of a constant force.
#[test]
fn energy_grows_by_the_work_done() {
    let (model, body) = alone(box_body(), GRAVITY, Wind::default());
    let force = DVec3::new(5.0, 2.0, 60.0);
    let mut control = Control::new(&model);
    control.add(
        body,
        vincula::model::Wrench {
            force,
            torque: DVec3::ZERO,
        },
    );
    let mut state = model.initial_state();
    let mut work = Workspace::new(&model, Settings::default());
    let (energy, place) = (total_energy(&model, &state), state.center(body));
    for _ in 0..200 {
        step(&model, &mut state, &control, &mut work, 0.01).unwrap();
    }
    let done = force.dot(state.center(body) - place);
    let gained = total_energy(&model, &state) - energy;
    assert!((gained / done - 1.0).abs() < 1e-12, "{gained} {done}");
}

/// The same for a rod on a pivot pulled by a constant force at its centre, to second order.
#[test]
fn energy_of_a_pivoted_body_grows_by_the_work_done() {
    let model = common::chain(1, false);
    let body = model.body_ids().next().unwrap();
    let force = DVec3::new(0.1, 0.3, 0.5);
    let miss = |h: f64, steps: usize| {
        let mut control = Control::new(&model);
        control.add(
            body,
            vincula::model::Wrench {
                force,
                torque: DVec3::ZERO,
            },
        );
        let mut state = model.initial_state();
        let mut work = Workspace::new(&model, Settings::with_integrator(Integrator::Rattle));
        let (energy, place) = (total_energy(&model, &state), state.center(body));
        for _ in 0..steps {
            step(&model, &mut state, &control, &mut work, h).unwrap();
        }
        let done = force.dot(state.center(body) - place);
        (total_energy(&model, &state) - energy - done).abs()
    };
    let (coarse, fine) = (miss(2e-3, 250), miss(5e-4, 1000));
    println!("work missed: {coarse:.2e} J, {fine:.2e} J");
    assert!(
        coarse < 1e-4 && fine < coarse / 8.0,
        "{coarse:.2e} {fine:.2e}"
    );
}
