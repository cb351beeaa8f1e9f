//! The embedded font: how wide a text is, and its outlines.
//!
//! Only DejaVu Sans is ever used, never a font of the machine, so that pictures are the
//! same everywhere. It has Greek, superscripts and the mathematical minus. Letters are
//! set one after the other by their advance; labels need no further typography.

use std::fmt::Write;
use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// As named in SVG; viewers without it fall back to a face of similar width.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

static REGULAR: LazyLock<Option<Face>> =
    LazyLock::new(|| Face::parse(dejavu::sans::regular(), 0).ok());
static BOLD: LazyLock<Option<Face>> = LazyLock::new(|| Face::parse(dejavu::sans::bold(), 0).ok());

fn face(bold: bool) -> Option<&'static Face<'static>> {
    if bold {
        BOLD.as_ref()
    } else {
        REGULAR.as_ref()
    }
}

/// Letters the font lacks show its box for missing ones, glyph zero.
fn glyph(face: &Face, letter: char) -> (GlyphId, f64) {
    let glyph = face.glyph_index(letter).unwrap_or(GlyphId(0));
    (glyph, f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)))
}

/// Width of `text` at font size `size`, in the same unit.
pub(super) fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    let Some(face) = face(bold) else {
        return 0.6 * size * text.chars().count() as f64;
    };
    let advance: f64 = text.chars().map(|letter| glyph(face, letter).1).sum();
    advance * size / f64::from(face.units_per_em())
}

/// The outlines of a text as SVG path data in font units, y upwards, starting at the
/// origin; and how many such units make the font size.
pub(super) fn outlines(text: &str, bold: bool) -> (String, f64) {
    let mut pen = PathData::default();
    let Some(face) = face(bold) else {
        return (pen.data, 1.0);
    };
    for letter in text.chars() {
        let (glyph, advance) = glyph(face, letter);
        face.outline_glyph(glyph, &mut pen);
        pen.shift += advance;
    }
    (pen.data, f64::from(face.units_per_em()))
}

/// Collects outlines as path data, shifted to where their letter stands.
#[derive(Default)]
struct PathData {
    data: String,
    shift: f64,
}

impl PathData {
    fn push(&mut self, command: char, points: &[(f32, f32)]) {
        self.data.push(command);
        for (x, y) in points {
            let x = f64::from(*x) + self.shift;
            let _ = write!(self.data, "{x} {y} "); // A String never refuses.
        }
    }
}

impl OutlineBuilder for PathData {
    fn move_to(&mut self, x: f32, y: f32) {
        self.push('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.push('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.push('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.push('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.push('Z', &[]);
    }
}

/// Shrinks `text` to at most three quarters of `size` to fit `width`, then cuts it
/// short. Returns the text and the size to draw it at.
pub(super) fn fit_text(text: &str, size: f64, bold: bool, width: f64) -> (String, f64) {
    let natural = text_width(text, size, bold);
    if natural <= width {
        return (text.to_owned(), size);
    }
    let smaller = size * (width / natural).max(0.75);
    if text_width(text, smaller, bold) <= width + 1e-9 {
        return (text.to_owned(), smaller);
    }
    let room = width - text_width("…", smaller, bold);
    let mut used = 0.0;
    let fits = |letter: &char| {
        used += text_width(&letter.to_string(), smaller, bold);
        used <= room
    };
    let shown: String = text.chars().take_while(fits).collect();
    (shown.trim_end().to_owned() + "…", smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_what_labels_need() {
        let face = face(false).unwrap();
        for letter in "aZ0−×⁻⁰¹²³⁴⁵⁶⁷⁸⁹φωτ·²°…[]".chars() {
            assert!(face.glyph_index(letter).is_some(), "{letter}");
        }
    }

    #[test]
    fn texts_fit_their_width() {
        for length in [1, 10, 100, 1000] {
            for width in [20.0, 100.0, 400.0] {
                let (text, size) = fit_text(&"m".repeat(length), 12.0, true, width);
                assert!(text_width(&text, size, true) <= width + 1e-6);
                assert!((9.0..=12.0).contains(&size));
            }
        }
    }

    #[test]
    fn outlines_span_the_width() {
        let (path, units) = outlines("Mm", false);
        assert!(path.starts_with('M') && path.ends_with('Z'));
        let numbers = path.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'));
        let widest = numbers.filter_map(|n| n.parse().ok()).fold(0.0, f64::max);
        assert!(widest / units < text_width("Mm", 1.0, false));
        assert!(widest / units > 0.9 * text_width("Mm", 1.0, false));
    }
}
