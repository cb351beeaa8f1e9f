//! A model of some of the bodies of another.

use std::collections::BTreeMap;

use super::{BodyId, Collision, Endpoint, Model, ParamBlock, free_joints};
use crate::joint::Joint;
use crate::math::lanes::{LANES, place};

impl Model {
    /// These bodies and joints alone, in this order. Every body of the joints is among the
    /// bodies. Colliders and couplings stay behind, and so do shapes unless a ground feels them.
    pub(crate) fn subset(&self, bodies: &[u32], joints: &[u32]) -> Model {
        let mut position = BTreeMap::new();
        let mut params = vec![ParamBlock::EMPTY; bodies.len().div_ceil(LANES)];
        let mut chosen = Vec::with_capacity(bodies.len());
        for (index, &body) in bodies.iter().enumerate() {
            position.insert(body, index);
            let (block, lane) = place(index);
            params[block].set(lane, &self.affine(BodyId::new(body as usize)));
            let mut body = self.bodies[body as usize].clone();
            if self.ground.is_none() {
                body.shape = None;
            }
            chosen.push(body);
        }
        let mut axis_starts = Vec::with_capacity(joints.len());
        let mut coordinates = 0;
        let joints: Vec<Joint> = joints
            .iter()
            .map(|&joint| {
                let mut joint = self.joints[joint as usize].clone();
                for side in [&mut joint.a, &mut joint.b] {
                    if let Some(body) = side.endpoint.index() {
                        side.endpoint = Endpoint::Body(BodyId::new(position[&(body as u32)]));
                    }
                }
                axis_starts.push(coordinates);
                coordinates += joint.axes.len();
                joint
            })
            .collect();
        Model {
            bodies: chosen,
            free_joints: free_joints(&joints),
            joints,
            couplings: Vec::new(),
            identity: self.identity,
            params,
            axis_starts,
            gravity: self.gravity,
            wind: self.wind,
            ground: self.ground,
            collision: Collision::default(),
        }
    }
}
