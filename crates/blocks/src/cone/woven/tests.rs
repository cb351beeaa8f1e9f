//! A net with jointed bodies on it against a dense solve of the same problem.

use super::super::Delassus;
use super::super::dense::triple;
use super::super::newton::solve_dense;
use super::super::tests::{assert_found, random};
use super::*;

/// Rows of a joint between two bodies.
const JOINT: usize = 4;

/// M, S and B written down.
struct Written {
    m: Vec<f64>,
    s: Vec<f64>,
    b: Vec<f64>,
    rows: usize,
    size: usize,
}

impl Written {
    fn add(&mut self, i: usize, j: usize, value: f64) {
        self.m[i * self.rows + j] += value;
        if i != j {
            self.m[j * self.rows + i] += value;
        }
    }

    /// D = S − B M⁻¹ Bᵀ column by column, with some slip and friction.
    fn problem(&self, seed: &mut u64) -> Delassus {
        let (rows, size) = (self.rows, self.size);
        let mut dense = Delassus::default();
        dense.reset(size / 3);
        for column in 0..size {
            let mut x = self.b[column * rows..(column + 1) * rows].to_vec();
            assert!(solve_dense(&mut self.m.clone(), &mut x, rows));
            for i in 0..size {
                let net: f64 = (0..rows).map(|j| self.b[i * rows + j] * x[j]).sum();
                dense.matrix[i * size + column] = self.s[i * size + column] - net;
            }
        }
        for i in 0..size {
            dense.free[i] = random(seed) - if i % 3 == 0 { 0.5 } else { 0.0 };
        }
        let mut mu = || (0.3 + 0.4 * random(seed)).max(0.0);
        dense.mu.iter_mut().for_each(|x| *x = mu());
        dense
    }
}

/// A row of nodes with links between neighbours, two of three of which are touched twice; bodies in a
/// row, each held to the one before it, that lie on the links and on each other.
fn problem(seed: &mut u64, nodes: usize, bodies: usize) -> (Woven, Delassus) {
    friction_problem(seed, nodes, bodies, 1.0)
}

