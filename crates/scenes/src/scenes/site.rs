//! What the scenes of loose solids share: a ground, solids that collide, and probes.

use glam::{DQuat, DVec3};
use vincula::contact::{Contacts, detect};
use vincula::diagnostics::worst_gap;
use vincula::prelude::*;

use crate::error::SceneError;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

/// A model of loose solids under construction. It reads `gravity`, `young`, `density` and
/// `friction` of the scene.
pub(super) struct Site {
    pub builder: ModelBuilder,
    /// Of everything that is added next.
    pub surface: Surface,
    pub density: f64,
    material: Material,
}

/// The coefficient of friction of all surfaces.
pub(super) const fn friction(default: f64) -> Param {
    Param::float(
        "friction",
        default,
        (0.0, 10.0),
        "",
        "coefficient of friction",
    )
}

/// What a pair of surfaces gives way by.
pub(super) const fn compliance(default: f64) -> Param {
    Param::float(
        "compliance",
        default,
        (0.0, 1.0),
        "m/N",
        "displacement of a touching point per force on it",
    )
}

/// The density of all solids.
pub(super) const fn density(default: f64) -> Param {
    Param::float("density", default, (1e-3, 1e6), "kg/m³", "density")
}

impl Site {
    /// Has everything that is added next give way by the `compliance` of the scene.
    pub fn yields(&mut self, values: &Values) {
        // Of two surfaces that touch each has half of it.
        self.surface.compliance = 0.5 * values.float("compliance");
    }

    /// An empty site.
    pub fn new(values: &Values) -> Site {
        let mut builder = ModelBuilder::new();
        builder.gravity(DVec3::new(0.0, 0.0, -values.float("gravity")));
        Site {
            builder,
            surface: Surface::with_friction(values.float("friction")),
            density: values.float("density"),
            material: Material::with_young(values.float("young")),
        }
    }

    /// A level ground at z = 0.
    pub fn ground(&mut self) -> ColliderId {
        self.wall("ground", DVec3::ZERO, DVec3::Z)
    }

    /// A plane through a point that keeps everything on the side of its normal.
    pub fn wall(&mut self, name: &str, at: DVec3, normal: DVec3) -> ColliderId {
        self.fixed(
            name,
            ColliderShape::HalfSpace { normal },
            at,
            DQuat::IDENTITY,
        )
    }

    /// A collider that stands still.
    pub fn fixed(
        &mut self,
        name: impl Into<String>,
        shape: impl Into<ColliderShape>,
        at: DVec3,
        turned: DQuat,
    ) -> ColliderId {
        let def = ColliderDef::new(name, World, shape).at(at).turned(turned);
        self.builder.collider(def.surface(self.surface))
    }

    /// A solid at rest that collides.
    pub fn solid(
        &mut self,
        name: impl Into<String>,
        shape: Shape,
        at: DVec3,
        turned: DQuat,
    ) -> BodyId {
        self.add(
            BodyDef::new(name, shape, self.density)
                .at(at)
                .turned(turned),
        )
    }

    /// Any body with a shape, which collides.
    pub fn add(&mut self, body: BodyDef) -> BodyId {
        let body = body.material(self.material).colliding(self.surface);
        self.builder.body(body)
    }

    /// Any body of the common material, which does not collide by itself.
    pub fn bare(&mut self, body: BodyDef) -> BodyId {
        self.builder.body(body.material(self.material))
    }

    /// The scene, with probes of the deepest overlap and, where there are joints, of the
    /// largest gap.
    pub fn scene(self, name: &'static str, values: &Values) -> Result<Scene, SceneError> {
        let model = self.builder.build()?;
        let jointed = !model.joints().is_empty();
        let h = values.float("h");
        let scene = Scene::new(name, model, h, values.float("duration"));
        let scene = scene.probe(penetration());
        if !jointed {
            return Ok(scene);
        }
        Ok(
            scene.probe(Probe::new("gap", "largest gap of a joint", "m", |view| {
                worst_gap(view.model, view.state).0
            })),
        )
    }
}

/// The deepest overlap at an instant, found anew and not taken from the solver.
pub(super) fn penetration() -> Probe {
    Probe::new("penetration", "deepest overlap", "m", |view| {
        let mut contacts = Contacts::new();
        let control = Control::new(view.model);
        detect(view.model, view.state, &control, 0.0, &mut contacts);
        contacts.penetration()
    })
}

/// A cube of this edge, m.
pub(super) fn cube(edge: f64) -> Shape {
    Shape::Box {
        half_extents: DVec3::splat(0.5 * edge),
    }
}
