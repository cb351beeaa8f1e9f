//! Limits or friction of joints have changed what they do: some mechanisms answer in another way.
//!
//! In a crowd of small mechanisms that is so of a few among many. All others keep their rows, their
//! places in the batches of the sweeps, and their forces.

use super::*;

impl Stage {
    /// In the first stage, before the bodies were told of forces.
    pub fn first_altered(&mut self, scene: &Scene<'_>, dual: &mut Dual) {
        if self.swept {
            self.weigh_altered(dual);
            return;
        }
        if self.care() != Care::Crowd {
            self.progress = Progress::Begun;
        }
        self.movers.forget_own();
        self.first(scene, dual);
    }

    /// In the first stage, where the bodies were told.
    pub fn weigh_again(&mut self, scene: &Scene<'_>, dual: &mut Dual) {
        if self.swept {
            self.weigh_altered(dual);
            return;
        }
        self.movers.forget_own();
        self.weigh_mechanisms(scene, dual);
        for row in &mut self.rows {
            row.weigh(&self.movers);
        }
        self.sweeper.forget();
    }

    /// In the second stage, for the rates that the mechanisms have now without contacts.
    pub fn second_altered(&mut self, scene: &Scene<'_>, dual: &mut Dual) {
        if !self.swept || !self.approaches.is_empty() {
            self.second(scene, dual);
            return;
        }
        self.mark_altered(dual);
        for index in 0..self.links.len() {
            let link = &self.links[index];
            let Some(k) = link.second.filter(|_| self.is_altered(link)) else {
                continue;
            };
            let frame = &self.rows[k as usize].frame;
            let rates = self.rates(scene, &scene.points[index], link, frame);
            self.rows[k as usize].free = sub(&rates.free, &self.sprung[k as usize]);
        }
        self.weigh_altered(dual);
    }

    fn is_altered(&self, link: &Link) -> bool {
        // What is fixed has no place.
        let altered = |side: &Side| self.altered.get(side.mover as usize) == Some(&true);
        link.sides.iter().any(altered)
    }

    /// Marks the movers whose mechanism answers in another way.
    fn mark_altered(&mut self, dual: &Dual) {
        self.altered.clear();
        let all = 0..self.movers.all.len() as u32;
        let altered = all.map(|mover| self.movers.is_altered(mover, dual));
        self.altered.extend(altered);
    }

    /// Finds how the mechanisms answer that have changed, and where forces put them.
    fn weigh_altered(&mut self, dual: &mut Dual) {
        self.movers.weigh_altered(dual);
        self.mark_altered(dual);
        let Stage {
            rows,
            movers,
            sweeper,
            altered,
            ..
        } = self;
        // What is fixed has no place.
        let altered = |m: u32| altered.get(m as usize) == Some(&true);
        for row in rows.iter_mut() {
            if altered(row.a.mover) || altered(row.b.mover) {
                row.weigh(movers);
            }
        }
        sweeper.weigh(rows, movers, altered);
    }
}
