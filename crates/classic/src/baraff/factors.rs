//! The always sparse matrix of a forest, factored and solved without fill.
//!
//! ```text
//! H = [ M  −Jᵀ ]
//!     [ −J   0 ]  =  L S Lᵀ,    S = 1 for bodies, −1 for constraints
//! ```
//!
//! Baraff 1996, section 7: `sparsefactor` and `sparsesolve`. With children before parents a
//! block row of the upper triangle has its diagonal block and one more, for the parent.
//! Eliminating a node changes only the diagonal block of its parent, so both take time in
//! proportion to the number of nodes.
//!
//! A body keeps a positive definite block, M plus what its subtrees add. A constraint starts
//! from zero and becomes negative definite when its child has been eliminated: hence no
//! constraint may be a leaf. Both have a Cholesky factor, with a sign, and no pivoting is
//! needed.
//!
//! **Memory.** Everything that one limb needs later lies in one record, records lie in the order
//! of the forest, and a solve goes through them once up and once down. What a finished subtree
//! adds to its parent waits on a small stack, for in depth-first order the last subtrees to be
//! finished are those of the body whose turn it is. Linearising, factoring and the first half
//! of the solve are one pass, so a structure that is larger than the caches is streamed through
//! them twice and not more.

use vincula::math::ahead::fetch_all;

use super::forest::{Forest, Limb};
use crate::system::rows::Six;

/// Most rows of a constraint.
pub const MOST: usize = 6;

/// Pivots below this fraction of the diagonal entry count as zero.
const SINGULAR: f64 = 1e-13;

/// A right-hand side.
pub trait Sides {
    /// f of a body, in the order (v, ω).
    fn force(&self, body: usize) -> Six;

    /// c of a constraint.
    fn target(&self, constraint: usize, out: &mut [f64; MOST]);
}

/// A matrix with a right-hand side.
pub trait Entries: Sides {
    /// The lower triangle of M of a body.
    fn mass(&self, body: usize, out: &mut [Six; 6]);

    /// Asks for what the entries of a limb will be made of.
    fn fetch(&self, _limb: &Limb) {}

    /// The rows of J of a constraint, for both ends, and its c.
    fn rows(&self, constraint: usize, out: &mut [[Six; MOST]; 2], target: &mut [f64; MOST]);
}

/// Limbs whose records are asked for before their turn.
const AHEAD: usize = 6;

#[inline(always)]
fn record_of<'a>(records: &'a [f64], limb: &Limb) -> &'a [f64] {
    &records[limb.start as usize..limb.start as usize + record(limb.rows())]
}

/// Where the matrix is singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Singular {
    /// A body without mass or inertia.
    Body(usize),
    /// A constraint whose rows depend on each other.
    Constraint(usize),
}

/// What a finished subtree adds to the body it hangs on: to the lower triangle of its block, and
/// to its rows of the right-hand side.
#[derive(Clone, Copy, Debug)]
struct Message {
    block: [f64; 21],
    side: Six,
}

const SILENCE: Message = Message {
    block: [0.0; 21],
    side: [0.0; 6],
};

/// A limb's part of `L⁻¹ k`: six for its body, the rest for its constraint.
pub type Half = [f64; 6 + MOST];

/// The factors of a forest.
///
/// The record of a limb whose constraint has R rows: C (21) with the block of the body C Cᵀ; y
/// (6), the half-solved right-hand side; B (6R) = C⁻¹ J_childᵀ; E (R(R+1)/2) with the block of
/// the constraint −E Eᵀ; z (R), half solved; U (6R) = E⁻¹ J_parent. Triangles by rows, with the
/// reciprocals of their diagonals.
#[derive(Clone, Debug)]
pub struct Factors {
    forest: Forest,
    records: Vec<f64>,
    stack: Vec<Message>,
}

/// Numbers in the record of a limb.
const fn record(rows: usize) -> usize {
    27 + 12 * rows + triangle(rows) + rows
}

const fn triangle(rows: usize) -> usize {
    rows * (rows + 1) / 2
}

/// Calls a function with the number of rows as a constant, so that its loops unroll.
macro_rules! by_rows {
    ($rows:expr, $name:ident($($arg:expr),*)) => {
        match $rows {
            0 => $name::<0>($($arg),*),
            1 => $name::<1>($($arg),*),
            2 => $name::<2>($($arg),*),
            3 => $name::<3>($($arg),*),
            4 => $name::<4>($($arg),*),
            5 => $name::<5>($($arg),*),
            _ => $name::<6>($($arg),*),
        }
    };
}

