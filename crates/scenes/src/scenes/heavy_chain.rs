//! A folded chain with a last link a thousand times as heavy as the others: it drops, and
//! the snap runs through all links at once.

use super::chain::Links;
use crate::gallery::Entry;
use crate::param::Param;

pub(super) const ENTRY: Entry = Entry {
    name: "heavy-chain",
    summary: "A folded chain drops a last link a thousand times as heavy as the others",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(5.0),
        Param::int("links", 100, (1, 1_000_000), "number of links"),
        Param::float(
            "end_mass",
            1000.0,
            (1e-6, 1e9),
            "",
            "mass of the last link over that of the others",
        ),
        Param::bool(
            "folded",
            true,
            "start folded up, each link on the one before",
        ),
        Param::gravity(),
        Param::young(),
    ],
    make: |values| {
        let links = Links {
            count: values.int("links"),
            length: 0.1,
            width: 0.02,
            density: 1000.0,
            end_mass: values.float("end_mass"),
            folded: values.bool("folded"),
            joint: "ball",
        };
        links.scene(ENTRY.name, values)
    },
};
