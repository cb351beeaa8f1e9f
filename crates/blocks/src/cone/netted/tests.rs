//! A net against a dense solve of the same problem.

use super::super::Delassus;
use super::super::newton::solve_dense;
use super::super::tests::{assert_found, random};
use super::*;
use crate::matrix::{BlockMatrix, Pattern};

/// Links between the nodes of a grid, some at a single node only, touched at some of them; and the
/// same as a dense problem.
fn problem(seed: &mut u64, [rows, columns]: [usize; 2]) -> (Netted, Delassus) {
    let count = rows * columns;
    let mut links: Vec<Vec<usize>> = Vec::new();
    for node in 0..count {
        if node % columns + 1 < columns {
            links.push(vec![node, node + 1]);
        }
        if node + columns < count {
            // Links know their nodes in any order.
            links.push(vec![node + columns, node]);
        }
        if node % 3 == 0 {
            links.push(vec![node]);
        }
    }
    let edges: Vec<(usize, usize)> = links
        .iter()
        .filter(|l| l.len() == 2)
        .map(|l| (l[0], l[1]))
        .collect();
    let pattern = Pattern::new(&vec![3; count], &edges).unwrap();
    let mut matrix = BlockMatrix::zeros(&pattern);
    let touches: Vec<usize> = (0..links.len()).map(|k| [1, 0, 2, 3, 0][k % 5]).collect();
    let contacts: usize = touches.iter().sum();
    let size = 3 * contacts;
    let (mut s, mut b) = (vec![0.0; size * size], vec![0.0; size * 3 * count]);
    let mut first = 0;
    // Each link answers at its nodes and at its contacts by G Gᵀ.
    for (link, &touched) in links.iter().zip(&touches) {
        let (held, width) = (3 * link.len(), 14);
        let g: Vec<f64> = (0..(held + 3 * touched) * width)
            .map(|_| random(seed))
            .collect();
        let at = |i: usize, j: usize| -> f64 {
            (0..width)
                .map(|k| g[i * width + k] * g[j * width + k])
                .sum()
        };
        for (k, &node) in link.iter().enumerate() {
            let block = matrix.diagonal_mut(node);
            for (e, x) in block.iter_mut().enumerate() {
                *x += at(3 * k + e / 3, 3 * k + e % 3);
            }
        }
        if let [one, two] = link[..] {
            let edge = matrix.edge_index(one, two).unwrap();
            let [low, high] = if one < two { [0, 3] } else { [3, 0] };
            for (e, x) in matrix.edge_mut(edge).iter_mut().enumerate() {
                *x = at(low + e / 3, high + e % 3);
            }
        }
        for i in 0..3 * touched {
            for j in 0..3 * touched {
                s[(3 * first + i) * size + 3 * first + j] = at(held + i, held + j);
            }
            for j in 0..held {
                b[(3 * first + i) * 3 * count + 3 * link[j / 3] + j % 3] = at(held + i, j);
            }
        }
        first += touched;
    }
    let dense = dense_problem(seed, &matrix, &s, &b);
    let mut netted = Netted::new(Mesh::new(&pattern).unwrap());
    netted.mesh.read(&matrix);
    first = 0;
    for (link, &touched) in links.iter().zip(&touches).filter(|l| *l.1 > 0) {
        let ties: Vec<u32> = link.iter().map(|node| *node as u32).collect();
        assert!(netted.add_bead(&ties));
        for k in first..first + touched {
            let reach = |node: &usize| -> Block {
                std::array::from_fn(|e| b[(3 * k + e / 3) * 3 * count + 3 * node + e % 3])
            };
            let reaches: Vec<Block> = link.iter().map(reach).collect();
            let own = |i: usize| dense.matrix[(3 * k + i) * (size + 1)];
            let (mu, compliance) = (dense.mu[k], own(0) + own(1) + own(2));
            netted.add_contact(Mark { mu, compliance }, &reaches);
        }
        for (i, row) in netted.own_mut().chunks_exact_mut(3 * touched).enumerate() {
            row.copy_from_slice(&s[(3 * first + i) * size + 3 * first..][..3 * touched]);
        }
        first += touched;
    }
    (netted, dense)
}

