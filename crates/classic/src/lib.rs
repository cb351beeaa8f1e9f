//! The methods of the literature.
