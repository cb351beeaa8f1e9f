//! Asking for memory before it is needed.

/// Bytes that move together between memory and caches.
const LINE: usize = 64;

/// Asks the processor to fetch a slice. Changes nothing but time.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
pub(crate) fn fetch<T>(slice: &[T]) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    let start = slice.as_ptr().cast::<i8>();
    let mut offset = 0;
    while offset < size_of_val(slice) {
        // SAFETY: a prefetch reads nothing, and the address lies in the slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        offset += LINE;
    }
}

/// Asks the processor to fetch a slice. Changes nothing but time.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fetch<T>(_slice: &[T]) {}