/// The same with so many times its friction.
fn friction_problem(
    seed: &mut u64,
    nodes: usize,
    bodies: usize,
    friction: f64,
) -> (Woven, Delassus) {
    let links: Vec<usize> = (0..nodes - 1).collect();
    let touched: Vec<usize> = links.iter().copied().filter(|k| k % 3 != 1).collect();
    let others = bodies - 1;
    let width = |body: usize| if body == 0 { 6 } else { 6 + JOINT };
    let first = |body: usize| {
        3 * nodes
            + if body == 0 {
                0
            } else {
                6 + (body - 1) * (6 + JOINT)
            }
    };
    let (rows, size) = (first(bodies), 3 * (2 * touched.len() + others));
    let mut all = Written {
        m: vec![0.0; rows * rows],
        s: vec![0.0; size * size],
        b: vec![0.0; size * rows],
        rows,
        size,
    };
    let mut woven = Woven::default();
    (0..nodes).for_each(|_| assert!(woven.add_node(3) < NODES));
    (0..bodies).for_each(|body| assert!(woven.add_node(width(body)) < NODES));
    // Each link answers at its nodes and at its contacts by G Gᵀ.
    let mut contact = 0;
    for &link in &links {
        let contacts = if touched.contains(&link) { 2 } else { 0 };
        let g: Vec<[f64; 14]> = (0..6 + 3 * contacts)
            .map(|_| std::array::from_fn(|_| random(seed)))
            .collect();
        let at = |i: usize, j: usize| -> f64 { g[i].iter().zip(&g[j]).map(|(a, b)| a * b).sum() };
        for i in 0..6 {
            (0..=i).for_each(|j| all.add(3 * link + i, 3 * link + j, at(i, j)));
        }
        woven.couple(link as u32, link as u32 + 1);
        for i in 0..3 * contacts {
            for j in 0..3 * contacts {
                all.s[(3 * contact + i) * size + 3 * contact + j] = at(6 + i, 6 + j);
            }
            for j in 0..6 {
                all.b[(3 * contact + i) * rows + 3 * link + j] = at(6 + i, j);
            }
            for j in 0..6 {
                let body = (contact + i / 3) % bodies;
                all.b[(3 * contact + i) * rows + first(body) + j] = random(seed);
            }
        }
        contact += contacts;
    }
    for body in 0..bodies {
        let at = first(body);
        for i in 0..6 {
            all.add(at + i, at + i, -0.5 - random(seed).abs());
        }
        if body > 0 {
            woven.couple((nodes + body) as u32, (nodes + body - 1) as u32);
            for k in 0..JOINT {
                all.add(at + 6 + k, at + 6 + k, 1e-3);
                for j in 0..6 {
                    all.add(at + 6 + k, at + j, random(seed));
                    all.add(at + 6 + k, first(body - 1) + j, random(seed));
                }
            }
            for i in 0..3 {
                for j in 0..6 {
                    all.b[(3 * contact + i) * rows + at + j] = random(seed);
                    all.b[(3 * contact + i) * rows + first(body - 1) + j] = random(seed);
                }
            }
            contact += 1;
        }
    }
    let mut dense = all.problem(seed);
    dense.mu.iter_mut().for_each(|mu| *mu *= friction);
    let tie = |node: usize| match node < nodes {
        true => (node as u32, 3, 3 * node),
        false => (node as u32, 6, first(node - nodes)),
    };
    let mut add = |ties: &[usize], range: std::ops::Range<usize>| {
        let ties: Vec<(u32, u32, usize)> = ties.iter().map(|node| tie(*node)).collect();
        let named: Vec<Tie> = ties
            .iter()
            .map(|t| Tie {
                node: t.0,
                columns: t.1,
            })
            .collect();
        woven.add_bead(&named);
        for k in range.clone() {
            let own = |i: usize| dense.matrix[(3 * k + i) * (size + 1)];
            let (mu, compliance) = (dense.mu[k], own(0) + own(1) + own(2));
            let reach = woven.add_contact(Mark { mu, compliance });
            let width = reach.len() / 3;
            for i in 0..3 {
                let columns = ties.iter().flat_map(|t| t.2..t.2 + t.1 as usize);
                for (x, column) in reach[i * width..].iter_mut().zip(columns) {
                    *x = all.b[(3 * k + i) * rows + column];
                }
            }
        }
        let width = 3 * range.len();
        for (i, row) in woven.own_mut().chunks_exact_mut(width).enumerate() {
            let start = 3 * range.start;
            row.copy_from_slice(&all.s[(start + i) * size + start..][..width]);
        }
    };
    for (k, &link) in touched.iter().enumerate() {
        let on = [2 * k, 2 * k + 1].map(|c| nodes + c % bodies);
        let mut ties = vec![link, link + 1, on[0]];
        if on[1] != on[0] {
            ties.push(on[1]);
        }
        add(&ties, 2 * k..2 * k + 2);
    }
    for body in 1..bodies {
        let k = 2 * touched.len() + body - 1;
        add(&[nodes + body, nodes + body - 1], k..k + 1);
    }
    assert!(woven.plan() > 0.0);
    let node_of = |row: usize| match row < 3 * nodes {
        true => (row / 3, row % 3),
        false => (0..bodies)
            .map(|body| (nodes + body, row.wrapping_sub(first(body))))
            .find(|(node, at)| *at < width(node - nodes))
            .unwrap(),
    };
    for i in 0..rows {
        for j in 0..rows {
            let value = all.m[i * rows + j];
            let ((a, row), (b, column)) = (node_of(i), node_of(j));
            if value != 0.0 {
                woven.add([a as u32, b as u32], [row, column], 1, &[value]);
            }
        }
    }
    (woven, dense)
}

/// More nodes than any problem here has.
const NODES: u32 = 1_000;

