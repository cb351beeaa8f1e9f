//! Random forests against a dense solution of the same matrix.

use super::super::forest::Edge;
use super::*;

/// A small generator of numbers between −1 and 1, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn below(&mut self, n: usize) -> usize {
        (((self.next() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
    }
}

/// Gaussian elimination with row pivoting.
fn solve_dense(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()));
        let best = best.expect("rows");
        a.swap(k, best);
        b.swap(k, best);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

fn random_edges(bodies: usize, numbers: &mut Numbers) -> Vec<Edge> {
    let mut edges = Vec::new();
    for body in 1..bodies {
        // Some bodies begin a tree of their own.
        if numbers.next() > 0.8 {
            continue;
        }
        let other = numbers.below(body);
        let mut ends = [Some(other), Some(body)];
        if numbers.next() > 0.0 {
            ends.reverse();
        }
        let rows = 1 + numbers.below(6);
        edges.push(Edge { ends, rows });
    }
    edges.push(Edge {
        ends: [None, Some(numbers.below(bodies))],
        rows: 1 + numbers.below(5),
    });
    edges
}

/// A matrix and a right-hand side at random.
struct Random {
    edges: Vec<Edge>,
    masses: Vec<f64>,
    jacobians: Vec<[[Six; MOST]; 2]>,
    forces: Vec<Six>,
    targets: Vec<[f64; MOST]>,
}

impl Random {
    fn new(bodies: usize, edges: Vec<Edge>, numbers: &mut Numbers) -> Random {
        let mut six = || -> Six { std::array::from_fn(|_| numbers.next()) };
        let forces = (0..bodies).map(|_| six()).collect();
        let targets = edges.iter().map(|_| six()).collect();
        // Rows of joints are far from dependent; purely random ones come close to it.
        let mut side = || -> [Six; MOST] {
            std::array::from_fn(|row| {
                let mut out = six().map(|x| 0.5 * x);
                out[row] += 2.0;
                out
            })
        };
        let jacobians = edges.iter().map(|_| [side(), side()]).collect();
        let masses = (0..6 * bodies).map(|_| 2.0 + numbers.next()).collect();
        Random {
            edges,
            masses,
            jacobians,
            forces,
            targets,
        }
    }

    /// w, by elimination in the whole matrix.
    fn solve_dense(&self) -> Vec<f64> {
        let n = self.masses.len();
        let size = n + self.edges.iter().map(|edge| edge.rows).sum::<usize>();
        let mut a = vec![vec![0.0; size]; size];
        let mut b: Vec<f64> = self.forces.iter().flatten().copied().collect();
        for k in 0..n {
            a[k][k] = self.masses[k];
        }
        for (index, edge) in self.edges.iter().enumerate() {
            for row in 0..edge.rows {
                let at = b.len();
                b.push(self.targets[index][row]);
                for (end, rows) in edge.ends.iter().zip(&self.jacobians[index]) {
                    for k in (0..6).filter(|_| end.is_some()) {
                        let column = 6 * end.unwrap_or(0) + k;
                        a[at][column] = -rows[row][k];
                        a[column][at] = -rows[row][k];
                    }
                }
            }
        }
        solve_dense(a, b)[..n].to_vec()
    }
}

impl Sides for Random {
    fn force(&self, body: usize) -> Six {
        self.forces[body]
    }

    fn target(&self, constraint: usize, out: &mut [f64; MOST]) {
        *out = self.targets[constraint];
    }
}

impl Entries for Random {
    fn mass(&self, body: usize, out: &mut [Six; 6]) {
        (0..6).for_each(|k| out[k][k] = self.masses[6 * body + k]);
    }

    fn rows(&self, constraint: usize, out: &mut [[Six; MOST]; 2], target: &mut [f64; MOST]) {
        *out = self.jacobians[constraint];
        self.target(constraint, target);
    }
}

fn assert_close(found: &[Six], exact: &[f64]) {
    let size = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (x, y) in found.iter().flatten().zip(exact) {
        assert!((x - y).abs() < 1e-10 * size, "{x} {y}");
    }
}

#[test]
fn random_forests_are_solved_as_a_dense_elimination_does() {
    let mut numbers = Numbers(7);
    for bodies in [1, 2, 5, 12, 25] {
        for _ in 0..4 {
            let edges = random_edges(bodies, &mut numbers);
            let forest = Forest::new(bodies, &edges);
            assert!(forest.auxiliary().is_empty());
            let mut random = Random::new(bodies, edges, &mut numbers);
            let mut factors = Factors::new(forest);
            factors.factor(&random).expect("Jacobians of full rank");
            let mut motion = vec![[0.0; 6]; bodies];
            factors.finish(&mut motion);
            assert_close(&motion, &random.solve_dense());
            // Another right-hand side with the same factors.
            random.forces.iter_mut().flatten().for_each(|x| *x -= 0.7);
            random.targets.iter_mut().flatten().for_each(|x| *x += 0.3);
            factors.load(&random);
            factors.finish(&mut motion);
            assert_close(&motion, &random.solve_dense());
        }
    }
}

#[test]
fn half_a_solve_along_a_path_gives_the_product_of_a_whole_one() {
    let mut numbers = Numbers(19);
    let edges = random_edges(14, &mut numbers);
    let forest = Forest::new(14, &edges);
    let mut random = Random::new(14, edges, &mut numbers);
    random.targets.iter_mut().for_each(|c| *c = [0.0; MOST]);
    random.forces.fill([0.0; 6]);
    let k: Six = std::array::from_fn(|_| numbers.next());
    random.forces[11] = k;
    let mut factors = Factors::new(forest);
    factors.factor(&random).expect("Jacobians of full rank");
    let mut motion = vec![[0.0; 6]; 14];
    factors.finish(&mut motion);
    let whole = dot(&k, &motion[11]);
    let (mut path, mut slots) = (Vec::new(), vec![0; 14]);
    let mut next = Some(factors.forest().limb_of(11));
    while let Some(limb) = next {
        slots[limb] = path.len();
        path.push(limb);
        next = factors.forest().limbs()[limb].parent();
    }
    assert!(path.len() > 1, "a path worth the name");
    let mut halves = vec![[0.0; 6 + MOST]; path.len()];
    halves[0][..6].copy_from_slice(&k);
    factors.solve_up(&path, &mut halves, &slots);
    let half: f64 = halves.iter().map(|half| product(half, half)).sum();
    assert!((whole - half).abs() < 1e-12 * whole, "{whole} {half}");
}

#[test]
fn rows_that_repeat_are_reported_with_their_constraint() {
    let edges = vec![Edge {
        ends: [Some(0), Some(1)],
        rows: 2,
    }];
    let forest = Forest::new(2, &edges);
    let mut random = Random::new(2, edges, &mut Numbers(3));
    random.jacobians[0] = [[[1.0; 6]; MOST]; 2];
    let told = Factors::new(forest).factor(&random);
    assert_eq!(told, Err(Singular::Constraint(0)));
}
