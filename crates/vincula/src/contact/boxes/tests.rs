use super::*;
use crate::math::numbers::Numbers;
use crate::model::Pose;
use glam::DQuat;

fn placed(half: DVec3, pose: &Pose, turn: DVec3) -> Block {
    let axes = DMat3::from_quat(pose.rotation);
    Block::new(half, pose.translation, &axes, turn)
}

/// Half the extent of a box along a direction, m.
fn reach(block: &Block, n: DVec3) -> f64 {
    (0..3)
        .map(|k| block.half[k] * n.dot(block.axes[k]).abs())
        .sum()
}

fn block(half: DVec3, at: DVec3, turned: DQuat) -> Block {
    let pose = Pose {
        translation: at,
        rotation: turned,
    };
    placed(half, &pose, DVec3::ZERO)
}

fn touches(one: &Block, two: &Block, reach: f64) -> Vec<Touch> {
    let mut out = Vec::new();
    touch_boxes(one, two, reach, None, &mut out);
    out
}

/// How far a point is outside a box, by the side it is farthest out of; negative inside.
fn outside(block: &Block, point: DVec3) -> f64 {
    let d = point - block.center;
    let over = (0..3).map(|k| d.dot(block.axes[k]).abs() - block.half[k]);
    over.fold(f64::NEG_INFINITY, f64::max)
}

fn pair(numbers: &mut Numbers, spread: f64) -> (Block, Block) {
    let mut one = || {
        let half = DVec3::splat(0.6) + 0.5 * numbers.vector();
        let turned = DQuat::from_scaled_axis(3.0 * numbers.vector());
        block(half, spread * numbers.vector(), turned)
    };
    (one(), one())
}

#[test]
fn no_direction_separates_better() {
    let mut numbers = Numbers(3);
    let mut overlapping = 0;
    for case in 0..400 {
        let (one, two) = pair(&mut numbers, 0.8);
        let t = two.center - one.center;
        let apart = |n: DVec3| n.dot(t) - reach(&one, n) - reach(&two, n);
        let Some((_, n, s)) = separate(&one, &two, f64::INFINITY, None) else {
            panic!("nothing is farther than that");
        };
        assert!((apart(n) - s).abs() < 1e-12 && (n.length() - 1.0).abs() < 1e-9);
        if s >= 0.0 {
            continue;
        }
        overlapping += 1;
        for _ in 0..500 {
            let Some(other) = numbers.vector().try_normalize() else {
                continue;
            };
            // Edges may be passed over for a face by a thousandth of the smaller box.
            assert!(
                apart(other) <= s + 1.1e-3,
                "case {case}: {} {s}",
                apart(other)
            );
        }
    }
    assert!(overlapping > 100, "{overlapping}");
}

#[test]
fn points_lie_on_both_boxes_and_the_deepest_is_as_deep_as_they_overlap() {
    let mut numbers = Numbers(5);
    let mut seen = 0;
    for case in 0..600 {
        let (one, two) = pair(&mut numbers, 1.1);
        let found = touches(&one, &two, 0.3);
        let Some((_, _, s)) = separate(&one, &two, 0.3, None) else {
            assert!(found.is_empty());
            continue;
        };
        for t in &found {
            seen += 1;
            assert!((t.normal.dot(t.second - t.first) - t.gap).abs() < 1e-9);
            assert!(
                t.gap <= 0.3 && t.gap >= s - 1e-2,
                "case {case}: {} {s}",
                t.gap
            );
            let both = outside(&one, t.first).max(outside(&two, t.second));
            assert!(both < 1e-9, "case {case}: {both:e}");
        }
    }
    assert!(seen > 800, "{seen}");
}

#[test]
fn the_order_of_the_boxes_does_not_matter() {
    let mut numbers = Numbers(9);
    for case in 0..300 {
        let (one, two) = pair(&mut numbers, 1.0);
        let (mut there, mut back) = (touches(&one, &two, 0.2), touches(&two, &one, 0.2));
        assert_eq!(there.len(), back.len(), "case {case}");
        there.sort_by(|p, q| p.gap.total_cmp(&q.gap));
        back.sort_by(|p, q| p.gap.total_cmp(&q.gap));
        for (p, q) in there.iter().zip(&back) {
            assert!((p.gap - q.gap).abs() < 1e-9, "case {case}");
            assert!((p.normal + q.normal).length() < 1e-9, "case {case}");
        }
    }
}

