//! What the complementarity solver promises: agreement with enumeration of all bases, and
//! verified answers where there are too many.

use vincula_classic::lcp::{Lcp, LcpError, Lemke, MixedLcp, Outcome};

/// Reproducible numbers in [−1, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// `rows × n` times its transpose, plus a skew part: positive semidefinite, of this rank.
fn semidefinite(random: &mut Random, n: usize, rank: usize, skew: f64) -> Vec<f64> {
    let factor = random.vector(n * rank);
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            matrix[i * n + j] = (0..rank)
                .map(|k| factor[i * rank + k] * factor[j * rank + k])
                .sum();
        }
    }
    for i in 0..n {
        for j in 0..i {
            let s = skew * random.next();
            matrix[i * n + j] += s;
            matrix[j * n + i] -= s;
        }
    }
    matrix
}

/// `A x = b` by elimination with row exchanges; None for a singular matrix.
fn linear_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        if a[best][k].abs() < 1e-11 {
            return None;
        }
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
        let s: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - s) / a[k][k];
    }
    Some(b)
}

/// Every solution with a regular basis, by trying all 2ⁿ of them.
fn enumerate(lcp: &Lcp) -> Vec<Vec<f64>> {
    let n = lcp.size();
    let mut found = Vec::new();
    for mask in 0..1_u32 << n {
        let basic: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
        let block = |i: &usize| basic.iter().map(|j| lcp.matrix()[i * n + j]).collect();
        let right = basic.iter().map(|&i| -lcp.vector()[i]).collect();
        let Some(part) = linear_solve(basic.iter().map(block).collect(), right) else {
            continue;
        };
        let mut z = vec![0.0; n];
        basic.iter().zip(&part).for_each(|(&i, &x)| z[i] = x);
        let feasible = |i: usize| z[i] >= -1e-9 && lcp.slack(&z, i) >= -1e-9;
        if (0..n).all(feasible) {
            found.push(z);
        }
    }
    found
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()))
}

fn solved(lemke: &mut Lemke, lcp: &Lcp, what: &str) -> Vec<f64> {
    let outcome = lemke.solve(lcp);
    assert!(
        matches!(outcome, Outcome::Solved { .. }),
        "{what}: {outcome:?}"
    );
    let z = lemke.solution().to_vec();
    let size = z.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    let residual = lcp.residual(&z);
    assert!(residual < 1e-9 * size, "{what}: residual {residual:e}");
    z
}

#[test]
fn a_positive_definite_problem_has_the_one_solution_that_enumeration_finds() {
    let (mut random, mut lemke) = (Random(1), Lemke::new());
    for case in 0..400 {
        let n = 1 + case % 8;
        let mut matrix = semidefinite(&mut random, n, n, 1.0);
        (0..n).for_each(|i| matrix[i * n + i] += 0.1);
        let lcp = Lcp::new(matrix, random.vector(n)).unwrap();
        let z = solved(&mut lemke, &lcp, "definite");
        let all = enumerate(&lcp);
        assert!(!all.is_empty());
        for other in all {
            assert!(distance(&z, &other) < 1e-7, "case {case}");
        }
    }
}

#[test]
fn a_semidefinite_problem_is_solved_exactly_when_it_has_a_solution() {
    let (mut random, mut lemke) = (Random(2), Lemke::new());
    let (mut solvable, mut rays) = (0, 0);
    for case in 0..600 {
        let n = 2 + case % 7;
        let lcp = Lcp::new(semidefinite(&mut random, n, n / 2, 0.0), random.vector(n)).unwrap();
        if enumerate(&lcp).is_empty() {
            let outcome = lemke.solve(&lcp);
            assert!(matches!(outcome, Outcome::Ray { .. }), "{case} {outcome:?}");
            rays += 1;
        } else {
            solved(&mut lemke, &lcp, "semidefinite");
            solvable += 1;
        }
    }
    assert!(solvable > 100 && rays > 100, "{solvable} {rays}");
}

