//! The multibody methods by name, with their default settings.

use vincula::model::{Model, State};

use crate::baraff::Baraff;
use crate::cline_pai::{ClinePai, ClinePaiSettings, Stabilization};
use crate::contact::EngineContacts;
use crate::penalty::{Penalty, PenaltySettings};
use crate::rigid_implicit::{RigidImplicit, RigidImplicitSettings};
use crate::system::{Method, Refusal};
use crate::tomcin::{Tomcin, TomcinSettings};

type Make = fn(&Model, &State) -> Result<Box<dyn Method>, Refusal>;

/// A method of the catalogue.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    make: Make,
}

impl Entry {
    /// The method for a model at a state, or why it cannot take the model.
    pub fn make(&self, model: &Model, state: &State) -> Result<Box<dyn Method>, Refusal> {
        (self.make)(model, state)
    }
}

/// Baumgarte's constant, 1/s: the best of the two that Cline and Pai show.
const BAUMGARTE: f64 = 200.0;

/// Every method.
pub const CATALOG: &[Entry] = &[
    Entry {
        name: "baraff",
        summary: "sparse multipliers in linear time, loops and limits by anticipation",
        make: |model, state| Ok(Box::new(Baraff::new(model, state)?)),
    },
    Entry {
        name: "tomcin",
        summary: "impulses from predicted joints, shifted sparse Cholesky, contacts",
        make: |model, state| {
            let settings = TomcinSettings::default();
            Ok(Box::new(Tomcin::new(model, state, settings)?))
        },
    },
    Entry {
        name: "cline-pai",
        summary: "time stepping with post-stabilization, contacts by Lemke's algorithm",
        make: |model, state| cline_pai(model, state, Stabilization::Post),
    },
    Entry {
        name: "cline-pai-baumgarte",
        summary: "the same with Baumgarte's stabilization, 200 1/s",
        make: |model, state| cline_pai(model, state, Stabilization::Baumgarte(BAUMGARTE)),
    },
    Entry {
        name: "cline-pai-plain",
        summary: "the same without stabilization",
        make: |model, state| cline_pai(model, state, Stabilization::None),
    },
    Entry {
        name: "rigid-implicit",
        summary: "implicit Euler, Newton on the joints in maximal coordinates",
        make: |model, state| {
            let settings = RigidImplicitSettings::default();
            Ok(Box::new(RigidImplicit::new(model, state, settings)?))
        },
    },
    Entry {
        name: "penalty",
        summary: "joints as springs of 1e6 N/m, implicit Euler",
        make: |model, state| {
            let settings = PenaltySettings::default();
            Ok(Box::new(Penalty::new(model, state, settings)?))
        },
    },
];

fn cline_pai(
    model: &Model,
    state: &State,
    stabilization: Stabilization,
) -> Result<Box<dyn Method>, Refusal> {
    let settings = ClinePaiSettings {
        stabilization,
        ..ClinePaiSettings::default()
    };
    let detector = Box::new(EngineContacts::new(model));
    Ok(Box::new(ClinePai::new(model, state, settings, detector)?))
}

/// The method of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.name == name)
}
