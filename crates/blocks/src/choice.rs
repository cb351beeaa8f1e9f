//! The solver that suits a pattern.

use crate::matrix::Pattern;
use crate::ordering::{MAX_CLIQUE, MAX_CLOSURES, path_order, simplicial_order};
use crate::{Chain, Cholesky, CholeskyOptions, Factorization, Loops, PatternError, Tree};
use std::sync::Arc;

/// Picks the direct solver that does the least work on the whole pattern, which
/// may have several components: a chain for paths, a tree for trees, loops while
/// there are few closures, and a sparse factorization for everything else.
pub fn direct_solver(
    pattern: &Arc<Pattern>,
) -> Result<Box<dyn Factorization + Send>, PatternError> {
    if let Some(order) = path_order(pattern) {
        return Ok(Box::new(Chain::symbolic(pattern, &order)?));
    }
    let found = simplicial_order(pattern, MAX_CLOSURES, MAX_CLIQUE);
    match found.closures.len() {
        0 => Ok(Box::new(Tree::symbolic(pattern)?)),
        1..=MAX_CLOSURES => Ok(Box::new(Loops::symbolic(pattern, MAX_CLOSURES)?)),
        _ => {
            let options = CholeskyOptions::default();
            Ok(Box::new(Cholesky::symbolic(pattern, &options)?))
        }
    }
}