/// A cube on a larger one, tilted about any axis: every corner of the lower face is reported,
/// with its height, whatever the sign of the tilt.
#[test]
fn a_face_that_turns_into_contact_is_held_at_all_its_corners() {
    let mut numbers = Numbers(13);
    let ground = block(DVec3::new(3.0, 3.0, 0.5), DVec3::Z * -0.5, DQuat::IDENTITY);
    for case in 0..200 {
        let axis = DVec3::new(numbers.next(), numbers.next(), 0.0).normalize();
        let tilt = 10f64.powf(-4.0 + 1.4 * numbers.next()) * numbers.next().signum();
        let spin = DQuat::from_rotation_z(3.0 * numbers.next());
        let turned = DQuat::from_axis_angle(axis, tilt) * spin;
        let cube = block(
            DVec3::splat(0.5),
            DVec3::Z * (0.5 + 1e-3 * numbers.next()),
            turned,
        );
        let found = touches(&ground, &cube, 0.1);
        assert_eq!(found.len(), 4, "case {case}: tilt {tilt}");
        let mut heights: Vec<f64> = Vec::new();
        for corner in 0..8 {
            let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let signs = DVec3::new(sign(0), sign(1), sign(2));
            heights.push((cube.center + turned * (0.5 * signs)).z);
        }
        heights.sort_by(f64::total_cmp);
        let mut gaps: Vec<f64> = found.iter().map(|t| t.gap).collect();
        gaps.sort_by(f64::total_cmp);
        for (gap, height) in gaps.iter().zip(&heights) {
            assert!((gap - height).abs() < 1e-4, "case {case}: {gap} {height}");
        }
        let names: std::collections::BTreeSet<u64> = found.iter().map(|t| t.feature).collect();
        assert_eq!(names.len(), 4);
    }
}

#[test]
fn gaps_and_normals_follow_a_turn_without_jumps() {
    let ground = block(DVec3::new(1.0, 1.0, 0.5), DVec3::Z * -0.5, DQuat::IDENTITY);
    let mut before: Option<(f64, DVec3)> = None;
    for k in -200..=200 {
        let tilt = 1e-4 * f64::from(k);
        let turned = DQuat::from_rotation_x(tilt) * DQuat::from_rotation_z(0.4);
        let cube = block(DVec3::splat(0.5), DVec3::Z * 0.499, turned);
        let found = touches(&ground, &cube, 0.1);
        let deepest = found.iter().fold(f64::INFINITY, |m, t| m.min(t.gap));
        let normal = found[0].normal;
        if let Some((gap, last)) = before {
            assert!((deepest - gap).abs() < 1e-4, "tilt {tilt}: {gap} {deepest}");
            assert!(normal.dot(last) > 0.99, "tilt {tilt}");
        }
        before = Some((deepest, normal));
    }
}

/// A point that slides over a face which turns: the gap at the end is that to the turned face.
#[test]
fn a_face_that_turns_away_is_measured_where_it_will_be() {
    let (slide, theta) = (0.02, 0.05);
    let pose = |z: f64| Pose {
        translation: DVec3::Z * z,
        rotation: DQuat::IDENTITY,
    };
    let plate = DVec3::new(1.0, 1.0, 0.1);
    let turn = DVec3::Y * theta;
    let (one, two) = (
        placed(plate, &pose(-0.1), turn),
        placed(DVec3::splat(0.1), &pose(0.101), DVec3::ZERO),
    );
    for t in touches(&one, &two, 0.05) {
        let after = DQuat::from_axis_angle(DVec3::Y, theta);
        let carried = one.center + after * (t.first - one.center);
        let measured = t.normal.dot(t.second + DVec3::X * slide - carried);
        let in_plate = after.inverse() * (t.second + DVec3::X * slide - one.center);
        let true_gap = in_plate.z - 0.1;
        assert!((measured - true_gap).abs() < 1e-4, "{measured} {true_gap}");
    }
}

#[test]
fn crossing_edges_touch_at_one_point() {
    use std::f64::consts::FRAC_PI_4;
    let one = block(
        DVec3::splat(0.5),
        DVec3::ZERO,
        DQuat::from_rotation_x(FRAC_PI_4),
    );
    let height = 2.0 * 0.5f64.sqrt() + 0.01;
    let two = block(
        DVec3::splat(0.5),
        DVec3::Z * height,
        DQuat::from_rotation_y(FRAC_PI_4),
    );
    let found = touches(&one, &two, 0.05);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 0.01).abs() < 1e-12);
    assert!((found[0].normal - DVec3::Z).length() < 1e-12);
    assert!(touches(&one, &two, 0.005).is_empty());
}

