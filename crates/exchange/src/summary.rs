//! A run summarised as JSON, for people and for scripts.

use std::path::Path;

use serde::Serialize;

use crate::error::ExchangeError;
use crate::staging::write_atomic;

/// Writes `value` as indented JSON ending in a newline, atomically.
///
/// JSON has no NaN or infinity: such numbers are written as `null`.
pub fn write_json<T: Serialize + ?Sized>(
    path: impl AsRef<Path>,
    value: &T,
) -> Result<(), ExchangeError> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    write_atomic(path, &text)
}