#[test]
fn a_ray_of_a_semidefinite_problem_proves_that_nothing_is_feasible() {
    let (mut random, mut lemke) = (Random(3), Lemke::new());
    let mut rays = 0;
    for case in 0..300 {
        let n = 2 + case % 7;
        let matrix = semidefinite(&mut random, n, n / 2, 0.0);
        let lcp = Lcp::new(matrix, random.vector(n)).unwrap();
        if !matches!(lemke.solve(&lcp), Outcome::Ray { .. }) {
            continue;
        }
        rays += 1;
        // Farkas: z ≥ 0 with Mᵀz ≤ 0 and qᵀz < 0 excludes M x + q ≥ 0 for x ≥ 0.
        let z = lemke.ray();
        assert!(z.iter().all(|&z| z >= 0.0));
        let size = z.iter().fold(0.0_f64, |most, z| most.max(*z));
        for j in 0..n {
            let column: f64 = (0..n).map(|i| lcp.matrix()[i * n + j] * z[i]).sum();
            assert!(column <= 1e-9 * size, "{column:e}");
        }
        let height: f64 = lcp.vector().iter().zip(z).map(|(q, z)| q * z).sum();
        assert!(height < -1e-9 * size, "{height:e}");
    }
    assert!(rays > 50, "{rays}");
}

#[test]
fn any_matrix_ends_in_a_verified_solution_or_in_a_reported_ray() {
    let (mut random, mut lemke) = (Random(4), Lemke::new());
    let mut count = [0; 2];
    for case in 0..500 {
        let n = 1 + case % 8;
        let lcp = Lcp::new(random.vector(n * n), random.vector(n)).unwrap();
        match lemke.solve(&lcp) {
            Outcome::Solved { .. } => {
                solved(&mut lemke, &lcp, "any");
                count[0] += 1;
            }
            Outcome::Ray { .. } => count[1] += 1,
            Outcome::PivotLimit { pivots } => panic!("case {case} took {pivots} pivots"),
        }
    }
    assert!(count.iter().all(|&c| c > 50), "{count:?}");
}

#[test]
fn strictly_copositive_problems_are_always_solved() {
    let (mut random, mut lemke) = (Random(5), Lemke::new());
    for case in 0..300 {
        let n = 1 + case % 30;
        // Not negative with a positive diagonal: copositive, and far from semidefinite.
        let mut matrix = random.vector(n * n);
        matrix.iter_mut().for_each(|x| *x = x.max(0.0));
        (0..n).for_each(|i| matrix[i * n + i] += 0.1);
        let lcp = Lcp::new(matrix, random.vector(n)).unwrap();
        solved(&mut lemke, &lcp, "copositive");
    }
}

#[test]
fn large_definite_problems_are_solved() {
    let (mut random, mut lemke) = (Random(6), Lemke::new());
    for n in [50, 100, 200] {
        let mut matrix = semidefinite(&mut random, n, n, 0.5);
        (0..n).for_each(|i| matrix[i * n + i] += 1e-3);
        let lcp = Lcp::new(matrix, random.vector(n)).unwrap();
        solved(&mut lemke, &lcp, "large");
    }
}

#[test]
fn repeated_rows_and_zero_right_hand_sides_do_not_cycle() {
    let (mut random, mut lemke) = (Random(7), Lemke::new());
    for case in 0..300 {
        let n = 4 + case % 20;
        // Few directions, each repeated, as many contact points of one face give; a right
        // side in their range, most of it zero.
        let rank = 1 + case % 3;
        let factor = random.vector(rank * 2);
        let direction = |i: usize, k: usize| factor[(i % 2) * rank + k];
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                matrix[i * n + j] = (0..rank).map(|k| direction(i, k) * direction(j, k)).sum();
            }
        }
        let push = random.vector(rank);
        let height = |i: usize| (0..rank).map(|k| direction(i, k) * push[k]).sum::<f64>();
        let vector: Vec<f64> = (0..n)
            .map(|i| if i % 2 == 0 { -height(0).abs() } else { 0.0 })
            .collect();
        let lcp = Lcp::new(matrix, vector).unwrap();
        match lemke.solve(&lcp) {
            Outcome::Solved { .. } => {
                solved(&mut lemke, &lcp, "repeated");
            }
            Outcome::Ray { .. } => assert!(rank == 1, "case {case}"),
            Outcome::PivotLimit { .. } => panic!("case {case} cycles"),
        }
    }
}

