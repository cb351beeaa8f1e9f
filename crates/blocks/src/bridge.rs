//! A stretch of a chain as its two ends feel it.
//!
//! A link gives way at two points, under forces at either of them. So does any number of links tied
//! together: the ties in between are eliminated one after the other, and what is left has the form
//! of a single link. Forces at the ends then say what the ties carry, from the last one back.

use crate::lanes::{Lane, Pair};

/// A vector.
type V<L = f64> = [L; 3];
/// Three by three numbers, row-major.
type M<L = f64> = [L; 9];
/// A symmetric matrix: xx, yy, zz, xy, xz, yz.
type S<L = f64> = [L; 6];

/// Entries smaller than this are none: an end that hardly feels the other one would fill with
/// numbers that are slow to compute with.
const NOTHING: f64 = 1e-200;
/// What a pivot must have of the product of its diagonal.
const SAFE: f64 = 1e-12;

/// Something with two ends that forces move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bridge<L = f64> {
    /// Displacement of each end under forces at it, m/N: xx, yy, zz, xy, xz, yz.
    pub own: [[L; 6]; 2],
    /// Displacement of the first end under forces at the second, m/N, row-major.
    pub mutual: [L; 9],
    /// Where the ends are without forces, m.
    pub places: [[L; 3]; 2],
}

/// A tie that was eliminated: what it carries follows from the forces at the ends of the bridge.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tie<L = f64> {
    /// Without forces, N.
    pub alone: [L; 3],
    /// Per force at the first end of the bridge. A chain that is straight is stiff along itself, so
    /// that this does not fade.
    pub first: [L; 9],
    /// Per force at the second end of the link behind the tie.
    pub last: [L; 9],
}

impl Bridge {
    /// Where the ends are under forces at them, m.
    pub fn places_under(&self, [first, second]: [&V; 2]) -> [V; 2] {
        let [a, b] = &self.places;
        let one = add(
            &symmetric_times(&self.own[0], first),
            &times(&self.mutual, second),
        );
        let two = add(
            &transposed_times(&self.mutual, first),
            &symmetric_times(&self.own[1], second),
        );
        [add(a, &one), add(b, &two)]
    }

    /// The same, seen from the other end.
    #[inline(always)]
    pub fn turned(&self) -> Bridge {
        Bridge {
            own: [self.own[1], self.own[0]],
            mutual: transposed(&self.mutual),
            places: [self.places[1], self.places[0]],
        }
    }

    /// Ties the second end to the first end of `next`. The tie pulls this one back with what it carries,
    /// and pushes the next one. False if it could not be eliminated.
    #[inline(always)]
    pub fn extend(&mut self, next: &Bridge) -> (Tie, bool) {
        let (tie, per) = extend(self, next);
        (tie, per > 0.0)
    }
}

/// Two bridges that grow side by side, with the same bits as alone: a processor is idle half of the time
/// where numbers wait for each other.
#[derive(Clone, Copy)]
pub struct Twin(Bridge<Pair>);

impl Twin {
    /// Puts two bridges side by side.
    #[inline(always)]
    pub fn new(bridges: [&Bridge; 2]) -> Twin {
        Twin(pack(bridges))
    }

    /// Ties both to what comes next, as [`Bridge::extend`] does.
    #[inline(always)]
    pub fn extend(&mut self, next: [&Bridge; 2], ties: [&mut Tie; 2]) -> [bool; 2] {
        let (found, per) = extend(&mut self.0, &pack(next));
        for (w, tie) in ties.into_iter().enumerate() {
            unpack(&found.alone, w, &mut tie.alone);
            unpack(&found.first, w, &mut tie.first);
            unpack(&found.last, w, &mut tie.last);
        }
        [per.get(0) > 0.0, per.get(1) > 0.0]
    }

    /// Takes them apart.
    #[inline(always)]
    pub fn part(&self, bridges: [&mut Bridge; 2]) {
        for (w, bridge) in bridges.into_iter().enumerate() {
            for k in 0..2 {
                unpack(&self.0.own[k], w, &mut bridge.own[k]);
                unpack(&self.0.places[k], w, &mut bridge.places[k]);
            }
            unpack(&self.0.mutual, w, &mut bridge.mutual);
        }
    }
}

#[inline(always)]
fn unpack<const N: usize>(from: &[Pair; N], w: usize, to: &mut [f64; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.get(w);
    }
}

#[inline(always)]
fn pack([a, b]: [&Bridge; 2]) -> Bridge<Pair> {
    let end = |k: usize| std::array::from_fn(|i| Pair::new(a.own[k][i], b.own[k][i]));
    let place = |k: usize| std::array::from_fn(|i| Pair::new(a.places[k][i], b.places[k][i]));
    Bridge {
        own: [end(0), end(1)],
        mutual: std::array::from_fn(|i| Pair::new(a.mutual[i], b.mutual[i])),
        places: [place(0), place(1)],
    }
}

