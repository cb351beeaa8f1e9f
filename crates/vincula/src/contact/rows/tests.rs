use super::*;

fn movers() -> Movers {
    let tensor = |k: f64| {
        [
            2.0 * k,
            0.1 * k,
            0.0,
            0.1 * k,
            1.0 * k,
            0.2 * k,
            0.0,
            0.2 * k,
            3.0 * k,
        ]
    };
    let mut movers = Movers::default();
    movers.all = vec![
        Mover::new(0, true, 0.5, tensor(1.0)),
        Mover::new(1, false, 0.25, tensor(0.3)),
    ];
    movers
}

fn row(movers: &Movers) -> ContactRow {
    let n = [0.36, 0.48, -0.8];
    let arms = [[0.3, -0.2, 0.5], [-0.7, 0.1, 0.2]];
    ContactRow::new(frame_of(&n), [0, 1], arms, movers)
}

#[test]
fn frames_are_right_handed_and_orthonormal() {
    for n in [
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
        [0.36, 0.48, -0.8],
        [1.0, 0.0, 0.0],
    ] {
        let [a, b, c] = frame_of(&n);
        assert!(sub(&cross(&a, &b), &c).iter().all(|e| e.abs() < 1e-15));
        assert!(dot(&a, &b).abs() < 1e-15 && (dot(&b, &b) - 1.0).abs() < 1e-15);
    }
}

#[test]
fn the_compliance_is_the_slip_under_a_unit_force() {
    let mut bodies = movers();
    let row = row(&bodies);
    for k in 0..3 {
        bodies = movers();
        let mut unit = [0.0; 3];
        unit[k] = 1.0;
        row.push(&mut bodies, &unit);
        let u = row.slip(&bodies.all);
        for i in 0..3 {
            assert!((u[i] - row.w[3 * i + k]).abs() < 1e-15);
        }
    }
}

#[test]
fn rows_are_the_gradient_of_the_place_of_the_contact() {
    let mut bodies = movers();
    let row = row(&bodies);
    let arms = [[0.3, -0.2, 0.5], [-0.7, 0.1, 0.2]];
    let step = 1e-6;
    for body in 0..2 {
        for k in 0..6 {
            bodies = movers();
            let mut turn = [0.0; 3];
            let mut shift = [0.0; 3];
            if k < 3 {
                shift[k] = step;
            } else {
                turn[k - 3] = step;
            }
            bodies.all[body].shift = shift;
            bodies.all[body].turn = turn;
            let turned = crate::math::rotation::exp::<false>(&turn);
            let moved = sub(&add(&mul_vec(&turned, &arms[body]), &shift), &arms[body]);
            let sign = if body == 1 { 1.0 } else { -1.0 };
            let expected = row.frame.map(|axis| sign * dot(&axis, &moved));
            let found = row.relative(&bodies.all);
            for i in 0..3 {
                assert!((found[i] - expected[i]).abs() < 1e-11);
            }
        }
    }
}
