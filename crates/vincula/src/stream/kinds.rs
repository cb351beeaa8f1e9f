//! What blocks of bodies that are alike have in common, kept once.

use crate::dual::ports::Points;
use crate::math::alike::Alike;
use crate::model::{Model, ParamBlock};

/// Constants of eight bodies.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kind {
    pub params: ParamBlock,
    /// Where joints hold the bodies, m.
    pub points: Points,
}

/// The kind of every block.
pub(super) type Kinds = Alike<Kind>;

impl Kinds {
    /// The kinds of a model whose joints hold bodies at these points.
    pub fn find(model: &Model, points: &[Points]) -> Kinds {
        let kind = |(params, points): (&ParamBlock, &Points)| Kind {
            params: params.clone(),
            points: *points,
        };
        model.params.iter().zip(points).map(kind).collect()
    }
}
