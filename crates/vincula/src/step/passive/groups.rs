//! Groups: mechanisms, joined by contacts that push in a step, each known by its least mechanism.

use super::fabric::{Fabric, Lot};
use crate::contact::{Carrier, ContactPoint};
use crate::math::lanes::LANES;
use crate::math::small::{S3, V3};
use crate::math::union::Union;
use crate::model::{BodyId, ColliderId, Control, Model};
use crate::workspace::Workspace;

/// What a group gained, J.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gain {
    /// Kinetic energy at the end.
    pub kinetic: f64,
    /// By what all energies together rose in the step.
    pub rise: f64,
    /// Rise below which it may be rounding.
    pub noise: f64,
    /// What gravity does over the size of the bodies.
    pub lift: f64,
    /// What was taken from it in earlier steps.
    pub lent: f64,
}

impl Gain {
    /// Whether something is to be taken or given back.
    fn counts(&self) -> bool {
        self.rise > self.noise || (self.rise < -self.noise && self.lent > 0.0)
    }
}

/// A group that gained energy, or may have some back, and its motion at the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gainer {
    pub gain: Gain,
    pub tied: bool,
    pub pushed: bool,
    /// Mass, kg, centre, m, and its velocity, m/s.
    pub mass: f64,
    pub center: V3,
    pub velocity: V3,
    /// Second moments, kg m², and angular momentum about the centre, kg m²/s.
    pub second: S3,
    pub spin: V3,
    /// Angular velocity of the whole, rad/s.
    pub omega: V3,
    /// What relative velocities are multiplied by, and what that takes from their energy, J.
    pub factor: f64,
    pub taken: f64,
    /// The part of what was lent that stays so.
    pub kept: f64,
}

/// Groups of a step.
#[derive(Debug, Default)]
pub(super) struct Groups {
    sets: Union,
    /// Of each mechanism; of that which a group is known by, of the group.
    lots: Vec<Lot>,
    gains: Vec<Gain>,
    /// The gainer of each mechanism, or [`NONE`].
    gainer: Vec<u32>,
    pub gainers: Vec<Gainer>,
}

const NONE: u32 = u32::MAX;

impl Groups {
    /// Room for so many mechanisms.
    pub fn new(mechanisms: usize) -> Groups {
        let mut sets = Union::default();
        sets.reset(mechanisms);
        Groups {
            sets,
            lots: Vec::with_capacity(mechanisms),
            gains: Vec::with_capacity(mechanisms),
            gainer: Vec::with_capacity(mechanisms),
            gainers: Vec::new(),
        }
    }

    /// Nothing gained anything.
    pub fn forget(&mut self) {
        self.gainers.clear();
    }

    /// The group of a mechanism, if joints or contacts hold it and nothing feeds it.
    pub fn counted(&self, mechanism: u32) -> Option<usize> {
        let group = self.sets.known(mechanism) as usize;
        let lot = &self.lots[group];
        (lot.held && !lot.fed).then_some(group)
    }

    /// What the group of a mechanism gained, if it counts.
    pub fn gain_of(&mut self, mechanism: u32) -> Option<&mut Gain> {
        let group = self.counted(mechanism)?;
        Some(&mut self.gains[group])
    }

    /// The group of a mechanism among those whose motion is to change.
    pub fn gainer_index(&self, mechanism: u32) -> Option<usize> {
        if self.gainers.is_empty() {
            return None;
        }
        let found = self.gainer[mechanism as usize];
        (found != NONE).then_some(found as usize)
    }

    pub fn gainer_of(&self, mechanism: u32) -> Option<&Gainer> {
        Some(&self.gainers[self.gainer_index(mechanism)?])
    }

    /// Whether a body of this block belongs to a group for which a test holds.
    pub fn any_in(&self, fabric: &Fabric, block: usize, test: impl Fn(&Self, u32) -> bool) -> bool {
        let own = &fabric.mechanism[LANES * block..];
        own.iter().take(LANES).any(|m| test(self, *m))
    }

