//! One file per scene.

mod arm7;
mod baraff_structure;
mod bricard;
mod chain;
mod double_pendulum;
mod figure;
mod four_bar;
mod heavy_chain;
mod heavy_top;
mod linkage;
mod net;
mod octahedron_tube;
mod peaucellier;
mod pendulum;
mod ring;
mod rolling_cylinder;
mod rotor;
mod scissor_lift;
mod spider;
mod spinning_box;
mod strandbeest;
mod t_handle;
mod tree;

use crate::gallery::Entry;

/// Every scene: single bodies, then chains and trees, then loops.
pub(crate) const ALL: &[Entry] = &[
    pendulum::ENTRY,
    spinning_box::ENTRY,
    t_handle::ENTRY,
    heavy_top::ENTRY,
    rolling_cylinder::ENTRY,
    rotor::ENTRY,
    chain::ENTRY,
    heavy_chain::ENTRY,
    double_pendulum::ENTRY,
    arm7::ENTRY,
    tree::ENTRY,
    spider::ENTRY,
    baraff_structure::ENTRY,
    figure::ENTRY,
    ring::ENTRY,
    net::ENTRY,
    four_bar::ENTRY,
    peaucellier::ENTRY,
    bricard::ENTRY,
    scissor_lift::ENTRY,
    strandbeest::ENTRY,
    octahedron_tube::ENTRY,
];
