//! Contacts that share a link: those that push are eliminated together, with N = (Y + Z S)⁻¹.
//!
//! Contacts that are apart have Z = 0 and take their step alone. The others of their link only see it.

use super::block::{Block, inverse, product, times};
use super::dense::triple;

/// Sorts contacts with Y and Z into those that push, counted from the first one, and those that are apart,
/// of which it keeps Y⁻¹. False if one is singular.
pub(super) fn sort_out(
    softs: &[Block],
    slopes: &[Block],
    pushing: &mut Vec<u32>,
    alone: &mut Vec<Block>,
) -> bool {
    for (k, (y, z)) in (0u32..).zip(softs.iter().zip(slopes)) {
        match *z == [0.0; 9] {
            true => match inverse(y) {
                Some(inverse) => alone.push(inverse),
                None => return false,
            },
            false => pushing.push(k),
        }
    }
    true
}

/// Writes Y + Z S of the contacts that push, of all those of a link with their Y, Z and S.
pub(super) fn fill(
    matrix: &mut [f64],
    own: &[f64],
    pushing: &[u32],
    softs: &[Block],
    slopes: &[Block],
) {
    let (size, width) = (3 * pushing.len(), 3 * softs.len());
    for (i, k) in pushing.iter().map(|k| *k as usize).enumerate() {
        let (y, z) = (&softs[k], &slopes[k]);
        for (j, l) in pushing.iter().map(|l| *l as usize).enumerate() {
            let at = 3 * k * width + 3 * l;
            let own: Block = std::array::from_fn(|e| own[at + e / 3 * width + e % 3]);
            let mut block = product(z, &own);
            if i == j {
                for (x, y) in block.iter_mut().zip(y) {
                    *x += y;
                }
            }
            for r in 0..3 {
                let row = &mut matrix[(3 * i + r) * size + 3 * j..][..3];
                row.copy_from_slice(&block[3 * r..3 * r + 3]);
            }
        }
    }
}

/// Lets the contacts of a link that are apart take their steps, and the others see them.
pub(super) fn step_apart<'a>(
    r: &mut [f64],
    own: &[f64],
    pushing: &[u32],
    slopes: &[Block],
    mut alone: impl Iterator<Item = &'a Block>,
) {
    let width = r.len();
    let mut pushes = pushing.iter().peekable();
    for k in 0..width / 3 {
        if pushes.next_if(|next| **next as usize == k).is_some() {
            continue;
        }
        let step = alone.next().map_or([0.0; 3], |n| times(n, &triple(r, k)));
        r[3 * k..3 * k + 3].copy_from_slice(&step);
        if step == [0.0; 3] {
            continue;
        }
        for l in pushing.iter().map(|l| *l as usize) {
            let at = 3 * l * width + 3 * k;
            let s: Block = std::array::from_fn(|e| own[at + e / 3 * width + e % 3]);
            let seen = times(&slopes[l], &times(&s, &step));
            for (r, seen) in r[3 * l..].iter_mut().zip(seen) {
                *r -= seen;
            }
        }
    }
}
