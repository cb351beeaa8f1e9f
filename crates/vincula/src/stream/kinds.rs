//! What blocks of bodies that are alike have in common, kept once.

use crate::dual::ports::Points;
use crate::model::{Model, ParamBlock};

/// Constants of eight bodies.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub params: ParamBlock,
    /// Where joints hold the bodies, m.
    pub points: Points,
}

/// The kind of every block.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    of: Vec<u32>,
}

/// A block is compared with this many kinds before it becomes one of its own.
const COMPARED: usize = 4;

impl Kinds {
    /// The kinds of a model whose joints hold bodies at these points.
    pub fn find(model: &Model, points: &[Points]) -> Kinds {
        let mut all = Kinds::default();
        for (params, points) in model.params.iter().zip(points) {
            let alike = |kind: &Kind| kind.params == *params && kind.points == *points;
            let last = all.kinds.iter().rev().take(COMPARED).position(alike);
            let kind = match last {
                Some(back) => all.kinds.len() - 1 - back,
                None => {
                    let (params, points) = (params.clone(), *points);
                    all.kinds.push(Kind { params, points });
                    all.kinds.len() - 1
                }
            };
            all.of.push(kind as u32);
        }
        all
    }

    /// Constants of a block.
    #[inline(always)]
    pub fn of(&self, block: usize) -> &Kind {
        &self.kinds[self.of[block] as usize]
    }
}
