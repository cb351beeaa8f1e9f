//! Detection promises the points, normals and gaps of pairs known in closed form.

mod contact_worlds;

use contact_worlds::*;
use vincula::prelude::*;

#[test]
fn two_spheres_touch_at_one_point_between_their_centres() {
    let centers = [DVec3::new(0.1, 0.2, 0.3), DVec3::new(0.7, 1.0, 0.3)];
    let found = pair(
        placed(sphere(0.6), centers[0], DQuat::IDENTITY),
        placed(sphere(0.39), centers[1], DQuat::IDENTITY),
    );
    let [point] = &found.points[..] else {
        panic!("one point, not {}", found.points.len());
    };
    let normal = (centers[1] - centers[0]).normalize();
    near(point.normal, normal, 1e-14);
    assert!((point.gap - 0.01).abs() < 1e-14, "gap {}", point.gap);
    near(point.anchor_a, 0.6 * normal, 1e-14);
    near(point.anchor_b, -0.39 * normal, 1e-14);
    assert_eq!((point.round_a, point.round_b), (0.6, 0.39));
}

#[test]
fn a_box_stands_on_the_ground_on_its_four_lower_corners() {
    let half = DVec3::new(0.5, 0.4, 0.3);
    let found = on_ground(cuboid(half), DVec3::Z * 0.2995, DQuat::IDENTITY);
    assert_eq!(found.points.len(), 4);
    for point in &found.points {
        near(point.normal, DVec3::Z, 1e-14);
        assert!((point.gap + 0.0005).abs() < 1e-14);
        let corner = DVec3::from_array(point.anchor_b);
        assert!((corner.abs() - half).length() < 1e-14 && corner.z < 0.0);
        assert_eq!(point.anchor_a[2], 0.0);
    }
}