impl Factors {
    /// Room for the factors of a forest.
    pub fn new(mut forest: Forest) -> Factors {
        let mut length = 0;
        for limb in forest.limbs_mut() {
            limb.start = length as u32;
            length += record(limb.rows());
        }
        let (mut waiting, mut most) = (0, 0);
        for limb in forest.limbs().iter().rev() {
            waiting -= limb.children();
            waiting += usize::from(limb.parent().is_some());
            most = most.max(waiting);
        }
        Factors {
            forest,
            records: vec![0.0; length],
            stack: vec![SILENCE; most],
        }
    }

    /// The forest.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// `sparsefactor` and, with the same pass, the first half of `sparsesolve`.
    pub fn factor(&mut self, entries: &impl Entries) -> Result<(), Singular> {
        let mut top = 0;
        for (index, limb) in self.forest.limbs().iter().enumerate().rev() {
            if let Some(soon) = index.checked_sub(AHEAD) {
                let soon = &self.forest.limbs()[soon];
                fetch_all(record_of(&self.records, soon));
                entries.fetch(soon);
            }
            let record = &mut self.records[limb.start as usize..];
            top -= limb.children();
            let sends = usize::from(limb.parent().is_some());
            let heard = &mut self.stack[top..top + limb.children().max(sends)];
            by_rows!(limb.rows(), eliminate(entries, limb, heard, record))?;
            top += sends;
        }
        Ok(())
    }

    /// The first half of `sparsesolve` for another right-hand side.
    pub fn load(&mut self, sides: &impl Sides) {
        let mut top = 0;
        for limb in self.forest.limbs().iter().rev() {
            let record = &mut self.records[limb.start as usize..];
            top -= limb.children();
            let sends = usize::from(limb.parent().is_some());
            let heard = &mut self.stack[top..top + limb.children().max(sends)];
            by_rows!(limb.rows(), push_up(sides, limb, heard, record));
            top += sends;
        }
    }

    /// The second half of `sparsesolve`: w of every body.
    pub fn finish(&self, motion: &mut [Six]) {
        let limbs = self.forest.limbs();
        for (index, limb) in limbs.iter().enumerate() {
            if let Some(soon) = limbs.get(index + AHEAD) {
                fetch_all(record_of(&self.records, soon));
                fetch_all(std::slice::from_ref(&motion[soon.body()]));
            }
            let record = &self.records[limb.start as usize..];
            let parent = limb.parent().map(|p| self.forest.limbs()[p].body());
            let above = parent.map_or([0.0; 6], |body| motion[body]);
            motion[limb.body()] = by_rows!(limb.rows(), pull_down(record, &above));
        }
    }

    /// Half of a solve for a force on few bodies: `L⁻¹ k` along the ways from them to their
    /// roots. `path` names the limbs, children first, `slots` the place of each in the path, and
    /// `halves` holds k in the first six numbers and zeros in the others.
    pub fn solve_up(&self, path: &[usize], halves: &mut [Half], slots: &[usize]) {
        for (place, &index) in path.iter().enumerate() {
            let limb = &self.forest.limbs()[index];
            let record = &self.records[limb.start as usize..];
            let sent = by_rows!(limb.rows(), climb(record, &mut halves[place]));
            if let Some(parent) = limb.parent() {
                let above = &mut halves[slots[parent]];
                (0..6).for_each(|k| above[k] += sent[k]);
            }
        }
    }
}

/// The product `aᵀ S b` of two halves of one limb.
#[inline]
pub fn product(a: &Half, b: &Half) -> f64 {
    let term = |k: usize| a[k] * b[k];
    (0..6).map(term).sum::<f64>() - (6..6 + MOST).map(term).sum::<f64>()
}

/// Factors A = C Cᵀ from its lower triangle, reciprocals on the diagonal of C; false if A is
/// singular.
#[inline(always)]
fn cholesky<const N: usize>(a: &mut [[f64; N]; N]) -> bool {
    for i in 0..N {
        for j in 0..i {
            let mut sum = a[i][j];
            for k in 0..j {
                sum -= a[i][k] * a[j][k];
            }
            a[i][j] = sum * a[j][j];
        }
        let mut sum = a[i][i];
        for k in 0..i {
            sum -= a[i][k] * a[i][k];
        }
        if !(sum > SINGULAR * a[i][i] && sum > 0.0) {
            return false;
        }
        a[i][i] = 1.0 / sum.sqrt();
    }
    true
}

