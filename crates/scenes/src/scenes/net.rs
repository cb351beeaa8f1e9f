//! A net of rods between small balls, held along one edge (He et al. 2026, Figs. 12 and 14).
//!
//! Every rod is tied by a ball joint at each end to the centre of the node there, so that
//! `n × n` nodes have `2n(n − 1)` rods and `4n(n − 1)` joints; one more joint holds each
//! node of the first row to the world.

use glam::DVec3;
use vincula::prelude::*;

use super::linkage::Linkage;
use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "net",
    summary: "A net of rods and nodes, held along one edge, falls from level",
    figure: "M-ABD Fig. 12",
    params: &[
        Param::step(1.0 / 30.0),
        Param::duration(10.0),
        Param::int("rows", 10, (1, 1000), "rows of nodes; the first is held"),
        Param::int("columns", 10, (1, 1000), "columns of nodes"),
        Param::float("length", 0.5, (1e-2, 10.0), "m", "distance of neighbours"),
        Param::float(
            "width",
            0.05,
            (1e-4, 1.0),
            "m",
            "edge of the square section of a rod; a node is twice as wide",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::gravity(),
        Param::young(),
    ],
    make,
};

fn make(values: &Values) -> Result<Scene, SceneError> {
    let (rows, columns) = (values.int("rows"), values.int("columns"));
    let (length, width) = (values.float("length"), values.float("width"));
    let density = values.float("density");
    let place = |row: usize, column: usize| DVec3::new(row as f64, column as f64, 0.0) * length;
    let mut net = Linkage::new(values, density);
    let mut nodes = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let name = format!("node-{row}-{column}");
            let shape = Shape::Sphere { radius: width };
            nodes.push(net.add(BodyDef::new(name, shape, density).at(place(row, column))));
        }
    }
    for column in 0..columns {
        let pin = format!("pin-{column}");
        net.join(JointDef::ball(pin, World, nodes[column], place(0, column)));
    }
    let mut tie = |name: String, from: (usize, usize), to: (usize, usize)| {
        let ends = [place(from.0, from.1), place(to.0, to.1)];
        let rod = net.rod(name.clone(), ends, width);
        for (end, at) in [(0, from), (1, to)] {
            let node = nodes[at.0 * columns + at.1];
            net.join(JointDef::ball(
                format!("{name}-{end}"),
                node,
                rod,
                ends[end],
            ));
        }
    };
    for row in 0..rows {
        for column in 0..columns {
            if column + 1 < columns {
                let name = format!("across-{row}-{column}");
                tie(name, (row, column), (row, column + 1));
            }
            if row + 1 < rows {
                let name = format!("down-{row}-{column}");
                tie(name, (row, column), (row + 1, column));
            }
        }
    }
    let corner = nodes[nodes.len() - 1];
    Ok(net.scene(ENTRY.name, values)?.probe(Probe::new(
        "corner-height",
        "height of the last corner",
        "m",
        move |view| view.state.center(corner).z,
    )))
}
