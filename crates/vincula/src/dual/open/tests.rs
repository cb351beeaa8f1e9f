use crate::dual::trial::tests::{H, after_steps, pairs};

#[test]
fn what_is_closed_is_left_out_and_the_rest_answers_as_before() {
    let model = pairs(false);
    let mut work = after_steps(&model);
    let crate::workspace::Workspace { dual, newton, .. } = &mut work;
    // Bodies of every fourth pair are pushed, those of a few hardly.
    let pushed = |pair: usize| match pair % 4 {
        0 => 1e-3,
        1 if pair < 8 => 1e-9,
        _ => 0.0,
    };
    for (k, n) in newton.iter_mut().enumerate() {
        for lane in 0..8 {
            let body = 8 * k + lane;
            n.t[2][lane] += pushed(body / 2) * (3.0 * body as f64).sin();
        }
        dual.find_places(k, n);
    }
    let worst = dual.violation(&model, newton, H);
    dual.solve();
    let whole = dual.lambda.clone();

    dual.violation(&model, newton, H);
    dual.leave_closed(1e-6);
    dual.solve();
    let (mut open, mut closed) = (0, 0);
    for joint in 0..model.joints().len() {
        let rows = dual.rows_of(joint);
        if pushed(joint) == 1e-3 {
            assert_eq!(dual.lambda[rows.clone()], whole[rows], "joint {joint}");
            assert!(dual.is_open(joint));
            open += 1;
        } else {
            assert!(dual.lambda[rows].iter().all(|l| *l == 0.0), "joint {joint}");
            assert!(!dual.is_open(joint));
            closed += 1;
        }
    }
    assert_eq!((open, closed), (5, 15));
    let left = dual.gap_left_out();
    assert!(left > 1e-10 && left < 1e-6, "{left:e}");
    // Every block has a body of an open one.
    let moves: Vec<bool> = (0..5).map(|block| dual.split().0.may_move(block)).collect();
    assert_eq!(moves, [true; 5]);

    assert_eq!(dual.violation(&model, newton, H), worst);
    dual.leave_closed(f64::INFINITY);
    let moves = (0..5).any(|block| dual.split().0.may_move(block));
    assert!(!moves && dual.gap_left_out() == worst);
    dual.solve();
    assert!(dual.lambda.iter().all(|l| *l == 0.0));

    dual.return_closed();
    assert_eq!(dual.violation(&model, newton, H), worst);
    dual.solve();
    assert_eq!(dual.lambda, whole);
}

#[test]
fn what_is_no_number_is_never_closed() {
    let model = pairs(false);
    let mut work = after_steps(&model);
    let crate::workspace::Workspace { dual, newton, .. } = &mut work;
    newton[0].t[0][0] = f64::NAN;
    dual.find_places(0, &newton[0]);
    dual.violation(&model, newton, H);
    dual.leave_closed(1.0);
    assert!(dual.is_open(0) && !dual.is_open(1));
}
