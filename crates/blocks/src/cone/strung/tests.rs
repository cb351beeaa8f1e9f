//! A chain on pulleys against a dense solve of the same problem.

use super::super::Delassus;
use super::super::newton::solve_dense;
use super::super::tests::{assert_found, random};
use super::*;

/// A chain whose links are touched, on pulleys; and the same as a dense problem. Two pulleys are apart, and
/// move in another way too, so many times less.
fn problem(seed: &mut u64, links: usize, pulleys: usize, less: f64) -> (Strung, Delassus) {
    let mut strung = Strung::default();
    // Each link answers at its two joints and at its contacts by G Gᵀ, and joints lie between
    // two links: node k is the second joint of link k − 1 and the first one of link k.
    let nodes = links + 1;
    let mut a = vec![0.0; 9 * nodes * nodes];
    let counts: Vec<usize> = (0..links).map(|k| [1, 2, 0][k % 3]).collect();
    let contacts: usize = counts.iter().sum();
    let rows = 3 * contacts;
    let (mut s, mut b) = (vec![0.0; rows * rows], vec![0.0; rows * 3 * nodes]);
    let mut beads = Vec::new();
    let mut first = 0;
    for (link, &count) in counts.iter().enumerate() {
        let (size, columns) = (6 + 3 * count, 14);
        let g: Vec<f64> = (0..size * columns).map(|_| random(seed)).collect();
        let at = |i: usize, j: usize| -> f64 {
            (0..columns)
                .map(|k| g[i * columns + k] * g[j * columns + k])
                .sum()
        };
        for i in 0..6 {
            for j in 0..6 {
                a[(3 * link + i) * 3 * nodes + 3 * link + j] += at(i, j);
            }
        }
        for i in 0..3 * count {
            for j in 0..3 * count {
                s[(3 * first + i) * rows + 3 * first + j] = at(6 + i, 6 + j);
            }
            for j in 0..6 {
                b[(3 * first + i) * 3 * nodes + 3 * link + j] = at(6 + i, j);
            }
        }
        beads.push((link, first, count));
        first += count;
    }
    let block = |i: usize, j: usize| -> Block {
        std::array::from_fn(|e| match j < nodes {
            true => a[(3 * i + e / 3) * 3 * nodes + 3 * j + e % 3],
            false => 0.0,
        })
    };
    let touched: Vec<u32> = (0..nodes as u32).collect();
    assert!(
        strung
            .line
            .condense(nodes, &touched, |k| (block(k, k), block(k, k + 1)))
    );
    let (ways, apart) = if pulleys == 2 { (2, LANES) } else { (1, 1) };
    let mut q: Vec<f64> = (0..pulleys * ways * rows).map(|_| random(seed)).collect();
    for (way, q) in q.chunks_exact_mut(rows.max(1)).enumerate() {
        let pulley = way / ways;
        if way % ways > 0 {
            q.iter_mut().for_each(|x| *x /= less);
        }
        for &(link, first, count) in &beads {
            if !touched_by(pulley, pulleys, link, links) {
                q[3 * first..3 * (first + count)].fill(0.0);
            }
        }
    }
    let mut dense = Delassus::default();
    dense.reset(contacts);
    // D column by column.
    for column in 0..rows {
        let mut x: Vec<f64> = (0..3 * nodes).map(|j| b[column * 3 * nodes + j]).collect();
        let mut copy = a.clone();
        assert!(solve_dense(&mut copy, &mut x, 3 * nodes));
        for i in 0..rows {
            let chain: f64 = (0..3 * nodes).map(|j| b[i * 3 * nodes + j] * x[j]).sum();
            let rest: f64 = (0..pulleys * ways)
                .map(|p| q[p * rows + i] * q[p * rows + column])
                .sum();
            dense.matrix[i * rows + column] = s[i * rows + column] - chain + rest;
        }
    }
    for i in 0..rows {
        dense.free[i] = random(seed) - if i % 3 == 0 { 0.5 } else { 0.0 };
    }
    // Some contacts have no friction at all.
    dense
        .mu
        .iter_mut()
        .for_each(|mu| *mu = (0.3 + 0.4 * random(seed)).max(0.0));
    // A pulley touches some links that follow each other, and all of them the last one.
    let touches = |pulley: usize, link: usize| touched_by(pulley, pulleys, link, links);
    for (link, first, count) in beads.into_iter().filter(|bead| bead.2 > 0) {
        let borders: Vec<usize> = (0..pulleys * ways)
            .filter(|way| touches(way / ways, link))
            .collect();
        let number = |way: &usize| (apart * (way / ways) + way % ways) as u32;
        let numbers: Vec<u32> = borders.iter().map(number).collect();
        strung.add_bead(link, &numbers);
        for k in first..first + count {
            let reach = [0, 1].map(|n| -> Block {
                std::array::from_fn(|e| b[(3 * k + e / 3) * 3 * nodes + 3 * (link + n) + e % 3])
            });
            let own = |i: usize| dense.matrix[(3 * k + i) * (rows + 1)];
            let (mu, compliance) = (dense.mu[k], own(0) + own(1) + own(2));
            strung.add_knot(Knot {
                reach,
                mu,
                compliance,
            });
            for way in &borders {
                let moved = std::array::from_fn(|i| q[way * rows + 3 * k + i]);
                strung.set_sway(number(way), &moved);
            }
        }
        for (i, row) in strung.own_mut().chunks_exact_mut(3 * count).enumerate() {
            row.copy_from_slice(&s[(3 * first + i) * rows + 3 * first..][..3 * count]);
        }
    }
    (strung, dense)
}

