//! The figures of the papers, drawn with this engine, one file each: numbers are those of
//! He et al. 2026, words belong to the classic methods.

mod beest_drop;
mod compare;
mod fill_in;
mod heavy_top;
mod linear_time;
mod peaucellier;
mod pendulum;
mod rolling_cost;
mod spinning_box;
mod splitting;
mod t_handle;

use std::fs;
use std::path::Path;

use vincula_exchange::Figure;

use crate::motion::Outcome;

/// A figure and whether what it shows is as promised.
pub struct Drawn {
    figure: Figure,
    holds: bool,
}

impl From<Figure> for Drawn {
    fn from(figure: Figure) -> Drawn {
        Drawn {
            figure,
            holds: true,
        }
    }
}

type Draw = fn() -> Outcome<Drawn>;

const FIGURES: [(&str, Draw); 10] = [
    ("2", rolling_cost::draw),
    ("7", spinning_box::draw),
    ("8", t_handle::draw),
    ("9", heavy_top::draw),
    ("10", pendulum::draw),
    ("linear-time", linear_time::draw),
    ("peaucellier", peaucellier::draw),
    ("splitting", splitting::draw),
    ("fill-in", fill_in::draw),
    ("strandbeest", beest_drop::draw),
];

/// Width of a picture, pixels.
const WIDTH: u32 = 1600;

/// Draws one figure or all of them; true if everything promised holds.
pub fn draw(root: &Path, which: &str, book: bool) -> Outcome<bool> {
    let chosen: Vec<_> = FIGURES
        .iter()
        .filter(|(name, _)| which == "all" || which == *name)
        .collect();
    if chosen.is_empty() {
        let known: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "there is no figure '{which}'; choose {} or all",
            known.join(", ")
        )
        .into());
    }
    let folder = root.join("out/figures");
    fs::create_dir_all(&folder)?;
    let mut holds = true;
    for (name, draw) in chosen {
        let drawn = draw()?;
        holds &= drawn.holds;
        let path = folder.join(format!("fig{name}.svg"));
        drawn.figure.write_svg(&path)?;
        drawn.figure.write_png(path.with_extension("png"), WIDTH)?;
        println!("figure {name}: out/figures/fig{name}.svg and .png");
        if book {
            let images = root.join("docs/src/validation/images");
            fs::create_dir_all(&images)?;
            drawn
                .figure
                .write_svg(images.join(format!("fig{name}.svg")))?;
        }
    }
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_figure_is_refused_by_name() {
        let error = draw(Path::new("/no/such/folder"), "3", false).unwrap_err();
        assert!(error.to_string().contains("'3'") && error.to_string().contains("10"));
    }
}
