//! SVG to PNG.

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};

use crate::error::ExchangeError;

/// The longest side that is rasterised (pixels), at most a gigabyte of memory.
const MAX_SIDE: u32 = 16_384;

/// Renders SVG, in which letters are outlines, to PNG of the given width (pixels).
pub(super) fn rasterise(svg: &str, width: u32) -> Result<Vec<u8>, ExchangeError> {
    let failed = ExchangeError::Drawing;
    let tree = Tree::from_str(svg, &Options::default()).map_err(|e| failed(e.to_string()))?;
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).round() as u32;
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
        return Err(failed(format!(
            "{width} × {height} pixels: choose a width that makes both sides 1 to {MAX_SIDE}"
        )));
    }
    let mut picture = Pixmap::new(width, height).ok_or_else(|| failed("out of memory".into()))?;
    picture.fill(Color::WHITE);
    let transform = Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut picture.as_mut());
    picture
        .encode_png()
        .map_err(|error| failed(error.to_string()))
}
