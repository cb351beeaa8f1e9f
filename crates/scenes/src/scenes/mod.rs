//! One file per scene.

mod chain;
mod heavy_chain;
mod heavy_top;
mod pendulum;
mod rolling_cylinder;
mod rotor;
mod spinning_box;
mod t_handle;

use crate::gallery::Entry;

/// Every scene, single bodies first.
pub(crate) const ALL: &[Entry] = &[
    pendulum::ENTRY,
    spinning_box::ENTRY,
    t_handle::ENTRY,
    heavy_top::ENTRY,
    rolling_cylinder::ENTRY,
    rotor::ENTRY,
    chain::ENTRY,
    heavy_chain::ENTRY,
];
