//! Every solver of the contacts against a dense oracle that shares nothing with them but the rows.
//!
//! The oracle finds D column by column, by pushing a unit force and looking at the slips, and
//! solves `λ = Π(λ − ρ (D λ + b + μ|u_t| n))` by plain fixed-point iteration: slow, and too simple
//! to be wrong.

use vincula_blocks::cone::project;

use super::exact::{Groups, Way};
use super::movers::{FIXED, Mover, Movers};
use super::rows::{ContactRow, frame_of};
use super::sweep::{Sweeper, residual};
use crate::math::numbers::Numbers;
use crate::math::small::*;

/// Bodies in a row, the first on something fixed, two contacts between neighbours; `soft` is the
/// compliance of a contact as a fraction of that of its bodies.
fn world(seed: u64, bodies: usize, soft: f64) -> (Movers, Vec<ContactRow>) {
    let mut numbers = Numbers(seed);
    let mut movers = Movers::default();
    movers.all = (0..bodies)
        .map(|k| {
            let g: Vec<V3> = (0..3).map(|_| numbers.vector().to_array()).collect();
            let mut tensor = [0.0; 9];
            for i in 0..3 {
                for j in 0..3 {
                    tensor[3 * i + j] = dot(&g[i], &g[j]);
                }
                tensor[4 * i] += 0.5;
            }
            Mover::new(k, true, 1.0 + 0.5 * numbers.next(), tensor)
        })
        .collect();
    let mut rows = Vec::new();
    for k in 0..bodies as u32 {
        for _ in 0..2 {
            let n = scale(&add(&[0.0, 0.0, 2.0], &numbers.vector().to_array()), 1.0);
            let n = scale(&n, 1.0 / dot(&n, &n).sqrt());
            let arms = [numbers.vector().to_array(), numbers.vector().to_array()];
            let first = if k == 0 { FIXED } else { k - 1 };
            let mut row = ContactRow::new(frame_of(&n), [first, k], arms, &movers);
            row.free = numbers.vector().to_array();
            row.free[0] -= 0.3;
            row.mu = 0.3 + 0.3 * numbers.next();
            row.standing = true;
            if soft > 0.0 {
                row.soften([soft * row.w[0], 0.5 * soft * row.w[0]]);
            }
            rows.push(row);
        }
    }
    (movers, rows)
}

/// D and b of the rows, by pushing.
fn measure(movers: &Movers, rows: &[ContactRow]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut bodies = Movers::default();
    let slips = |bodies: &Movers, rows: &[ContactRow]| -> Vec<f64> {
        rows.iter().flat_map(|r| r.slip(&bodies.all)).collect()
    };
    bodies.all = movers.all.clone();
    let free = slips(&bodies, rows);
    let columns = (0..3 * rows.len()).map(|column| {
        bodies.all = movers.all.clone();
        let mut pushed = rows.to_vec();
        let mut unit = [0.0; 3];
        unit[column % 3] = 1.0;
        pushed[column / 3].lambda = unit;
        rows[column / 3].push(&mut bodies, &unit);
        let slip = slips(&bodies, &pushed);
        slip.iter().zip(&free).map(|(u, b)| u - b).collect()
    });
    (columns.collect(), free)
}

fn slip(d: &[Vec<f64>], b: &[f64], lambda: &[f64]) -> Vec<f64> {
    let pushed = |i: usize| -> f64 { d.iter().zip(lambda).map(|(c, l)| c[i] * l).sum() };
    (0..b.len()).map(|i| b[i] + pushed(i)).collect()
}

/// What a contact violates of complementarity and of the cone: overlap, pull, friction beyond the
/// cone, force at a distance, and friction that is not against the slip.
fn faults(lambda: &[f64], u: &[f64], mu: f64) -> [f64; 5] {
    let (friction, sliding) = (lambda[1].hypot(lambda[2]), u[1].hypot(u[2]));
    let work = lambda[1] * u[1] + lambda[2] * u[2];
    [
        (-u[0]).max(0.0),
        (-lambda[0]).max(0.0),
        (friction - mu * lambda[0]).max(0.0),
        (lambda[0] * u[0]).abs(),
        (work + mu * lambda[0] * sliding).abs(),
    ]
}

