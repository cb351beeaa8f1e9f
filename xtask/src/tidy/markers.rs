//! Marks of unfinished work: words in comments and prose, macros that panic in their stead,
//! and code that was commented out. A mark that names an issue, as in `(#12)`, may stay.

use super::Offence;
use super::files::Tree;
use super::markdown::{self, Part};
use super::source::{self, Line};

const WORDS: [&str; 3] = ["TODO", "FIXME", "XXX"];
const MACROS: [&str; 3] = ["todo!(", "unimplemented!(", "dbg!("];

/// Words that open a Rust statement or item.
const OPENINGS: [&str; 14] = [
    "let ", "fn ", "pub ", "use ", "mod ", "if ", "for ", "while ", "match ", "return ", "impl ",
    "struct ", "const ", "assert",
];

/// Checks every text.
pub fn check(tree: &Tree) -> Vec<Offence> {
    tree.texts()
        .flat_map(|(path, text)| match path.rsplit_once('.') {
            Some((_, "rs")) => check_rust(path, text),
            Some((_, "md")) => check_markdown(path, text),
            _ => check_plain(path, text),
        })
        .collect()
}

fn check_rust(path: &str, text: &str) -> Vec<Offence> {
    let mut offences = Vec::new();
    for (index, line) in source::split(text).iter().enumerate() {
        offences.extend(rust_faults(line).map(|what| Offence::new(path, index + 1, what)));
    }
    offences
}

fn rust_faults(line: &Line) -> impl Iterator<Item = String> {
    let macros = MACROS
        .iter()
        .find(|name| line.code.contains(*name))
        .map(|name| format!("`{name}…)` is left in the code"));
    let dead = (!line.is_doc && is_code(line.comment.trim()))
        .then(|| "commented-out code; the history keeps it".to_owned());
    [macros, word_fault(&line.comment), dead]
        .into_iter()
        .flatten()
}

/// Whether a comment reads like a statement rather than a sentence.
fn is_code(comment: &str) -> bool {
    let ends = comment.ends_with([';', '{', '}']);
    let opens = OPENINGS.iter().any(|word| comment.starts_with(word));
    let closes_block = matches!(comment, "}" | "};" | "})" | "});");
    let calls = comment.ends_with(");") && !comment[..comment.len() - 2].contains(". ");
    let assigns = comment.ends_with(';') && comment.contains(" = ") && comment.is_ascii();
    closes_block || (ends && opens) || calls || assigns
}

fn check_markdown(path: &str, text: &str) -> Vec<Offence> {
    markdown::parts(text.lines())
        .into_iter()
        .filter_map(|(line, part)| match part {
            Part::Prose(prose) => word_fault(&prose).map(|what| Offence::new(path, line, what)),
            _ => None,
        })
        .collect()
}

fn check_plain(path: &str, text: &str) -> Vec<Offence> {
    let faults = |(index, line)| Some(Offence::new(path, index + 1, word_fault(line)?));
    text.lines().enumerate().filter_map(faults).collect()
}

fn word_fault(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    WORDS.iter().find_map(|word| {
        let (start, _) = text.match_indices(word).find(|(start, _)| {
            let after = &text[start + word.len()..];
            !text[..*start].ends_with(is_word) && !after.starts_with(is_word)
        })?;
        let bare = !text[start + word.len()..].starts_with("(#");
        bare.then(|| format!("bare {word}; finish it, or name its issue as {word}(#n)"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of(&[(path, text)]);
        check(&tree).iter().map(Offence::to_string).collect()
    }

    #[test]
    fn bare_markers_are_found_in_comments_only() {
        let text = "let a = \"TODO\";\n// TODO: later\n/// FIXME\nfn todo_list() {}\n";
        let found = offences("a.rs", text);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("a.rs:2: bare TODO"));
        assert!(found[1].starts_with("a.rs:3: bare FIXME"));
    }

    #[test]
    fn a_marker_with_its_issue_and_longer_words_pass() {
        assert!(offences("a.rs", "// TODO(#12): see there\n// XXXL is a size\n").is_empty());
    }

    #[test]
    fn macros_are_found_in_code_and_not_in_strings() {
        let text = "fn f() {\n    todo!()\n}\nlet s = \"unimplemented!()\";\n";
        let found = offences("a.rs", text);
        assert_eq!(found, ["a.rs:2: `todo!(…)` is left in the code"]);
    }

    #[test]
    fn commented_out_code_is_told_from_prose() {
        for code in [
            "let x = 3;",
            "}",
            "for i in 0..3 {",
            "work.solve(model, 3);",
            "x = y + 1;",
        ] {
            assert_eq!(offences("a.rs", &format!("// {code}\n")).len(), 1, "{code}");
        }
        let prose = [
            "let go from horizontal.",
            "C = p_a − p_b and the force is −Jᵀλ: on the second body it is +λ.",
            "it is kept; the other is not;",
        ];
        for sentence in prose {
            assert!(
                offences("a.rs", &format!("// {sentence}\n")).is_empty(),
                "{sentence}"
            );
        }
        assert!(offences("a.rs", "/// let x = 3;\n").is_empty());
    }

    #[test]
    fn other_files_are_read_as_they_are() {
        assert_eq!(offences("a.py", "x = 1  # XXX\n").len(), 1);
        assert_eq!(
            offences("a.md", "One TODO here, and `TODO` there.\n").len(),
            1
        );
    }
}
