//! Block Gauss–Seidel over contacts with the motion of the bodies (Moreau and Jean's NSCD).
//!
//! For one contact after the other: the slip without its own force, `u − W λ`; the exact force
//! of Coulomb's law for it (`vincula_blocks::cone`); the bodies are moved by the change. A sweep
//! needs neither a matrix nor the graph, so it serves piles of thousands.

use vincula_blocks::cone::{solve_block_near, violation};

use super::batch::{self, Batch, Change, Couple, Moved, Puck, widen};
use super::colours::Colours;
use super::kept::Kept;
use super::movers::{FIXED, Movers};
use super::rows::{ContactRow, Spin};
use crate::math::ahead::fetch;
use crate::math::dispatch::detected;
use crate::math::lanes::LANES;
use crate::math::small::*;

/// Solves one contact; returns the change of its force times its compliance, m.
fn visit(row: &mut ContactRow, movers: &mut Movers) -> f64 {
    let mut moved = 0.0f64;
    let u = row.slip(&movers.all);
    // Apart and without force: nothing to do, as for most of what is only near.
    if u[0] >= 0.0 && row.lambda == [0.0; 3] {
        return 0.0;
    }
    let b = sub(&u, &mul_vec(&row.w, &row.lambda));
    // Where it slides now it is likely to go on so.
    let (sliding, rubbing) = (tangential_square(&u), tangential_square(&row.lambda));
    let next = solve_block_near(&row.w, &b, row.mu, (sliding / rubbing).sqrt());
    let change = sub(&next, &row.lambda);
    if change != [0.0; 3] {
        row.lambda = next;
        row.push(movers, &change);
        let size = change[0].abs().max(change[1].abs()).max(change[2].abs());
        moved = size * row.w[0];
    }
    if row.spins() {
        moved = moved.max(resist(row, movers));
    }
    moved
}

/// Square of the tangential part.
fn tangential_square(x: &V3) -> f64 {
    x[1] * x[1] + x[2] * x[2]
}

/// Rolling and torsional friction of one contact, within the force that it has. Returns how far
/// it moved, as a length.
fn resist(row: &ContactRow, movers: &mut Movers) -> f64 {
    let Some(&spin) = row.spin(movers) else {
        return 0.0;
    };
    let next = resisted(&spin, &row.relative_turn(&movers.all), row.lambda[0]);
    let change = sub(&next, &spin.torque);
    row.twist(movers, &change);
    if let Some(spin) = row.spin_mut(movers) {
        spin.torque = next;
    }
    let reach = spin.torsional.max(spin.rolling);
    let size = change[0].abs().max(change[1].abs()).max(change[2].abs());
    if reach > 0.0 {
        size / reach * row.w[0]
    } else {
        0.0
    }
}

/// The torques that a projected step towards no rotation gives.
fn resisted(spin: &Spin, turned: &V3, force: f64) -> V3 {
    let rate = add(&spin.free, turned);
    let bound = spin.torsional * force;
    let twist = (spin.torque[0] - rate[0] / spin.compliance[0]).clamp(-bound, bound);
    let mut roll = [
        spin.torque[1] - rate[1] / spin.compliance[1],
        spin.torque[2] - rate[2] / spin.compliance[1],
    ];
    let size = (roll[0] * roll[0] + roll[1] * roll[1]).sqrt();
    let bound = spin.rolling * force;
    if size > bound {
        roll = roll.map(|x| x * bound / size);
    }
    [twist, roll[0], roll[1]]
}

/// How far contacts are from Coulomb's law.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Violation {
    /// The largest violation, N, and the square of the largest force.
    pub worst: f64,
    largest: f64,
    /// The largest force that moves a contact by [`FAINT`], N.
    faint: f64,
}

/// Way that says little, m: forces that move nothing farther in a step are not told from rounding.
const FAINT: f64 = 1e-9;

