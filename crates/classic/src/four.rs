//! Vectors of four numbers: in portable pairs, or in one AVX register with fused
//! multiply-add where the processor has them.
//!
//! A single body is too small for the blocks of eight that the engine works with; its
//! columns fit one register of four.

use std::ops::{Add, Div, Mul, Sub};

use wide::f64x4;

/// Arithmetic of four numbers at a time.
pub(crate) trait Four:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Four times the same number.
    fn splat(x: f64) -> Self;
    /// Four numbers.
    fn load(x: &[f64; 4]) -> Self;
    /// The four numbers.
    fn store(self) -> [f64; 4];
    /// self · b + c.
    fn times_plus(self, b: Self, c: Self) -> Self;
}

impl Four for f64x4 {
    #[inline(always)]
    fn splat(x: f64) -> Self {
        f64x4::splat(x)
    }
    #[inline(always)]
    fn load(x: &[f64; 4]) -> Self {
        f64x4::from(*x)
    }
    #[inline(always)]
    fn store(self) -> [f64; 4] {
        self.to_array()
    }
    #[inline(always)]
    fn times_plus(self, b: Self, c: Self) -> Self {
        self * b + c
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) use avx::Avx;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx {
    //! SAFETY of the whole module: an `Avx` is only made inside functions that were entered
    //! after AVX2 and FMA were found at run time (`corotated::advance`), and everything here
    //! is inlined into them. Loads and stores are unaligned and of whole arrays.

    use super::{Add, Div, Four, Mul, Sub};
    use core::arch::x86_64::*;

    /// Four numbers in one register.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx(__m256d);

    macro_rules! operator {
        ($trait:ident, $name:ident, $intrinsic:ident) => {
            impl $trait for Avx {
                type Output = Avx;
                #[inline(always)]
                fn $name(self, other: Avx) -> Avx {
                    // SAFETY: see the module.
                    Avx(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }
    operator!(Add, add, _mm256_add_pd);
    operator!(Sub, sub, _mm256_sub_pd);
    operator!(Mul, mul, _mm256_mul_pd);
    operator!(Div, div, _mm256_div_pd);

    impl Four for Avx {
        #[inline(always)]
        fn splat(x: f64) -> Self {
            // SAFETY: see the module.
            Avx(unsafe { _mm256_set1_pd(x) })
        }
        #[inline(always)]
        fn load(x: &[f64; 4]) -> Self {
            // SAFETY: see the module; the array holds the four numbers.
            Avx(unsafe { _mm256_loadu_pd(x.as_ptr()) })
        }
        #[inline(always)]
        fn store(self) -> [f64; 4] {
            let mut x = [0.0; 4];
            // SAFETY: see the module; the array has room for four numbers.
            unsafe { _mm256_storeu_pd(x.as_mut_ptr(), self.0) };
            x
        }
        #[inline(always)]
        fn times_plus(self, b: Self, c: Self) -> Self {
            // SAFETY: see the module.
            Avx(unsafe { _mm256_fmadd_pd(self.0, b.0, c.0) })
        }
    }
}
