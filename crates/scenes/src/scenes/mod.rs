//! One file per scene.

mod arch;
mod arm7;
mod baraff_structure;
mod bounce;
mod bricard;
mod chain;
mod double_pendulum;
mod falling_joints;
mod figure;
mod four_bar;
mod heavy_chain;
mod heavy_top;
mod linkage;
mod loose_net;
mod net;
mod net_on_cylinder;
mod newton_cradle;
mod octahedron_tube;
mod peaucellier;
mod pendulum;
mod pile;
mod pulley;
mod ragdolls;
mod ramp;
mod ring;
mod rod_and_block;
mod rolling_cylinder;
mod rotor;
mod scissor_lift;
mod site;
mod spider;
mod spinning_box;
mod stack;
mod strandbeest;
mod t_handle;
mod tree;
mod wall;

use crate::gallery::Entry;

/// Every scene: single bodies, then chains and trees, then loops, then contact.
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
    ramp::ENTRY,
    bounce::ENTRY,
    newton_cradle::ENTRY,
    stack::ENTRY,
    wall::ENTRY,
    arch::ENTRY,
    pile::ENTRY,
    rod_and_block::ENTRY,
    net_on_cylinder::ENTRY,
    ragdolls::ENTRY,
    falling_joints::ENTRY,
    pulley::ENTRY,
];