/// `x ← C⁻¹ x`.
#[inline(always)]
fn forward<const N: usize>(c: &[[f64; N]; N], x: &mut [f64; N]) {
    for i in 0..N {
        let mut sum = x[i];
        for k in 0..i {
            sum -= c[i][k] * x[k];
        }
        x[i] = sum * c[i][i];
    }
}

/// `x ← C⁻ᵀ x`.
#[inline(always)]
fn backward<const N: usize>(c: &[[f64; N]; N], x: &mut [f64; N]) {
    for i in (0..N).rev() {
        x[i] *= c[i][i];
        for k in 0..i {
            x[k] -= c[i][k] * x[i];
        }
    }
}

/// The parts of a record.
struct Parts<T> {
    c: T,
    y: T,
    b: T,
    e: T,
    z: T,
    u: T,
}

#[inline(always)]
fn parts<const R: usize>(record: &[f64]) -> Parts<&[f64]> {
    let (c, rest) = record[..self::record(R)].split_at(21);
    let (y, rest) = rest.split_at(6);
    let (b, rest) = rest.split_at(6 * R);
    let (e, rest) = rest.split_at(triangle(R));
    let (z, u) = rest.split_at(R);
    Parts { c, y, b, e, z, u }
}

#[inline(always)]
fn parts_mut<const R: usize>(record: &mut [f64]) -> Parts<&mut [f64]> {
    let (c, rest) = record[..self::record(R)].split_at_mut(21);
    let (y, rest) = rest.split_at_mut(6);
    let (b, rest) = rest.split_at_mut(6 * R);
    let (e, rest) = rest.split_at_mut(triangle(R));
    let (z, u) = rest.split_at_mut(R);
    Parts { c, y, b, e, z, u }
}

#[inline(always)]
fn read_triangle<const N: usize>(from: &[f64]) -> [[f64; N]; N] {
    let mut out = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            out[i][j] = from[triangle(i) + j];
        }
    }
    out
}

#[inline(always)]
fn write_triangle<const N: usize>(from: &[[f64; N]; N], to: &mut [f64]) {
    for i in 0..N {
        for j in 0..=i {
            to[triangle(i) + j] = from[i][j];
        }
    }
}

#[inline(always)]
fn read_rows<const R: usize>(from: &[f64]) -> [Six; R] {
    std::array::from_fn(|row| std::array::from_fn(|k| from[6 * row + k]))
}

#[inline(always)]
fn dot(a: &Six, b: &Six) -> f64 {
    let mut sum = 0.0;
    for k in 0..6 {
        sum += a[k] * b[k];
    }
    sum
}

/// Eliminates a body and the constraint it hangs by. `heard` holds what the subtrees say, and
/// afterwards, first, what is said to the parent.
#[inline(never)]
fn eliminate<const R: usize>(
    entries: &impl Entries,
    limb: &Limb,
    heard: &mut [Message],
    record: &mut [f64],
) -> Result<(), Singular> {
    let out = parts_mut::<R>(record);
    let mut c = [[0.0; 6]; 6];
    entries.mass(limb.body(), &mut c);
    let mut y = entries.force(limb.body());
    for message in &heard[..limb.children()] {
        for i in 0..6 {
            for j in 0..=i {
                c[i][j] += message.block[triangle(i) + j];
            }
            y[i] += message.side[i];
        }
    }
    if !cholesky(&mut c) {
        return Err(Singular::Body(limb.body()));
    }
    forward(&c, &mut y);
    write_triangle(&c, out.c);
    out.y.copy_from_slice(&y);
    let (Some(constraint), true) = (limb.constraint(), R > 0) else {
        return Ok(());
    };
    let (mut rows, mut target) = ([[[0.0; 6]; MOST]; 2], [0.0; MOST]);
    entries.rows(constraint, &mut rows, &mut target);
    // B = C⁻¹ Jᵀ: the constraint's block becomes −BᵀB, and c becomes c + Bᵀ y.
    let mut b = [[0.0; 6]; R];
    let (mut e, mut z) = ([[0.0; R]; R], [0.0; R]);
    for row in 0..R {
        b[row] = rows[limb.side()][row];
        forward(&c, &mut b[row]);
        for column in 0..=row {
            e[row][column] = dot(&b[row], &b[column]);
        }
        z[row] = target[row] + dot(&b[row], &y);
        out.b[6 * row..6 * row + 6].copy_from_slice(&b[row]);
    }
    if !cholesky(&mut e) {
        return Err(Singular::Constraint(constraint));
    }
    forward(&e, &mut z);
    write_triangle(&e, out.e);
    out.z.copy_from_slice(&z);
    if limb.parent().is_none() {
        out.u.fill(0.0);
        return Ok(());
    }
    // U = E⁻¹ J: the parent's block gains UᵀU, and its force loses Uᵀ z.
    let mut u = [[0.0; 6]; R];
    for row in 0..R {
        u[row] = rows[1 - limb.side()][row];
        for k in 0..row {
            for j in 0..6 {
                u[row][j] -= e[row][k] * u[k][j];
            }
        }
        (0..6).for_each(|j| u[row][j] *= e[row][row]);
        out.u[6 * row..6 * row + 6].copy_from_slice(&u[row]);
    }
    let message = &mut heard[0];
    for i in 0..6 {
        for j in 0..=i {
            let mut sum = 0.0;
            for row in &u {
                sum += row[i] * row[j];
            }
            message.block[triangle(i) + j] = sum;
        }
    }
    message.side = sent(&u, &z);
    Ok(())
}

