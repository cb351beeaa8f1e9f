//! The joint graph: which bodies hang together.