    /// Finds the groups whose energy rose, or fell where some is lent, by more than rounding.
    pub fn find_gainers(&mut self) {
        self.gainers.clear();
        self.gainer.clear();
        for mechanism in 0..self.lots.len() as u32 {
            let found = match self.counted(mechanism) {
                Some(group) if (group as u32) < mechanism => self.gainer[group],
                Some(group) if self.gains[group].counts() => {
                    self.gainers.push(Gainer {
                        gain: self.gains[group],
                        tied: self.lots[group].tied,
                        pushed: self.lots[group].pushed,
                        ..Gainer::default()
                    });
                    self.gainers.len() as u32 - 1
                }
                _ => NONE,
            };
            self.gainer.push(found);
        }
    }
}

/// Finds the groups of the step. Returns whether there are any that joints or contacts hold and nothing feeds.
pub(super) fn find(model: &Model, control: &Control, work: &mut Workspace) -> bool {
    let Workspace {
        passive,
        stage,
        contacts,
        ..
    } = work;
    let (fabric, groups) = (&passive.fabric, &mut passive.groups);
    let points = || contacts.points.iter().enumerate();
    let pushed = || points().any(|(k, point)| !returns(point) && stage.acts(k));
    if !fabric.holds && !pushed() {
        return false;
    }
    groups.sets.reset(fabric.always.len());
    groups.lots.clone_from(&fabric.always);
    for (_, point) in points().filter(|(k, _)| stage.acts(*k)) {
        groups.touch(fabric, model, control, point);
    }
    groups.feed(fabric, model, control);
    groups.settle()
}

impl Groups {
    /// Joins what a contact pushes.
    fn touch(&mut self, fabric: &Fabric, model: &Model, control: &Control, point: &ContactPoint) {
        let frames = !control.frames.is_empty();
        let moved = |c: ColliderId| frames && is_moved(model, control, c);
        let lot = Lot {
            held: true,
            pushed: true,
            tied: point.a.is_none() || point.b.is_none(),
            fed: returns(point) || [point.collider_a, point.collider_b].into_iter().any(moved),
        };
        let of = |body: BodyId| fabric.mechanism[body.index()];
        for body in [point.a, point.b].into_iter().flatten() {
            self.lots[of(body) as usize].add(lot);
        }
        if let (Some(a), Some(b)) = (point.a, point.b) {
            self.sets.join(of(a), of(b));
        }
    }

    /// Marks what drives, couplings and wrenches may do work on.
    fn feed(&mut self, fabric: &Fabric, model: &Model, control: &Control) {
        for axis in fabric.axes.iter().filter(|axis| axis.is_driven(control)) {
            self.lots[axis.mechanism as usize].fed = true;
        }
        for (mechanism, rate) in fabric.couplings.iter().zip(&control.rates) {
            self.lots[*mechanism as usize].fed |= *rate != 0.0;
        }
        let pushed = |block: &usize| control.active && !control.blocks[*block].is_zero();
        for block in (0..control.blocks.len()).filter(pushed) {
            let first = LANES * block;
            for body in first..model.bodies.len().min(first + LANES) {
                let wrench = control.wrench(BodyId::new(body));
                let lot = &mut self.lots[fabric.mechanism[body] as usize];
                lot.fed |= wrench != crate::force::Wrench::ZERO;
            }
        }
    }

    /// Gives every group what its mechanisms have. Returns whether one counts.
    fn settle(&mut self) -> bool {
        let mut any = false;
        self.gains.clear();
        self.gains.resize(self.lots.len(), Gain::default());
        for (mechanism, head) in self.sets.heads().iter().enumerate() {
            let lot = self.lots[mechanism];
            self.lots[*head as usize].add(lot);
            any |= lot.held && !lot.fed;
        }
        any
    }
}

/// Whether a contact bounces or gives way: it returns what it took earlier.
fn returns(point: &ContactPoint) -> bool {
    point.restitution > 0.0 || point.compliance > 0.0
}

/// Whether the user moves a collider, or has moved it.
fn is_moved(model: &Model, control: &Control, collider: ColliderId) -> bool {
    match model.collider(collider).carrier {
        Carrier::Frame(frame) => {
            control.frame(frame) != model.collision.frames[frame.index()].at_rest()
        }
        Carrier::World | Carrier::Body(_) => false,
    }
}
