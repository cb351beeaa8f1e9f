//! What a simulation leaves behind: arrays, tables, plots, animations and summaries.
//!
//! Plain data in, files out. Nothing here knows about bodies or joints, so every
//! writer can be read, tested and replaced on its own. Every file is staged under a
//! temporary name and moved into place when complete ([`staging`]), so that a reader
//! never meets half a file.

pub mod csv;
pub mod error;
pub mod glb;
pub mod npz;
pub mod plot;
pub mod staging;
pub mod summary;

pub use csv::{Column, CsvWriter, write_csv};
pub use error::ExchangeError;
pub use glb::{Animation, MeshData, NodeTrack, Shading};
pub use npz::NpzWriter;
pub use plot::{Figure, Plot, Series, Style};
pub use staging::{OutputDir, StagedFile, write_atomic};
pub use summary::write_json;
