//! The border to parry, the collision library: shapes, manifolds and casts. Nothing else
//! imports it.
//!
//! A manifold of two convex shapes is a normal n and points p₁, p₂ on their surfaces with
//! gap n · (p₂ − p₁). Parry finds it by separating axes (boxes), by projection (balls) or by
//! GJK and EPA (the rest). It also returns points farther than asked for; they are dropped
//! here. Its cylinders and cones stand along y.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Pose as Place;
use parry3d_f64::query::details::NormalConstraints;
use parry3d_f64::query::{
    ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, QueryDispatcher,
    ShapeCastOptions, ShapeCastStatus,
};
use parry3d_f64::shape::{
    Ball, Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, Shape as ParryShape,
    TriMesh as ParryMesh, TriMeshFlags,
};

use super::bounds::Bounds;
use super::round::{Spine, touch_spines};
use crate::body::shape::{Shape, ShapeError, TriMesh, convex_hull};
use crate::model::Pose;

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
    /// normal is `up` (own frame). Each comes with a number of its own.
    pub fn low_points(&self, up: DVec3, visit: &mut impl FnMut(DVec3, u32)) {
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
                rim(cylinder.radius, -cylinder.half_height, up, 0, visit);
                rim(cylinder.radius, cylinder.half_height, up, 4, visit);
            }
            Form::Cone(cone) => {
                rim(cone.radius, -cone.half_height, up, 0, visit);
                visit(DVec3::Y * cone.half_height, 4);
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
fn rim(radius: f64, height: f64, up: DVec3, first: u32, visit: &mut impl FnMut(DVec3, u32)) {
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
}

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
}

/// A form at a pose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub form: &'a Form,
    pub pose: Pose,
}

/// Memory for the narrow phase.
#[derive(Debug, Default)]
pub(crate) struct Narrow {
    manifold: ContactManifold<(), ()>,
    /// Triangles near the other shape.
    near: Vec<u32>,
}

impl Narrow {
    /// Appends the points of two bounded forms that are closer than `reach`, m.
    pub fn touch(&mut self, one: Placed, two: Placed, reach: f64, out: &mut Vec<Touch>) {
        let spines = (one.form.spine(&one.pose), two.form.spine(&two.pose));
        if let (Some(first), Some(second)) = spines {
            return touch_spines(&first, &second, reach, out);
        }
        match (one.form, two.form) {
            (Form::Mesh(mesh), _) => self.touch_mesh(mesh, one.pose, two, reach, false, out),
            (_, Form::Mesh(mesh)) => self.touch_mesh(mesh, two.pose, one, reach, true, out),
            _ => {
                let (Some(first), Some(second)) = (one.form.shape(), two.form.shape()) else {
                    return;
                };
                let places = [&one.pose, &two.pose].map(place);
                self.touch_convex([first, second], places, [None, None], reach, 0, out);
            }
        }
    }

    /// Points of the triangles of a mesh near another form.
    fn touch_mesh(
        &mut self,
        mesh: &ParryMesh,
        pose: Pose,
        other: Placed,
        reach: f64,
        flipped: bool,
        out: &mut Vec<Touch>,
    ) {
        let Some(shape) = other.form.shape() else {
            return;
        };
        let (mesh_place, other_place) = (place(&pose), place(&other.pose));
        let window = shape.compute_aabb(&mesh_place.inv_mul(&other_place));
        let window = Aabb::new(
            window.mins - DVec3::splat(reach),
            window.maxs + DVec3::splat(reach),
        );
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        near.extend(mesh.bvh().intersect_aabb(&window));
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

    fn touch_convex(
        &mut self,
        shapes: [&dyn ParryShape; 2],
        places: [Place; 2],
        sides: [Option<&dyn NormalConstraints>; 2],
        reach: f64,
        number: u32,
        out: &mut Vec<Touch>,
    ) {
        // A manifold of the past would save work, but then the result would depend on it.
        self.manifold.clear();
        self.manifold.local_n1 = DVec3::ZERO;
        let relative = places[0].inv_mul(&places[1]);
        let found = DefaultQueryDispatcher.contact_manifold_convex_convex(
            &relative,
            shapes[0],
            shapes[1],
            sides[0],
            sides[1],
            reach,
            &mut self.manifold,
        );
        if found.is_err() {
            return;
        }
        let normal = places[0].rotation * self.manifold.local_n1;
        if !((normal.length_squared() - 1.0).abs() < 1e-6) {
            return;
        }
        let normal = normal.normalize();
        for point in &self.manifold.points {
            let first = places[0].transform_point(point.local_p1);
            let second = places[1].transform_point(point.local_p2);
            let gap = normal.dot(second - first);
            if gap <= reach {
                let ids = u64::from(point.fid1.0.rotate_left(16) ^ point.fid2.0);
                out.push(Touch {
                    first,
                    second,
                    normal,
                    gap,
                    ahead: gap,
                    feature: u64::from(number) << 32 | ids,
                });
            }
        }
    }

    /// When two forms that move by `motion` relative to each other come within `distance`, as
    /// a fraction of that motion; `None` when they do not, or already are.
    pub fn cast(&self, one: Placed, two: Placed, motion: DVec3, distance: f64) -> Option<f64> {
        let (first, second) = (one.form.shape()?, two.form.shape()?);
        let (at, to) = (place(&one.pose), place(&two.pose));
        let options = ShapeCastOptions {
            max_time_of_impact: 1.0,
            target_distance: distance,
            stop_at_penetration: true,
            compute_impact_geometry_on_penetration: false,
        };
        let velocity = at.rotation.inverse() * motion;
        let hit = DefaultQueryDispatcher
            .cast_shapes(&at.inv_mul(&to), velocity, first, second, options)
            .ok()??;
        let usable = hit.status != ShapeCastStatus::PenetratingOrWithinTargetDist
            && (0.0..=1.0).contains(&hit.time_of_impact);
        usable.then_some(hit.time_of_impact)
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
