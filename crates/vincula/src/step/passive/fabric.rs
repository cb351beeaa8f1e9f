//! What never changes about who hangs together: mechanisms, numbered in the order of their first
//! bodies, and where something acts along a joint. A body that nothing holds is a mechanism too.

use glam::DVec3;

use crate::contact::Carrier;
use crate::joint::Side;
use crate::joint::axis::{AxisLaw, Drive};
use crate::math::lanes::{LANES, Lane, place};
use crate::math::union::Union;
use crate::model::{Control, Model};

/// A free coordinate along which something acts.
#[derive(Debug)]
pub(super) struct ActingAxis {
    pub mechanism: u32,
    pub joint: usize,
    pub axis: usize,
    /// Among all free coordinates.
    pub coordinate: usize,
    /// Whether the model has a spring there, and whether it has a drive.
    pub sprung: bool,
    driven: bool,
}

impl ActingAxis {
    /// Whether a drive acts.
    pub fn is_driven(&self, control: &Control) -> bool {
        control.drives[self.coordinate].map_or(self.driven, |drive| drive != Drive::None)
    }
}

/// What is known of bodies that hang together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lot {
    /// Whether a contact pushes one of them, or joints hold them and one may touch something. What flies
    /// freely keeps its energy by itself.
    pub held: bool,
    /// Whether a contact pushes one of them.
    pub pushed: bool,
    /// Whether something that stands still holds them.
    pub tied: bool,
    /// Whether something may do work on them.
    pub fed: bool,
}

impl Lot {
    pub fn add(&mut self, other: Lot) {
        self.held |= other.held;
        self.pushed |= other.pushed;
        self.tied |= other.tied;
        self.fed |= other.fed;
    }
}

/// Mechanisms, and what acts on them at any time.
#[derive(Debug, Default)]
pub(super) struct Fabric {
    /// The mechanism of each body.
    pub mechanism: Vec<u32>,
    /// The part of gravity that acts on each body, by block; zero where there is none.
    pub weight: Vec<Lane>,
    pub axes: Vec<ActingAxis>,
    /// The mechanism that each coupling holds.
    pub couplings: Vec<u32>,
    /// Of each mechanism, what holds and feeds it in every step.
    pub always: Vec<Lot>,
    /// Whether joints hold anything that may touch something.
    pub holds: bool,
}

impl Fabric {
    pub fn new(model: &Model) -> Fabric {
        let mut fabric = Fabric::default();
        fabric.number_mechanisms(model);
        fabric.weight = vec![[0.0; LANES]; model.params.len()];
        for (index, body) in model.bodies.iter().enumerate() {
            let (block, lane) = place(index);
            fabric.weight[block][lane] = body.gravity_scale;
            let drag = body.drag.linear + body.drag.quadratic > 0.0;
            let lot = &mut fabric.always[fabric.mechanism[index] as usize];
            lot.fed |= drag && (model.wind.mean != DVec3::ZERO || model.wind.gust != DVec3::ZERO);
        }
        fabric.note_joints(model);
        fabric.note_couplings(model);
        fabric
    }

    /// Numbers what joints and couplings hold together.
    fn number_mechanisms(&mut self, model: &Model) {
        let mut sets = Union::default();
        sets.reset(model.bodies.len());
        let mut join = |ends: &[&Side]| {
            let mut held = ends.iter().filter_map(|side| side.endpoint.index());
            if let Some(first) = held.next() {
                held.for_each(|other| sets.join(first as u32, other as u32));
            }
        };
        model.joints.iter().for_each(|j| join(&[&j.a, &j.b]));
        let couplings = model.couplings.iter();
        couplings.for_each(|c| join(&c.ends(&model.joints)));
        for (body, head) in sets.heads().iter().map(|head| *head as usize).enumerate() {
            // The head is the first of its bodies.
            if head == body {
                self.mechanism.push(self.always.len() as u32);
                self.always.push(Lot::default());
            } else {
                self.mechanism.push(self.mechanism[head]);
            }
        }
    }

    /// The mechanism of some ends, and whether the world is one of them.
    fn held_by(&self, ends: &[&Side]) -> (Option<u32>, bool) {
        let bodies = ends.iter().map(|side| side.endpoint.index());
        let first = bodies.clone().flatten().next();
        let tied = bodies.clone().any(|body| body.is_none());
        (first.map(|body| self.mechanism[body]), tied)
    }

    fn note_joints(&mut self, model: &Model) {
        let mut collides = vec![false; self.always.len()];
        for collider in model.colliders() {
            if let Carrier::Body(body) = collider.carrier {
                collides[self.mechanism[body.index()] as usize] = true;
            }
        }
        for (index, joint) in model.joints.iter().enumerate() {
            let (Some(mechanism), tied) = self.held_by(&[&joint.a, &joint.b]) else {
                continue;
            };
            let lot = &mut self.always[mechanism as usize];
            lot.tied |= tied;
            lot.held |= collides[mechanism as usize];
            self.holds |= lot.held;
            for (k, axis) in joint.axes.iter().enumerate() {
                if axis.law.is_idle() {
                    continue;
                }
                self.always[mechanism as usize].fed |= pushes_back(&axis.law);
                self.axes.push(ActingAxis {
                    mechanism,
                    joint: index,
                    axis: k,
                    coordinate: model.axis_starts[index] + k,
                    sprung: axis.law.spring.stiffness > 0.0,
                    driven: axis.law.drive != Drive::None,
                });
            }
        }
    }

    fn note_couplings(&mut self, model: &Model) {
        for coupling in &model.couplings {
            let (mechanism, tied) = self.held_by(&coupling.ends(&model.joints));
            // A coupling that holds no body stands for one of any.
            let mechanism = mechanism.unwrap_or(0);
            self.always[mechanism as usize].tied |= tied;
            self.couplings.push(mechanism);
        }
    }
}

/// Whether a limit stores energy that is not counted.
fn pushes_back(law: &AxisLaw) -> bool {
    let limited = law.limits.iter().any(|limit| limit.is_finite());
    limited && law.clamp().is_some_and(|stiffness| stiffness > 0.0)
}
