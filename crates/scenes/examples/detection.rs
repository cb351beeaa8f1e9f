//! How long detection takes for blocks of touching cubes: 1,000, 10,000 and 100,000 of them.
//!
//! `cargo run --release -p vincula-scenes --example detection`

use std::time::Instant;

use vincula::contact::{Contacts, detect};
use vincula::prelude::*;

/// A block of cubes of one metre, each touching up to six others.
fn block(along: [usize; 3]) -> Model {
    let mut builder = ModelBuilder::new();
    builder.collider(ColliderDef::ground("ground", 0.0));
    for k in 0..along[0] * along[1] * along[2] {
        let cell = [
            k % along[0],
            k / along[0] % along[1],
            k / along[0] / along[1],
        ];
        let at = DVec3::from_array(cell.map(|c| c as f64 + 0.5));
        let shape = Shape::Box {
            half_extents: DVec3::splat(0.5),
        };
        let body = BodyDef::new(format!("cube-{k}"), shape, 1000.0).at(at);
        builder.body(body.colliding(Surface::default()));
    }
    builder.build().expect("a sound model")
}

fn main() {
    println!(
        "{:>8} {:>9} {:>10} {:>12}",
        "bodies", "points", "ms", "ns a body"
    );
    let mut rates = Vec::new();
    for along in [[10, 10, 10], [22, 22, 21], [46, 46, 47]] {
        let model = block(along);
        let (state, control) = (model.initial_state(), Control::new(&model));
        let mut contacts = Contacts::new();
        let mut best = f64::INFINITY;
        for _ in 0..7 {
            let start = Instant::now();
            detect(&model, &state, &control, 0.01, &mut contacts);
            best = best.min(start.elapsed().as_secs_f64());
        }
        let count = model.bodies().len();
        let rate = 1e9 * best / count as f64;
        let points = contacts.points.len();
        println!("{count:>8} {points:>9} {:>10.2} {rate:>12.0}", 1e3 * best);
        rates.push(rate);
    }
    let growth = rates[2] / rates[0];
    println!("time a body grows by {growth:.2} from 1,000 to 100,000");
    assert!(growth < 3.0, "detection is not nearly linear");
}
