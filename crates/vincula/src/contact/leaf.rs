//! The pieces that colliders are made of: compounds taken apart, each piece placed in the
//! frame of its carrier.

use glam::{DQuat, DVec3};

use super::collide::Form;
use super::{ColliderError, ColliderShape};
use crate::body::shape::Shape;
use crate::model::{ColliderId, Pose};

/// One piece of a collider.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub collider: ColliderId,
    /// Which piece of its collider it is.
    pub part: u32,
    pub form: Form,
    /// Its frame in the carrier's: the principal frame of a body.
    pub pose: Pose,
    /// Middle of its bounding box, in the carrier's frame, m.
    pub center: DVec3,
    /// Radius about the middle that holds all of it, m.
    pub radius: f64,
    /// Half of its smallest extent, m: what it may move before it can jump over things. A
    /// sheet pushes to one side only, however thin it is; for it this is the radius.
    pub thickness: f64,
}

impl Leaf {
    /// Appends the leaves of a shape whose frame is `pose` in the carrier's frame.
    pub fn build_all(
        collider: ColliderId,
        shape: &ColliderShape,
        pose: &Pose,
        leaves: &mut Vec<Leaf>,
    ) -> Result<(), ColliderError> {
        let first = leaves.len();
        build_shape(collider, shape, pose, leaves)?;
        for (part, leaf) in leaves[first..].iter_mut().enumerate() {
            leaf.part = part as u32;
        }
        Ok(())
    }

    fn new(collider: ColliderId, form: Form, pose: &Pose, turn: DQuat) -> Leaf {
        let pose = pose.compose(&Pose {
            translation: DVec3::ZERO,
            rotation: turn,
        });
        let own = form.bounds(&Pose::IDENTITY);
        let bounded = own.is_finite();
        let half = 0.5 * (own.high - own.low);
        Leaf {
            collider,
            part: 0,
            center: if bounded {
                pose.point(0.5 * (own.low + own.high))
            } else {
                pose.translation
            },
            radius: half.length(),
            thickness: half.min_element(),
            form,
            pose,
        }
    }
}

fn build_shape(
    collider: ColliderId,
    shape: &ColliderShape,
    pose: &Pose,
    leaves: &mut Vec<Leaf>,
) -> Result<(), ColliderError> {
    match shape {
        ColliderShape::Solid(solid) => build_solid(collider, solid, pose, leaves),
        ColliderShape::HalfSpace { normal } => {
            let turn = DQuat::from_rotation_arc(DVec3::Z, normal.normalize());
            leaves.push(Leaf::new(collider, Form::HalfSpace, pose, turn));
            Ok(())
        }
        ColliderShape::Sheet(mesh) => push_sheet(collider, Form::mesh(mesh), pose, leaves),
        ColliderShape::HeightField(field) => {
            push_sheet(collider, Form::mesh(&field.mesh()), pose, leaves)
        }
    }
}

fn build_solid(
    collider: ColliderId,
    shape: &Shape,
    pose: &Pose,
    leaves: &mut Vec<Leaf>,
) -> Result<(), ColliderError> {
    if let Shape::Compound(parts) = shape {
        for part in parts {
            let local = Pose {
                translation: part.translation,
                rotation: part.rotation.normalize(),
            };
            build_solid(collider, &part.shape, &pose.compose(&local), leaves)?;
        }
        return Ok(());
    }
    match Form::solid(shape)? {
        Some((form, turn)) => {
            leaves.push(Leaf::new(collider, form, pose, turn));
            Ok(())
        }
        None => Err(ColliderError::Unsupported),
    }
}

fn push_sheet(
    collider: ColliderId,
    form: Option<Form>,
    pose: &Pose,
    leaves: &mut Vec<Leaf>,
) -> Result<(), ColliderError> {
    let form = form.ok_or(ColliderError::Unsupported)?;
    let leaf = Leaf::new(collider, form, pose, DQuat::IDENTITY);
    let thickness = leaf.radius;
    leaves.push(Leaf { thickness, ..leaf });
    Ok(())
}
