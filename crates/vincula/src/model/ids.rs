//! Typed handles of bodies, joints, colliders and moved frames.

/// A body of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(u32);

/// A joint of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointId(u32);

/// A collider of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId(u32);

/// A frame that the user moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(u32);

/// The fixed world, as one end of a joint or as the carrier of a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World;

/// One end of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// The fixed world.
    World,
    /// A body.
    Body(BodyId),
}

impl Endpoint {
    /// The index of the body, if this is one.
    pub fn index(self) -> Option<usize> {
        match self {
            Endpoint::World => None,
            Endpoint::Body(id) => Some(id.index()),
        }
    }
}

impl From<World> for Endpoint {
    fn from(_: World) -> Self {
        Endpoint::World
    }
}

impl From<BodyId> for Endpoint {
    fn from(id: BodyId) -> Self {
        Endpoint::Body(id)
    }
}

impl BodyId {
    pub(crate) fn new(index: usize) -> Self {
        BodyId(u32::try_from(index).expect("a model holds fewer than 2^32 bodies"))
    }

    /// Position in `Model::bodies`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl JointId {
    pub(crate) fn new(index: usize) -> Self {
        JointId(u32::try_from(index).expect("a model holds fewer than 2^32 joints"))
    }

    /// Position in `Model::joints`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ColliderId {
    pub(crate) fn new(index: usize) -> Self {
        ColliderId(u32::try_from(index).expect("a model holds fewer than 2^32 colliders"))
    }

    /// Position in `Model::colliders`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl FrameId {
    pub(crate) fn new(index: usize) -> Self {
        FrameId(u32::try_from(index).expect("a model holds fewer than 2^32 frames"))
    }

    /// Position in `Model::frames`.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
