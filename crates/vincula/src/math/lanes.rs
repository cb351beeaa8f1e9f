//! Bodies in blocks of eight: structure of arrays inside a block.
//!
//! A block stores `N` numbers of each of eight bodies as `[[f64; 8]; N]`. A kernel is
//! a loop over the eight lanes that gathers a body's numbers, computes with scalar
//! code and scatters the result; the compiler turns the loop into vector code.

/// Bodies in a block: the width of an AVX-512 register of f64.
pub const LANES: usize = 8;

/// One number of each body in a block.
pub type Lane = [f64; LANES];

/// The numbers of one body.
#[inline(always)]
pub fn gather<const N: usize>(from: &[Lane; N], lane: usize) -> [f64; N] {
    let mut x = [0.0; N];
    for i in 0..N {
        x[i] = from[i][lane];
    }
    x
}

/// Writes the numbers of one body.
#[inline(always)]
pub fn scatter<const N: usize>(into: &mut [Lane; N], lane: usize, x: &[f64; N]) {
    for i in 0..N {
        into[i][lane] = x[i];
    }
}

/// The block and the lane of a body.
#[inline(always)]
pub fn place(body: usize) -> (usize, usize) {
    (body / LANES, body % LANES)
}