/// Ties the second end of a bridge to the first one of the next; zero beside the tie if that could not
/// be eliminated.
#[inline(always)]
fn extend<L: Lane>(whole: &mut Bridge<L>, next: &Bridge<L>) -> (Tie<L>, L) {
    let k = std::array::from_fn(|i| whole.own[1][i] + next.own[0][i]);
    let (inverse, per) = inverse(&k);
    let gap: V<L> = std::array::from_fn(|i| whole.places[1][i] - next.places[0][i]);
    let tie = Tie {
        alone: symmetric_times(&inverse, &gap),
        first: symmetric_by(&inverse, &transposed(&whole.mutual)),
        last: symmetric_by(&inverse, &next.mutual),
    };
    let moved = times(&whole.mutual, &tie.alone);
    let carried = transposed_times(&next.mutual, &tie.alone);
    let taken = symmetric_product(&transposed(&whole.mutual), &tie.first);
    let given = symmetric_product(&next.mutual, &tie.last);
    for i in 0..6 {
        whole.own[0][i] = whole.own[0][i] - taken[i];
        whole.own[1][i] = next.own[1][i] - given[i];
    }
    whole.mutual = product(&whole.mutual, &tie.last).map(|x| x.flush(NOTHING));
    for i in 0..3 {
        whole.places[0][i] = whole.places[0][i] - moved[i];
        whole.places[1][i] = next.places[1][i] + carried[i];
    }
    (tie, per)
}

impl Tie {
    /// What it carries under forces at the first end of the bridge and at the second end of the link
    /// behind it, N.
    #[inline(always)]
    pub fn force(&self, first: &V, last: &V) -> V {
        let (one, two) = (times(&self.first, first), times(&self.last, last));
        std::array::from_fn(|i| self.alone[i] + one[i] - two[i])
    }
}

/// Inverse of a symmetric matrix, and that of its determinant, zero unless the matrix is safely positive
/// definite.
#[inline(always)]
fn inverse<L: Lane>(k: &S<L>) -> (S<L>, L) {
    let [xx, yy, zz, xy, xz, yz] = *k;
    let (a, b, c) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let det = xx * a + xy * b + xz * c;
    let per = det.reciprocal_above(L::splat(SAFE) * (xx * yy * zz));
    let (a, b, c) = (a * per, b * per, c * per);
    let (d, e) = ((xx * zz - xz * xz) * per, (xy * xz - xx * yz) * per);
    let f = (xx * yy - xy * xy) * per;
    ([a, d, f, b, c, e], per)
}

