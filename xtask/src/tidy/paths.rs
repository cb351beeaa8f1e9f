//! Paths and links that the docs name must exist: in Markdown, relative links and code spans
//! that look like paths of the repository; in Rust, such code spans in comments.

use super::Offence;
use super::files::{Tree, folder_of, join};
use super::markdown::{Part, parts};
use super::source;

/// Code spans that begin so are paths from the root.
const ROOTS: [&str; 6] = [
    "crates/",
    "docs/",
    "xtask/",
    "benchmarks/",
    ".ci/",
    ".cargo/",
];

/// Checks every Markdown file and every Rust comment.
pub fn check(tree: &Tree) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (path, text) in tree.texts() {
        if path.ends_with(".md") {
            offences.extend(check_parts(tree, path, parts(text.lines())));
        } else if path.ends_with(".rs") {
            let lines = source::split(text);
            let mut found = parts(lines.iter().map(|line| line.comment.as_str()));
            // Rustdoc checks the links itself, and knows items as well.
            found.retain(|(_, part)| matches!(part, Part::Code(_)));
            offences.extend(check_parts(tree, path, found));
        }
    }
    offences
}

fn check_parts(tree: &Tree, path: &str, parts: Vec<(usize, Part)>) -> Vec<Offence> {
    parts
        .into_iter()
        .filter_map(|(line, part)| {
            let what = match part {
                Part::Link(target) => broken_link(tree, path, &target)?,
                Part::Code(span) => missing_path(tree, &span)?,
                Part::Prose(_) => return None,
            };
            Some(Offence::new(path, line, what))
        })
        .collect()
}

fn broken_link(tree: &Tree, path: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    if file.is_empty() {
        return broken_anchor(tree, path, anchor);
    }
    match join(folder_of(path), file).filter(|full| tree.has(full)) {
        Some(full) => broken_anchor(tree, &full, anchor),
        None => Some(format!("link to '{file}', which does not exist")),
    }
}

fn broken_anchor(tree: &Tree, file: &str, anchor: &str) -> Option<String> {
    let text = tree.text(file)?;
    if anchor.is_empty() || headings(text).any(|slug| slug == anchor) {
        return None;
    }
    Some(format!("{file} has no heading '#{anchor}'"))
}

/// Anchors of the headings of a Markdown text, as GitHub and mdBook make them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| slug(line.trim_start_matches('#').trim()))
}

fn slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

fn missing_path(tree: &Tree, span: &str) -> Option<String> {
    let is_pattern = span.contains(['*', '…', '<', '{', '$', ' ']);
    if is_pattern || !ROOTS.iter().any(|root| span.starts_with(root)) {
        return None;
    }
    // A path may carry a line or an anchor.
    let file = span.split([':', '#']).next().unwrap_or(span);
    (!tree.has(file)).then(|| format!("`{file}` does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[
            (path, text),
            ("crates/vincula/src/step.rs", ""),
            (
                "docs/src/theory/polar.md",
                "# Polar\n\n## Near a rotation\n",
            ),
        ]);
        check(&tree).iter().map(Offence::to_string).collect()
    }

    #[test]
    fn existing_paths_and_foreign_links_pass() {
        let text = "`crates/vincula/` [p](docs/src/theory/polar.md#near-a-rotation) \
                    [w](https://example.org) `crates/*/README.md` `cargo test`\n";
        assert!(offences("README.md", text).is_empty());
    }

    #[test]
    fn a_missing_path_is_found_at_its_line() {
        let found = offences("README.md", "\nsee `crates/vincula/src/leap.rs:12`\n");
        assert_eq!(
            found,
            ["README.md:2: `crates/vincula/src/leap.rs` does not exist"]
        );
    }

    #[test]
    fn a_broken_link_and_a_broken_anchor_are_found() {
        let found = offences(
            "docs/src/a.md",
            "[x](theory/none.md) [y](theory/polar.md#far)\n",
        );
        assert_eq!(
            found,
            [
                "docs/src/a.md:1: link to 'theory/none.md', which does not exist",
                "docs/src/a.md:1: docs/src/theory/polar.md has no heading '#far'",
            ]
        );
    }

    #[test]
    fn comments_of_rust_may_name_paths_too() {
        let found = offences("a.rs", "//! See `docs/src/theory/none.md` and [`x`](y).\n");
        assert_eq!(found, ["a.rs:1: `docs/src/theory/none.md` does not exist"]);
    }
}
