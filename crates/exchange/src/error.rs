//! One error type for all writers: it names the culprit and says what to do.

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The operating system refused an operation on a path.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was attempted, as a verb phrase ("create directory").
        action: &'static str,
        /// The path it was attempted on.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// An output directory was asked for where a file already is.
    #[error("`{}` is a file, not a directory: remove it or choose another output path", .0.display())]
    NotADirectory(PathBuf),
    /// A staged file and an existing directory share a name, or the other way round.
    #[error("`{}` already exists and is not the same kind of entry: remove it or choose another output path", .0.display())]
    KindConflict(PathBuf),
    /// A path has no final component to write to, such as the root directory.
    #[error("`{}` does not name something that can be written: give a path that ends in a name", .0.display())]
    NoName(PathBuf),
    /// A name given for staging would leave the staging area.
    #[error(
        "`{0}` is not a plain relative name inside the output directory: use names such as `plot.svg` or `frames/0001.png`"
    )]
    BadName(String),
    /// An array, table or animation does not fit together.
    #[error("{what} `{name}`: {problem}")]
    BadData {
        /// What kind of thing is wrong ("array", "column", "mesh").
        what: &'static str,
        /// Its name.
        name: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The format cannot hold this much.
    #[error(
        "{what} is too large for this format ({limit}): write fewer samples or split the output"
    )]
    TooLarge {
        /// What grew too large.
        what: String,
        /// The limit of the format.
        limit: &'static str,
    },
    /// A figure could not be drawn.
    #[error("cannot draw the figure: {0}")]
    Drawing(String),
    /// A value could not be expressed as JSON.
    #[error("cannot express the value as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl ExchangeError {
    /// Wraps an I/O error with what was attempted and where.
    pub(crate) fn io(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> ExchangeError {
        let path = path.as_ref().to_path_buf();
        move |source| ExchangeError::Io {
            action,
            path,
            source,
        }
    }

    /// Shorthand for data that does not fit together.
    pub(crate) fn data(
        what: &'static str,
        name: impl Into<String>,
        problem: impl Into<String>,
    ) -> ExchangeError {
        ExchangeError::BadData {
            what,
            name: name.into(),
            problem: problem.into(),
        }
    }
}
