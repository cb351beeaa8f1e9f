//! Text in SVG, as text or as outlines.
//!
//! In SVG files text stays text, to be searched, selected and restyled. Where pixels
//! are made it becomes outlines, so that no machine needs a font.

use super::canvas::Point;
use super::font::{FAMILY, outlines, text_width};

/// How letters are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Letters {
    Text,
    Outlines,
}

/// How a text sits on its anchor; vertically it is always centred.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Align {
    Left,
    Center,
    Right,
    /// Centred and reading upwards, for the vertical axis.
    Upwards,
}

/// A text's look: font size (logical pixels), weight and colour.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub size: f64,
    pub bold: bool,
    pub color: [u8; 3],
}

/// A text at its anchor.
pub(super) struct Label {
    pub text: String,
    pub at: Point,
    pub look: Look,
    pub align: Align,
}

impl Label {
    /// The SVG element, everything `scale` times as large.
    pub fn element(&self, letters: Letters, scale: f64) -> String {
        let text = clean(&self.text);
        let [red, green, blue] = self.look.color;
        let fill = format!("#{red:02X}{green:02X}{blue:02X}");
        let (x, y) = (self.at.0 * scale, self.at.1 * scale);
        let size = self.look.size * scale;
        let turn = if self.align == Align::Upwards { -90 } else { 0 };
        let place = format!("translate({x:.0} {y:.0}) rotate({turn})");
        // Half the height of a capital below the anchor, so that capitals are centred.
        let below = 0.36 * size;
        match letters {
            Letters::Text => {
                let (anchor, weight) = (self.anchor(), self.weight());
                let text = escaped(&text);
                format!(
                    "<text transform=\"{place}\" y=\"{below:.0}\" text-anchor=\"{anchor}\" \
                     font-family=\"{FAMILY}\" font-size=\"{size:.0}\"{weight} \
                     fill=\"{fill}\">{text}</text>\n"
                )
            }
            Letters::Outlines => {
                let (path, units) = outlines(&text, self.look.bold);
                let start = -self.part_before_anchor() * text_width(&text, size, self.look.bold);
                let factor = size / units;
                format!(
                    "<path transform=\"{place} translate({start:.2} {below:.2}) \
                     scale({factor:.6} -{factor:.6})\" fill=\"{fill}\" d=\"{path}\"/>\n"
                )
            }
        }
    }

    fn anchor(&self) -> &'static str {
        match self.align {
            Align::Left => "start",
            Align::Center | Align::Upwards => "middle",
            Align::Right => "end",
        }
    }

    fn part_before_anchor(&self) -> f64 {
        match self.align {
            Align::Left => 0.0,
            Align::Center | Align::Upwards => 0.5,
            Align::Right => 1.0,
        }
    }

    fn weight(&self) -> &'static str {
        if self.look.bold {
            " font-weight=\"bold\""
        } else {
            ""
        }
    }
}

/// Control characters are not allowed in XML, escaped or not: a blank stands for them.
fn clean(text: &str) -> String {
    let allowed = |c: char| !c.is_control() && c != '\u{fffe}' && c != '\u{ffff}';
    text.chars()
        .map(|c| if allowed(c) { c } else { ' ' })
        .collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