/// A pile rests only if forces find their points again.
#[test]
fn boxes_that_rock_on_each_other_keep_the_names_of_their_points() {
    let mut numbers = Numbers(9);
    let half = DVec3::splat(0.1);
    let ground = block(half, DVec3::ZERO, DQuat::from_rotation_z(0.3));
    let named = |tilt: DVec3| {
        let above = block(
            half,
            DVec3::new(0.02, 0.01, 0.2),
            DQuat::from_scaled_axis(tilt),
        );
        let mut names: Vec<_> = touches(&ground, &above, 0.01)
            .iter()
            .map(|t| t.feature)
            .collect();
        names.sort_unstable();
        names
    };
    let level = named(DVec3::ZERO);
    assert!(level.len() > 4, "{level:?}");
    for case in 0..200 {
        assert_eq!(named(2e-3 * numbers.vector()), level, "case {case}");
    }
}

/// A box that leans with an edge over the edge of another one: face and product of edges are about as good.
#[test]
fn the_axis_of_the_last_step_is_kept_while_it_is_about_as_good() {
    let half = DVec3::splat(0.5);
    let one = block(half, DVec3::ZERO, DQuat::IDENTITY);
    let leaning = |height: f64| {
        let turned = DQuat::from_rotation_z(0.3) * DQuat::from_rotation_x(0.4);
        block(half, DVec3::new(0.1, 0.75, height), turned)
    };
    let axis = |height: f64, last: Option<Axis>| {
        let found = separate(&one, &leaning(height), 1.0, last);
        found.map(|(axis, _, apart)| (axis, apart)).unwrap()
    };
    // Where one takes over from the other as the box is lifted.
    let (mut low, mut high) = (0.5, 1.2);
    let first = axis(low, None).0;
    assert_ne!(first, axis(high, None).0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match axis(middle, None).0 == first {
            true => low = middle,
            false => high = middle,
        }
    }
    let second = axis(high, None).0;
    let near = 1e-4;
    for height in [low - near, high + near] {
        assert_eq!(axis(height, Some(first)).0, first);
        assert_eq!(axis(height, Some(second)).0, second);
    }
    // Far from there the better one is taken, whatever was before.
    assert_eq!(axis(low - 0.05, Some(second)).0, first);
    assert_eq!(axis(high + 0.05, Some(first)).0, second);
}

#[test]
fn names_of_points_tell_the_axis() {
    let mut numbers = Numbers(5);
    let (mut faces, mut edges) = (0, 0);
    for _ in 0..400 {
        let (one, two) = pair(&mut numbers, 1.1);
        let Some((axis, ..)) = separate(&one, &two, 0.05, None) else {
            continue;
        };
        let found = touches(&one, &two, 0.05);
        if found.is_empty() {
            continue;
        }
        let told = Axis::of_names(found.iter().map(|touch| touch.feature));
        match axis {
            Axis::Face(..) => faces += 1,
            Axis::Edges(..) => edges += 1,
        }
        // Where edges pass beside each other their product leaves only points of a face.
        let crossed = found.iter().any(|touch| touch.feature >= CROSSED);
        if matches!(axis, Axis::Face(..)) || crossed {
            assert_eq!(told, Some(axis));
        }
    }
    assert!(faces > 20 && edges > 20, "{faces} {edges}");
    assert_eq!(Axis::of_names([1 << 63, 3 << 48].into_iter()), None);
}

#[test]
fn the_point_where_edges_cross_is_reported_once() {
    let mut numbers = Numbers(7);
    let mut both = 0;
    for _ in 0..2_000 {
        let (one, two) = pair(&mut numbers, 1.1);
        let found = touches(&one, &two, 0.05);
        let Some(crossing) = found.iter().find(|touch| touch.feature >= CROSSED) else {
            continue;
        };
        let same = SAME * one.least().min(two.least());
        let others = found.iter().filter(|touch| touch.feature < CROSSED);
        for touch in others {
            assert!(touch.first.distance(crossing.first) > same);
            both += 1;
        }
    }
    assert!(both > 20, "{both}");
}
