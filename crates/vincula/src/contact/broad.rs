//! The broad phase: which boxes overlap, without asking for all pairs.

use super::bounds::Bounds;

/// Memory of the broad phase.
#[derive(Debug, Default)]
pub(crate) struct Broad {
    order: Vec<u32>,
}

impl Broad {
    /// Calls `visit(i, j)` with i < j for each pair of bounded boxes that overlap.
    pub fn pairs(&mut self, bounds: &[Bounds], mut visit: impl FnMut(u32, u32)) {
        self.order.clear();
        self.order
            .extend((0..bounds.len() as u32).filter(|&k| bounds[k as usize].is_finite()));
        let start = |k: u32| bounds[k as usize].low.x;
        self.order
            .sort_unstable_by(|&p, &q| start(p).total_cmp(&start(q)).then(p.cmp(&q)));
        for (place, &one) in self.order.iter().enumerate() {
            let mine = &bounds[one as usize];
            for &two in &self.order[place + 1..] {
                let other = &bounds[two as usize];
                if other.low.x > mine.high.x {
                    break;
                }
                if mine.meets(other) {
                    visit(one.min(two), one.max(two));
                }
            }
        }
    }
}
