//! The methods of the literature, each whole in one file.
//!
//! | file | method |
//! |---|---|
//! | `corotated.rs` | co-rotated affine body, one Newton step, with or without polar decomposition (He et al. 2026, Alg. 1) |
//! | `vanilla_abd.rs` | affine body with the orthogonality energy, Newton on a 12×12 Hessian (Lan et al. 2022; He et al. 2026, Eq. 3) |
//! | `cline_pai.rs` | time stepping of Anitescu and Potra, stabilization by Baumgarte or after the step (Cline and Pai 2003) |
//! | `rigid_implicit.rs` | implicit Euler, Newton on the joints in maximal coordinates (He et al. 2026, Fig. 12) |
//! | `penalty.rs` | joints as stiff springs, implicit |
//! | `momentum.rs`, `stiffness.rs` | what the last two share: balance of momentum, step, resistance to turning |
//! | `catalog.rs` | the multibody methods by name |
//! | `articulation.rs` | the joints of a rigid system in the dual space, factored |
//! | `contact.rs`, `push.rs` | contacts and limits as rows, and the complementarity problem they make with the joints |
//! | `lcp/` | linear complementarity problems by Lemke's algorithm (Cline and Pai 2003, Eq. 6) |
//! | `baraff.rs` | linear-time multipliers: sparse factors of a forest, constraint anticipation (Baraff 1996) |
//! | `tomcin.rs` | impulses from predicted joint states, shifted sparse Cholesky, contacts through its factors (Tomcin et al.) |
//! | `system/` | the rigid system that the multibody methods share: bodies, rows of joints, forces |
//! | `single.rs` | the single affine body that both advance |
//!
//! The rigid baselines live in [`vincula::body::rigid`].

pub mod articulation;
pub mod baraff;
pub mod catalog;
pub mod cline_pai;
pub mod contact;
pub mod corotated;
mod four;
pub mod lcp;
mod momentum;
pub mod penalty;
pub mod push;
pub mod rigid_implicit;
pub mod single;
mod stiffness;
pub mod system;
pub mod tomcin;
pub mod vanilla_abd;
