//! What acts on the bodies of a step beside joints and contacts: gravity, wind and drag, what the
//! user pushes with, and the ground.

use glam::DVec3;

use super::Workspace;
use crate::math::lanes::{LANES, gather, place, scatter};
use crate::math::small::{V3, mul};
use crate::model::{BodyId, Control, Model, Pose, State, StateBlock, Twist};

impl Workspace {
    /// What acts on every body at the start of the step.
    pub(crate) fn gather_forces(
        &mut self,
        model: &Model,
        state: &State,
        control: &Control,
        h: f64,
    ) {
        self.plain = self.uniform && !control.active;
        self.kicks.reset(model.gravity);
        if self.plain {
            return;
        }
        if self.uniform {
            self.gather_wrenches(model, control);
            return;
        }
        for id in model.body_ids() {
            let (pose, twist) = (state.pose(model, id), state.twist(model, id));
            self.gather_body(
                model,
                id,
                &pose,
                &twist,
                state.center(id),
                state.time,
                control,
                h,
            );
        }
    }

    /// The same where nothing but uniform gravity and what the user pushes with acts.
    fn gather_wrenches(&mut self, model: &Model, control: &Control) {
        for (block, wrenches) in control.blocks.iter().enumerate() {
            if wrenches.is_zero() {
                continue;
            }
            let kick = self.kicks.own(block);
            kick.torque = wrenches.torque;
            for lane in 0..LANES {
                let mass = model.params[block].mass[lane];
                let force = DVec3::from_array(gather(&wrenches.force, lane));
                let acceleration = model.gravity + force / mass;
                scatter(&mut kick.acceleration, lane, &acceleration.to_array());
            }
        }
    }

    /// Whether forces have to be gathered again at the end of the step.
    pub(crate) fn pushed_at_end(&self) -> bool {
        self.end.is_some()
    }

    /// The same at the end of the step, where a force depends on the motion.
    pub(crate) fn gather_forces_again(
        &mut self,
        model: &Model,
        time: f64,
        control: &Control,
        h: f64,
    ) {
        // Taken out for the time being, since `gather_body` needs the rest of the workspace.
        let Some(mut at) = self.end.take() else {
            return;
        };
        for (block, n) in at.blocks.iter_mut().zip(&self.newton) {
            *block = StateBlock {
                t: n.t,
                a: n.a,
                v: n.v,
                w: n.w,
            };
            for lane in 0..LANES {
                let w = mul(&gather(&n.rot, lane), &gather(&n.w, lane));
                scatter(&mut block.w, lane, &w);
            }
        }
        for id in model.body_ids() {
            let (pose, twist) = (at.pose(model, id), at.twist(model, id));
            self.gather_body(model, id, &pose, &twist, at.center(id), time, control, h);
        }
        self.end = Some(at);
    }

    #[allow(clippy::too_many_arguments)]
    fn gather_body(
        &mut self,
        model: &Model,
        id: BodyId,
        pose: &Pose,
        twist: &Twist,
        center: DVec3,
        time: f64,
        control: &Control,
        h: f64,
    ) {
        let body = model.body(id);
        let affine = model.affine(id);
        let mut wrench = control.wrench(id);
        if let (Some(ground), Some(shape)) = (&model.ground, &body.shape) {
            let push = ground.wrench(shape, pose, center, twist);
            wrench.force += push.force;
            wrench.torque += push.torque;
        }
        let wind = model.wind.velocity(center, time);
        let speed = (twist.linear - wind).length();
        let drag = (body.drag.linear + body.drag.quadratic * speed) / affine.mass;
        let inertia: V3 = affine.inertia();
        let (block, lane) = place(id.index());
        let kick = self.kicks.own(block);
        let acceleration = model.gravity * body.gravity_scale + wrench.force / affine.mass;
        scatter(&mut kick.acceleration, lane, &acceleration.to_array());
        scatter(&mut kick.torque, lane, &wrench.torque.to_array());
        scatter(
            &mut kick.wind,
            lane,
            &if drag > 0.0 {
                wind.to_array()
            } else {
                [0.0; 3]
            },
        );
        kick.linear_decay[lane] = (-0.5 * h * (body.damping.linear + drag)).exp();
        for axis in 0..3 {
            let rate = body.damping.angular + body.drag.angular / inertia[axis];
            kick.angular_decay[axis][lane] = (-0.5 * h * rate).exp();
        }
    }
}