impl Violation {
    /// That of some contacts.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a ContactRow>, movers: &Movers) -> Violation {
        let mut all = Violation::default();
        for row in rows {
            all.add(row, &row.slip(&movers.all));
        }
        all
    }

    /// Takes a contact with its slip.
    #[inline(always)]
    pub fn add(&mut self, row: &ContactRow, slip: &V3) {
        let trace = row.w[0] + row.w[4] + row.w[8];
        let off = violation(&row.lambda, slip, row.mu, trace);
        // What is not a number is as far off as can be.
        self.worst = self
            .worst
            .max(if off.is_nan() { f64::INFINITY } else { off });
        self.largest = self.largest.max(dot(&row.lambda, &row.lambda));
        self.faint = self.faint.max(FAINT / trace);
    }

    /// The largest violation relative to the largest force, or to one that would hardly move
    /// anything.
    pub fn relative(&self) -> f64 {
        if self.worst == 0.0 {
            return 0.0;
        }
        match self.worst.is_finite() && self.largest.is_finite() {
            true => self.worst / self.scale(),
            false => f64::INFINITY,
        }
    }

    /// What violations are compared with, N.
    pub fn scale(&self) -> f64 {
        self.largest.sqrt().max(self.worst).max(self.faint)
    }
}

/// The largest violation of Coulomb's law, relative to the largest force.
pub(crate) fn residual(rows: &[ContactRow], movers: &Movers) -> f64 {
    Violation::of(rows, movers).relative()
}

/// Whether forces run away.
fn is_wild(change: &Change, rows: &[ContactRow]) -> bool {
    let most = || {
        let slips = rows.iter().flat_map(|row| row.free);
        WILD * slips.fold(0.0, |m: f64, x| m.max(x.abs()))
    };
    !change.square.is_finite() || (change.largest > LARGE && change.largest > most())
}

/// The sweeps after the k-th go on by k/(k + this) of the last change at most, as in Nesterov's
/// method.
const CAUTION: f64 = 3.0;

/// Part of all sweeps, inverse, that is left at least where contacts join that were left aside.
const REVISION: usize = 4;

/// Change of a force times the compliance of its contact, m, beyond which it is looked at, and by how much
/// it exceeds every slip there was where it is believed not to be one: between light bodies that rub hard,
/// each may push the next one harder, and forces run away.
const LARGE: f64 = 0.1;
const WILD: f64 = 1e3;

/// When sweeps are enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Enough {
    /// No force changes by more in a sweep, times the compliance of its contact, m.
    pub forces: f64,
    /// Or by no more than this, m, while no body moves by more than `still`, m. Corners of a face that
    /// share a force in many ways pass it on among each other sweep after sweep, and nothing comes of
    /// it.
    pub shared: f64,
    pub still: f64,
}

/// Contacts sorted by how they are swept: those of loose bodies and of small mechanisms in batches,
/// the others one by one.
#[derive(Debug, Default)]
pub(crate) struct Sweeper {
    /// At least as many as there is an order for.
    batches: Vec<Batch>,
    /// How each puck answers, and the puck that answers with it or the first one, where joints hold some.
    couples: Vec<Couple>,
    partners: Vec<u32>,
    pucks: Vec<Puck>,
    /// Of each puck: where the last pass over the batches started, and the conjugate direction.
    starts: Vec<Moved>,
    ways: Vec<Moved>,
    /// Of the rows that no batch takes.
    trails: Vec<Trail>,
    /// Where sweeps that reach such rows started.
    origin: Kept,
    colours: Colours,
    /// Whether the rows are those of the last time but for their slips and forces.
    sorted: bool,
}

/// The force of a contact before a sweep, and the conjugate direction so far, N.
#[derive(Clone, Copy, Debug)]
struct Trail {
    start: V3,
    along: V3,
}

impl Sweeper {
    /// The rows are going to be others.
    pub fn forget(&mut self) {
        self.sorted = false;
    }

    /// Sweeps until the bodies move by less than `tolerance` (m), at most `limit` times. Returns
    /// the sweeps, and whether they were enough.
    ///
    /// The change of a sweep is taken as a gradient, and the next one starts farther along the
    /// conjugate direction, as long as changes become smaller. Contacts that are far from closing are
    /// left aside, and join the others if these make them close.
    pub fn solve(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        tolerance: f64,
        limit: usize,
    ) -> (usize, bool) {
        let end = Enough {
            forces: tolerance,
            shared: 0.0,
            still: 0.0,
        };
        self.solve_until(rows, movers, end, limit)
    }

