//! Cline and Pai's Figs. 8 and 10: overlap of bodies in contact, without stabilization and with
//! post-stabilization.

use vincula::contact::{Contacts, detect};
use vincula::prelude::*;
use vincula_classic::catalog;
use vincula_exchange::{Figure, Plot, Series};
use vincula_scenes::Scene;

use super::Drawn;
use crate::motion::Outcome;

/// What counts as no overlap, mm: the tolerance within which contacts act.
const ELIMINATED: f64 = 0.01;

/// The deepest overlap after each step, mm.
fn overlap(scene: &Scene, method: &str) -> Outcome<Vec<(f64, f64)>> {
    let model = &scene.model;
    let entry = catalog::find(method).ok_or("a method that is in no catalogue")?;
    let mut method = entry.make(model, &scene.state)?;
    let (mut control, mut state) = (Control::new(model), scene.state.clone());
    let mut contacts = Contacts::new();
    let mut points = Vec::new();
    for _ in 0..scene.steps() {
        scene.control(&state, &mut control);
        method.step(model, &control, scene.h)?;
        method.system().write_state(model, &mut state);
        detect(model, &state, &control, 0.0, &mut contacts);
        points.push((state.time, 1e3 * contacts.penetration()));
    }
    Ok(points)
}

fn most(points: &[(f64, f64)]) -> f64 {
    points.iter().fold(0.0, |most, point| point.1.max(most))
}

pub fn draw() -> Outcome<Drawn> {
    let mut figure = Figure::new("Overlap in contact (Cline and Pai, Figs. 8 and 10)");
    let mut holds = true;
    for name in ["pushed-rectangle", "five-bodies"] {
        let scene = vincula_scenes::build(name, &[])?;
        let none = overlap(&scene, "cline-pai-plain")?;
        let post = overlap(&scene, "cline-pai")?;
        println!(
            "  {name:<17} {:.3} mm without, {:.2e} mm with post-stabilization",
            most(&none),
            most(&post)
        );
        holds &= most(&none) > 1.0 && most(&post) <= ELIMINATED;
        figure = figure.panel(Plot {
            title: name.to_owned(),
            x_label: "time [s]".to_owned(),
            y_label: "deepest overlap [mm]".to_owned(),
            series: vec![
                Series::new("no stabilization", none),
                Series::new("post-stabilization", post),
            ],
            ..Plot::default()
        });
    }
    Ok(Drawn::new(figure, holds))
}
