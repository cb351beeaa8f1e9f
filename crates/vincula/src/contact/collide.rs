//! The border to parry, the collision library: shapes, manifolds and casts. Nothing else
//! imports it.
//!
//! A manifold of two convex shapes is a normal n and points p₁, p₂ on their surfaces with
//! gap n · (p₂ − p₁). Two boxes are for `boxes.rs`. Parry finds the others by separating axes (a box
//! and a triangle) or by projection (balls). For the rest it would take GJK and, when they
//! overlap, EPA, which may return nonsense for faces that just touch. Here GJK looks at both
//! shapes shrunk about their middles, so that they are apart although the shapes touch. Shrinking leaves the directions
//! of faces and edges as they are, hence the normal, and parry clips the full faces along it.
//! Points farther than asked for are dropped. Parry's cylinders and cones stand along y.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Pose as Place;
use parry3d_f64::query::details::{NormalConstraints, NormalConstraintsPair};
use parry3d_f64::query::gjk::{
    CsoPoint, GJKResult, VoronoiSimplex, closest_points, directional_distance,
};
use parry3d_f64::query::{
    ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, QueryDispatcher,
    TrackedContact,
};
use parry3d_f64::shape::{
    Ball, Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, PackedFeatureId, PolygonalFeature,
    PolygonalFeatureMap, Segment, Shape as ParryShape, ShapeType, SupportMap, TriMesh as ParryMesh,
    TriMeshFlags, Triangle,
};

use super::bounds::Bounds;
use super::boxes::{Axis, Block, Nearness, touch_boxes};
use super::round::{Drum, Spine, cast_drum, touch_drum, touch_spines};
use crate::body::shape::{Shape, ShapeError, TriMesh, convex_hull};
use crate::model::Pose;

#[cfg(test)]
mod tests;

/// One piece of a collider as parry knows it, or a half-space below z = 0.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    Ball(Ball),
    Box(Cuboid),
    Capsule(Capsule),
    Cylinder(Cylinder),
    Cone(Cone),
    Hull(Arc<ConvexPolyhedron>),
    Mesh(Arc<ParryMesh>),
    HalfSpace,
}

/// Takes parry's axis of cylinders and cones, y, to ours, z.
fn upright() -> DQuat {
    DQuat::from_xyzw(
        std::f64::consts::FRAC_1_SQRT_2,
        0.0,
        0.0,
        std::f64::consts::FRAC_1_SQRT_2,
    )
}

impl Form {
    /// The form of a solid that is not a compound, and the turn of its frame.
    pub fn solid(shape: &Shape) -> Result<Option<(Form, DQuat)>, ShapeError> {
        let flat = DQuat::IDENTITY;
        Ok(Some(match shape {
            Shape::Sphere { radius } => (Form::Ball(Ball::new(*radius)), flat),
            Shape::Box { half_extents } => (Form::Box(Cuboid::new(*half_extents)), flat),
            Shape::Capsule {
                radius,
                half_length,
            } => {
                let end = DVec3::Z * *half_length;
                (Form::Capsule(Capsule::new(-end, end, *radius)), flat)
            }
            Shape::Cylinder {
                radius,
                half_length,
            } => (
                Form::Cylinder(Cylinder::new(*half_length, *radius)),
                upright(),
            ),
            Shape::Cone {
                radius,
                half_length,
            } => (Form::Cone(Cone::new(*half_length, *radius)), upright()),
            Shape::ConvexHull { points } => {
                return Form::hull(points).map(|f| f.map(|f| (f, flat)));
            }
            Shape::Mesh(mesh) => return Ok(Form::mesh(mesh).map(|f| (f, flat))),
            Shape::Ellipsoid { .. } | Shape::Compound(_) => return Ok(None),
        }))
    }

    fn hull(points: &[DVec3]) -> Result<Option<Form>, ShapeError> {
        let hull = convex_hull(points)?.weld();
        let hull = ConvexPolyhedron::from_convex_mesh(hull.vertices, &hull.triangles);
        Ok(hull.map(|hull| Form::Hull(Arc::new(hull))))
    }

    /// A sheet of triangles whose inner edges do not catch what slides over them.
    pub fn mesh(mesh: &TriMesh) -> Option<Form> {
        let mesh = mesh.weld();
        let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
        let mesh = ParryMesh::with_flags(mesh.vertices, mesh.triangles, flags).ok()?;
        Some(Form::Mesh(Arc::new(mesh)))
    }