#[test]
fn the_example_that_cycles_without_a_rule_for_ties_is_solved() {
    // Kostreva's problem: the plain ratio test returns to its own basis.
    let matrix = vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0];
    let lcp = Lcp::new(matrix, vec![-1.0, -1.0, -1.0]).unwrap();
    let z = solved(&mut Lemke::new(), &lcp, "cycling");
    assert!(distance(&z, &[1.0 / 3.0; 3]) < 1e-12);
}

/// The matrix of Anitescu and Potra for contacts with friction: normal impulses, impulses
/// along `2 k` directions, and the slip speed of each contact.
fn friction(random: &mut Random, contacts: usize, directions: usize, free: usize) -> Lcp {
    let rows = contacts * (1 + directions);
    let mut factor = random.vector(rows * free);
    for c in 0..contacts {
        for d in directions / 2..directions {
            let (to, from) = (
                contacts + c * directions + d,
                contacts + c * directions + d - directions / 2,
            );
            for k in 0..free {
                factor[to * free + k] = -factor[from * free + k];
            }
        }
    }
    let n = rows + contacts;
    let mut matrix = vec![0.0; n * n];
    for i in 0..rows {
        for j in 0..rows {
            matrix[i * n + j] = (0..free)
                .map(|k| factor[i * free + k] * factor[j * free + k])
                .sum();
        }
    }
    for c in 0..contacts {
        let slip = rows + c;
        matrix[slip * n + c] = 0.5 + random.next().abs();
        for d in 0..directions {
            let tangent = contacts + c * directions + d;
            matrix[tangent * n + slip] = 1.0;
            matrix[slip * n + tangent] = -1.0;
        }
    }
    // q = J v for velocities v: Anitescu and Potra's theorem needs no more.
    let v = random.vector(free);
    let mut vector: Vec<f64> = (0..rows)
        .map(|i| (0..free).map(|k| factor[i * free + k] * v[k]).sum())
        .collect();
    vector.resize(n, 0.0);
    Lcp::new(matrix, vector).unwrap()
}

#[test]
fn contacts_with_friction_always_have_a_solution() {
    let (mut random, mut lemke) = (Random(8), Lemke::new());
    for case in 0..400 {
        let contacts = 1 + case % 10;
        let directions = [2, 4, 8][case % 3];
        // Fewer freedoms than contacts too: then rows depend on each other.
        let free = 3 + case % 12;
        let lcp = friction(&mut random, contacts, directions, free);
        let z = solved(&mut lemke, &lcp, &format!("case {case}"));
        let n = lcp.size();
        for c in 0..contacts {
            let (normal, first) = (z[c], contacts + c * directions);
            let pushed: f64 = z[first..first + directions].iter().sum();
            let coefficient = lcp.matrix()[(n - contacts + c) * n + c];
            assert!(pushed <= coefficient * normal + 1e-8 * (1.0 + normal));
        }
    }
}

#[test]
fn units_that_differ_by_many_powers_of_ten_do_not_matter() {
    let (mut random, mut lemke) = (Random(9), Lemke::new());
    for case in 0..200 {
        let n = 2 + case % 6;
        let mut matrix = semidefinite(&mut random, n, n, 0.5);
        (0..n).for_each(|i| matrix[i * n + i] += 0.1);
        let vector = random.vector(n);
        let plain = Lcp::new(matrix.clone(), vector.clone()).unwrap();
        let z = solved(&mut lemke, &plain, "plain");
        let unit = |i: usize| 10_f64.powi([-6, 3, 0, 5, -2, 7, 1, -4][i]);
        let scaled = |i: usize, j: usize| unit(i) * matrix[i * n + j] * unit(j);
        let wide = (0..n * n).map(|k| scaled(k / n, k % n)).collect();
        let lcp = Lcp::new(wide, (0..n).map(|i| unit(i) * vector[i]).collect()).unwrap();
        assert!(matches!(lemke.solve(&lcp), Outcome::Solved { .. }));
        let back: Vec<f64> = (0..n).map(|i| lemke.solution()[i] * unit(i)).collect();
        assert!(distance(&z, &back) < 1e-8, "case {case}");
    }
}

#[test]
fn a_walk_that_may_not_go_on_says_so() {
    let matrix = vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0];
    let lcp = Lcp::new(matrix, vec![-1.0, -1.0, -1.0]).unwrap();
    let mut lemke = Lemke::new();
    lemke.limit = Some(1);
    assert_eq!(lemke.solve(&lcp), Outcome::PivotLimit { pivots: 1 });
}

