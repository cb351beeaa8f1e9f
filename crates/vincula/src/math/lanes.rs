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

/// A number of each body.
#[inline(always)]
pub fn each(number: impl Fn(usize) -> f64) -> Lane {
    let mut x = [0.0; LANES];
    for lane in 0..LANES {
        x[lane] = number(lane);
    }
    x
}

/// Copies row by row: assigning whole arrays calls a library, which in a kernel costs more.
#[inline(always)]
pub fn copy<const N: usize>(from: &[Lane; N], to: &mut [Lane; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Magnitudes below this are nothing, in any unit. Far from where something happens, motion decays
/// exponentially; left alone it would end in subnormal numbers, which are a hundred times slower
/// than others. Fourth powers of what is left are still far from them.
const TINY: f64 = 1e-60;

/// Makes tiny numbers zero.
#[inline(always)]
pub fn flush<const N: usize>(numbers: &mut [Lane; N]) {
    for x in numbers.as_flattened_mut() {
        *x = if x.abs() < TINY { 0.0 } else { *x };
    }
}

/// The sum over the lanes, in pairs: a chain of eight additions would wait for each.
#[inline(always)]
pub fn sum(x: &Lane) -> f64 {
    ((x[0] + x[4]) + (x[1] + x[5])) + ((x[2] + x[6]) + (x[3] + x[7]))
}

/// The largest of the lanes, in pairs; a lane that is not a number is passed over.
#[inline(always)]
pub fn largest(x: &Lane) -> f64 {
    let low = x[0].max(x[4]).max(x[1].max(x[5]));
    low.max(x[2].max(x[6]).max(x[3].max(x[7])))
}

/// The largest of the lanes, which are not negative; not a number if one is not finite.
#[inline(always)]
pub fn worst(x: &Lane) -> f64 {
    largest(x) + 0.0 * sum(x)
}

/// Whether all lanes pass a test, without a jump for each.
#[inline(always)]
pub fn all(x: &Lane, test: impl Fn(f64) -> bool) -> bool {
    let mut passed = true;
    for lane in 0..LANES {
        passed &= test(x[lane]);
    }
    passed
}

/// The block and the lane of a body.
#[inline(always)]
pub fn place(body: usize) -> (usize, usize) {
    (body / LANES, body % LANES)
}
