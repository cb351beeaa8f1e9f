//! Memory that is asked for before it is needed.
//!
//! A pass over a million bodies that reads a block, computes with it and writes it down waits for
//! memory most of the time: while it computes, nothing is under way. So it asks for what comes a
//! little later, some lines at a time, since the processor can only wait for a few at once. This
//! changes no result.

use std::ops::Range;

/// Bytes that move together between memory and caches.
const LINE: usize = 64;

/// Asks for a slice.
#[inline(always)]
pub fn fetch_all<T>(slice: &[T]) {
    fetch_lines(slice, 0..size_of_val(slice).div_ceil(LINE));
}

/// Asks for part `k` of `n` of an entry; nothing if there is none.
#[inline(always)]
pub fn fetch<T>(entries: &[T], at: usize, [k, n]: [usize; 2]) {
    if let Some(wanted) = entries.get(at) {
        let lines = size_of::<T>().div_ceil(LINE);
        fetch_lines(
            std::slice::from_ref(wanted),
            lines * k / n..lines * (k + 1) / n,
        );
    }
}

#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn fetch_lines<T>(wanted: &[T], lines: Range<usize>) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let start = wanted.as_ptr().cast::<i8>();
    for line in lines {
        // SAFETY: a prefetch reads nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) };
    }
}

#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
fn fetch_lines<T>(_wanted: &[T], _lines: Range<usize>) {}