    /// Whether it is a box.
    pub fn is_box(&self) -> bool {
        matches!(self, Form::Box(_))
    }

    /// As parry's shape; a half-space has none.
    fn shape(&self) -> Option<&dyn ParryShape> {
        Some(match self {
            Form::Ball(ball) => ball,
            Form::Box(cuboid) => cuboid,
            Form::Capsule(capsule) => capsule,
            Form::Cylinder(cylinder) => cylinder,
            Form::Cone(cone) => cone,
            Form::Hull(hull) => &**hull,
            Form::Mesh(mesh) => &**mesh,
            Form::HalfSpace => return None,
        })
    }

    /// The box around it at a pose; a half-space fills everything.
    pub fn bounds(&self, pose: &Pose) -> Bounds {
        match self.shape() {
            Some(shape) => {
                let aabb = shape.compute_aabb(&place(pose));
                Bounds {
                    low: aabb.mins,
                    high: aabb.maxs,
                }
            }
            None => Bounds::EVERYTHING,
        }
    }

    /// Balls and capsules as segments with a radius, at a pose.
    fn spine(&self, pose: &Pose) -> Option<Spine> {
        let (a, b, radius) = match self {
            Form::Ball(ball) => (DVec3::ZERO, DVec3::ZERO, ball.radius),
            Form::Capsule(capsule) => (capsule.segment.a, capsule.segment.b, capsule.radius),
            _ => return None,
        };
        Some(Spine {
            a: pose.point(a),
            b: pose.point(b),
            radius,
        })
    }

    /// A cylinder at a pose.
    fn drum(&self, pose: &Pose) -> Option<Drum> {
        let Form::Cylinder(cylinder) = self else {
            return None;
        };
        Some(Drum {
            center: pose.translation,
            axis: pose.rotation * DVec3::Y,
            radius: cylinder.radius,
            half_length: cylinder.half_height,
        })
    }

    /// Whether its surface is curved anywhere.
    pub fn is_round(&self) -> bool {
        matches!(self, Form::Ball(_) | Form::Capsule(_) | Form::Cylinder(_))
    }

    /// Radius of curvature where the outward normal is `normal` (own frame), m; zero where the
    /// surface is flat or sharp.
    pub fn roundness(&self, normal: DVec3) -> f64 {
        match self {
            Form::Ball(ball) => ball.radius,
            Form::Capsule(capsule) => capsule.radius,
            Form::Cylinder(cylinder) if normal.y.abs() < 1e-6 => cylinder.radius,
            _ => 0.0,
        }
    }

    /// Points of which the lowest touch a plane: corners, rims, ends; the plane's upward
    /// normal is `up` (own frame). Each comes with a number of its own. A rim that rolls by
    /// `turn` (own frame, rad) in the step has one more: the point that will be the lowest then.
    pub fn low_points(&self, up: DVec3, turn: DVec3, visit: &mut impl FnMut(DVec3, u32)) {
        match self {
            Form::Ball(ball) => visit(-up * ball.radius, 0),
            Form::Box(cuboid) => {
                for corner in 0..8 {
                    let sign = |bit: u32| if corner >> bit & 1 == 0 { -1.0 } else { 1.0 };
                    let signs = DVec3::new(sign(0), sign(1), sign(2));
                    visit(cuboid.half_extents * signs, corner);
                }
            }
            Form::Capsule(capsule) => {
                visit(capsule.segment.a - up * capsule.radius, 0);
                visit(capsule.segment.b - up * capsule.radius, 1);
            }
            Form::Cylinder(cylinder) => {
                let (radius, height) = (cylinder.radius, cylinder.half_height);
                rim(radius, -height, [up, turn], 0, visit);
                rim(radius, height, [up, turn], 5, visit);
            }
            Form::Cone(cone) => {
                rim(cone.radius, -cone.half_height, [up, turn], 0, visit);
                visit(DVec3::Y * cone.half_height, 5);
            }
            Form::Hull(hull) => each(hull.points(), visit),
            Form::Mesh(mesh) => each(mesh.vertices(), visit),
            Form::HalfSpace => {}
        }
    }
}

fn each(points: &[DVec3], visit: &mut impl FnMut(DVec3, u32)) {
    for (index, point) in points.iter().enumerate() {
        visit(*point, index as u32);
    }
}