/// What a constraint says to its parent's force: −Uᵀ z.
#[inline(always)]
fn sent<const R: usize>(u: &[Six; R], z: &[f64; R]) -> Six {
    let mut out = [0.0; 6];
    for row in 0..R {
        for k in 0..6 {
            out[k] -= u[row][k] * z[row];
        }
    }
    out
}

/// The first half of a solve at one limb.
fn push_up<const R: usize>(
    sides: &impl Sides,
    limb: &Limb,
    heard: &mut [Message],
    record: &mut [f64],
) {
    let out = parts_mut::<R>(record);
    let mut y = sides.force(limb.body());
    for message in &heard[..limb.children()] {
        (0..6).for_each(|k| y[k] += message.side[k]);
    }
    forward(&read_triangle::<6>(out.c), &mut y);
    out.y.copy_from_slice(&y);
    if let Some(constraint) = limb.constraint() {
        let mut target = [0.0; MOST];
        sides.target(constraint, &mut target);
        let b = read_rows::<R>(out.b);
        let mut z: [f64; R] = std::array::from_fn(|row| target[row] + dot(&b[row], &y));
        forward(&read_triangle::<R>(out.e), &mut z);
        out.z.copy_from_slice(&z);
        if limb.parent().is_some() {
            heard[0].side = sent(&read_rows::<R>(out.u), &z);
        }
    }
}

/// The second half of a solve at one limb, whose parent moves by `above`.
#[inline(always)]
fn pull_down<const R: usize>(record: &[f64], above: &Six) -> Six {
    let it = parts::<R>(record);
    let (b, u) = (read_rows::<R>(it.b), read_rows::<R>(it.u));
    // λ = −E⁻ᵀ (U w_parent + z) and w = C⁻ᵀ (y + B λ).
    let mut lambda: [f64; R] = std::array::from_fn(|row| -dot(&u[row], above) - it.z[row]);
    backward(&read_triangle::<R>(it.e), &mut lambda);
    let mut w: Six = std::array::from_fn(|k| it.y[k]);
    for row in 0..R {
        for k in 0..6 {
            w[k] += b[row][k] * lambda[row];
        }
    }
    backward(&read_triangle::<6>(it.c), &mut w);
    w
}

/// The first half of a solve at one limb, for a right-hand side of its own.
#[inline(always)]
fn climb<const R: usize>(record: &[f64], half: &mut Half) -> Six {
    let it = parts::<R>(record);
    let mut y: Six = std::array::from_fn(|k| half[k]);
    forward(&read_triangle::<6>(it.c), &mut y);
    let b = read_rows::<R>(it.b);
    let mut z: [f64; R] = std::array::from_fn(|row| dot(&b[row], &y));
    forward(&read_triangle::<R>(it.e), &mut z);
    half[..6].copy_from_slice(&y);
    half[6..6 + R].copy_from_slice(&z);
    sent(&read_rows::<R>(it.u), &z)
}

#[cfg(test)]
#[path = "factors_tests.rs"]
mod tests;
