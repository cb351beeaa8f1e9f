//! Loops with the vector instructions that this processor has, found at run time.
//!
//! No fused multiply-add is ever formed (Rust does not contract), so that results do not depend on the
//! processor.

use faer::traits::ComplexField;

/// Runs `work`, compiled for the widest vectors of this processor as far as it is inlined.
#[inline(always)]
pub(crate) fn with_vectors<R>(work: impl FnOnce() -> R) -> R {
    <f64 as ComplexField>::Arch::default().dispatch(work)
}
