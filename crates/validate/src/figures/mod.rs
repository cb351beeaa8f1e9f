//! The figures of the papers, drawn with this engine, one file each. Numbers are those of He et
//! al. 2026; the others go by name, and some of the numbered ones by their scene too.

mod agreement;
mod beest_drop;
mod compare;
mod contact_error;
mod contact_solvers;
mod drag;
mod fill_in;
mod heavy_chain;
mod heavy_top;
mod linear_time;
mod net;
mod net_size;
mod peaucellier;
mod pendulum;
mod rolling_cost;
mod spinning_box;
mod splitting;
mod stabilization;
mod t_handle;

use std::fs;
use std::path::Path;

use vincula_exchange::{Figure, write_atomic};

use crate::motion::Outcome;
use crate::row::markdown;

/// A figure, whether what it shows is as promised, and the numbers behind it where they are told.
pub struct Drawn {
    figure: Figure,
    holds: bool,
    table: Option<Table>,
}

/// The numbers of a figure: a CSV file beside it, and a page of the book with both.
pub struct Table {
    title: &'static str,
    /// What the page says before the table.
    note: &'static str,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Cells that hold a comma are quoted.
    fn csv(&self) -> String {
        let line = |cells: &[String]| {
            let quoted = cells.iter().map(|cell| match cell.contains([',', '"']) {
                true => format!("\"{}\"", cell.replace('"', "\"\"")),
                false => cell.clone(),
            });
            quoted.collect::<Vec<_>>().join(",") + "\n"
        };
        let body: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.headings) + &body
    }

    /// The page of the book, with the picture of the same name.
    fn page(&self, name: &str) -> String {
        let headings: Vec<&str> = self.headings.iter().map(String::as_str).collect();
        format!(
            "# {title}\n\n{}\n{}\n![{title}](images/fig{name}.svg)\n",
            self.note,
            markdown(&headings, &self.rows),
            title = self.title,
        )
    }
}

impl Drawn {
    fn new(figure: Figure, holds: bool) -> Drawn {
        Drawn {
            figure,
            holds,
            table: None,
        }
    }
}

impl From<Figure> for Drawn {
    fn from(figure: Figure) -> Drawn {
        Drawn::new(figure, true)
    }
}

type Draw = fn() -> Outcome<Drawn>;

/// Every figure under all its names; files are called by the first.
const FIGURES: [(&[&str], Draw); 18] = [
    (&["2"], rolling_cost::draw),
    (&["7"], spinning_box::draw),
    (&["8"], t_handle::draw),
    (&["9"], heavy_top::draw),
    (&["10"], pendulum::draw),
    (&["11", "heavy-chain"], heavy_chain::draw),
    (&["12", "net"], net::draw),
    (&["14", "net"], net_size::draw),
    (&["linear-time"], linear_time::draw),
    (&["drag"], drag::draw),
    (&["peaucellier"], peaucellier::draw),
    (&["splitting"], splitting::draw),
    (&["fill-in"], fill_in::draw),
    (&["strandbeest"], beest_drop::draw),
    (&["stabilization"], stabilization::draw),
    (&["contact-error"], contact_error::draw),
    (&["contact-solvers"], contact_solvers::draw),
    (&["agreement"], agreement::draw),
];

/// Width of a picture, pixels.
const WIDTH: u32 = 1600;

/// First name and drawing of the figures that go by a name.
fn choose(which: &str) -> Vec<(&'static str, Draw)> {
    FIGURES
        .iter()
        .filter(|(names, _)| which == "all" || names.contains(&which))
        .map(|(names, draw)| (names[0], *draw))
        .collect()
}

/// Draws one figure or all of them; true if everything promised holds.
pub fn draw(root: &Path, which: &str, book: bool) -> Outcome<bool> {
    let chosen = choose(which);
    if chosen.is_empty() {
        let known: Vec<&str> = FIGURES.iter().map(|(names, _)| names[0]).collect();
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
        if let Some(table) = &drawn.table {
            write_atomic(path.with_extension("csv"), table.csv().as_bytes())?;
            println!("table {name}: out/figures/fig{name}.csv");
        }
        if book {
            let images = root.join("docs/src/validation/images");
            fs::create_dir_all(&images)?;
            drawn
                .figure
                .write_svg(images.join(format!("fig{name}.svg")))?;
            if let Some(table) = &drawn.table {
                let page = root.join(format!("docs/src/validation/{name}.md"));
                write_atomic(page, table.page(name).as_bytes())?;
            }
        }
    }
    Ok(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_go_by_number_and_by_scene() {
        let names = |which| {
            choose(which)
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names("net"), ["12", "14"]);
        assert_eq!(names("heavy-chain"), ["11"]);
        assert_eq!(names("14"), ["14"]);
        assert_eq!(names("all").len(), FIGURES.len());
    }

    #[test]
    fn tables_quote_what_holds_a_comma() {
        let table = Table {
            title: "T",
            note: "N",
            headings: vec!["a".to_owned(), "b".to_owned()],
            rows: vec![vec!["x, y".to_owned(), "1".to_owned()]],
        };
        assert_eq!(table.csv(), "a,b\n\"x, y\",1\n");
        let page = table.page("t");
        assert!(page.contains("| x, y | 1 |") && page.contains("images/figt.svg"));
    }

    #[test]
    fn an_unknown_figure_is_refused_by_name() {
        let error = draw(Path::new("/no/such/folder"), "3", false).unwrap_err();
        assert!(error.to_string().contains("'3'") && error.to_string().contains("10"));
    }
}
