//! Counting pivots while a factorization runs, so that its report can name nodes.

use crate::{BlockMatrix, FactorError, FactorReport};

/// What the factorization of one block found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pivots {
    /// Largest quotient of a diagonal entry and the pivot it became.
    pub steepest: f64,
    /// Pivots that vanished.
    pub dropped: usize,
    /// A pivot was clearly negative.
    pub negative: bool,
    /// Sum of the pivots: not finite as soon as anything before was not.
    pub sum: f64,
}

/// Quotient of a diagonal entry and its pivot from which on a pivot is near to vanishing.
pub(crate) const STEEP: f64 = 1e8;

/// The sum of all [`Pivots`] of a matrix.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Census {
    steepest: f64,
    steepest_place: usize,
    dropped: usize,
    first_dropped: Option<usize>,
    negative: Option<usize>,
    sum: f64,
}

impl Census {
    /// Adds the pivots of the block at `place`, a node or a position.
    #[inline(always)]
    pub fn add(&mut self, place: usize, pivots: Pivots) {
        self.sum += pivots.sum;
        if pivots.steepest > self.steepest {
            self.steepest = pivots.steepest;
            self.steepest_place = place;
        }
        if pivots.dropped > 0 {
            self.add_dropped(place, pivots);
        }
    }

    #[cold]
    fn add_dropped(&mut self, place: usize, pivots: Pivots) {
        self.dropped += pivots.dropped;
        self.first_dropped.get_or_insert(place);
        if pivots.negative {
            self.negative.get_or_insert(place);
        }
    }

    /// Adds another census, after this one.
    pub fn merge(&mut self, other: Census) {
        self.sum += other.sum;
        if other.steepest > self.steepest {
            self.steepest = other.steepest;
            self.steepest_place = other.steepest_place;
        }
        self.dropped += other.dropped;
        self.first_dropped = self.first_dropped.or(other.first_dropped);
        self.negative = self.negative.or(other.negative);
    }

    /// Whether everything is finite and no pivot came near to vanishing.
    pub fn is_safe(&self) -> bool {
        self.sum.is_finite() && self.dropped == 0 && self.steepest < STEEP
    }

    /// The report, or why there is none. `node_of` turns places into nodes.
    pub fn report(
        &self,
        matrix: &BlockMatrix,
        node_of: impl Fn(usize) -> usize,
    ) -> Result<FactorReport, FactorError> {
        if !self.sum.is_finite() {
            return Err(blame_non_finite(matrix));
        }
        if let Some(place) = self.negative {
            return Err(FactorError::Indefinite {
                node: node_of(place),
            });
        }
        let any = self.steepest > 0.0;
        Ok(FactorReport {
            dropped: self.dropped,
            first_dropped: self.first_dropped.map(&node_of),
            weakest_pivot: if any { 1.0 / self.steepest } else { 1.0 },
            weakest_node: any.then(|| node_of(self.steepest_place)),
            shift: 0.0,
        })
    }
}

/// The error for factors that are not finite.
pub(crate) fn blame_non_finite(matrix: &BlockMatrix) -> FactorError {
    match matrix.first_non_finite() {
        Some(node) => FactorError::NonFinite { node },
        None => FactorError::Overflow,
    }
}