/// Whether a pulley touches a link. Of two: if it is in its half, with a link between the halves. Of more: if
/// it is in a stretch that overlaps with that of the next pulley, or the last one.
fn touched_by(pulley: usize, pulleys: usize, link: usize, links: usize) -> bool {
    if pulleys == 2 {
        return link != links / 2 && (link > links / 2) == (pulley == 1);
    }
    let (first, end) = (pulley * links / pulleys, (pulley + 1) * links / pulleys + 1);
    (first..=end).contains(&link) || link + 1 == links
}

/// How many times less pulleys move in another way that does not count.
const LESS: f64 = 10.0;

/// Starts from a guess, with the slip that it causes.
fn start(strung: &mut Strung, dense: &Delassus, guess: &[f64]) {
    let rows = guess.len();
    for k in 0..rows / 3 {
        let slip: Triple = std::array::from_fn(|i| {
            let row = &dense.matrix[(3 * k + i) * rows..][..rows];
            let pushed: f64 = row.iter().zip(guess).map(|(d, x)| d * x).sum();
            dense.free[3 * k + i] + pushed
        });
        strung.start(k, slip, triple(guess, k));
    }
}

#[test]
fn a_guess_that_is_nearly_right_takes_few_steps() {
    let (mut seed, mut steps, cases) = (5, 0, 40);
    for case in 0..cases {
        let (mut strung, mut dense) = problem(&mut seed, 4 + case % 7, case % 4, LESS);
        start(&mut strung, &dense, &vec![0.0; dense.lambda.len()]);
        assert!(strung.solve(1e-9).residual <= 1e-9, "case {case}");
        let guess = strung.lambda().to_vec();
        for free in &mut dense.free {
            *free += 1e-3 * random(&mut seed);
        }
        start(&mut strung, &dense, &guess);
        let report = strung.solve(1e-9);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        steps += report.newton;
    }
    assert!(steps <= 4 * cases, "{steps} steps");
}

fn first_guess(rows: usize) -> Vec<f64> {
    let normal = |i: usize| if i.is_multiple_of(3) { 0.1 } else { 0.0 };
    (0..rows).map(normal).collect()
}

#[test]
fn it_finds_what_a_dense_solve_finds() {
    let mut seed = 17;
    let mut states = [0; 3];
    for case in 0..100 {
        let (mut strung, mut dense) =
            problem(&mut seed, 4 + case % 7, [0, 1, 2, 3, 10][case % 5], LESS);
        let rows = dense.lambda.len();
        // A first guess that is not zero, with the slip that it causes.
        start(&mut strung, &dense, &first_guess(rows));
        let report = strung.solve(1e-9);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        assert_eq!(strung.rides, case % 5 < 3, "case {case}");
        assert_found(&strung.law, &mut dense, &mut states);
    }
    assert!(states.iter().all(|n| *n > 5), "{states:?}");
}

#[test]
fn a_ride_that_leaves_out_too_much_is_not_the_end() {
    let (mut seed, mut states) = (23, [0; 3]);
    for case in 0..20 {
        let (mut strung, mut dense) = problem(&mut seed, 6 + case % 5, 2, 0.3);
        start(&mut strung, &dense, &first_guess(dense.lambda.len()));
        assert!(strung.is_ready() && !strung.rides, "case {case}");
        strung.mount();
        strung.rides = true;
        let report = strung.solve(1e-9);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        assert!(!strung.rides, "case {case}");
        assert_found(&strung.law, &mut dense, &mut states);
    }
}