/// Four points of the rim of a disc across y: the lowest, its opposite and two between. A
/// disc that lies flat has no lowest one; there the points stay fixed to the body.
fn rim(
    radius: f64,
    height: f64,
    [up, turn]: [DVec3; 2],
    first: u32,
    visit: &mut impl FnMut(DVec3, u32),
) {
    let down = DVec3::new(-up.x, 0.0, -up.z);
    let lowest = if down.length() > 1e-3 {
        down.normalize()
    } else {
        DVec3::X
    };
    let across = lowest.cross(DVec3::Y);
    for (k, direction) in [lowest, across, -lowest, -across].into_iter().enumerate() {
        visit(DVec3::Y * height + radius * direction, first + k as u32);
    }
    // Where it lies flat no point is the lowest, and while it rests none will be another.
    if down.length() > 1e-3 && turn.y.abs() > LEAST_ROLL {
        let next = DQuat::from_rotation_y(-turn.y) * lowest;
        visit(DVec3::Y * height + radius * next, first + 4);
    }
}

/// Roll of a rim in a step below which it is none, rad.
const LEAST_ROLL: f64 = 1e-3;

fn place(pose: &Pose) -> Place {
    Place {
        rotation: pose.rotation,
        translation: pose.translation,
    }
}

/// One point of a manifold, in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// On the first surface, m.
    pub first: DVec3,
    /// On the second surface, m.
    pub second: DVec3,
    /// Unit normal from the first to the second.
    pub normal: DVec3,
    /// normal · (second − first), m.
    pub gap: f64,
    /// The gap to be expected at the end of the step, m.
    pub ahead: f64,
    /// Names the point within its pair of forms.
    pub feature: u64,
    /// Whether it pushed in the last step.
    pub known: bool,
}

impl Touch {
    /// Two points whose distance along the normal is not expected to change.
    #[inline(always)]
    pub fn new(first: DVec3, second: DVec3, normal: DVec3, feature: u64) -> Touch {
        let gap = normal.dot(second - first);
        Touch {
            first,
            second,
            normal,
            gap,
            ahead: gap,
            feature,
            known: false,
        }
    }
}

impl Touch {
    /// The same seen from the other side.
    fn flipped(self) -> Touch {
        Touch {
            first: self.second,
            second: self.first,
            normal: -self.normal,
            ..self
        }
    }
}

/// A form at a pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub form: &'a Form,
    pub pose: Pose,
    /// The rotation of the pose as a matrix.
    pub axes: &'a DMat3,
    /// How it is going to turn in the step, rad.
    pub turn: DVec3,
}

/// Memory for the narrow phase.
#[derive(Debug, Default)]
pub(crate) struct Narrow {
    manifold: ContactManifold<(), ()>,
    /// Triangles near the other shape.
    near: Vec<u32>,
    /// What two boxes were farthest apart along in the last step, if they touched.
    pub last: Option<Axis>,
}

impl Narrow {
    /// Appends the points of two bounded forms that are closer than `reach`, m. True when they
    /// are known to be farther apart.
    pub fn touch(&mut self, one: Placed, two: Placed, reach: f64, out: &mut Vec<Touch>) -> bool {
        let spines = (one.form.spine(&one.pose), two.form.spine(&two.pose));
        if let (Some(first), Some(second)) = spines {
            return touch_spines(&first, &second, reach, out);
        }
        let drums = (one.form.drum(&one.pose), two.form.drum(&two.pose));
        let closest = match (spines, drums) {
            ((Some(spine), _), (_, Some(drum))) => touch_drum(&spine, &drum),
            ((_, Some(spine)), (Some(drum), _)) => touch_drum(&spine, &drum).map(Touch::flipped),
            _ => None,
        };
        if let Some(touch) = closest {
            if touch.gap <= reach {
                out.push(touch);
            }
            return touch.gap > reach;
        }
        if let (Form::Box(first), Form::Box(second)) = (one.form, two.form) {
            let blocks = [(first, &one), (second, &two)].map(|(cuboid, at)| {
                Block::new(cuboid.half_extents, at.pose.translation, at.axes, at.turn)
            });
            let near = touch_boxes(&blocks[0], &blocks[1], reach, self.last, out);
            if near != Nearness::Corners {
                return near == Nearness::Apart;
            }
        }
        match (one.form, two.form) {
            (Form::Mesh(mesh), _) => {
                return self.touch_mesh(mesh, one.pose, two, reach, false, out);
            }
            (_, Form::Mesh(mesh)) => {
                return self.touch_mesh(mesh, two.pose, one, reach, true, out);
            }
            _ => {
                if let (Some(first), Some(second)) = (one.form.shape(), two.form.shape()) {
                    let places = [&one.pose, &two.pose].map(place);
                    let shapes = [first, second];
                    return self.touch_convex(shapes, places, [None, None], reach, 0, out);
                }
            }
        }
        false
    }

