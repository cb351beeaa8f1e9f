//! What the scenes made of rods share: square rods between two points, and pins.

use glam::{DQuat, DVec3};
use vincula::diagnostics::worst_gap;
use vincula::prelude::*;

use crate::error::SceneError;
use crate::scene::{Probe, Scene};
use crate::values::Values;

/// A model of rods under construction. It reads `gravity` and `young` of the scene.
pub(super) struct Linkage {
    pub builder: ModelBuilder,
    material: Material,
    density: f64,
}

impl Linkage {
    /// An empty model of rods of this density, kg/m³.
    pub fn new(values: &Values, density: f64) -> Linkage {
        let mut builder = ModelBuilder::new();
        builder.gravity(DVec3::new(0.0, 0.0, -values.float("gravity")));
        Linkage {
            builder,
            material: Material::with_young(values.float("young")),
            density,
        }
    }

    /// A rod at rest from one point to another, m, of square section, along its own x axis.
    pub fn rod(&mut self, name: impl Into<String>, ends: [DVec3; 2], width: f64) -> BodyId {
        self.moving_rod(name, ends, [DVec3::ZERO; 2], width)
    }

    /// The same, whose ends have these velocities, m/s; it does not spin about its length.
    pub fn moving_rod(
        &mut self,
        name: impl Into<String>,
        ends: [DVec3; 2],
        rates: [DVec3; 2],
        width: f64,
    ) -> BodyId {
        let span = ends[1] - ends[0];
        let half_extents = 0.5 * DVec3::new(span.length(), width, width);
        let shape = Shape::Box { half_extents };
        let spin = span.cross(rates[1] - rates[0]) / span.length_squared();
        self.add(
            BodyDef::new(name, shape, self.density)
                .at(0.5 * (ends[0] + ends[1]))
                .turned(along(span))
                .moving(0.5 * (rates[0] + rates[1]), spin),
        )
    }

    /// Any other body, of the common material.
    pub fn add(&mut self, body: BodyDef) -> BodyId {
        self.builder.body(body.material(self.material))
    }

    /// A joint.
    pub fn join(&mut self, joint: JointDef) -> JointId {
        self.builder.joint(joint)
    }

    /// The scene, with a probe of the largest gap.
    pub fn scene(self, name: &'static str, values: &Values) -> Result<Scene, SceneError> {
        let model = self.builder.build()?;
        let scene = Scene::new(name, model, values.float("h"), values.float("duration"));
        Ok(
            scene.probe(Probe::new("gap", "largest gap of a joint", "m", |view| {
                worst_gap(view.model, view.state).0
            })),
        )
    }
}

/// The rotation that takes x to a direction; about y alone where that is enough, so that
/// the sections of a planar linkage stay square to its plane.
pub(super) fn along(span: DVec3) -> DQuat {
    if span.y == 0.0 {
        DQuat::from_rotation_y((-span.z).atan2(span.x))
    } else {
        DQuat::from_rotation_arc(DVec3::X, span.normalize())
    }
}

/// Places and rates of the points of a mechanism whose places are known as a function of
/// one coordinate `q` that changes at `rate`.
pub(super) fn with_rates<const N: usize>(
    places: impl Fn(f64) -> [DVec3; N],
    q: f64,
    rate: f64,
) -> ([DVec3; N], [DVec3; N]) {
    // Central differences of fourth order: good to about 1e-12.
    let step = 1e-3;
    let near = [places(q - step), places(q + step)];
    let far = [places(q - 2.0 * step), places(q + 2.0 * step)];
    let slope = std::array::from_fn(|k| {
        let (inner, outer) = (near[1][k] - near[0][k], far[1][k] - far[0][k]);
        (8.0 * inner - outer) * (rate / (12.0 * step))
    });
    (places(q), slope)
}
