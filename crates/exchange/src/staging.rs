//! Output that appears whole or not at all.
//!
//! POSIX `rename` replaces its target atomically within one file system. A file is
//! therefore written under a hidden temporary name next to its destination and renamed
//! when complete; a directory is staged the same way. A temporary that was never
//! committed is removed when its owner is dropped.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::ExchangeError;

/// Makes temporary names unique within this process; the process id does the rest.
static SERIAL: AtomicU64 = AtomicU64::new(0);

fn partial_name(name: &std::ffi::OsStr) -> OsString {
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let mut partial = OsString::from(".");
    partial.push(name);
    partial.push(format!(".partial-{}-{serial}", std::process::id()));
    partial
}

/// A buffered file that becomes visible at its destination only on [`commit`](Self::commit).
#[derive(Debug)]
pub struct StagedFile {
    writer: BufWriter<File>,
    temporary: PathBuf,
    destination: PathBuf,
    committed: bool,
}

impl StagedFile {
    /// Opens a temporary sibling of `destination`. The parent directory must exist.
    pub fn create(destination: impl AsRef<Path>) -> Result<StagedFile, ExchangeError> {
        let destination = destination.as_ref().to_path_buf();
        let name = destination
            .file_name()
            .ok_or_else(|| ExchangeError::NoName(destination.clone()))?;
        if destination.is_dir() {
            return Err(ExchangeError::KindConflict(destination));
        }
        let temporary = destination.with_file_name(partial_name(name));
        let file = File::create_new(&temporary)
            .map_err(ExchangeError::io("create a file for", &destination))?;
        Ok(StagedFile {
            writer: BufWriter::with_capacity(1 << 16, file),
            temporary,
            destination,
            committed: false,
        })
    }

    /// Where the file will appear.
    pub fn destination(&self) -> &Path {
        &self.destination
    }

    /// Completes the file and moves it into place, replacing a file of that name.
    pub fn commit(mut self) -> Result<(), ExchangeError> {
        let failed = |action| ExchangeError::io(action, &self.destination);
        self.writer.flush().map_err(failed("write"))?;
        // Without this a power cut after the rename could leave an empty file.
        self.writer.get_ref().sync_all().map_err(failed("write"))?;
        fs::rename(&self.temporary, &self.destination).map_err(failed("replace"))?;
        self.committed = true;
        Ok(())
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Seek for StagedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.writer.seek(position)
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing sensible can be done about a failure while dropping.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes all of `bytes` to `path`, atomically.
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), ExchangeError> {
    let mut file = StagedFile::create(&path)?;
    file.write_all(bytes)
        .map_err(ExchangeError::io("write", &path))?;
    file.commit()
}

/// A directory of results, staged until [`commit`](Self::commit).
///
/// A new directory is staged next to its destination and appears with all its files by
/// one rename. Into a directory that exists already the files are moved one by one,
/// each atomically, replacing files of the same name and keeping all others; there the
/// staging area is a hidden subdirectory, since the destination may be a mount point.
#[derive(Debug)]
pub struct OutputDir {
    staging: PathBuf,
    destination: PathBuf,
    /// Parents that did not exist before, outermost first.
    created_parents: Vec<PathBuf>,
    committed: bool,
}

impl OutputDir {
    /// Prepares a staging area for the directory `path`, creating missing parents.
    pub fn create(path: impl AsRef<Path>) -> Result<OutputDir, ExchangeError> {
        let destination = resolve(path.as_ref())?;
        if destination.exists() && !destination.is_dir() {
            return Err(ExchangeError::NotADirectory(destination));
        }
        let created_parents = create_parents(&destination)?;
        let staging = staging_path(&destination)?;
        // Built before the directory exists, so that its drop undoes the parents.
        let output = OutputDir {
            staging,
            destination,
            created_parents,
            committed: false,
        };
        fs::create_dir(&output.staging).map_err(ExchangeError::io(
            "create a directory for",
            &output.destination,
        ))?;
        Ok(output)
    }

    /// Where the directory will appear.
    pub fn destination(&self) -> &Path {
        &self.destination
    }

