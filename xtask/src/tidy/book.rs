//! The book's table of contents lists every chapter once, and chapters link only to what the
//! book contains.

use std::collections::BTreeSet;

use super::Offence;
use super::files::{Tree, folder_of, join};
use super::markdown::{Part, parts};

const SUMMARY: &str = "docs/src/SUMMARY.md";
const SOURCE: &str = "docs/src/";

/// Checks the book.
pub fn check(tree: &Tree) -> Vec<Offence> {
    let mut offences = Vec::new();
    let mut listed = BTreeSet::new();
    let summary = tree.text(SUMMARY).unwrap_or_default();
    for (line, chapter) in links(SUMMARY, summary) {
        if !listed.insert(chapter.clone()) {
            let what = format!("'{chapter}' is listed twice");
            offences.push(Offence::new(SUMMARY, line, what));
        }
    }
    for (path, text) in tree.texts() {
        if !path.starts_with(SOURCE) || !path.ends_with(".md") {
            continue;
        }
        if path != SUMMARY && !listed.contains(path) {
            offences.push(Offence::new(path, 1, "the chapter is not in SUMMARY.md"));
        }
        offences.extend(outside_links(path, text));
    }
    offences
}

/// Links from a chapter to files that the built book does not have.
fn outside_links(path: &str, text: &str) -> Vec<Offence> {
    links(path, text)
        .into_iter()
        .filter(|(_, target)| !target.starts_with(SOURCE))
        .map(|(line, target)| {
            let what = format!("link to '{target}' outside the book; name its path instead");
            Offence::new(path, line, what)
        })
        .collect()
}

/// Relative links, resolved, with their lines.
fn links(path: &str, text: &str) -> Vec<(usize, String)> {
    parts(text.lines())
        .into_iter()
        .filter_map(|(line, part)| match part {
            Part::Link(target) if !target.contains("://") && !target.starts_with('#') => {
                let file = target.split('#').next()?;
                Some((line, join(folder_of(path), file)?))
            }
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(summary: &str, chapter: &str) -> Vec<String> {
        let files = [(SUMMARY, summary), ("docs/src/guide/a.md", chapter)];
        let found = check(&Tree::of(&files));
        found.iter().map(Offence::to_string).collect()
    }

    #[test]
    fn a_listed_chapter_passes() {
        assert!(offences("- [A](guide/a.md)\n", "[top](../SUMMARY.md#x) [me](#y)\n").is_empty());
    }

    #[test]
    fn chapters_forgotten_or_listed_twice_are_found() {
        assert_eq!(
            offences("# Summary\n", ""),
            ["docs/src/guide/a.md:1: the chapter is not in SUMMARY.md"]
        );
        let twice = offences("- [A](guide/a.md)\n- [B](guide/a.md)\n", "");
        assert_eq!(
            twice,
            ["docs/src/SUMMARY.md:2: 'docs/src/guide/a.md' is listed twice"]
        );
    }

    #[test]
    fn links_out_of_the_book_are_found() {
        let found = offences("- [A](guide/a.md)\n", "\n[readme](../../../README.md)\n");
        assert!(found[0].starts_with("docs/src/guide/a.md:2: link to 'README.md' outside"));
    }
}