    /// Points of the triangles of a mesh near another form. True when all are known to be farther apart.
    fn touch_mesh(
        &mut self,
        mesh: &ParryMesh,
        pose: Pose,
        other: Placed,
        reach: f64,
        flipped: bool,
        out: &mut Vec<Touch>,
    ) -> bool {
        let Some(shape) = other.form.shape() else {
            return false;
        };
        let (mesh_place, other_place) = (place(&pose), place(&other.pose));
        let relative = mesh_place.inv_mul(&other_place);
        let window = shape.compute_aabb(&relative);
        let window = Aabb::new(
            window.mins - DVec3::splat(reach),
            window.maxs + DVec3::splat(reach),
        );
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        near.extend(mesh.bvh().intersect_aabb(&window));
        if let Form::Box(cuboid) = other.form {
            let axes = DMat3::from_quat(relative.rotation);
            let (half, center) = (cuboid.half_extents, relative.translation);
            let block = Block::new(half, center, &axes, DVec3::ZERO);
            near.retain(|&index| {
                let Triangle { a, b, c } = mesh.triangle(index);
                !block.is_off([a, b, c], reach)
            });
        } else if let Some(map) = shape.as_support_map() {
            near.retain(|&index| !is_beside(map, &relative, &mesh.triangle(index), reach));
        }
        near.sort_unstable();
        for &index in &near {
            let triangle = mesh.triangle(index);
            let sides = mesh.triangle_normal_constraints(index);
            let sides = sides.as_ref().map(|s| s as &dyn NormalConstraints);
            match (other.form, flipped) {
                (Form::Mesh(inner), _) => {
                    self.touch_triangles(
                        (&triangle, mesh_place, sides, index),
                        inner,
                        other_place,
                        reach,
                        out,
                    );
                }
                (_, false) => {
                    let places = [mesh_place, other_place];
                    self.touch_convex([&triangle, shape], places, [sides, None], reach, index, out);
                }
                (_, true) => {
                    let places = [other_place, mesh_place];
                    self.touch_convex([shape, &triangle], places, [None, sides], reach, index, out);
                }
            }
        }
        self.near = near;
        self.near.is_empty()
    }

    /// Points of one triangle with those of another mesh. Meshes rarely meet meshes: this
    /// collects the triangles in memory of its own.
    fn touch_triangles(
        &mut self,
        (triangle, at, sides, index): (&dyn ParryShape, Place, Option<&dyn NormalConstraints>, u32),
        mesh: &ParryMesh,
        mesh_place: Place,
        reach: f64,
        out: &mut Vec<Touch>,
    ) {
        let window = triangle.compute_aabb(&mesh_place.inv_mul(&at));
        let window = Aabb::new(
            window.mins - DVec3::splat(reach),
            window.maxs + DVec3::splat(reach),
        );
        let mut near: Vec<u32> = mesh.bvh().intersect_aabb(&window).collect();
        near.sort_unstable();
        for other in near {
            let second = mesh.triangle(other);
            let second_sides = mesh.triangle_normal_constraints(other);
            let second_sides = second_sides.as_ref().map(|s| s as &dyn NormalConstraints);
            let number = index.wrapping_mul(0x9E37_79B1) ^ other;
            let shapes: [&dyn ParryShape; 2] = [triangle, &second];
            self.touch_convex(
                shapes,
                [at, mesh_place],
                [sides, second_sides],
                reach,
                number,
                out,
            );
        }
    }

