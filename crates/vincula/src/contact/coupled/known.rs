//! What the forces of the last solve do, so that the next one need not ask.

/// Change of a force, relative to the largest, that is rounding.
const SAME: f64 = 1e-14;

/// What the last forces do, while all contacts are one group and answer as they did.
#[derive(Debug, Default)]
pub(super) struct Known {
    lambda: Vec<f64>,
    /// D λ.
    pub moved: Vec<f64>,
}

impl Known {
    /// The contacts, or how they answer, are others.
    pub fn forget(&mut self) {
        self.lambda.clear();
    }

    /// Keeps λ, with the slip that it causes and the one without it.
    pub fn keep(&mut self, lambda: &[f64], slip: &[f64], free: &[f64]) {
        self.lambda.clear();
        self.lambda.extend_from_slice(lambda);
        self.moved.clear();
        self.moved.extend(slip.iter().zip(free).map(|(u, b)| u - b));
    }

    /// Whether these forces are the ones that are known, but for rounding.
    pub fn is_of(&self, lambda: &[f64]) -> bool {
        let largest = lambda.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME * largest;
        self.lambda.len() == lambda.len() && self.lambda.iter().zip(lambda).all(near)
    }
}

/// What was not asked for must be what the answer would have been.
#[cfg(debug_assertions)]
pub(super) fn check(moved: &[f64], ask: &mut dyn FnMut(&mut [f64]), slip: &[f64]) {
    let mut answer = vec![0.0; moved.len()];
    ask(&mut answer);
    let larger = |most: f64, x: f64| if x.abs() > most { x.abs() } else { most };
    let size = answer.iter().chain(slip).copied().fold(0.0, larger);
    let off = answer.iter().zip(moved).map(|(a, b)| a - b);
    let off = off.fold(0.0, larger);
    assert!(off <= 1e-9 * size, "off by {off:e} of {size:e}");
}
