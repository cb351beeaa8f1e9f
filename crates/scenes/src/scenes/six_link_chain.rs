//! Six links of 100 mm on ball joints swing down from level (Cline and Pai 2003, Figs. 2 to 7).
//!
//! The paper gives neither the width of a link nor gravity. The width hardly matters. Gravity
//! does: its error climbs several steps in 0.6 s, one for each swing, while a chain of 0.6 m takes longer than that for one swing at 9.81 m/s². At
//! 65 m/s² all of its numbers come out, so that is the default here.

use super::chain::Links;
use crate::gallery::Entry;
use crate::param::Param;

pub(super) const ENTRY: Entry = Entry {
    name: "six-link-chain",
    summary: "Six links swing down from level; how far do the joints come apart?",
    figure: "Cline and Pai Figs. 3 to 7",
    params: &[
        Param::step(0.001),
        Param::duration(0.6),
        Param::float(
            "width",
            0.02,
            (1e-4, 0.1),
            "m",
            "edge of a link's square cross-section",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::float(
            "gravity",
            65.0,
            (1e-6, 1e4),
            "m/s²",
            "gravity, downwards; the paper's numbers need more than Earth's",
        ),
        Param::young(),
    ],
    make: |values| {
        let links = Links {
            count: 6,
            length: 0.1,
            width: values.float("width"),
            density: values.float("density"),
            end_mass: 1.0,
            folded: false,
            joint: "ball",
        };
        links.scene(ENTRY.name, values)
    },
};
