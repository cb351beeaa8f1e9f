//! Loops with the vector instructions that this processor has, found at run time.
//!
//! No fused multiply-add is ever formed (Rust does not contract), so that results do not depend on the
//! processor.

/// A function that runs `body`, compiled for the widest vectors of this processor. Only what is inlined
/// is compiled so: `body` and all that is hot in it must be `#[inline(always)]`, and a closure never is.
macro_rules! vectorized {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path) => {
        $(#[$meta])*
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            struct Work<T>(T);
            impl pulp::WithSimd for Work<($($ty,)*)> {
                type Output = $crate::vectors::vectorized!(@output $($ret)?);
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
                    let ($($arg,)*) = self.0;
                    $body($($arg),*)
                }
            }
            pulp::Arch::new().dispatch(Work(($($arg,)*)))
        }
    };
    ($vis:vis fn $name:ident<const $n:ident: usize>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path) => {
        $vis fn $name<const $n: usize>($($arg: $ty),*) $(-> $ret)? {
            struct Work<const $n: usize, T>(T);
            impl<const $n: usize> pulp::WithSimd for Work<$n, ($($ty,)*)> {
                type Output = $crate::vectors::vectorized!(@output $($ret)?);
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
                    let ($($arg,)*) = self.0;
                    $body($($arg),*)
                }
            }
            pulp::Arch::new().dispatch(Work::<$n, _>(($($arg,)*)))
        }
    };
    (@output) => { () };
    (@output $ret:ty) => { $ret };
}

pub(crate) use vectorized;