#[test]
fn nothing_to_push_takes_no_pivots() {
    let lcp = Lcp::new(vec![1.0, 0.0, 0.0, 1.0], vec![0.0, 2.0]).unwrap();
    let mut lemke = Lemke::new();
    let outcome = lemke.solve(&lcp);
    assert_eq!(
        outcome,
        Outcome::Solved {
            pivots: 0,
            residual: 0.0
        }
    );
    assert_eq!(lemke.solution(), [0.0, 0.0]);
    let empty = Lcp::new(Vec::new(), Vec::new()).unwrap();
    assert!(matches!(lemke.solve(&empty), Outcome::Solved { .. }));
}

/// A random mixed problem with a semidefinite matrix, `repeat` of whose equations repeat
/// others.
fn mixed(random: &mut Random, free: usize, pairs: usize, repeat: usize) -> (Vec<f64>, Vec<f64>) {
    let (size, dim) = (free + pairs, free + pairs);
    let mut factor = random.vector(size * dim);
    let mut vector = random.vector(size);
    for r in 0..repeat {
        for k in 0..dim {
            factor[r * dim + k] = 2.0 * factor[(free - 1) * dim + k];
        }
        vector[r] = 2.0 * vector[free - 1];
    }
    let product = |i: usize, j: usize| {
        (0..dim)
            .map(|k| factor[i * dim + k] * factor[j * dim + k])
            .sum::<f64>()
    };
    let matrix = (0..size * size)
        .map(|k| product(k / size, k % size))
        .collect();
    (matrix, vector)
}

#[test]
fn a_mixed_problem_keeps_its_equations_even_repeated_ones() {
    let (mut random, mut lemke) = (Random(10), Lemke::new());
    for case in 0..200 {
        let (free, pairs, repeat) = (3 + case % 4, 1 + case % 6, case % 3);
        let size = free + pairs;
        let (matrix, vector) = mixed(&mut random, free, pairs, repeat);
        let problem = MixedLcp::new(free, matrix.clone(), vector.clone()).unwrap();
        let reduction = problem.reduce().unwrap();
        assert_eq!(reduction.rank, free - repeat);
        assert!(reduction.inconsistency < 1e-10);
        let z = solved(&mut lemke, &reduction.lcp, "mixed");
        let all = [reduction.free_unknowns(&z), z].concat();
        let scale = all.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
        for i in 0..size {
            let row = &matrix[i * size..(i + 1) * size];
            let w = vector[i] + row.iter().zip(&all).map(|(m, x)| m * x).sum::<f64>();
            let miss = if i < free { w } else { w.min(all[i]) };
            assert!(miss.abs() < 1e-8 * scale, "case {case} row {i}: {miss:e}");
        }
    }
}

#[test]
fn equations_that_contradict_each_other_are_measured() {
    let matrix = vec![1.0, 1.0, 1.0, 1.0];
    let problem = MixedLcp::new(2, matrix, vec![-1.0, -1.5]).unwrap();
    let reduction = problem.reduce().unwrap();
    assert_eq!(reduction.rank, 1);
    assert!((reduction.inconsistency - 0.5).abs() < 1e-15);
}

#[test]
fn bad_input_is_refused_with_the_culprit() {
    let shape = Lcp::new(vec![1.0; 3], vec![0.0; 2]).unwrap_err();
    assert_eq!(
        shape,
        LcpError::Shape {
            entries: 3,
            rows: 2
        }
    );
    let nan = Lcp::new(vec![1.0, 0.0, f64::NAN, 1.0], vec![0.0; 2]).unwrap_err();
    assert_eq!(nan, LcpError::NotFinite { row: 1 });
    let many = MixedLcp::new(3, vec![1.0; 4], vec![0.0; 2]).unwrap_err();
    assert_eq!(many, LcpError::TooManyFree { free: 3, rows: 2 });
    let tied = MixedLcp::new(1, vec![0.0, 1.0, -1.0, 0.0], vec![-1.0, 0.0]).unwrap();
    assert_eq!(
        tied.reduce().unwrap_err(),
        LcpError::NotEliminable { row: 0 }
    );
}
