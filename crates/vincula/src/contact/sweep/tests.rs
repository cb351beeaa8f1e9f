use super::super::movers::Mover;
use super::super::rows::frame_of;
use super::*;
use crate::math::numbers::Numbers;

/// Layers of bodies on each other and on something fixed, pressed together and sliding.
pub fn heap(numbers: &mut Numbers) -> (Movers, Vec<ContactRow>) {
    let tensor = |k: f64| [2.0 * k, 0.1, 0.0, 0.1, k, 0.2, 0.0, 0.2, 3.0 * k];
    let mut movers = Movers::default();
    movers.all = (0..60)
        .map(|k| Mover::new(k, true, 1.0 + numbers.unit(), tensor(1.0 + numbers.unit())))
        .collect();
    let mut rows = Vec::new();
    for k in 0..60u32 {
        for _ in 0..4 {
            let n = add(&[0.0, 0.0, 3.0], &numbers.vector().to_array());
            let n = scale(&n, 1.0 / dot(&n, &n).sqrt());
            let arms = [numbers.vector().to_array(), numbers.vector().to_array()];
            let below = if k < 15 { FIXED } else { k - 15 };
            let mut row = ContactRow::new(frame_of(&n), [below, k], arms, &movers);
            row.free = numbers.vector().to_array();
            row.free[0] -= 0.3;
            row.mu = [0.0, 0.2, 0.4, 0.6][rows.len() % 4];
            // Some are not for batches.
            if rows.len() % 9 == 0 {
                row.resist(0.0, 0.0, [0.0; 3], &mut movers);
            }
            rows.push(row);
        }
    }
    (movers, rows)
}

#[test]
fn batches_come_to_coulombs_law() {
    let mut numbers = Numbers(5);
    let mut seen = [0; 3];
    for _ in 0..10 {
        let (mut movers, mut rows) = heap(&mut numbers);
        let mut sweeper = Sweeper::default();
        let (count, enough) = sweeper.solve(&mut rows, &mut movers, 1e-13, 20_000);
        assert!(enough && sweeper.colours.rest.len() == 27, "{count}");
        let left = residual(&rows, &movers);
        assert!(left < 1e-9, "{left:e}");
        for row in &rows {
            let [n, x, y] = row.lambda;
            let slides = x.hypot(y) >= row.mu * n * (1.0 - 1e-9);
            seen[if n == 0.0 { 0 } else { 1 + usize::from(slides) }] += 1;
        }
        are_where_forces_put_them(&rows, &mut movers);
    }
    assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
}

/// Shifts, turns and what bodies have not been told follow from the forces.
fn are_where_forces_put_them(rows: &[ContactRow], movers: &mut Movers) {
    let found: Vec<_> = movers
        .all
        .iter()
        .map(|m| [m.shift, m.turn, m.untold[0], m.untold[1]])
        .collect();
    for m in &mut movers.all {
        (m.shift, m.turn, m.untold) = ([0.0; 3], [0.0; 3], [[0.0; 3]; 2]);
    }
    rows.iter().for_each(|row| row.push(movers, &row.lambda));
    for (m, found) in movers.all.iter().zip(found) {
        let [force, torque] = m.untold;
        for (p, q) in [m.shift, m.turn, force, torque].iter().zip(&found) {
            assert!(sub(p, q).iter().all(|e| e.abs() < 1e-9), "{p:?} {q:?}");
        }
    }
}

/// The same, with every two bodies on a joint.
fn heap_of_pairs(numbers: &mut Numbers) -> (Movers, Vec<ContactRow>) {
    let (mut movers, mut rows) = heap(numbers);
    movers.all.iter_mut().for_each(|m| m.loose = false);
    movers.join_pairs(|| [0, 1].map(|_| [0; 6].map(|_| numbers.unit() - 0.5)));
    for row in &mut rows {
        let arms = [row.a.arm, row.b.arm];
        let at = [row.a.mover, row.b.mover];
        let (free, mu, spin) = (row.free, row.mu, row.spin);
        *row = ContactRow::new(row.frame, at, arms, &movers);
        (row.free, row.mu, row.spin) = (free, mu, spin);
    }
    (movers, rows)
}

#[test]
fn pairs_that_answer_in_another_way_are_taken_anew() {
    let (mut movers, mut rows) = heap_of_pairs(&mut Numbers(9));
    let mut sweeper = Sweeper::default();
    sweeper.solve(&mut rows, &mut movers, 1e-13, 20_000);
    let other = |m: u32| m != FIXED && (m / 2).is_multiple_of(3);
    movers.give_way(other);
    for m in &mut movers.all {
        (m.shift, m.turn, m.untold) = ([0.0; 3], [0.0; 3], [[0.0; 3]; 2]);
    }
    for row in &mut rows {
        row.weigh(&movers);
        row.push(&mut movers, &row.lambda);
    }
    assert!(residual(&rows, &movers) > 1e-3);
    sweeper.weigh(&rows, &movers, other);
    let (_, enough) = sweeper.solve(&mut rows, &mut movers, 1e-13, 20_000);
    let left = residual(&rows, &movers);
    assert!(enough && left < 1e-9, "{left:e}");
    are_where_forces_put_them(&rows, &mut movers);
}

#[test]
fn batches_of_small_mechanisms_come_to_coulombs_law() {
    let mut numbers = Numbers(8);
    for _ in 0..10 {
        let (mut movers, mut rows) = heap_of_pairs(&mut numbers);
        let mut sweeper = Sweeper::default();
        let (count, enough) = sweeper.solve(&mut rows, &mut movers, 1e-13, 20_000);
        assert!(enough && sweeper.colours.rest.len() == 27, "{count}");
        assert!(sweeper.colours.runs.iter().all(|run| run.held));
        let left = residual(&rows, &movers);
        assert!(left < 1e-9, "{left:e}");
        are_where_forces_put_them(&rows, &mut movers);
    }
}