/// The slips of the fixed point; they are unique where the forces are not.
fn oracle(d: &[Vec<f64>], b: &[f64], mu: &[f64]) -> Vec<f64> {
    let norm: f64 = d.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
    let rate = 0.9 / norm;
    let mut lambda = vec![0.0; b.len()];
    for _ in 0..200_000 {
        let u = slip(d, b, &lambda);
        let mut moved = 0.0f64;
        for (k, mu) in mu.iter().enumerate() {
            let (l, u) = (&lambda[3 * k..3 * k + 3], &u[3 * k..3 * k + 3]);
            let lift = u[0] + mu * u[1].hypot(u[2]);
            let aim = [l[0] - rate * lift, l[1] - rate * u[1], l[2] - rate * u[2]];
            let next = project(&aim, *mu);
            moved = (0..3).fold(moved, |m, i| m.max((next[i] - l[i]).abs()));
            lambda[3 * k..3 * k + 3].copy_from_slice(&next);
        }
        if moved < 1e-14 {
            break;
        }
    }
    slip(d, b, &lambda)
}

/// Solves worlds by one solver and compares with the oracle.
fn check(name: &str, soft: f64, solve: &mut dyn FnMut(&mut [ContactRow], &mut Movers)) {
    let (mut apart, mut stuck, mut sliding) = (0, 0, 0);
    for seed in 1..25 {
        let (mut movers, mut rows) = world(seed, 1 + seed as usize % 5, soft);
        let (d, b) = measure(&movers, &rows);
        let mu: Vec<f64> = rows.iter().map(|r| r.mu).collect();
        let expected = oracle(&d, &b, &mu);
        solve(&mut rows, &mut movers);
        assert!(residual(&rows, &movers) < 1e-8, "{name}, seed {seed}");
        let lambda: Vec<f64> = rows.iter().flat_map(|r| r.lambda).collect();
        // Both what the bodies say and what the matrix says of the forces.
        let told: Vec<f64> = rows.iter().flat_map(|r| r.slip(&movers.all)).collect();
        let found = slip(&d, &b, &lambda);
        for i in 0..found.len() {
            let off = (found[i] - expected[i])
                .abs()
                .max((told[i] - found[i]).abs());
            assert!(off < 1e-6, "{name}, seed {seed}, row {i}: {off:e}");
        }
        for (k, mu) in mu.iter().enumerate() {
            let (l, u) = (&lambda[3 * k..3 * k + 3], &found[3 * k..3 * k + 3]);
            let worst = faults(l, u, *mu).into_iter().fold(0.0, f64::max);
            assert!(worst < 1e-7, "{name}, seed {seed}, contact {k}: {worst:e}");
            match (l[0] > 0.0, u[1].hypot(u[2]) > 1e-6) {
                (false, _) => apart += 1,
                (true, false) => stuck += 1,
                (true, true) => sliding += 1,
            }
        }
    }
    // Otherwise the comparison would say little.
    assert!(
        apart > 5 && stuck > 5 && sliding > 5,
        "{apart} {stuck} {sliding}"
    );
}

#[test]
fn anticipation_obeys_the_law() {
    let mut groups = Groups::default();
    check("anticipation", 0.0, &mut |rows, movers| {
        for _ in 0..4 {
            groups.solve(rows, movers, Way::Newton, 1e-11, [usize::MAX; 2]);
        }
    });
}

#[test]
fn splitting_obeys_the_law() {
    let mut groups = Groups::default();
    check("splitting", 0.0, &mut |rows, movers| {
        for _ in 0..4 {
            groups.solve(rows, movers, Way::Splitting, 1e-11, [usize::MAX; 2]);
        }
    });
}

#[test]
fn sweeps_obey_the_law() {
    let mut sweeper = Sweeper::default();
    check("gauss-seidel", 0.0, &mut |rows, movers| {
        sweeper.forget();
        let (_, enough) = sweeper.solve(rows, movers, 1e-13, 100_000);
        assert!(enough);
    });
}

#[test]
fn springs_obey_the_law_of_springs() {
    let mut sweeper = Sweeper::default();
    let softness = super::ContactSolver::Penalty.softness();
    assert!(softness > 0.0);
    check("penalty", softness, &mut |rows, movers| {
        sweeper.forget();
        let (_, enough) = sweeper.solve(rows, movers, 1e-13, 100_000);
        assert!(enough);
        // What a spring gives way by is an overlap, and no more than that.
        for row in rows.iter().filter(|r| r.lambda[0] > 0.0) {
            let gap = row.slip(&movers.all)[0] - row.given()[0];
            assert!((gap + row.given()[0]).abs() < 1e-8 && gap < 0.0);
        }
    });
}
