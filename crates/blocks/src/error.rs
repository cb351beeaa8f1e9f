//! What can go wrong, said so that the caller can name the culprit.

use thiserror::Error;

/// A pattern that cannot be built, or that does not suit the chosen solver.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// The number of roles is not the number of nodes.
    #[error("{roles} roles were given for {nodes} nodes; give one a node, or none at all")]
    Roles {
        /// Number of nodes.
        nodes: usize,
        /// Number of roles.
        roles: usize,
    },
    /// A block is empty or too large.
    #[error("node {node} has {size} rows, but a block holds 1 to 6: split the node")]
    BlockSize {
        /// The node.
        node: usize,
        /// Its number of rows.
        size: usize,
    },
    /// An edge from a node to itself.
    #[error("edge {edge} joins node {node} to itself: add such terms to the diagonal block")]
    SelfEdge {
        /// Position in the list of edges given.
        edge: usize,
        /// The node.
        node: usize,
    },
    /// An edge to a node that does not exist.
    #[error("edge {edge} names node {node}, but there are only {count} nodes")]
    UnknownNode {
        /// Position in the list of edges given.
        edge: usize,
        /// The node it names.
        node: usize,
        /// Number of nodes.
        count: usize,
    },
    /// An order that leaves out or repeats a node.
    #[error(
        "the order must name each of {count} nodes once, but node {node} is missing or repeated"
    )]
    NotAPermutation {
        /// A node that is missing, repeated or out of range.
        node: usize,
        /// Number of nodes.
        count: usize,
    },
    /// An edge between nodes that are not neighbours on the path.
    #[error(
        "nodes {from} and {to} are coupled but not next to each other on the path: use a tree or general solver"
    )]
    NotAPath {
        /// One end of the edge.
        from: usize,
        /// The other end.
        to: usize,
    },
    /// The graph has a loop that elimination would fill.
    #[error("node {node} lies on a loop: use Loops or Cholesky")]
    NotFillFree {
        /// A node on a loop.
        node: usize,
    },
    /// Too many or too large loops for a Schur complement.
    #[error("more than {limit} closure nodes are needed to open all loops: use Cholesky")]
    TooManyClosures {
        /// The limit that was given.
        limit: usize,
    },
    /// The sparse library refused, normally for lack of memory.
    #[error("symbolic analysis of {rows} rows failed: {reason}")]
    Symbolic {
        /// Number of scalar rows.
        rows: usize,
        /// What the library said.
        reason: String,
    },
}

/// A matrix that cannot be factored.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FactorError {
    /// The matrix has another pattern than the solver.
    #[error(
        "the matrix has another pattern than the one this solver was made for: call symbolic again"
    )]
    PatternMismatch,
    /// A number is infinite or not a number.
    #[error(
        "the blocks of node {node} hold a number that is not finite: check the inputs of that node"
    )]
    NonFinite {
        /// The node (the first one of the two for an edge block).
        node: usize,
    },
    /// Finite numbers, but their products are not.
    #[error("the entries are so large or so small that the factors overflow: rescale the system")]
    Overflow,
    /// A clearly negative pivot: not a matrix of the form `J H⁻¹ Jᵀ`.
    #[error(
        "the matrix is not positive semidefinite at node {node}: check its diagonal and coupling blocks"
    )]
    Indefinite {
        /// The node of the negative pivot.
        node: usize,
    },
}

/// A right-hand side that cannot be solved for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SolveError {
    /// Wrong length.
    #[error("the vector has {found} entries, but the system has {expected} rows")]
    Length {
        /// Rows of the system.
        expected: usize,
        /// Entries given.
        found: usize,
    },
    /// No successful `factor` before `solve`.
    #[error("nothing has been factored yet: call factor first")]
    NotFactored,
}

/// Either kind of failure, for [`crate::Factorization::factor_solve`].
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FactorSolveError {
    /// The matrix could not be factored.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The right-hand side did not fit.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

/// Fails unless `found` is the number of rows.
pub(crate) fn check_length(expected: usize, found: usize) -> Result<(), SolveError> {
    if expected == found {
        Ok(())
    } else {
        Err(SolveError::Length { expected, found })
    }
}
