//! Contacts that feel each other: three ways to solve, one answer, and an independent check.

use vincula_blocks::cone::{Delassus, Splitting, project};

fn random(seed: &mut u64) -> f64 {
    *seed = seed
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    (*seed >> 33) as f64 / (1u64 << 30) as f64 - 1.0
}

/// D = G Gᵀ of rank `rank`; scales of the blocks spread over `spread` powers of ten.
fn problem(seed: &mut u64, blocks: usize, rank: usize, spread: f64) -> Delassus {
    let mut it = Delassus::default();
    it.reset(blocks);
    let rows = 3 * blocks;
    let scale: Vec<f64> = (0..blocks)
        .map(|_| 10f64.powf(spread * random(seed)))
        .collect();
    let g: Vec<f64> = (0..rows * rank)
        .map(|k| scale[k / (3 * rank)] * random(seed))
        .collect();
    for i in 0..rows {
        for j in 0..rows {
            it.matrix[i * rows + j] = (0..rank).map(|k| g[i * rank + k] * g[j * rank + k]).sum();
        }
    }
    // A slip that some motion of the bodies has, so that singular problems have solutions.
    let motion: Vec<f64> = (0..rank).map(|_| random(seed)).collect();
    for i in 0..rows {
        it.free[i] = (0..rank).map(|k| g[i * rank + k] * motion[k]).sum();
    }
    for k in 0..blocks {
        it.mu[k] = 0.2 + 0.6 * random(seed).abs();
    }
    it
}

fn slips(p: &Delassus) -> Vec<f64> {
    (0..p.blocks()).flat_map(|k| p.slip(k)).collect()
}

#[test]
fn newton_and_splitting_find_the_same_slip() {
    let mut seed = 11;
    for case in 0..40 {
        let blocks = 1 + case % 8;
        let exact = problem(&mut seed, blocks, 3 * blocks + 2, 0.5);
        let (mut one, mut two) = (exact.clone(), exact);
        let report = one.solve(1e-11, 4000);
        assert!(report.residual <= 1e-11, "case {case}: {report:?}");
        let report = Splitting::default().solve(&mut two, 1e-10, 20_000);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        let largest = slips(&one).iter().fold(1e-3f64, |m, x| m.max(x.abs()));
        for (a, b) in slips(&one).iter().zip(slips(&two)) {
            assert!((a - b).abs() < 1e-6 * largest, "case {case}: {a} {b}");
        }
    }
}

#[test]
fn redundant_contacts_are_solved() {
    let mut seed = 5;
    for case in 0..20 {
        // Twelve rows that move in six ways, as four corners of a box.
        let mut it = problem(&mut seed, 4, 6, 0.0);
        let report = it.solve(1e-9, 4000);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
    }
}

/// Without friction the law is that of a quadratic programme, whose answer is found by trying
/// every set of touching contacts.
#[test]
fn without_friction_the_answer_is_that_of_trying_all_sets() {
    let mut seed = 3;
    for case in 0..50 {
        let blocks = 1 + case % 6;
        let mut it = problem(&mut seed, blocks, 3 * blocks + 3, 0.5);
        it.mu.fill(0.0);
        it.solve(1e-12, 4000);
        let rows = 3 * blocks;
        let entry = |i: usize, j: usize| it.matrix[3 * i * rows + 3 * j];
        let mut found = false;
        for set in 0..1u32 << blocks {
            let touching: Vec<usize> = (0..blocks).filter(|k| set >> k & 1 == 1).collect();
            let n = touching.len();
            let mut a = vec![0.0; n * n];
            let mut x: Vec<f64> = touching.iter().map(|k| -it.free[3 * k]).collect();
            for i in 0..n {
                for j in 0..n {
                    a[i * n + j] = entry(touching[i], touching[j]);
                }
            }
            gauss(&mut a, &mut x, n);
            let slip = |k: usize| {
                let pushed = touching.iter().zip(&x).map(|(l, x)| entry(k, *l) * x);
                it.free[3 * k] + pushed.sum::<f64>()
            };
            let apart = (0..blocks).filter(|k| set >> k & 1 == 0);
            if x.iter().all(|x| *x >= 0.0) && apart.into_iter().all(|k| slip(k) >= 0.0) {
                for (k, x) in touching.iter().zip(&x) {
                    assert!(
                        (it.lambda[3 * k] - x).abs() < 1e-8 * (1.0 + x),
                        "case {case}"
                    );
                }
                found = true;
            }
        }
        assert!(found, "case {case} has no solution");
    }
}