/// Solves from a guess, with the slip that it causes.
fn solve(woven: &mut Woven, dense: &Delassus, guess: &[f64], tolerance: f64) -> ConeReport {
    start(woven, dense, guess);
    woven.solve(&mut product(dense), tolerance)
}

/// Starts from a guess.
fn start(woven: &mut Woven, dense: &Delassus, guess: &[f64]) {
    let mut pushed = vec![0.0; guess.len()];
    product(dense)(guess, &mut pushed);
    for k in 0..guess.len() / 3 {
        let (free, more) = (triple(&dense.free, k), triple(&pushed, k));
        let slip = [0, 1, 2].map(|i| free[i] + more[i]);
        woven.start(k, slip, triple(guess, k));
    }
}

/// Products with the dense matrix.
fn product(dense: &Delassus) -> impl FnMut(&[f64], &mut [f64]) {
    let rows = dense.free.len();
    move |x, y| {
        for (y, row) in y.iter_mut().zip(dense.matrix.chunks_exact(rows)) {
            *y = row.iter().zip(x).map(|(d, x)| d * x).sum();
        }
    }
}

#[test]
fn a_net_with_bodies_on_it_finds_the_forces_of_the_dense_problem() {
    let (mut seed, mut states) = (5, [0; 3]);
    for (nodes, bodies) in [(3, 1), (4, 2), (9, 3), (12, 5), (20, 4)] {
        for _ in 0..4 {
            let (mut woven, mut dense) = problem(&mut seed, nodes, bodies);
            let report = solve(&mut woven, &dense, &vec![0.0; dense.free.len()], 1e-10);
            assert!(report.residual <= 1e-10, "{nodes} {bodies} {report:?}");
            assert_found(&woven.law, &mut dense, &mut states);
        }
    }
    assert!(states.iter().all(|count| *count > 10), "{states:?}");
}

#[test]
fn factors_of_another_step_lead_to_the_same_forces() {
    let (mut seed, mut states) = (9, [0; 3]);
    let (mut woven, mut dense) = problem(&mut seed, 14, 4);
    let mut guess = vec![0.0; dense.free.len()];
    for _ in 0..6 {
        let report = solve(&mut woven, &dense, &guess, 1e-10);
        assert!(report.residual <= 1e-10, "{report:?}");
        assert_found(&woven.law, &mut dense, &mut states);
        guess.copy_from_slice(woven.lambda());
        // The next problem is another one with the same matrix.
        dense.lambda.fill(0.0);
        for x in &mut dense.free {
            *x += 0.2 * random(&mut seed);
        }
    }
}

#[test]
fn a_system_without_a_pivot_is_refused() {
    let mut woven = Woven::default();
    let node = woven.add_node(3);
    woven.add_bead(&[Tie { node, columns: 3 }]);
    let mark = Mark {
        mu: 0.5,
        compliance: 1.0,
    };
    assert_eq!(woven.add_contact(mark).len(), 9);
    assert!(woven.plan() > 0.0);
    woven.start(0, [-1.0, 0.0, 0.0], [0.0; 3]);
    let report = woven.solve(&mut |_, y| y.fill(0.0), 1e-9);
    assert!(report.residual > 0.5, "{report:?}");
    assert!(woven.lambda().iter().all(|x| x.is_finite()));
}

#[test]
fn turns_find_the_forces_of_contacts_that_jam() {
    let mut states = [0; 3];
    for (nodes, bodies, first) in [(12, 5, 6), (12, 5, 7), (20, 4, 2), (20, 4, 10)] {
        let (mut woven, mut dense) = friction_problem(&mut first.clone(), nodes, bodies, 4.0);
        let guess = vec![0.0; dense.free.len()];
        start(&mut woven, &dense, &guess);
        let alone = woven.search(&mut product(&dense), 1e-10);
        assert!(alone.residual > 1e-4, "{alone:?}");
        let report = solve(&mut woven, &dense, &guess, 1e-10);
        assert!(report.residual <= 2e-10, "{report:?}");
        assert_found(&woven.law, &mut dense, &mut states);
    }
}
