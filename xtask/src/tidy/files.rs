//! The files of the repository, read once; checks see only this, so tests can make one up.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Folders that are not ours to check: what builds and package managers leave behind.
const SKIPPED: [&str; 7] = [
    ".git",
    ".venv",
    "__pycache__",
    "book",
    "node_modules",
    "out",
    "target",
];

/// Files whose text is read; of others only the existence is known.
const READ: [&str; 8] = ["rs", "md", "toml", "py", "ts", "js", "sh", "yml"];

/// Paths from the root with `/` between their parts, and the texts of those we read.
#[derive(Default)]
pub struct Tree {
    texts: BTreeMap<String, String>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads everything below the root.
    pub fn read(root: &Path) -> Result<Tree, String> {
        let mut tree = Tree::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> Result<(), String> {
        let failed = |error| format!("{} cannot be read: {error}", folder.display());
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
                self.read_folder(&entry.path(), &format!("{path}/"))?;
                self.paths.insert(path);
            } else if kind.is_file() {
                self.read_file(&entry.path(), path)?;
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path, path: String) -> Result<(), String> {
        let extension = path.rsplit_once('.').map_or("", |(_, end)| end);
        if READ.contains(&extension) || path.starts_with(".ci/") {
            let text = fs::read_to_string(file).map_err(|e| format!("{path}: {e}"))?;
            self.texts.insert(path.clone(), text);
        }
        self.paths.insert(path);
        Ok(())
    }

    /// Whether a file or folder exists.
    pub fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path.trim_end_matches('/'))
    }

    /// The text of one file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Path and text of every file that was read.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// A tree of files with these texts, and their folders.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            tree.texts.insert((*path).to_owned(), (*text).to_owned());
            for (end, _) in path.match_indices('/') {
                tree.paths.insert(path[..end].to_owned());
            }
            tree.paths.insert((*path).to_owned());
        }
        tree
    }
}

/// The folder a path lies in, with its `/`; empty for the root.
pub fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |end| &path[..=end])
}

/// Resolves `.` and `..`; `None` when it leads out of the repository.
pub fn join(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_from_a_folder() {
        assert_eq!(folder_of("docs/src/a.md"), "docs/src/");
        assert_eq!(join("docs/src/", "../b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(join("", "./crates/").as_deref(), Some("crates"));
        assert_eq!(join("docs/", "../../x"), None);
    }

    #[test]
    fn folders_exist_as_files_do() {
        let tree = Tree::of(&[("docs/src/a.md", "")]);
        assert!(tree.has("docs/src/") && tree.has("docs/src/a.md"));
        assert!(!tree.has("docs/a.md"));
    }
}