fn gauss(a: &mut [f64], b: &mut [f64], n: usize) {
    for k in 0..n {
        for i in k + 1..n {
            let f = a[i * n + k] / a[k * n + k];
            for j in k..n {
                a[i * n + j] -= f * a[k * n + j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k * n + j] * b[j];
        }
        b[k] /= a[k * n + k];
    }
}

/// A tower of unit masses along a line with a heavy one on top: Gauss–Seidel alone needs
/// sweeps in proportion to the ratio of masses.
#[test]
fn a_heavy_mass_on_top_of_light_ones_is_held_exactly() {
    let n = 10;
    let mass = |k: usize| if k + 1 == n { 1000.0 } else { 1.0 };
    let mut it = Delassus::default();
    it.reset(n);
    let rows = 3 * n;
    for k in 0..n {
        it.mu[k] = 0.5;
        // Contact k is between masses k − 1 and k; contact 0 is on the ground.
        for axis in 0..3 {
            let i = 3 * k + axis;
            it.matrix[i * rows + i] = 1.0 / mass(k) + if k > 0 { 1.0 / mass(k - 1) } else { 0.0 };
            if k > 0 {
                it.matrix[i * rows + i - 3] = -1.0 / mass(k - 1);
                it.matrix[(i - 3) * rows + i] = -1.0 / mass(k - 1);
            }
        }
        it.free[3 * k] = if k == 0 { -9.81 } else { 0.0 };
    }
    let report = it.solve(1e-12, 200);
    assert!(report.residual <= 1e-12, "{report:?}");
    for k in 0..n {
        let above: f64 = (k..n).map(mass).sum::<f64>() * 9.81;
        assert!((it.lambda[3 * k] / above - 1.0).abs() < 1e-9, "contact {k}");
    }
    assert!(report.sweeps <= 40, "{report:?}");
}

/// The solution of a convex cone problem minimises ½λᵀDλ + bᵀλ over the cone. With friction
/// the law is not that of a minimum, but with the correction of De Saxcé held fixed it is.
#[test]
fn no_point_of_the_cone_is_better() {
    let mut seed = 23;
    let mut it = problem(&mut seed, 5, 17, 0.3);
    it.solve(1e-12, 4000);
    let rows = 15;
    let mut b = it.free.clone();
    for k in 0..5 {
        let u = it.slip(k);
        b[3 * k] += it.mu[k] * (u[1] * u[1] + u[2] * u[2]).sqrt();
    }
    let cost = |l: &[f64]| {
        let mut sum = 0.0;
        for i in 0..rows {
            sum += b[i] * l[i];
            for j in 0..rows {
                sum += 0.5 * l[i] * it.matrix[i * rows + j] * l[j];
            }
        }
        sum
    };
    let best = cost(&it.lambda);
    for _ in 0..2000 {
        let size = 10f64.powf(-3.0 * random(&mut seed).abs());
        let mut other = it.lambda.clone();
        for k in 0..5 {
            let moved = [0, 1, 2].map(|i| other[3 * k + i] + size * random(&mut seed));
            other[3 * k..3 * k + 3].copy_from_slice(&project(&moved, it.mu[k]));
        }
        assert!(cost(&other) >= best - 1e-12);
    }
}
