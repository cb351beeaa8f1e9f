use super::*;
use crate::math::numbers::Numbers;

#[test]
fn what_a_plane_keeps_apart_is_not_hit_on_the_way() {
    let shapes = [
        Shape::Capsule {
            radius: 0.1,
            half_length: 0.2,
        },
        Shape::Cylinder {
            radius: 0.3,
            half_length: 0.2,
        },
        Shape::Box {
            half_extents: DVec3::new(0.1, 0.2, 0.3),
        },
    ];
    let forms = shapes.map(|shape| Form::solid(&shape).unwrap().unwrap().0);
    let (mut numbers, mut narrow) = (Numbers(11), Narrow::default());
    let mut counts = [0; 2];
    for case in 0..3000 {
        let mut touches = Vec::new();
        let poses = [0.0, 0.9].map(|way| Pose {
            translation: way * numbers.vector(),
            rotation: DQuat::from_scaled_axis(2.0 * numbers.vector()),
        });
        let axes = poses.map(|pose| DMat3::from_quat(pose.rotation));
        let [one, two] = [0, 1].map(|k| Placed {
            form: &forms[(case + k * (case / 3)) % 3],
            pose: poses[k],
            axes: &axes[k],
            turn: DVec3::ZERO,
        });
        let motion = numbers.vector();
        narrow.touch(one, two, 2.0, &mut touches);
        let near = 0.01;
        let apart = |touch: &Touch| stays_apart([&one, &two], touch.normal, motion, near);
        let hit = narrow.cast(one, two, motion, near);
        if touches.iter().any(apart) {
            assert_eq!(hit, None, "case {case}");
            counts[0] += 1;
        } else if hit.is_some() {
            counts[1] += 1;
        }
    }
    // Most pairs move apart or past each other, and some meet.
    assert!(counts[0] > 1000 && counts[1] > 200, "{counts:?}");
}

/// Closed form and parry's search, both ways round.
#[test]
fn a_capsule_meets_a_cylinder_when_a_search_says_so() {
    let capsule = Shape::Capsule {
        radius: 0.02,
        half_length: 0.1,
    };
    let cylinder = Shape::Cylinder {
        radius: 0.2,
        half_length: 0.3,
    };
    let forms = [capsule, cylinder].map(|shape| Form::solid(&shape).unwrap().unwrap().0);
    let mut numbers = Numbers(23);
    let (mut narrow, near) = (Narrow::default(), 1e-3);
    let mut counts = [0; 3];
    for case in 0..4000 {
        let poses = [0.6, 0.0].map(|way| Pose {
            translation: way * numbers.vector(),
            rotation: DQuat::from_scaled_axis(2.0 * numbers.vector()),
        });
        let axes = poses.map(|pose| DMat3::from_quat(pose.rotation));
        let [spine, drum] = [0, 1].map(|k| Placed {
            form: &forms[k],
            pose: poses[k],
            axes: &axes[k],
            turn: DVec3::ZERO,
        });
        let motion = 0.5 * numbers.vector();
        let places = poses.map(|pose| place(&pose));
        let shapes = [0, 1].map(|k| forms[k].shape().unwrap());
        let searched = cast_shapes(shapes, places, -motion, near);
        let bare = cast_drum(
            &forms[0].spine(&poses[0]).unwrap(),
            &forms[1].drum(&poses[1]).unwrap(),
            motion,
            near,
        );
        let found = narrow.cast(spine, drum, -motion, near);
        assert_eq!(found.is_some(), searched.is_some(), "case {case}");
        if let (Some(found), Some(searched)) = (found, searched) {
            assert!((found - searched).abs() < 1e-6, "{found} {searched}");
        }
        let turned = narrow.cast(drum, spine, motion, near);
        assert_eq!(turned.is_some(), found.is_some(), "case {case}");
        counts[match bare {
            None => 0,
            Some(None) => 1,
            Some(Some(_)) => 2,
        }] += 1;
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}
