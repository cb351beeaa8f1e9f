//! Just enough Markdown: links, code spans and prose, outside fenced blocks.

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Target of a link or an image.
    Link(String),
    /// Contents of a code span.
    Code(String),
    /// Everything else.
    Prose(String),
}

/// The parts of a text with their lines, counted from 1.
pub fn parts<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(usize, Part)> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (index, line) in lines.enumerate() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(line_parts(line).into_iter().map(|part| (index + 1, part)));
        }
    }
    found
}

fn line_parts(line: &str) -> Vec<Part> {
    let mut found = Vec::new();
    // Every second piece between backticks is code; a last odd one has no closing tick.
    let pieces: Vec<&str> = line.split('`').collect();
    for (index, piece) in pieces.iter().enumerate() {
        if index % 2 == 1 && index + 1 < pieces.len() {
            found.push(Part::Code((*piece).to_owned()));
        } else {
            found.push(Part::Prose((*piece).to_owned()));
        }
    }
    // A link's text may hold code, so links are sought in the whole line.
    found.extend(links(line).map(Part::Link));
    found
}

/// Targets of `[text](target)` and of `[name]: target`.
fn links(line: &str) -> impl Iterator<Item = String> {
    let inline = line.split("](").skip(1).filter_map(|rest| {
        let end = rest.find([')', ' '])?;
        Some(rest[..end].to_owned())
    });
    let named = line.trim_start().strip_prefix('[').and_then(|rest| {
        let (_, target) = rest.split_once("]: ")?;
        Some(target.trim().to_owned())
    });
    inline.chain(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_code_are_found_with_their_lines() {
        let text = "see [`a` and b](x.md#top)\n\n`crates/` and\n[n]: http://y";
        let found = parts(text.lines());
        assert!(found.contains(&(1, Part::Link("x.md#top".into()))));
        assert!(found.contains(&(1, Part::Code("a".into()))));
        assert!(found.contains(&(3, Part::Code("crates/".into()))));
        assert!(found.contains(&(4, Part::Link("http://y".into()))));
    }

    #[test]
    fn fenced_blocks_are_skipped() {
        assert!(parts("```text\n[a](b) `c`\n```".lines()).is_empty());
    }

    #[test]
    fn a_lone_backtick_opens_nothing() {
        let found = parts("it`s prose".lines());
        assert!(found.iter().all(|(_, part)| matches!(part, Part::Prose(_))));
    }
}
