//! Fixed loads that tell how fast the machine is at this moment.

use std::hint::black_box;
use std::time::Instant;

/// Multiplications and additions in a chain.
const CHAIN: usize = 1_000_000;
/// Bytes copied, more than a private cache holds.
const BYTES: usize = 16 << 20;

/// Time of one floating-point operation that waits for the one before, ns.
pub fn flop() -> f64 {
    let (factor, term) = (black_box(0.999_999), black_box(1e-6));
    let mut value = black_box(1.0_f64);
    let start = Instant::now();
    for _ in 0..CHAIN {
        value = value * factor + term;
    }
    let time = start.elapsed().as_secs_f64();
    black_box(value);
    time * 1e9 / (2 * CHAIN) as f64
}

/// Two stretches of memory, touched once so that a copy meets no new page.
pub struct Memory {
    source: Vec<u8>,
    target: Vec<u8>,
}

impl Memory {
    /// Allocates both.
    pub fn new() -> Memory {
        Memory {
            source: vec![1; BYTES],
            target: vec![2; BYTES],
        }
    }

    /// Time of copying one byte from memory to memory, ns.
    pub fn copied_byte(&mut self) -> f64 {
        let start = Instant::now();
        self.target.copy_from_slice(black_box(&self.source));
        let time = start.elapsed().as_secs_f64();
        black_box(&self.target);
        time * 1e9 / BYTES as f64
    }
}
