//! The pile of the gallery by Vincula and by Rapier (f64), one step after the other in the same
//! run: time of a step, deepest overlap and kinetic energy, both seen by the same eyes.
//!
//! `cargo xtask peers [SOLIDS [STEPS]]`; 1,000 boxes and 500 steps of 10 ms unless said. Rapier
//! runs with its defaults, but nothing falls asleep in either engine, and on one thread.

use std::error::Error;
use std::time::Instant;

use rapier3d_f64::na::Unit;
use rapier3d_f64::prelude::{
    ColliderBuilder, PhysicsWorld, Pose as RapierPose, RigidBodyBuilder, RigidBodyHandle, Rotation,
    Vector,
};
use vincula::contact::{Carrier, Contacts, detect};
use vincula::diagnostics::energy;
use vincula::prelude::*;
use vincula_scenes::Scene;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let solids = arguments.first().map_or("1000", String::as_str);
    let steps: usize = arguments.get(1).map_or(Ok(500), |steps| steps.parse())?;
    let scene = vincula_scenes::build("pile", &[("n", solids)])?;
    let (mut peer, handles) = rapier(&scene)?;
    let mut work = Workspace::new(&scene.model, Settings::default());
    let control = Control::new(&scene.model);
    let mut state = scene.state.clone();
    println!(
        "{solids} boxes, h = {} s; of every {WINDOW} steps the median",
        scene.h
    );
    println!(
        "  time s   Vincula ms  overlap mm  kinetic J     Rapier ms  overlap mm  kinetic J   ratio"
    );
    let [mut ours, mut theirs] = [Vec::new(), Vec::new()];
    let mut all = [Vec::new(), Vec::new()];
    for k in 1..=steps {
        let start = Instant::now();
        step(&scene.model, &mut state, &control, &mut work, scene.h)?;
        ours.push(start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        peer.step();
        theirs.push(start.elapsed().as_secs_f64() * 1e3);
        if k % WINDOW == 0 || k == steps {
            let [a, b] = [median(&mut ours), median(&mut theirs)];
            let [x, u] = look(&scene, &state);
            let [y, w] = look(&scene, &seen(&scene, &peer, &handles));
            println!(
                "{:8.2}   {a:10.3}  {x:10.3}  {u:9.3e}    {b:10.3}  {y:10.3}  {w:9.3e}   {:5.2}",
                k as f64 * scene.h,
                a / b
            );
            all[0].append(&mut ours);
            all[1].append(&mut theirs);
        }
    }
    let [a, b] = all.map(|mut times| median(&mut times));
    println!(
        "all steps: Vincula {a:.3} ms, Rapier {b:.3} ms, ratio {:.2}",
        a / b
    );
    Ok(())
}

/// Steps between two lines of the table.
const WINDOW: usize = 50;

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The deepest overlap, mm, and the kinetic energy, J, of a state.
fn look(scene: &Scene, state: &State) -> [f64; 2] {
    let mut contacts = Contacts::new();
    detect(
        &scene.model,
        state,
        &Control::new(&scene.model),
        0.0,
        &mut contacts,
    );
    [
        1e3 * contacts.penetration(),
        energy(&scene.model, state).kinetic,
    ]
}

/// The same world for Rapier, and the handle of every body.
fn rapier(scene: &Scene) -> Result<(PhysicsWorld, Vec<RigidBodyHandle>), String> {
    let (model, state) = (&scene.model, &scene.state);
    let mut world = PhysicsWorld::new();
    world.gravity = vector(model.gravity());
    world.integration_parameters.dt = scene.h;
    let ground = world.insert_body(RigidBodyBuilder::fixed());
    let handles: Vec<_> = model
        .body_ids()
        .map(|id| {
            let at = placed(&state.pose(model, id));
            world.insert_body(RigidBodyBuilder::dynamic().pose(at).can_sleep(false))
        })
        .collect();
    for collider in model.colliders() {
        let unknown = || format!("{}: Rapier is not told of such a shape here", collider.name);
        let shape = match &collider.shape {
            ColliderShape::HalfSpace { normal } => {
                ColliderBuilder::halfspace(Unit::new_unchecked(vector(normal.normalize())))
            }
            ColliderShape::Solid(Shape::Box { half_extents: e }) => {
                ColliderBuilder::cuboid(e.x, e.y, e.z)
            }
            ColliderShape::Solid(Shape::Sphere { radius }) => ColliderBuilder::ball(*radius),
            _ => return Err(unknown()),
        };
        let (carrier, density) = match collider.carrier {
            Carrier::World => (ground, 0.0),
            Carrier::Body(id) => (handles[id.index()], 1000.0),
            Carrier::Frame(_) => return Err(unknown()),
        };
        let shape = shape
            .position(placed(&collider.pose))
            .friction(collider.surface.friction)
            .density(density);
        world.insert_collider(shape, Some(carrier));
    }
    Ok((world, handles))
}

/// Where Rapier has the bodies, as a state of ours.
fn seen(scene: &Scene, world: &PhysicsWorld, handles: &[RigidBodyHandle]) -> State {
    let mut state = scene.state.clone();
    for (id, handle) in scene.model.body_ids().zip(handles) {
        let body = &world.bodies[*handle];
        let (at, turned) = (body.translation(), body.rotation());
        let pose = Pose {
            translation: DVec3::new(at.x, at.y, at.z),
            rotation: DQuat::from_xyzw(turned.x, turned.y, turned.z, turned.w),
        };
        state.set_pose(&scene.model, id, pose);
        let (v, w) = (body.linvel(), body.angvel());
        let twist = Twist {
            linear: DVec3::new(v.x, v.y, v.z),
            angular: DVec3::new(w.x, w.y, w.z),
        };
        state.set_twist(&scene.model, id, twist);
    }
    state
}

fn vector(x: DVec3) -> Vector {
    Vector::new(x.x, x.y, x.z)
}

fn placed(pose: &Pose) -> RapierPose {
    let q = pose.rotation;
    RapierPose::from_parts(
        vector(pose.translation),
        Rotation::from_xyzw(q.x, q.y, q.z, q.w),
    )
}