#[inline(always)]
fn add(a: &V, b: &V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn times<L: Lane>(m: &M<L>, x: &V<L>) -> V<L> {
    let row = |i: usize| m[i] * x[0] + m[i + 1] * x[1] + m[i + 2] * x[2];
    [row(0), row(3), row(6)]
}

#[inline(always)]
fn transposed_times<L: Lane>(m: &M<L>, x: &V<L>) -> V<L> {
    let column = |i: usize| m[i] * x[0] + m[i + 3] * x[1] + m[i + 6] * x[2];
    [column(0), column(1), column(2)]
}

#[inline(always)]
fn product<L: Lane>(a: &M<L>, b: &M<L>) -> M<L> {
    std::array::from_fn(|k| {
        let (r, c) = (k / 3 * 3, k % 3);
        a[r] * b[c] + a[r + 1] * b[c + 3] + a[r + 2] * b[c + 6]
    })
}

#[inline(always)]
fn transposed<L: Copy>(m: &M<L>) -> M<L> {
    let [a, b, c, d, e, f, g, h, i] = *m;
    [a, d, g, b, e, h, c, f, i]
}

#[inline(always)]
fn symmetric_times<L: Lane>([xx, yy, zz, xy, xz, yz]: &S<L>, [x, y, z]: &V<L>) -> V<L> {
    [
        *xx * *x + *xy * *y + *xz * *z,
        *xy * *x + *yy * *y + *yz * *z,
        *xz * *x + *yz * *y + *zz * *z,
    ]
}

/// A symmetric matrix times another one.
#[inline(always)]
fn symmetric_by<L: Lane>(&[xx, yy, zz, xy, xz, yz]: &S<L>, b: &M<L>) -> M<L> {
    product(&[xx, xy, xz, xy, yy, yz, xz, yz, zz], b)
}

/// Aᵀ B where that is symmetric.
#[inline(always)]
fn symmetric_product<L: Lane>(a: &M<L>, b: &M<L>) -> S<L> {
    let entry = |r: usize, c: usize| a[r] * b[c] + a[r + 3] * b[c + 3] + a[r + 6] * b[c + 6];
    [
        entry(0, 0),
        entry(1, 1),
        entry(2, 2),
        entry(0, 1),
        entry(0, 2),
        entry(1, 2),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockMatrix, Dense, Factorization, Pattern};

    /// Numbers that look arbitrary and are the same every time.
    fn numbers(seed: usize) -> impl FnMut() -> f64 {
        let mut state = seed as u64 + 1;
        move || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        }
    }

    /// A link whose two ends give way like those of something with mass.
    fn link(seed: usize) -> Bridge {
        let mut next = numbers(seed);
        let half: [f64; 36] = std::array::from_fn(|_| next());
        let full = |i: usize, j: usize| -> f64 {
            let sum: f64 = (0..6).map(|k| half[6 * i + k] * half[6 * j + k]).sum();
            sum + if i == j { 0.5 } else { 0.0 }
        };
        let block = |r: usize, c: usize| std::array::from_fn(|k| full(r + k / 3, c + k % 3));
        let own = |r: usize| {
            let [xx, xy, xz, _, yy, yz, _, _, zz]: M = block(r, r);
            [xx, yy, zz, xy, xz, yz]
        };
        Bridge {
            own: [own(0), own(3)],
            mutual: block(0, 3),
            places: [[next(), next(), next()], [next(), next(), next()]],
        }
    }

    #[test]
    fn ties_carry_what_the_whole_chain_says() {
        let links: Vec<Bridge> = (0..7).map(link).collect();
        let (first, last) = ([0.3, -0.7, 0.2], [1.1, 0.4, -0.6]);
        let mut whole = links[0];
        let ties: Vec<Tie> = links[1..]
            .iter()
            .map(|next| {
                let (tie, safe) = whole.extend(next);
                assert!(safe);
                tie
            })
            .collect();
        // All ties at once: (own + own) λ − coupling of neighbours = gap.
        let count = ties.len();
        let edges: Vec<(usize, usize)> = (1..count).map(|k| (k - 1, k)).collect();
        let pattern = Pattern::new(&vec![3; count], &edges).unwrap();
        let mut matrix = BlockMatrix::zeros(&pattern);
        let mut rows = vec![0.0; 3 * count];
        for k in 0..count {
            let (here, next) = (&links[k], &links[k + 1]);
            let sum: S = std::array::from_fn(|i| here.own[1][i] + next.own[0][i]);
            let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
            matrix
                .diagonal_mut(k)
                .copy_from_slice(&symmetric_by(&sum, &identity));
            for i in 0..9 {
                if k + 1 < count {
                    matrix.edge_mut(k)[i] = -next.mutual[i];
                }
            }
            for i in 0..3 {
                rows[3 * k + i] = here.places[1][i] - next.places[0][i];
            }
        }
        let (one, two) = (
            transposed_times(&links[0].mutual, &first),
            times(&links[count].mutual, &last),
        );
        for i in 0..3 {
            rows[i] += one[i];
            rows[3 * (count - 1) + i] -= two[i];
        }
        let mut dense = Dense::symbolic(&pattern);
        dense.factor(&matrix).unwrap();
        dense.solve(&mut rows).unwrap();
        let mut behind = last;
        for k in (0..count).rev() {
            let force = ties[k].force(&first, &behind);
            for i in 0..3 {
                assert!((force[i] - rows[3 * k + i]).abs() < 1e-12);
            }
            behind = force.map(|f| -f);
        }
        let ends = whole.places_under([&first, &last]);
        let start = links[0].places_under([&first, &behind])[0];
        for i in 0..3 {
            assert!((ends[0][i] - start[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn twins_grow_as_each_would_alone() {
        let mut alone = [link(1), link(2)];
        let mut twin = Twin::new([&alone[0], &alone[1]]);
        for k in 0..9 {
            let next = [link(10 + k), link(50 + k)];
            let [mut one, mut two] = [Tie::default(); 2];
            let safe = twin.extend([&next[0], &next[1]], [&mut one, &mut two]);
            for (w, tie) in [one, two].iter().enumerate() {
                let (expected, safely) = alone[w].extend(&next[w]);
                assert_eq!((tie.alone, tie.first), (expected.alone, expected.first));
                assert_eq!((tie.last, safe[w]), (expected.last, safely));
            }
        }
        let [mut one, mut two] = [Bridge::default(); 2];
        twin.part([&mut one, &mut two]);
        assert_eq!([one, two], alone);
    }

    #[test]
    fn a_bridge_turned_round_is_moved_alike() {
        let (bridge, one, two) = (link(3), [0.4, -1.0, 0.3], [0.2, 0.5, -0.8]);
        let [a, b] = bridge.places_under([&one, &two]);
        let turned = bridge.turned().places_under([&two, &one]);
        for (x, y) in turned.iter().flatten().zip([b, a].iter().flatten()) {
            assert!((x - y).abs() < 1e-12);
        }
    }

    #[test]
    fn an_end_that_does_not_give_way_is_refused() {
        let mut stiff = Bridge::default();
        assert!(!stiff.extend(&Bridge::default()).1);
    }
}