    /// Points of two convex shapes. True when these are known to be farther apart.
    fn touch_convex(
        &mut self,
        shapes: [&dyn ParryShape; 2],
        places: [Place; 2],
        sides: [Option<&dyn NormalConstraints>; 2],
        reach: f64,
        number: u32,
        out: &mut Vec<Touch>,
    ) -> bool {
        // A manifold of the past would save work, but then the result would depend on it.
        self.manifold.clear();
        self.manifold.local_n1 = DVec3::ZERO;
        let relative = places[0].inv_mul(&places[1]);
        if needs_shrinking(shapes) {
            if self.clip_shrunk(&relative, shapes, sides, reach) {
                return true;
            }
        } else {
            let manifold = &mut self.manifold;
            let [one, two] = shapes;
            let found = DefaultQueryDispatcher.contact_manifold_convex_convex(
                &relative, one, two, sides[0], sides[1], reach, manifold,
            );
            if found.is_err() {
                return false;
            }
        }
        let normal = places[0].rotation * self.manifold.local_n1;
        if !((normal.length_squared() - 1.0).abs() < 1e-6) {
            return false;
        }
        let normal = normal.normalize();
        for point in &self.manifold.points {
            let first = places[0].transform_point(point.local_p1);
            let second = places[1].transform_point(point.local_p2);
            let ids = u64::from(point.fid1.0.rotate_left(16) ^ point.fid2.0);
            let touch = Touch::new(first, second, normal, u64::from(number) << 32 | ids);
            if touch.gap <= reach {
                out.push(touch);
            }
        }
        false
    }

    /// The manifold of two shapes along the normal that their shrunk cores have. True when they are
    /// known to be farther apart than `reach`.
    fn clip_shrunk(
        &mut self,
        relative: &Place,
        shapes: [&dyn ParryShape; 2],
        sides: [Option<&dyn NormalConstraints>; 2],
        reach: f64,
    ) -> bool {
        let [Some((one, round_one)), Some((two, round_two))] = shapes.map(features) else {
            return false;
        };
        let cores = [(one, shapes[0]), (two, shapes[1])].map(|(map, shape)| Core {
            map,
            middle: middle(shape),
            size: shape.compute_local_aabb().half_extents().length(),
            scale: 1.0,
        });
        let round = round_one + round_two;
        let Some((p1, p2, direction)) =
            normal_of_cores(relative, cores, reach + round, round > 0.0)
        else {
            // What is rounded was not shrunk.
            return round > 0.0;
        };
        let (mut n1, mut n2) = (direction, relative.rotation.inverse() * -direction);
        if !(sides[0], sides[1]).project_local_normals(relative, &mut n1, &mut n2) {
            return false;
        }
        let manifold = &mut self.manifold;
        if shapes.iter().all(|shape| shape.as_ball().is_none()) {
            let (mut face1, mut face2) = (PolygonalFeature::default(), PolygonalFeature::default());
            let second = relative.inverse_transform_point(p2);
            one.local_support_feature_toward(n1, p1, &mut face1);
            two.local_support_feature_toward(n2, second, &mut face2);
            let back = relative.inverse();
            PolygonalFeature::contacts(relative, &back, n1, n2, &face1, &face2, manifold, false);
        }
        let depth = n1.dot(p2 - p1);
        // Along a corrected normal, a triangle sees far parts of the other shape as deep inside.
        let corrected = n1 != direction;
        manifold
            .points
            .retain(|p| !corrected || depth >= 0.0 || p.dist >= 5.0 * depth);
        let lowest = manifold
            .points
            .iter()
            .fold(f64::INFINITY, |d, p| d.min(p.dist));
        if !corrected && depth < lowest - 1e-6 * (cores[0].size + cores[1].size) {
            manifold.points.push(opposite(p1, p2, n1, relative));
        }
        for point in &mut manifold.points {
            point.local_p1 += n1 * round_one;
            point.local_p2 += n2 * round_two;
        }
        (manifold.local_n1, manifold.local_n2) = (n1, n2);
        false
    }

    /// When two forms that move by `motion` relative to each other come within `distance`, as
    /// a fraction of that motion; `None` when they do not, or already are.
    pub fn cast(&mut self, one: Placed, two: Placed, motion: DVec3, distance: f64) -> Option<f64> {
        match (one.form, two.form) {
            (Form::Mesh(_), Form::Mesh(_)) => {}
            (Form::Mesh(mesh), _) => return self.cast_mesh(mesh, one.pose, two, motion, distance),
            (_, Form::Mesh(mesh)) => return self.cast_mesh(mesh, two.pose, one, -motion, distance),
            _ => {}
        }
        let spine = |form: Placed| form.form.spine(&form.pose);
        let drum = |form: Placed| form.form.drum(&form.pose);
        let round = match (spine(one).zip(drum(two)), spine(two).zip(drum(one))) {
            (Some((spine, drum)), _) => cast_drum(&spine, &drum, -motion, distance),
            (_, Some((spine, drum))) => cast_drum(&spine, &drum, motion, distance),
            _ => None,
        };
        if let Some(time) = round {
            return time;
        }
        let shapes = [one.form.shape()?, two.form.shape()?];
        cast_shapes(
            shapes,
            [place(&one.pose), place(&two.pose)],
            motion,
            distance,
        )
    }

