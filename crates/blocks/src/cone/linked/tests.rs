//! Bodies in contact against a dense solve of the same problem.

use super::super::Delassus;
use super::super::tests::random;
use super::*;

/// Layers of bodies on each other and on something fixed; and the same as a dense problem.
fn problem<const N: usize>(seed: &mut u64, bodies: usize) -> (Linked<N>, Delassus) {
    let mut linked = Linked::default();
    for _ in 0..bodies {
        let g: Vec<f64> = (0..9).map(|_| random(seed)).collect();
        let per_torque: Block = std::array::from_fn(|e| {
            let (i, j) = (e / 3, e % 3);
            let own = if i == j { 0.3 } else { 0.0 };
            own + (0..3).map(|k| g[3 * i + k] * g[3 * j + k]).sum::<f64>()
        });
        linked.add_body(1.0 + 0.5 * random(seed), per_torque);
    }
    // The first body lies on a mechanism that moves in two times N ways.
    linked.add_ways();
    linked.add_ways();
    let mut sides: Vec<Vec<(u32, [[f64; N]; 3])>> = Vec::new();
    let mut softs = Vec::new();
    for body in 0..bodies as u32 {
        for corner in 0..1 + body % 3 {
            let below = match body {
                0 => vec![bodies as u32, bodies as u32 + 1],
                1 => vec![],
                _ => vec![body - 1 - corner % 2],
            };
            let mut draw = || std::array::from_fn(|_| std::array::from_fn(|_| random(seed)));
            let both = below.into_iter().chain([body]);
            sides.push(both.map(|body| (body, draw())).collect());
            softs.push(if corner == 1 { [0.1, 0.05] } else { [0.0; 2] });
        }
    }
    let touch = |k: usize, mu: f64, compliance: f64| Touch {
        soft: softs[k],
        mu,
        compliance,
    };
    let add = |linked: &mut Linked<N>, k: usize, touch: Touch, slip: Triple| {
        linked.add_touch(touch, slip, [0.0; 3]);
        for (body, gradient) in &sides[k] {
            linked.add_reach(*body, *gradient);
        }
    };
    let (count, rows) = (sides.len(), 3 * sides.len());
    let mut dense = Delassus::default();
    dense.reset(count);
    for k in 0..count {
        add(&mut linked, k, touch(k, 0.0, 0.0), [0.0; 3]);
    }
    for column in 0..rows {
        let mut unit = vec![0.0; rows];
        unit[column] = 1.0;
        let mut moved = vec![0.0; rows];
        linked.bodies.product(&unit, &mut moved);
        for (row, u) in moved.iter().enumerate() {
            dense.matrix[row * rows + column] = *u;
        }
    }
    linked.forget_touches();
    for k in 0..count {
        for i in 0..3 {
            dense.free[3 * k + i] = random(seed) - if i == 0 { 0.5 } else { 0.0 };
        }
        dense.mu[k] = (0.3 + 0.4 * random(seed)).max(0.0);
    }
    for k in 0..count {
        let compliance = (0..3).map(|i| dense.matrix[(3 * k + i) * (rows + 1)]).sum();
        let touch = touch(k, dense.mu[k], compliance);
        add(&mut linked, k, touch, triple(&dense.free, k));
    }
    (linked, dense)
}

#[test]
fn it_finds_what_a_dense_solve_finds() {
    finds_what_a_dense_solve_finds::<6>(23, |linked| linked.solve(1e-9));
    finds_what_a_dense_solve_finds::<12>(28, |linked| linked.solve(1e-9));
}

#[test]
fn settling_finds_what_a_dense_solve_finds() {
    finds_what_a_dense_solve_finds::<6>(27, |linked| linked.settle(1e-9));
    finds_what_a_dense_solve_finds::<12>(29, |linked| linked.settle(1e-9));
}

#[test]
fn multipliers_find_what_a_dense_solve_finds() {
    finds_what_a_dense_solve_finds::<6>(24, |linked| {
        linked.law.settle(&mut linked.bodies, 1e-9, 400)
    });
}

#[test]
fn turns_find_what_a_dense_solve_finds() {
    finds_what_a_dense_solve_finds::<6>(25, |linked| {
        let Linked { law, bodies } = linked;
        // They end where they do not lead far any more, and lead on from there.
        let again = (0..1_000).map(|_| law.turn_with(bodies, 1e-9, (0.05, 1_000)));
        let mut reports = again.skip_while(|report| report.residual > 1e-9);
        reports.next().expect("turns that end at the law")
    });
}