    /// The same until it is enough by another measure.
    pub fn solve_until(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        end: Enough,
        limit: usize,
    ) -> (usize, bool) {
        let (count, enough) = self.relax(rows, movers, end, limit);
        if !self.misses(rows, movers) {
            return (count, enough);
        }
        let most = (limit - count).max(limit.div_ceil(REVISION));
        let (more, enough) = self.relax(rows, movers, end, most);
        (count + more, enough)
    }

    /// Whether a contact that was left aside has closed.
    fn misses(&self, rows: &[ContactRow], movers: &Movers) -> bool {
        let closed = |&k: &u32| rows[k as usize].slip(&movers.all)[0] < 0.0;
        self.colours.aside.iter().any(closed)
    }

    fn relax(
        &mut self,
        rows: &mut [ContactRow],
        movers: &mut Movers,
        end: Enough,
        limit: usize,
    ) -> (usize, bool) {
        if limit == 0 {
            return (0, false);
        }
        if std::mem::replace(&mut self.sorted, true) {
            batch::refresh(self.used(), rows);
            if self.misses(rows, movers) {
                self.join(rows, movers);
            }
        } else {
            self.sort(rows, movers);
        }
        self.start(rows, movers);
        let (mut before, mut beta) = (f64::INFINITY, 0.0);
        let mut found = (limit, false);
        for k in 0..limit {
            let change = self.sweep(rows, movers, beta);
            if is_wild(&change, rows) {
                // Rows and movers know nothing of the batches yet.
                if !self.trails.is_empty() {
                    self.origin.take(rows, movers);
                }
                return (k + 1, false);
            }
            if change.largest <= end.forces
                || (change.largest <= end.shared && self.is_still(end.still))
            {
                found = (k + 1, true);
                break;
            }
            // At first the changes say little of how slowly they fade.
            beta = change.square / before;
            beta = if beta <= 1.0 { beta } else { 0.0 };
            beta = beta.min(k as f64 / (k as f64 + CAUTION));
            before = change.square;
        }
        if self.colours.rest.is_empty() {
            self.tell(movers);
        }
        batch::unpack(detected(), self.used(), rows, movers);
        found
    }

    /// Puts contacts into batches.
    fn sort(&mut self, rows: &[ContactRow], movers: &Movers) {
        self.colours.find(rows, movers);
        self.pack(rows, 0);
        let held = movers.all.iter().any(|mover| !mover.loose);
        let count = if held { movers.all.len() + 1 } else { 0 };
        self.couples.resize(count, Couple::NONE);
        self.partners.resize(count, 0);
        let couples = self.couples.iter_mut().zip(&mut self.partners);
        for (mover, (couple, partner)) in (0..).zip(couples.skip(1)) {
            *partner = couple.set(mover, movers);
        }
    }

    /// Adds the contacts that were left aside and have come close since.
    fn join(&mut self, rows: &[ContactRow], movers: &Movers) {
        let packed = self.colours.order.len();
        self.colours.join(rows, movers);
        self.pack(rows, packed);
    }

    /// Fills the batches after those that are packed already, with so many lanes.
    fn pack(&mut self, rows: &[ContactRow], lanes: usize) {
        let order = &self.colours.order;
        let most = self.batches.len().max(order.len() / LANES);
        self.batches.resize(most, Batch::EMPTY);
        let batches = self.batches[lanes / LANES..].iter_mut();
        let mut ahead = order[lanes..].iter().skip(LANES);
        for (batch, order) in batches.zip(order[lanes..].chunks_exact(LANES)) {
            for &index in ahead.by_ref().take(LANES) {
                fetch(rows, index as usize, [0, 1]);
            }
            for (lane, &index) in order.iter().enumerate() {
                match index {
                    FIXED => batch.clear(lane),
                    index => batch.put(lane, &rows[index as usize], index as usize),
                }
            }
        }
    }

