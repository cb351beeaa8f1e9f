//! The gallery of scenes.
