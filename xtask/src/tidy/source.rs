//! Splits Rust source into code and comments, so that a marker in a string is no offence.

/// One line of source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Code, with the contents of strings and characters left out.
    pub code: String,
    /// Comment, without its opening slashes.
    pub comment: String,
    /// Whether the comment is documentation.
    pub is_doc: bool,
}

enum State {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text { hashes: Option<usize> },
}

/// The lines of a source file.
pub fn split(source: &str) -> Vec<Line> {
    let mut splitter = Splitter {
        rest: source,
        state: State::Code,
        previous: ' ',
        lines: vec![Line::default()],
    };
    while splitter.advance() {}
    splitter.lines
}

struct Splitter<'a> {
    rest: &'a str,
    state: State,
    /// The last character of code, to tell `r"` from the end of an identifier.
    previous: char,
    lines: Vec<Line>,
}

impl Splitter<'_> {
    /// Takes one token; false at the end.
    fn advance(&mut self) -> bool {
        let Some(next) = self.rest.chars().next() else {
            return false;
        };
        if next == '\n' {
            if matches!(self.state, State::LineComment) {
                self.state = State::Code;
            }
            self.rest = &self.rest[1..];
            self.lines.push(Line::default());
            return true;
        }
        match self.state {
            State::Code => self.advance_code(next),
            State::LineComment => self.keep_comment(next),
            State::BlockComment { depth } => self.advance_block(next, depth),
            State::Text { hashes } => self.advance_text(next, hashes),
        }
        true
    }

    fn advance_code(&mut self, next: char) {
        if self.rest.starts_with("//") {
            self.open_comment(State::LineComment);
        } else if self.rest.starts_with("/*") {
            self.open_comment(State::BlockComment { depth: 1 });
        } else if next == '"' {
            self.keep_code(next);
            self.state = State::Text { hashes: None };
        } else if let Some(hashes) = self.raw_string() {
            self.skip(hashes + 2);
            self.state = State::Text {
                hashes: Some(hashes),
            };
        } else if let Some(length) = self.character() {
            self.skip(length);
        } else {
            self.keep_code(next);
        }
    }

    fn open_comment(&mut self, state: State) {
        let text = &self.rest[2..];
        let is_doc = text.starts_with(['/', '!']) || text.starts_with("*!");
        self.rest = if is_doc { &text[1..] } else { text };
        self.state = state;
        if let Some(line) = self.lines.last_mut() {
            line.is_doc = is_doc;
        }
    }

    fn advance_block(&mut self, next: char, depth: usize) {
        if self.rest.starts_with("*/") {
            self.skip(2);
            self.state = match depth {
                1 => State::Code,
                _ => State::BlockComment { depth: depth - 1 },
            };
        } else if self.rest.starts_with("/*") {
            self.skip(2);
            self.state = State::BlockComment { depth: depth + 1 };
        } else {
            self.keep_comment(next);
        }
    }

    fn advance_text(&mut self, next: char, hashes: Option<usize>) {
        match hashes {
            None if next == '\\' => {
                let escaped = self.rest.chars().nth(1);
                // An escaped line end still ends the line.
                self.skip(if escaped == Some('\n') { 1 } else { 2 });
            }
            None if next == '"' => {
                self.keep_code(next);
                self.state = State::Code;
            }
            Some(count) if self.rest.starts_with(&format!("\"{}", "#".repeat(count))) => {
                self.skip(count + 1);
                self.state = State::Code;
            }
            _ => self.skip(1),
        }
    }

    /// Number of hashes when a raw string opens here.
    fn raw_string(&self) -> Option<usize> {
        let inside_word = self.previous.is_alphanumeric() && !['b', 'c'].contains(&self.previous);
        let body = self.rest.strip_prefix('r')?;
        let hashes = body.len() - body.trim_start_matches('#').len();
        (!inside_word && body[hashes..].starts_with('"')).then_some(hashes)
    }

    /// Length of a character literal that stands here; a lifetime is none.
    fn character(&self) -> Option<usize> {
        let body: Vec<char> = self.rest.strip_prefix('\'')?.chars().take(12).collect();
        if body.first() == Some(&'\\') {
            let close = body.iter().skip(2).position(|c| *c == '\'')?;
            return Some(close + 4);
        }
        (body.get(1) == Some(&'\'')).then_some(3)
    }

    fn keep_code(&mut self, next: char) {
        self.previous = next;
        if let Some(line) = self.lines.last_mut() {
            line.code.push(next);
        }
        self.skip(1);
    }

    fn keep_comment(&mut self, next: char) {
        if let Some(line) = self.lines.last_mut() {
            line.comment.push(next);
        }
        self.skip(1);
    }

    fn skip(&mut self, characters: usize) {
        let mut rest = self.rest.chars();
        for _ in 0..characters {
            rest.next();
        }
        self.rest = rest.as_str();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(source: &str) -> Vec<String> {
        split(source).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn comments_are_told_from_code() {
        let lines = split("let x = 1; // why\n/// what\nfn f() {}");
        assert_eq!(
            (lines[0].code.as_str(), lines[0].comment.as_str()),
            ("let x = 1; ", " why")
        );
        assert!(lines[1].is_doc && !lines[0].is_doc);
        assert_eq!(lines[2].code, "fn f() {}");
    }

    #[test]
    fn strings_and_characters_are_emptied() {
        assert_eq!(code("f(\"a // b \\\" c\");"), ["f(\"\");"]);
        assert_eq!(
            code("f(r#\"a \" // b\"#, '\"', '\\'', b'\\n');"),
            ["f(, , , b);"]
        );
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), ["fn f<'a>(x: &'a str) {}"]);
    }

    #[test]
    fn blocks_nest_and_lines_are_counted() {
        let lines = split("a /* one /* two */\nthree */ b\n\"x\\\ny\" c");
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1].comment, "three ");
        assert_eq!(lines[1].code, " b");
        assert_eq!(lines[3].code, "\" c");
    }
}
