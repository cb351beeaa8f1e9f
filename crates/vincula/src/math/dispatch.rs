//! Which vector instructions this processor has, found at run time.
//!
//! A kernel is compiled three times, for AVX-512, for AVX2 and for the baseline, from
//! the same source. No fused multiply-add is ever formed (Rust does not contract), so
//! the three give the same bits and a result does not depend on the machine.

use std::sync::OnceLock;

/// A level of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every processor of this architecture has.
    Baseline,
    /// AVX2: four f64 at a time.
    Avx2,
    /// AVX-512: eight f64 at a time.
    Avx512,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

    /// Whether this processor has the level.
    pub fn available(self) -> bool {
        self <= detected()
    }

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Baseline => "baseline",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

/// The highest level of this processor.
pub fn detected() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(probe)
}

#[cfg(target_arch = "x86_64")]
fn probe() -> Level {
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
    {
        Level::Avx512
    } else if is_x86_feature_detected!("avx2") {
        Level::Avx2
    } else {
        Level::Baseline
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn probe() -> Level {
    Level::Baseline
}

/// Compiles a kernel for every level and defines a function that picks one.
///
/// `kernel!(pub fn name(a: &A, b: &mut B) = body_fn)`: `body_fn` must be
/// `#[inline(always)]`; the new function takes the level first. Blocks are arguments of their own,
/// however many: of references inside a struct the compiler no longer knows that they do not overlap,
/// and a kernel takes 1.6 times as long.
///
/// `kernel!(pub fn name<LINE>(a: &A) = body_fn)`: the new function takes a bool after the level and
/// calls `body_fn::<true>` or `body_fn::<false>`. Where one kernel asks for such a thing itself, the
/// compiler may unite what both ways have in common by choosing the address of every number.
#[macro_export]
#[doc(hidden)]
macro_rules! kernel {
    ($(#[$meta:meta])* $vis:vis fn $name:ident<$flag:ident>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:ident) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name(level: $crate::math::dispatch::Level, flag: bool, $($arg: $ty),*) $(-> $ret)? {
            $crate::kernel! { fn yes($($arg: $ty),*) $(-> $ret)? = $body::<true> }
            $crate::kernel! { fn no($($arg: $ty),*) $(-> $ret)? = $body::<false> }
            if flag { yes(level, $($arg),*) } else { no(level, $($arg),*) }
        }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? = $body:path) => {
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name(level: $crate::math::dispatch::Level, $($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx2")]
                #[allow(clippy::too_many_arguments)]
                fn avx512($($arg: $ty),*) $(-> $ret)? { $body($($arg),*) }
                #[target_feature(enable = "avx2")]
                #[allow(clippy::too_many_arguments)]
                fn avx2($($arg: $ty),*) $(-> $ret)? { $body($($arg),*) }
                // SAFETY: a level is used only after `available` found its instructions.
                match level {
                    $crate::math::dispatch::Level::Avx512 if level.available() => return unsafe { avx512($($arg),*) },
                    $crate::math::dispatch::Level::Avx2 if level.available() => return unsafe { avx2($($arg),*) },
                    _ => {}
                }
            }
            let _ = level;
            $body($($arg),*)
        }
    };
}
