//! What holds for random bodies in random frames.

use proptest::prelude::*;

use super::*;

fn sorted(v: DVec3) -> [f64; 3] {
    let mut values = v.to_array();
    values.sort_by(f64::total_cmp);
    values
}

fn sizes() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(0.05..1.0f64).prop_map(DVec3::from_array)
}

fn rotations() -> impl Strategy<Value = DQuat> {
    prop::array::uniform3(-3.2..3.2f64).prop_map(turn)
}

fn places() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-3.0..3.0f64).prop_map(DVec3::from_array)
}

proptest! {
    #[test]
    fn turning_a_mesh_changes_its_frame_but_not_its_moments(
        semi_axes in sizes(), rotation in rotations(), place in places(),
    ) {
        let mesh = mesh_of(&Shape::Ellipsoid { semi_axes }, 12);
        let before = properties_of(&Shape::Mesh(mesh.clone()));
        let after = properties_of(&Shape::Mesh(mesh.placed(place, rotation)));
        let expected = before.placed(place, rotation);
        prop_assert!(difference(&expected, &after) < 1e-12);
        for (a, b) in sorted(before.inertia()).into_iter().zip(sorted(after.inertia())) {
            prop_assert!((a - b).abs() < 1e-12 * a);
        }
    }

    #[test]
    fn the_principal_frame_is_the_nearest_right_handed_one(
        half in sizes(), rotation in rotations(),
    ) {
        let turned = Part::new(cuboid(half)).rotated(rotation);
        let p = properties_of(&Shape::Compound(vec![turned]));
        prop_assert!((p.axes.length() - 1.0).abs() < 1e-15);
        // No frame along the same axes is farther than 62.8° from the identity.
        prop_assert!(p.axes.w > (0.5_f64 * 62.9_f64.to_radians()).cos());
        let expected = properties_of(&cuboid(half)).placed(DVec3::ZERO, rotation);
        prop_assert!(difference(&expected, &p) < 1e-14);
    }

    #[test]
    fn inertia_and_back_is_the_same_body(
        half in sizes(), rotation in rotations(), place in places(),
    ) {
        let turned = Part::new(cuboid(half)).rotated(rotation).at(place);
        let p = properties_of(&Shape::Compound(vec![turned]));
        let again = MassProperties::from_inertia(
            p.mass, p.center, p.inertia_tensor(), Some(p.volume),
        ).unwrap();
        prop_assert!(difference(&p, &again) < 1e-14);
        // s is a difference of moments: its digits shrink with its share of them.
        let pairs = sorted(p.second_moments).into_iter().zip(sorted(again.second_moments));
        for (before, after) in pairs {
            prop_assert!((before - after).abs() < 1e-14 * p.inertia().max_element());
        }
    }

    #[test]
    fn a_box_cut_in_eight_is_the_box(half in sizes(), cut in sizes()) {
        let piece = |i: u32| {
            let low = |axis: usize| (i >> axis & 1) == 0;
            let mut size = DVec3::ZERO;
            let mut at = DVec3::ZERO;
            for axis in 0..3 {
                let wall = half[axis] * (2.0 * cut[axis] - 1.0) * 0.9;
                let ends = if low(axis) { [-half[axis], wall] } else { [wall, half[axis]] };
                size[axis] = 0.5 * (ends[1] - ends[0]);
                at[axis] = 0.5 * (ends[0] + ends[1]);
            }
            Part::new(cuboid(size)).at(at)
        };
        let pieces = properties_of(&Shape::Compound((0..8).map(piece).collect()));
        prop_assert!(difference(&properties_of(&cuboid(half)), &pieces) < 1e-14);
    }

    #[test]
    fn a_hull_of_a_turned_ellipsoid_equals_its_mesh(
        semi_axes in sizes(), rotation in rotations(),
    ) {
        let mesh = mesh_of(&Shape::Ellipsoid { semi_axes }, 10).placed(DVec3::ZERO, rotation);
        // Quadrilaterals of the tessellation are flat: both ways to cut them agree.
        let hull = properties_of(&Shape::ConvexHull { points: mesh.vertices.clone() });
        let solid = properties_of(&Shape::Mesh(mesh));
        prop_assert!(difference(&solid, &hull) < 1e-11);
    }

    #[test]
    fn no_numbers_make_it_panic(
        numbers in prop::array::uniform9(prop::num::f64::ANY),
        mass in prop::num::f64::ANY,
    ) {
        let tensor = DMat3::from_cols_array(&numbers);
        let symmetric = DMat3::from_cols_array(&[
            numbers[0], numbers[1], numbers[2],
            numbers[1], numbers[3], numbers[4],
            numbers[2], numbers[4], numbers[5],
        ]);
        let center = DVec3::new(numbers[6], numbers[7], numbers[8]);
        for inertia in [tensor, symmetric] {
            let plain = MassProperties::from_inertia(mass, center, inertia, None);
            let floored =
                MassProperties::from_inertia_with_floor(mass, center, inertia, None, 1e-3);
            for p in [plain, floored].into_iter().flatten() {
                prop_assert!(p.second_moments.min_element() > 0.0);
                prop_assert!(p.second_moments.is_finite() && p.axes.is_finite());
            }
        }
        let points = vec![tensor.x_axis, tensor.y_axis, tensor.z_axis, center];
        for shape in [cuboid(tensor.x_axis), Shape::ConvexHull { points }] {
            if let Ok(p) = MassProperties::from_shape(&shape, 1.0) {
                prop_assert!(p.second_moments.min_element() > 0.0 && p.center.is_finite());
            }
        }
    }
}