    /// The same for the triangles of a mesh and a form that moves by `motion` relative to it.
    /// Parry's own cast through a mesh needs memory.
    fn cast_mesh(
        &mut self,
        mesh: &ParryMesh,
        pose: Pose,
        other: Placed,
        motion: DVec3,
        distance: f64,
    ) -> Option<f64> {
        let shape = other.form.shape()?;
        let places = [place(&pose), place(&other.pose)];
        let way = places[0].rotation.inverse() * motion;
        let from = shape.compute_aabb(&places[0].inv_mul(&places[1]));
        let grown = DVec3::splat(distance);
        let window = Aabb::new(
            from.mins + way.min(DVec3::ZERO) - grown,
            from.maxs + way.max(DVec3::ZERO) + grown,
        );
        self.near.clear();
        self.near.extend(mesh.bvh().intersect_aabb(&window));
        let times = self.near.iter().filter_map(|&index| {
            let triangle = mesh.triangle(index);
            cast_shapes([&triangle, shape], places, motion, distance)
        });
        times.min_by(f64::total_cmp)
    }

    /// Whether two bounded forms overlap.
    pub fn overlap(&self, one: Placed, two: Placed) -> bool {
        let (Some(first), Some(second)) = (one.form.shape(), two.form.shape()) else {
            return false;
        };
        let relative = place(&one.pose).inv_mul(&place(&two.pose));
        DefaultQueryDispatcher
            .intersection_test(&relative, first, second)
            .is_ok_and(|found| found.intersecting)
    }
}

/// Whether a shape lies farther than `reach` to one side of the plane of a triangle, m.
fn is_beside(map: &dyn SupportMap, at: &Place, triangle: &Triangle, reach: f64) -> bool {
    let across = triangle.scaled_normal();
    let far = reach * across.length();
    let height = |point: DVec3| across.dot(point - triangle.a);
    height(map.support_point(at, -across)) > far || height(map.support_point(at, across)) < -far
}

/// Whether a plane with this normal, from the first form to the second, keeps them farther apart than
/// `distance` while the second moves by `motion` relative to the first, m.
pub(crate) fn stays_apart(
    [one, two]: [&Placed; 2],
    normal: DVec3,
    motion: DVec3,
    distance: f64,
) -> bool {
    let height = |form: &Placed, outward: DVec3| {
        let map = form.form.shape()?.as_support_map()?;
        Some(normal.dot(map.support_point(&place(&form.pose), outward)))
    };
    let (Some(below), Some(above)) = (height(one, normal), height(two, -normal)) else {
        return false;
    };
    above - below + normal.dot(motion).min(0.0) > distance
}

/// When the second shape, moving by `motion`, comes within `distance` of the first.
fn cast_shapes(
    [first, second]: [&dyn ParryShape; 2],
    [at, to]: [Place; 2],
    motion: DVec3,
    distance: f64,
) -> Option<f64> {
    let (first, second) = (first.as_support_map()?, second.as_support_map()?);
    let rounded = Rounded {
        map: first,
        radius: distance,
    };
    let velocity = at.rotation.inverse() * motion;
    let mut simplex = VoronoiSimplex::new();
    let found = directional_distance(&at.inv_mul(&to), &rounded, second, velocity, &mut simplex);
    // At time zero they already are within the distance.
    found
        .map(|(time, ..)| time)
        .filter(|time| *time > 0.0 && *time <= 1.0)
}

/// A shape with everything that is closer to it than a radius.
struct Rounded<'a> {
    map: &'a dyn SupportMap,
    radius: f64,
}

impl SupportMap for Rounded<'_> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        let outward = direction.try_normalize().unwrap_or(DVec3::X);
        self.map.local_support_point(direction) + self.radius * outward
    }
}

