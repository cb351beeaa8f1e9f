//! Block-sparse symmetric systems on a graph.
