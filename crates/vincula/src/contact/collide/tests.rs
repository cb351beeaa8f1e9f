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
