//! The methods of the literature, each whole in one file.
//!
//! | file | method |
//! |---|---|
//! | `corotated.rs` | co-rotated affine body, one Newton step, with or without polar decomposition (He et al. 2026, Alg. 1) |
//! | `vanilla_abd.rs` | affine body with the orthogonality energy, Newton on a 12×12 Hessian (Lan et al. 2022; He et al. 2026, Eq. 3) |
//! | `lcp/` | linear complementarity problems by Lemke's algorithm (Cline and Pai 2003, Eq. 6) |
//! | `baraff.rs` | linear-time multipliers: sparse factors of a forest, constraint anticipation (Baraff 1996) |
//! | `tomcin.rs` | impulses from predicted joint states, shifted sparse Cholesky, contacts through its factors (Tomcin et al.) |
//! | `system/` | the rigid system that the multibody methods share: bodies, rows of joints, forces |
//! | `single.rs` | the single affine body that both advance |
//!
//! The rigid baselines live in [`vincula::body::rigid`].

pub mod baraff;
pub mod corotated;
mod four;
pub mod lcp;
pub mod single;
pub mod system;
pub mod tomcin;
pub mod vanilla_abd;
