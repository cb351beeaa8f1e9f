//! The embedded font: how wide a text is, and text in PNG.
//!
//! Only DejaVu Sans is ever used, never a font of the machine, so that pictures are the
//! same everywhere. It has Greek, superscripts and the mathematical minus.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb};

use super::MAX_PNG_SIDE;
use crate::error::ExchangeError;

/// As named in SVG; viewers without it fall back to a face of similar width.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";
const EMBEDDED: &str = "DejaVu Sans";

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for face in [dejavu::sans::regular(), dejavu::sans::bold()] {
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(face)));
    }
    fonts.set_sans_serif_family(EMBEDDED);
    Arc::new(fonts)
});

fn options() -> Options<'static> {
    Options {
        font_family: EMBEDDED.into(),
        fontdb: FONTS.clone(),
        ..Options::default()
    }
}

/// Width of `text` at font size `size`, in the same unit.
pub(super) fn text_width(text: &str, size: f64, bold: bool) -> f64 {
    if text.trim().is_empty() {
        return 0.0;
    }
    let weight = if bold { "bold" } else { "normal" };
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>\
         <text font-family='{EMBEDDED}' font-size='100' font-weight='{weight}'>{}</text></svg>",
        escaped(text)
    );
    match Tree::from_str(&svg, &options()) {
        Ok(tree) => f64::from(tree.root().bounding_box().width()) * size / 100.0,
        // Only a layout hint: an estimate serves when the text defeats the parser.
        Err(_) => 0.6 * size * text.chars().count() as f64,
    }
}

/// Text without the characters that XML reserves or forbids.
fn escaped(text: &str) -> String {
    clean(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Control characters are not allowed in XML, escaped or not: a blank stands for them.
pub(super) fn clean(text: &str) -> String {
    let allowed = |c: char| !c.is_control() && c != '\u{fffe}' && c != '\u{ffff}';
    text.chars()
        .map(|c| if allowed(c) { c } else { ' ' })
        .collect()
}

/// Shrinks `text` to at most three quarters of `size` to fit `width`, then cuts it
/// short. Returns the text and the size to draw it at.
pub(super) fn fit_text(text: &str, size: f64, bold: bool, width: f64) -> (String, f64) {
    let natural = text_width(text, size, bold);
    if natural <= width {
        return (text.to_owned(), size);
    }
    let smaller = size * (width / natural).max(0.75);
    let mut letters: Vec<char> = text.chars().collect();
    let mut shown = text.to_owned();
    while text_width(&shown, smaller, bold) > width && letters.len() > 1 {
        let keep = letters.len() - (letters.len() / 20).max(1);
        letters.truncate(keep);
        shown = letters.iter().collect::<String>().trim_end().to_owned() + "…";
    }
    (shown, smaller)
}

/// Renders SVG text to PNG bytes of the given width (pixels).
pub(super) fn rasterise(svg: &str, width: u32) -> Result<Vec<u8>, ExchangeError> {
    let failed = |problem: String| ExchangeError::Drawing(problem);
    let tree = Tree::from_str(svg, &options()).map_err(|e: usvg::Error| failed(e.to_string()))?;
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).round() as u32;
    if width == 0 || height == 0 || width > MAX_PNG_SIDE || height > MAX_PNG_SIDE {
        let problem = format!(
            "{width} × {height} pixels: choose a width so that both sides are from 1 to {MAX_PNG_SIDE}"
        );
        return Err(failed(problem));
    }
    let mut picture = Pixmap::new(width, height).ok_or_else(|| failed("out of memory".into()))?;
    picture.fill(Color::WHITE);
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut picture.as_mut(),
    );
    picture
        .encode_png()
        .map_err(|error| failed(error.to_string()))
}
