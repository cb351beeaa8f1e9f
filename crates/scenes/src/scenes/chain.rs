//! A chain of rods, hung by one end.

use glam::DVec3;
use vincula::diagnostics::worst_gap;
use vincula::model::Endpoint;
use vincula::prelude::*;

use crate::error::SceneError;
use crate::gallery::Entry;
use crate::param::Param;
use crate::scene::{Probe, Scene};
use crate::values::Values;

pub(super) const ENTRY: Entry = Entry {
    name: "chain",
    summary: "A chain of rods on ball or other joints swings down from level",
    figure: "",
    params: &[
        Param::step(0.01),
        Param::duration(5.0),
        Param::int("links", 20, (1, 2_000_000), "number of links"),
        Param::float("length", 0.1, (1e-3, 10.0), "m", "length of a link"),
        Param::float(
            "width",
            0.02,
            (1e-4, 10.0),
            "m",
            "edge of its square cross-section",
        ),
        Param::float("density", 1000.0, (1e-3, 1e6), "kg/m³", "density"),
        Param::float(
            "end_mass",
            1.0,
            (1e-6, 1e9),
            "",
            "mass of the last link over that of the others",
        ),
        Param::bool(
            "folded",
            false,
            "start folded up, each link on the one before",
        ),
        Param::choice(
            "joint",
            &["ball", "hinge", "universal"],
            "joints between links; hinges bend about y, universal joints about y and z",
        ),
        Param::gravity(),
        Param::young(),
    ],
    make: |values| {
        let links = Links {
            count: values.int("links"),
            length: values.float("length"),
            width: values.float("width"),
            density: values.float("density"),
            end_mass: values.float("end_mass"),
            folded: values.bool("folded"),
            joint: values.choice("joint"),
        };
        links.scene(ENTRY.name, values)
    },
};

/// What a chain is made of. Lengths in m, density in kg/m³.
pub(super) struct Links {
    pub count: usize,
    pub length: f64,
    pub width: f64,
    pub density: f64,
    /// Mass of the last link over that of the others.
    pub end_mass: f64,
    /// Whether every second link points back.
    pub folded: bool,
    /// `ball`, `hinge` or `universal`.
    pub joint: &'static str,
}

impl Links {
    /// The chain along x from the origin, where it is pinned.
    pub fn scene(&self, name: &'static str, values: &Values) -> Result<Scene, SceneError> {
        let mut builder = ModelBuilder::new();
        builder.gravity(DVec3::new(0.0, 0.0, -values.float("gravity")));
        let mut tip = DVec3::ZERO;
        let mut last = None;
        for index in 0..self.count {
            let along = if self.folded && index % 2 == 1 {
                -self.length
            } else {
                self.length
            };
            let body = builder.body(
                self.link(index, values.float("young"))
                    .at(tip + DVec3::X * (0.5 * along)),
            );
            let before = last.map_or(Endpoint::World, Endpoint::Body);
            builder.joint(self.joint(index, before, body, tip));
            tip.x += along;
            last = Some(body);
        }
        let model = builder.build()?;
        let scene = Scene::new(name, model, values.float("h"), values.float("duration"));
        let Some(end) = last else { return Ok(scene) };
        Ok(scene
            .probe(Probe::new(
                "end-height",
                "height of the last link",
                "m",
                move |view| view.state.center(end).z,
            ))
            .probe(Probe::new("gap", "largest gap of a joint", "m", |view| {
                worst_gap(view.model, view.state).0
            })))
    }

    fn joint(&self, index: usize, before: Endpoint, body: BodyId, at: DVec3) -> JointDef {
        let name = format!("joint-{index}");
        match self.joint {
            "hinge" => JointDef::hinge(name, before, body, at, DVec3::Y),
            "universal" => JointDef::universal(name, before, body, at, [DVec3::Y, DVec3::Z]),
            _ => JointDef::ball(name, before, body, at),
        }
    }

    fn link(&self, index: usize, young: f64) -> BodyDef {
        let half_extents = 0.5 * DVec3::new(self.length, self.width, self.width);
        let mass = self.density * self.length * self.width * self.width;
        let factor = if index + 1 == self.count {
            self.end_mass
        } else {
            1.0
        };
        BodyDef::new(
            format!("link-{index}"),
            Shape::Box { half_extents },
            self.density,
        )
        .mass(mass * factor)
        .material(Material::with_young(young))
    }
}
