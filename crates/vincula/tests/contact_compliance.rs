//! Contacts that give way by themselves, against the springs that they are.

mod contact_worlds;

use contact_worlds::cuboid;
use vincula::contact::Surface;
use vincula::force::Wrench;
use vincula::prelude::*;

const G: f64 = 9.81;
/// Half the height of the box, m; and its mass, kg.
const HALF: f64 = 0.05;
const MASS: f64 = 3.2;
const INTEGRATORS: [Integrator; 2] = [Integrator::Tempered, Integrator::LinearEuler];

/// A box on four corners, each on a spring of this compliance, m/N, on a slope.
fn on_springs(compliance: f64, angle: f64, height: f64) -> (Model, BodyId) {
    let surface = Surface {
        // Of two surfaces that touch each has half.
        compliance: 0.5 * compliance,
        ..Surface::with_friction(0.8)
    };
    let mut builder = ModelBuilder::new();
    builder.gravity(DVec3::new(G * angle.sin(), 0.0, -G * angle.cos()));
    builder.collider(ColliderDef::ground("slope", 0.0).surface(surface));
    let def = BodyDef::new("box", cuboid(DVec3::new(0.1, 0.08, HALF)), 1000.0);
    let body = builder.body(def.at(DVec3::Z * (HALF + height)).colliding(surface));
    (builder.build().unwrap(), body)
}

/// The middle of the underside, m.
fn foot(model: &Model, state: &State, body: BodyId) -> DVec3 {
    state.pose(model, body).point(-HALF * DVec3::Z)
}

struct World<'a> {
    model: &'a Model,
    state: State,
    work: Workspace,
    control: Control,
}

impl<'a> World<'a> {
    fn new(model: &'a Model, integrator: Integrator) -> World<'a> {
        World {
            model,
            state: model.initial_state(),
            work: Workspace::new(model, Settings::with_integrator(integrator)),
            control: Control::new(model),
        }
    }

    fn run(&mut self, steps: usize, mut look: impl FnMut(&State)) {
        for _ in 0..steps {
            step(
                self.model,
                &mut self.state,
                &self.control,
                &mut self.work,
                0.01,
            )
            .unwrap();
            look(&self.state);
        }
    }
}

#[test]
fn a_box_on_a_slope_sinks_and_shifts_as_its_springs_say_and_does_not_creep() {
    for integrator in INTEGRATORS {
        for compliance in [1e-7, 1e-6] {
            let angle = 0.4f64;
            let (model, body) = on_springs(compliance, angle, 0.0);
            let mut world = World::new(&model, integrator);
            world.run(400, |_| {});
            let rest = foot(&model, &world.state, body);
            let per_corner = 0.25 * compliance * MASS * G;
            let expected = per_corner * DVec3::new(angle.sin(), 0.0, -angle.cos());
            let off = (rest - expected).length() / per_corner;
            assert!(off < 1e-3, "{integrator}, {compliance}: {rest} {expected}");
            world.run(1000, |_| {});
            let crept = (foot(&model, &world.state, body) - rest).length();
            assert!(crept < 1e-9, "{integrator}, {compliance}: {crept:e} m");
        }
    }
}

#[test]
fn a_box_that_was_pushed_and_stuck_comes_back() {
    for integrator in INTEGRATORS {
        let (compliance, push) = (1e-6, 15.0);
        let (model, body) = on_springs(compliance, 0.0, 0.0);
        let mut world = World::new(&model, integrator);
        world.run(100, |_| {});
        let rest = foot(&model, &world.state, body);
        let force = push * DVec3::Y;
        let torque = DVec3::ZERO;
        world.control.add(body, Wrench { force, torque });
        world.run(200, |_| {});
        let way = (foot(&model, &world.state, body) - rest).y / (0.25 * compliance * push);
        assert!((way - 1.0).abs() < 1e-3, "{integrator}: {way}");
        world.control.clear();
        world.run(200, |_| {});
        let left = (foot(&model, &world.state, body) - rest).y / (0.25 * compliance * push);
        assert!(left.abs() < 1e-3, "{integrator}: {left}");
    }
}

#[test]
fn springs_too_stiff_for_the_step_do_not_throw_a_box_back() {
    for integrator in INTEGRATORS {
        let (model, body) = on_springs(1e-7, 0.0, 0.1);
        let mut world = World::new(&model, integrator);
        let (mut landed, mut highest) = (false, f64::NEG_INFINITY);
        world.run(100, |state| {
            let height = foot(&model, state, body).z;
            landed |= height < 1e-6;
            if landed {
                highest = highest.max(height);
            }
        });
        assert!(landed && highest < 1e-4, "{integrator}: {highest:e}");
    }
}
