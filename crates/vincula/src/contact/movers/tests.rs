use super::*;
use crate::body::affine::Affine;

#[test]
fn a_torque_turns_a_stiff_body_like_a_rigid_one() {
    let body = Affine::new(2.0, [0.3, 0.05, 0.01], 4e8, 2.5e8);
    let c = 2e4;
    let inverse = Inverse::new(&body, c, &[0.0; 3]);
    let found = rotational(&inverse);
    for (k, inertia) in body.inertia().into_iter().enumerate() {
        let relative = found[k] * c * inertia - 1.0;
        assert!(relative.abs() < 1e-4, "axis {k}: {relative}");
    }
}

#[test]
fn the_increment_of_a_torque_turns_by_its_compliance() {
    let body = Affine::new(2.0, [0.3, 0.05, 0.01], 4e3, 2.5e3);
    let inverse = Inverse::new(&body, 1e4, &[3.0, 0.0, 70.0]);
    let torque = [10.0, -20.0, 5.0];
    let turned = axial(&increment(&inverse, &IDENTITY, &torque));
    let per_torque = rotational(&inverse);
    for k in 0..3 {
        assert!((turned[k] - per_torque[k] * torque[k]).abs() < 1e-15);
    }
}

/// Two bodies on a hinge after a step, with a factor of their joint.
fn pair() -> (crate::workspace::Workspace, Movers) {
    use crate::prelude::*;
    let mut builder = ModelBuilder::new();
    let half_extents = DVec3::new(0.5, 0.1, 0.05);
    let mut rod = |name: &str, x: f64| {
        let def = BodyDef::new(name, Shape::Box { half_extents }, 1000.0);
        builder.body(def.at(DVec3::X * x).turned(DQuat::from_rotation_x(0.3 * x)))
    };
    let (a, b) = (rod("a", 0.0), rod("b", 1.0));
    let at = DVec3::new(0.5, 0.05, 0.0);
    builder.joint(JointDef::hinge("hinge", a, b, at, DVec3::Y));
    builder.collider(ColliderDef::ground("ground", -100.0));
    let model = builder.build().unwrap();
    let mut work = Workspace::new(&model, Settings::default());
    let (mut state, control) = (model.initial_state(), Control::new(&model));
    step(&model, &mut state, &control, &mut work, 0.01).unwrap();
    let mut movers = Movers {
        all: (0..2).map(|k| Mover::held(k, &work.newton)).collect(),
        ..Movers::default()
    };
    movers.gather_clusters(&work.dual);
    movers.weigh_clusters(&mut work.dual, &work.newton);
    (work, movers)
}

#[test]
fn a_factor_answers_like_the_blocks_made_from_it() {
    let (mut work, mut movers) = pair();
    let wrench = [
        [[1.0, -2.0, 0.5], [0.3, 0.1, -0.2]],
        [[0.0, 4.0, 1.0], [-0.7, 0.2, 0.9]],
    ];
    let mut motions = [[[[0.0; 3]; 2]; 2]; 2];
    for motion in &mut motions {
        let answer = |island: usize, rows: &mut [f64]| work.dual.answer_chosen(island, rows);
        movers.respond_unit(0, answer, &wrench, motion);
        movers.all.iter_mut().for_each(|m| m.cluster = ALONE);
    }
    let [blocks, factor] = motions.map(|m| m.as_flattened().as_flattened().to_vec());
    let largest = blocks.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (x, y) in blocks.iter().zip(&factor) {
        assert!((x - y).abs() < 1e-12 * largest, "{x} {y}");
    }
}

#[test]
fn a_body_with_one_joint_answers_alone_as_in_its_mechanism() {
    let (work, movers) = pair();
    for (k, mover) in movers.all.iter().enumerate() {
        let found = work.dual.answer_of(&work.newton, k, &alone_block(mover));
        let expected = &movers.blocks[3 * k];
        let largest = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        for (x, y) in found.iter().zip(expected) {
            assert!((x - y).abs() < 1e-6 * largest, "{x} {y}");
        }
    }
}

impl Movers {
    /// Lets some pairs answer by twice as much.
    pub fn give_way(&mut self, which: impl Fn(u32) -> bool) {
        for cluster in self.clusters.iter().filter(|c| which(c.first)) {
            for block in &mut self.blocks[cluster.offset as usize..][..4] {
                block.iter_mut().for_each(|entry| *entry *= 2.0);
            }
        }
    }

    /// Makes every two movers one mechanism, in which `ways` say how both move under a wrench on
    /// either, beside what they do alone.
    pub fn join_pairs(&mut self, mut ways: impl FnMut() -> [[f64; 6]; 2]) {
        for first in (0..self.all.len() as u32).step_by(2) {
            let way = ways();
            self.clusters.push(Cluster {
                first,
                count: 2,
                offset: self.blocks.len() as u32,
                island: 0,
                rows: 0,
            });
            for (target, source) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let mut block = match target == source {
                    true => alone_block(&self.all[first as usize + source]),
                    false => [0.0; 36],
                };
                for (k, entry) in block.iter_mut().enumerate() {
                    *entry += way[target][k % 6] * way[source][k / 6];
                }
                self.blocks.push(block);
            }
        }
        self.mark_clusters();
    }
}