    /// Takes anew the contacts of bodies that answer in another way since they were sorted.
    pub fn weigh(&mut self, rows: &[ContactRow], movers: &Movers, altered: impl Fn(u32) -> bool) {
        if !self.sorted {
            return;
        }
        for batch in self.used() {
            batch.weigh(rows, &altered);
        }
        for (mover, couple) in (0..).zip(self.couples.iter_mut().skip(1)) {
            if altered(mover) {
                couple.set(mover, movers);
            }
        }
    }

    /// The batches with contacts.
    fn used(&mut self) -> &mut [Batch] {
        &mut self.batches[..self.colours.order.len() / LANES]
    }

    /// Makes ready for the first sweep.
    fn start(&mut self, rows: &[ContactRow], movers: &Movers) {
        self.trails.clear();
        let trail = |&k: &u32| Trail {
            start: rows[k as usize].lambda,
            along: [0.0; 3],
        };
        self.trails.extend(self.colours.rest.iter().map(trail));
        if !self.trails.is_empty() {
            self.origin.keep(rows, movers);
        }
        self.pucks.clear();
        if !self.colours.order.is_empty() {
            self.pucks.push(Puck::default());
            self.pucks.extend(movers.all.iter().map(Puck::new));
        }
        self.starts.clear();
        self.starts.extend(self.pucks.iter().map(|puck| puck.moved));
        self.ways.clear();
        self.ways.resize(self.pucks.len(), Moved::default());
    }

    /// Whether the last sweep moved no body of the batches by more than this, m; never so where some
    /// contacts are in none.
    fn is_still(&self, still: f64) -> bool {
        let mut pucks = self.pucks.iter().zip(&self.starts).skip(1);
        self.colours.rest.is_empty()
            && pucks.all(|(puck, start)| puck.size_of(&puck.gain(start)) <= still)
    }

    /// Tells the movers where the pucks are.
    fn tell(&self, movers: &mut Movers) {
        for (mover, puck) in movers.all.iter_mut().zip(self.pucks.iter().skip(1)) {
            let [x, y, z, a, b, c, ..] = puck.moved;
            (mover.shift, mover.turn) = ([x, y, z], [a, b, c]);
        }
    }

    /// One pass over all contacts, each farther by `beta` along the conjugate direction first.
    fn sweep(&mut self, rows: &mut [ContactRow], movers: &mut Movers, beta: f64) -> Change {
        let mixed = !self.colours.rest.is_empty();
        if mixed {
            let pucks = self.pucks.iter_mut().zip(&mut self.starts).skip(1);
            for ((puck, start), mover) in pucks.zip(&movers.all) {
                // What the other contacts did is no gain of the batches.
                let gain = puck.gain(start);
                puck.moved = widen(&mover.shift, &mover.turn);
                *start = std::array::from_fn(|k| puck.moved[k] - gain[k]);
            }
        }
        let mut change = self.sweep_batches(beta);
        if mixed {
            self.tell(movers);
        }
        for (&index, trail) in self.colours.rest.iter().zip(&mut self.trails) {
            let row = &mut rows[index as usize];
            let step = scale(&trail.along, beta);
            trail.along = add(&step, &sub(&row.lambda, &trail.start));
            if step != [0.0; 3] {
                row.lambda = add(&row.lambda, &step);
                row.push(movers, &step);
            }
            trail.start = row.lambda;
        }
        for (&index, trail) in self.colours.rest.iter().zip(&self.trails) {
            let row = &mut rows[index as usize];
            change.largest = change.largest.max(visit(row, movers));
            let g = sub(&row.lambda, &trail.start);
            change.square += row.w[0] * dot(&g, &g);
        }
        change
    }

    /// The same for the batches. Bodies answer linearly, so they too have a conjugate direction.
    fn sweep_batches(&mut self, beta: f64) -> Change {
        let level = detected();
        let (starts, ways) = (&mut self.starts, &mut self.ways);
        batch::run_on(level, &mut self.pucks, starts, ways, beta);
        let batches = &mut self.batches[..self.colours.order.len() / LANES];
        let (runs, couples) = (&self.colours.runs, &self.couples);
        let (partners, pucks) = (&self.partners, &mut self.pucks);
        batch::sweep(level, batches, runs, couples, partners, pucks, beta)
    }
}

#[cfg(test)]
pub(super) mod tests;