    /// The place to write the file `name` to before commit. Subdirectories named on the
    /// way (`frames/0001.png`) are created.
    pub fn path(&self, name: impl AsRef<Path>) -> Result<PathBuf, ExchangeError> {
        let name = name.as_ref();
        let plain = |part: Component| matches!(part, Component::Normal(_));
        if name.as_os_str().is_empty() || !name.components().all(plain) {
            return Err(ExchangeError::BadName(name.display().to_string()));
        }
        let staged = self.staging.join(name);
        if let Some(parent) = staged.parent() {
            fs::create_dir_all(parent).map_err(ExchangeError::io("create directory", parent))?;
        }
        Ok(staged)
    }

    /// Moves everything into place.
    pub fn commit(mut self) -> Result<(), ExchangeError> {
        if !self.destination.exists() {
            fs::rename(&self.staging, &self.destination)
                .map_err(ExchangeError::io("create directory", &self.destination))?;
        } else {
            // Conflicts are looked for first: better to move nothing than half.
            find_conflict(&self.staging, &self.destination)?;
            merge(&self.staging, &self.destination)?;
            let _ = fs::remove_dir_all(&self.staging);
        }
        self.committed = true;
        Ok(())
    }
}

impl Drop for OutputDir {
    fn drop(&mut self) {
        if self.committed {
            return;
        }
        let _ = fs::remove_dir_all(&self.staging);
        for parent in self.created_parents.iter().rev() {
            // Fails on purpose when somebody else has put something there meanwhile.
            let _ = fs::remove_dir(parent);
        }
    }
}

/// An absolute path; through symbolic links when the destination exists, so that the
/// staging area lies in the same file system.
fn resolve(path: &Path) -> Result<PathBuf, ExchangeError> {
    if path.as_os_str().is_empty() {
        return Err(ExchangeError::NoName(path.to_path_buf()));
    }
    if path.exists() {
        fs::canonicalize(path).map_err(ExchangeError::io("open", path))
    } else {
        std::path::absolute(path).map_err(ExchangeError::io("open", path))
    }
}

fn staging_path(destination: &Path) -> Result<PathBuf, ExchangeError> {
    let no_name = || ExchangeError::NoName(destination.to_path_buf());
    let partial = partial_name(destination.file_name().ok_or_else(no_name)?);
    Ok(if destination.exists() {
        destination.join(partial)
    } else {
        destination.with_file_name(partial)
    })
}

/// Creates the missing ancestors of `destination` and returns them, outermost first.
fn create_parents(destination: &Path) -> Result<Vec<PathBuf>, ExchangeError> {
    let Some(parent) = destination.parent() else {
        return Ok(Vec::new());
    };
    let mut missing: Vec<PathBuf> = parent
        .ancestors()
        .take_while(|ancestor| !ancestor.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    for (count, directory) in missing.iter().enumerate() {
        if let Err(source) = fs::create_dir(directory) {
            if directory.is_dir() {
                continue; // Another run created it in between.
            }
            for made in missing[..count].iter().rev() {
                let _ = fs::remove_dir(made);
            }
            return Err(ExchangeError::io("create directory", directory)(source));
        }
    }
    Ok(missing)
}

/// The entries of a directory in a fixed order, as (path, name, is a directory).
fn entries(directory: &Path) -> Result<Vec<(PathBuf, OsString, bool)>, ExchangeError> {
    let failed = || ExchangeError::io("read directory", directory);
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let is_directory = entry.file_type().map_err(failed())?.is_dir();
        found.push((entry.path(), entry.file_name(), is_directory));
    }
    found.sort();
    Ok(found)
}

fn find_conflict(from: &Path, to: &Path) -> Result<(), ExchangeError> {
    for (source, name, is_directory) in entries(from)? {
        let target = to.join(name);
        if target.exists() && target.is_dir() != is_directory {
            return Err(ExchangeError::KindConflict(target));
        }
        if is_directory && target.exists() {
            find_conflict(&source, &target)?;
        }
    }
    Ok(())
}

fn merge(from: &Path, to: &Path) -> Result<(), ExchangeError> {
    for (source, name, is_directory) in entries(from)? {
        let target = to.join(name);
        if is_directory && target.exists() {
            merge(&source, &target)?;
        } else {
            fs::rename(&source, &target).map_err(ExchangeError::io("replace", &target))?;
        }
    }
    Ok(())
}