/// Whether parry would resort to GJK and EPA. Boxes that come here are close at corners only, where
/// clipping faces finds nothing.
fn needs_shrinking(shapes: [&dyn ParryShape; 2]) -> bool {
    use ShapeType::{Ball, Cuboid, Triangle};
    !matches!(
        shapes.map(|shape| shape.shape_type()),
        [Ball, Cuboid | Triangle]
            | [Cuboid | Triangle, Ball]
            | [Cuboid, Triangle]
            | [Triangle, Cuboid]
    )
}

/// The centre of a ball, as a segment without length.
static CENTRE: Segment = Segment {
    a: DVec3::ZERO,
    b: DVec3::ZERO,
};

/// The faces and edges of a shape, and the radius it is rounded with.
fn features(shape: &dyn ParryShape) -> Option<(&dyn PolygonalFeatureMap, f64)> {
    match shape.as_ball() {
        Some(ball) => Some((&CENTRE, ball.radius)),
        None => shape.as_polygonal_feature_map(),
    }
}

/// A point inside a shape, in its frame.
fn middle(shape: &dyn ParryShape) -> DVec3 {
    if let Some(hull) = shape.as_convex_polyhedron() {
        return hull.points().iter().sum::<DVec3>() / hull.points().len() as f64;
    }
    match shape.as_triangle() {
        Some(triangle) => (triangle.a + triangle.b + triangle.c) / 3.0,
        None => DVec3::ZERO,
    }
}

/// A shape shrunk about a point inside it.
#[derive(Clone, Copy)]
struct Core<'a> {
    map: &'a dyn PolygonalFeatureMap,
    middle: DVec3,
    /// Half the diagonal of its box, m.
    size: f64,
    scale: f64,
}

impl SupportMap for Core<'_> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        self.middle + self.scale * (self.map.local_support_point(direction) - self.middle)
    }
}

impl Core<'_> {
    /// The point of the full shape that corresponds to one of the shrunk shape.
    fn full(&self, point: DVec3) -> DVec3 {
        self.middle + (point - self.middle) / self.scale
    }
}

/// The closest points of two shapes and their normal, all in the frame of the first; `None`
/// when they are farther apart than `reach`. The cores shrink until they are apart. Shapes
/// with a rounding are apart before that.
fn normal_of_cores(
    relative: &Place,
    mut cores: [Core; 2],
    reach: f64,
    rounded: bool,
) -> Option<(DVec3, DVec3, DVec3)> {
    let size = cores[0].size.min(cores[1].size);
    let toward = relative.transform_point(cores[1].middle) - cores[0].middle;
    let toward = toward.try_normalize().unwrap_or(DVec3::X);
    for scale in [1.0, 0.995, 0.98, 0.94, 0.85, 0.7, 0.4] {
        if scale == 1.0 && !rounded {
            continue;
        }
        cores.iter_mut().for_each(|core| core.scale = scale);
        let [one, two] = &cores;
        let mut simplex = VoronoiSimplex::new();
        simplex.reset(CsoPoint::from_shapes(relative, one, two, toward));
        let farther = 2.0 * (1.0 - scale) * (one.size + two.size);
        match closest_points(relative, one, two, reach + farther, true, &mut simplex) {
            GJKResult::ClosestPoints(p1, p2, normal) if normal.dot(p2 - p1) > 1e-4 * size => {
                let second = two.full(relative.inverse_transform_point(p2));
                let (p1, p2) = (one.full(p1), relative.transform_point(second));
                return (normal.dot(p2 - p1) <= reach).then_some((p1, p2, normal));
            }
            GJKResult::NoIntersection(_) => return None,
            _ => {}
        }
    }
    let second = relative.transform_point(cores[1].middle);
    Some((cores[0].middle, second, toward))
}

/// Two points moved together along the surfaces until they are opposite each other.
fn opposite(p1: DVec3, p2: DVec3, normal: DVec3, relative: &Place) -> TrackedContact<()> {
    let gap = normal.dot(p2 - p1);
    let between = 0.5 * (p1 + p2);
    let (first, second) = (between - 0.5 * gap * normal, between + 0.5 * gap * normal);
    TrackedContact::new(
        first,
        relative.inverse_transform_point(second),
        PackedFeatureId::UNKNOWN,
        PackedFeatureId::UNKNOWN,
        gap,
    )
}