/// D = S − B A⁻¹ Bᵀ column by column, with some slip and friction.
fn dense_problem(seed: &mut u64, matrix: &BlockMatrix, s: &[f64], b: &[f64]) -> Delassus {
    let rows = matrix.pattern().dimension();
    let size = b.len() / rows;
    let mut dense = Delassus::default();
    dense.reset(size / 3);
    for column in 0..size {
        let mut x = b[column * rows..(column + 1) * rows].to_vec();
        assert!(solve_dense(&mut matrix.to_dense(), &mut x, rows));
        for i in 0..size {
            let net: f64 = (0..rows).map(|j| b[i * rows + j] * x[j]).sum();
            dense.matrix[i * size + column] = s[i * size + column] - net;
        }
    }
    for i in 0..size {
        dense.free[i] = random(seed) - if i % 3 == 0 { 0.5 } else { 0.0 };
    }
    // Some contacts have no friction at all.
    let mut mu = || (0.3 + 0.4 * random(seed)).max(0.0);
    dense.mu.iter_mut().for_each(|x| *x = mu());
    dense
}

/// Starts from a guess, with the slip that it causes.
fn start(netted: &mut Netted, dense: &Delassus, guess: &[f64]) {
    let rows = guess.len();
    for k in 0..rows / 3 {
        let slip: Triple = std::array::from_fn(|i| {
            let row = &dense.matrix[(3 * k + i) * rows..][..rows];
            let pushed: f64 = row.iter().zip(guess).map(|(d, x)| d * x).sum();
            dense.free[3 * k + i] + pushed
        });
        netted.start(k, slip, triple(guess, k));
    }
}

#[test]
fn products_and_steps_are_those_of_the_dense_matrix() {
    let mut seed = 23;
    for size in [[1, 1], [1, 4], [3, 3], [4, 5]] {
        let (mut netted, dense) = problem(&mut seed, size);
        let rows = dense.free.len();
        assert!(netted.mesh.meet(netted.ties.clone().into_iter()));
        let x: Vec<f64> = (0..rows).map(|_| random(&mut seed)).collect();
        let mut y = vec![0.0; rows];
        netted.multiply(&x, &mut y);
        let times = |a: &[f64], i: usize| -> f64 {
            let row = &a[i * rows..(i + 1) * rows];
            row.iter().zip(&x).map(|(a, x)| a * x).sum()
        };
        for (i, y) in y.iter().enumerate() {
            assert!((y - times(&dense.matrix, i)).abs() < 1e-9, "{size:?}");
        }
        // (Y + Z D) x, and back.
        let blocks = |seed: &mut u64, own: f64| -> Vec<Block> {
            let block = |seed: &mut u64| -> Block {
                std::array::from_fn(|e| 0.1 * random(seed) + if e % 4 == 0 { own } else { 0.0 })
            };
            (0..rows / 3).map(|_| block(seed)).collect()
        };
        let (softs, mut slopes) = (blocks(&mut seed, 1.0), blocks(&mut seed, 0.5));
        // Some are apart.
        slopes.iter_mut().step_by(3).for_each(|z| *z = [0.0; 9]);
        let mut r: Vec<f64> = (0..rows / 3)
            .flat_map(|k| {
                let soft = super::times(&softs[k], &triple(&x, k));
                let slope = super::times(&slopes[k], &triple(&y, k));
                std::array::from_fn::<f64, 3, _>(|i| soft[i] + slope[i])
            })
            .collect();
        assert!(netted.prepare(&softs, &slopes));
        assert_eq!(netted.respond(&slopes, &mut r, 0.0), Some(0));
        for (found, x) in r.iter().zip(&x) {
            assert!((found - x).abs() < 1e-8, "{size:?}: {found} {x}");
        }
    }
}

#[test]
fn it_finds_what_a_dense_solve_finds() {
    let mut seed = 29;
    let mut states = [0; 3];
    for case in 0..30 {
        let (mut netted, mut dense) = problem(&mut seed, [2 + case % 3, 2 + case % 4]);
        let rows = dense.lambda.len();
        // A first guess that is not zero, with the slip that it causes.
        let guess: Vec<f64> = (0..rows)
            .map(|i| if i % 3 == 0 { 0.1 } else { 0.0 })
            .collect();
        start(&mut netted, &dense, &guess);
        let report = netted.solve(1e-9);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        assert_found(&netted.law, &mut dense, &mut states);
    }
    assert!(states.iter().all(|n| *n > 5), "{states:?}");
}

#[test]
fn nodes_of_other_sizes_are_refused() {
    let pattern = Pattern::new(&[3, 2], &[(0, 1)]).unwrap();
    assert!(Mesh::new(&pattern).is_none());
}