#[test]
fn half_of_the_products_factor_what_is_symmetric() {
    let mut seed = 31;
    for bodies in 2..12 {
        let (mut linked, _) = problem::<6>(&mut seed, bodies);
        linked.plan();
        let bodies = &mut linked.bodies;
        let count = bodies.touches.len();
        let (softs, slopes) = (
            vec![IDENTITY.map(|x| 0.3 * x); count],
            vec![IDENTITY; count],
        );
        let load: Vec<f64> = (0..3 * count).map(|_| random(&mut seed)).collect();
        let [whole, half] = [false, true].map(|symmetric| {
            assert!(bodies.load(&softs, &slopes));
            assert!(bodies.is_symmetric() && bodies.factor.run(symmetric));
            let mut x = load.clone();
            bodies.solve_once(&mut x);
            x
        });
        for (p, q) in whole.iter().zip(&half) {
            assert!((p - q).abs() <= 1e-9 * p.abs().max(1.0), "{p} {q}");
        }
    }
}

#[test]
fn a_plan_is_kept_for_the_same_pairs_only() {
    let mut factor = Factor::<6>::default();
    let chain = [[0, 1], [2, 1], [3, 2]];
    let cost = factor.plan(4, chain.into_iter());
    // In another order, and twice.
    let again = [[2, 3], [1, 0], [1, 2], [0, 1]];
    assert_eq!(factor.plan(4, again.into_iter()), cost);
    let closed = [[0, 1], [1, 2], [2, 3], [3, 0]];
    assert!(factor.plan(4, closed.into_iter()) > cost);
    assert_eq!(factor.plan(3, [[0, 1], [1, 2]].into_iter()), 4);
    assert_eq!(factor.plan(4, chain.into_iter()), cost);
}

#[test]
fn others_go_on_from_where_turns_lead() {
    finds_what_a_dense_solve_finds::<6>(26, |linked| {
        let Linked { law, bodies } = linked;
        law.turn_with(bodies, 1e-9, (0.05, 1));
        law.settle(bodies, 1e-9, 400)
    });
}

#[test]
fn a_body_that_cannot_turn_leaves_forces_finite() {
    let mut linked = Linked::<6>::default();
    linked.add_body(1.0, [0.0; 9]);
    let touch = Touch {
        soft: [0.0; 2],
        mu: 0.5,
        compliance: 3.0,
    };
    linked.add_touch(touch, [-1.0, 0.1, 0.0], [0.5, 0.0, 0.0]);
    linked.add_reach(
        0,
        std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 })),
    );
    linked.plan();
    for report in [linked.solve(1e-9), linked.settle(1e-9)] {
        assert!(report.residual.is_finite(), "{report:?}");
        assert!(linked.lambda().iter().all(|l| l.is_finite()), "{report:?}");
    }
}

fn finds_what_a_dense_solve_finds<const N: usize>(
    mut seed: u64,
    solve: impl Fn(&mut Linked<N>) -> ConeReport,
) {
    let mut states = [0; 3];
    for case in 0..60 {
        let (mut linked, mut dense) = problem(&mut seed, 2 + case % 9);
        linked.plan();
        let report = solve(&mut linked);
        assert!(report.residual <= 1e-9, "case {case}: {report:?}");
        dense.solve(1e-12, 200);
        let rows = dense.lambda.len();
        // Forces may be shared in many ways; slips are what they are.
        let mut found = vec![0.0; rows];
        let Linked { law, bodies } = &mut linked;
        bodies.product(law.lambda(), &mut found);
        for k in 0..rows / 3 {
            let slip = dense.slip(k);
            for i in 0..3 {
                let off = found[3 * k + i] + dense.free[3 * k + i] - slip[i];
                assert!(off.abs() < 1e-6, "case {case}, contact {k}: {off:e}");
            }
            let l = triple(linked.lambda(), k);
            let friction = (l[1] * l[1] + l[2] * l[2]).sqrt();
            let slides = friction > 0.999 * dense.mu[k] * l[0];
            states[(usize::from(l[0] > 0.0) + usize::from(slides)).min(2)] += 1;
        }
    }
    assert!(states.iter().all(|n| *n > 5), "{states:?}");
}