/// D x of a dense problem.
fn dense_times(dense: &Delassus, x: &[f64]) -> Vec<f64> {
    let rows = dense.matrix.chunks_exact(x.len());
    rows.map(|row| row.iter().zip(x).map(|(d, x)| d * x).sum())
        .collect()
}

#[test]
fn a_step_solves_its_system_and_tells_what_it_does_everywhere() {
    let (mut seed, mut followed) = (41, 0);
    for case in 0..60 {
        let (mut strung, dense) = problem(&mut seed, 9 + case % 7, case % 4, 1e9);
        let (rows, contacts) = (dense.lambda.len(), dense.mu.len());
        start(&mut strung, &dense, &vec![0.0; rows]);
        assert!(strung.is_ready());
        // In a second round contacts push that did not, and one lets go that does not push.
        for round in 0..2 {
            let (mut softs, mut slopes, mut r) = (Vec::new(), Vec::new(), vec![0.0; rows]);
            for k in 0..contacts {
                let pushes = (k + case + round) % 4 == 0;
                let size = if pushes { 0.2 } else { 0.0 };
                let some: Block =
                    std::array::from_fn(|e| 0.2 * random(&mut seed) + f64::from(e % 4 == 0));
                softs.push(some);
                slopes.push(some.map(|x| size * x));
                if pushes || k == round {
                    r[3 * k..3 * k + 3].fill_with(|| random(&mut seed));
                }
            }
            assert!(strung.prepare(&softs, &slopes));
            let mut delta = r.clone();
            assert!(strung.respond(&slopes, &mut delta, 1e-9).is_some());
            let (mut answer, expected) = (vec![0.0; rows], dense_times(&dense, &delta));
            strung.answer(&delta, &mut answer);
            for k in 0..contacts {
                let (d, u) = (triple(&delta, k), triple(&expected, k));
                for i in 0..3 {
                    let left: f64 = (0..3)
                        .map(|j| softs[k][3 * i + j] * d[j] + slopes[k][3 * i + j] * u[j])
                        .sum();
                    let off = (left - r[3 * k + i]).abs() / (1.0 + left.abs());
                    assert!(off < 1e-7, "case {case}, contact {k}: {off:e}");
                    let off = (answer[3 * k + i] - u[i]).abs() / (1.0 + u[i].abs());
                    assert!(off < 1e-7, "case {case}, contact {k}: {off:e}");
                }
            }
        }
        let beads = (0..strung.beads.len()).filter(|k| !strung.short.holds(*k));
        followed += if strung.rides { beads.count() } else { 0 };
    }
    assert!(followed > 60, "{followed}");
}

#[test]
fn nodes_that_no_contact_pushes_follow_those_that_one_does() {
    let (mut seed, mut states, mut held, mut followed, mut come) = (31, [0; 3], 0, 0, 0);
    for case in 0..60 {
        let (mut strung, mut dense) = problem(&mut seed, 9 + case % 7, case % 3, LESS);
        // Most contacts part but the second one, and some of them are pushed at first.
        for (k, free) in dense.free.iter_mut().enumerate().step_by(3) {
            *free += if k == 3 { -1.0 } else { 1.2 };
        }
        let mut guess = vec![0.0; dense.lambda.len()];
        guess[3 * (case % 4)] = 0.3;
        start(&mut strung, &dense, &guess);
        let report = strung.solve(1e-9);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        assert!(strung.rides);
        let here = (0..strung.beads.len()).filter(|k| strung.short.holds(*k));
        let here = here.count();
        (held, followed) = (held + here, followed + strung.beads.len() - here);
        assert_found(&strung.law, &mut dense, &mut states);
        // A second problem on the same chain, in which others are pushed.
        let guess = strung.lambda().to_vec();
        for free in dense.free.iter_mut().step_by(3) {
            *free -= 0.9 * (1.0 + random(&mut seed));
        }
        start(&mut strung, &dense, &guess);
        let report = strung.solve(1e-9);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        come += (0..strung.beads.len())
            .filter(|k| strung.short.holds(*k))
            .count()
            - here;
        assert_found(&strung.law, &mut dense, &mut states);
    }
    assert!(
        held > 60 && followed > 100 && come > 60,
        "{held} {followed} {come}"
    );
    assert!(states.iter().all(|n| *n > 50), "{states:?}");
}
