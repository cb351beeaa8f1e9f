//! Tomcin et al., Figs. 6(c) and (f): entries of the system matrix and fill of its factors
//! against the number of rows, for mechanisms with many loops.

use vincula_classic::tomcin::{Tomcin, TomcinSettings};
use vincula_exchange::{Figure, Plot, Series, Style};

use super::Drawn;
use crate::motion::Outcome;

const LIFTS: [usize; 6] = [10, 20, 50, 100, 160, 220];
const LEGS: [usize; 6] = [2, 10, 25, 50, 75, 100];
const RINGS: [usize; 6] = [1, 8, 30, 60, 100, 150];

/// Rows and entries of A, rows and fill.
type Curves = [Vec<(f64, f64)>; 2];

fn curves(scene: &str, key: &str, values: &[usize]) -> Outcome<Curves> {
    let (mut own, mut fill) = (Vec::new(), Vec::new());
    for value in values {
        let text = value.to_string();
        let scene = vincula_scenes::build(scene, &[(key, &text)])?;
        let settings = TomcinSettings::default();
        let method = Tomcin::new(&scene.model, &scene.state, settings)?;
        let Some(matrix) = method.matrix() else {
            continue;
        };
        let rows = matrix.pattern().dimension() as f64;
        let [entries, filled] = matrix.fill_in();
        println!(
            "{} {key} {value}: {rows} rows, {entries} entries, {filled} fill",
            scene.name
        );
        own.push((rows, entries as f64));
        fill.push((rows, filled as f64));
    }
    Ok([own, fill])
}

/// Whether the fill of the last point grew no faster than the rows to the power 1.3.
fn is_nearly_linear(line: &[(f64, f64)]) -> bool {
    let [.., a, b] = line else { return false };
    (b.1 / a.1).ln() < 1.3 * (b.0 / a.0).ln()
}

fn panel(title: &str, scenes: &[(&str, Curves)]) -> Plot {
    let series = scenes.iter().flat_map(|(name, [own, fill])| {
        [
            Series::new(format!("{name}, entries of A"), own.clone()).style(Style::Dashed),
            Series::new(format!("{name}, fill of L"), fill.clone()),
        ]
    });
    Plot {
        title: title.to_owned(),
        x_label: "rows".to_owned(),
        y_label: "entries below the diagonal".to_owned(),
        series: series.collect(),
        ..Plot::default()
    }
}

pub fn draw() -> Outcome<Drawn> {
    let lift = curves("scissor-lift", "segments", &LIFTS)?;
    let beest = curves("strandbeest", "legs", &LEGS)?;
    let tube = curves("octahedron-tube", "rings", &RINGS)?;
    let holds = is_nearly_linear(&lift[1]) && is_nearly_linear(&beest[1]);
    let first = [("scissor lift", lift), ("strandbeest", beest)];
    let figure = Figure::new("Fill of the factors (Tomcin et al., Fig. 6)").row(vec![
        panel("linkages", &first),
        panel("a tube of rings", &[("tube", tube)]),
    ]);
    Ok(Drawn::new(figure, holds))
}
