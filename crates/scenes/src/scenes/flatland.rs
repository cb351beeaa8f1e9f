//! What the planar scenes with contacts share: a closed room in the xz plane, and rectangles
//! that a planar joint keeps in it.

use glam::{DQuat, DVec3};
use vincula::contact::{ColliderDef, ColliderShape, Contacts, Surface, detect};
use vincula::joint::JointKind;
use vincula::prelude::*;

use crate::scene::Probe;
use crate::values::Values;

/// A room under construction. It reads `gravity`, `friction` and `young` of the scene.
pub(super) struct Room {
    pub builder: ModelBuilder,
    surface: Surface,
    material: Material,
}

impl Room {
    /// A room of this width and height, m, with its floor at z = 0 and its middle at x = 0.
    pub fn new(values: &Values, width: f64, height: f64) -> Room {
        let mut builder = ModelBuilder::new();
        builder.gravity(DVec3::new(0.0, 0.0, -values.float("gravity")));
        let surface = Surface::with_friction(values.float("friction"));
        for (name, normal, at) in [
            ("floor", DVec3::Z, DVec3::ZERO),
            ("ceiling", DVec3::NEG_Z, DVec3::Z * height),
            ("left", DVec3::X, DVec3::X * (-0.5 * width)),
            ("right", DVec3::NEG_X, DVec3::X * (0.5 * width)),
        ] {
            let wall = ColliderDef::new(name, World, ColliderShape::HalfSpace { normal });
            builder.collider(wall.at(at).surface(surface));
        }
        Room {
            builder,
            surface,
            material: Material::with_young(values.float("young")),
        }
    }

    /// A rectangle of these half extents, m, at (x, z), turned by an angle, rad, moving at a
    /// velocity, m/s, with a spin about y, rad/s.
    pub fn rectangle(
        &mut self,
        name: &str,
        half: [f64; 2],
        at: [f64; 3],
        motion: [f64; 3],
    ) -> BodyId {
        let half_extents = DVec3::new(half[0], 0.05, half[1]);
        let place = DVec3::new(at[0], 0.0, at[1]);
        let body = self.builder.body(
            BodyDef::new(name, Shape::Box { half_extents }, 500.0)
                .material(self.material)
                .colliding(self.surface)
                .turned(DQuat::from_rotation_y(at[2]))
                .at(place)
                .moving(DVec3::new(motion[0], 0.0, motion[1]), DVec3::Y * motion[2]),
        );
        // Coulomb's law in the plane: the joint takes what would push out of it.
        self.builder.joint(JointDef::new(
            format!("{name}-plane"),
            JointKind::Planar,
            World,
            body,
            place,
            DVec3::Y,
        ));
        body
    }
}

/// The deepest overlap of two colliders, m.
pub(super) fn overlap_probe() -> Probe {
    Probe::new("overlap", "deepest overlap of two bodies", "m", |view| {
        let mut contacts = Contacts::new();
        let control = Control::new(view.model);
        detect(view.model, view.state, &control, 0.0, &mut contacts);
        contacts.penetration()
    })
}
