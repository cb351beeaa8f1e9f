//! A disc on a hinge, driven by a constant torque against drag: `I ω′ = τ − c ω`.

use vincula::prelude::*;
use vincula::reference::DrivenRotor;

use super::{BEST, case_name};
use crate::motion::{Outcome, Run, angle_between, largest, watch};
use crate::row::Row;

const STEP: f64 = 0.01;
const DURATION: f64 = 10.0;

pub fn measure() -> Outcome<Vec<Row>> {
    let settings = [("torque", "1"), ("drag", "0.05"), ("spin", "2")];
    let scene = vincula_scenes::build("rotor", &settings)?;
    let id = scene.model.body_ids().next().ok_or("no body")?;
    let inertia = scene.model.body(id).mass.inertia().z;
    let exact = DrivenRotor {
        inertia,
        torque: 1.0,
        damping: 0.05,
        angle: 0.0,
        omega: 2.0,
    };
    let mut rows = Vec::new();
    for integrator in BEST {
        let (mut angles, mut rates) = (Vec::new(), Vec::new());
        watch(&scene, Run::new(integrator, STEP, DURATION), |view| {
            let t = view.state.time;
            let turned = view.state.pose(view.model, id).rotation;
            angles.push(angle_between(
                turned,
                DQuat::from_rotation_z(exact.angle(t)),
            ));
            let rate = view.state.twist(view.model, id).angular.z;
            rates.push(rate - exact.angular_velocity(t));
        })?;
        let case = case_name("driven rotor", integrator, STEP);
        let error = largest(rates) / exact.terminal();
        rows.push(Row::error(
            &case,
            "speed, share of the final one",
            "closed form",
            error,
            1e-5,
        ));
        rows.push(Row::error(
            &case,
            "angle over 10 s [rad]",
            "closed form",
            largest(angles),
            1e-3,
        ));
    }
    Ok(rows)
}
