//! Nodes and their keyframes (glTF 3.11).
//!
//! All nodes share one list of key times and interpolate linearly; viewers interpolate
//! rotations on the sphere. q and −q are the same rotation, but a viewer that mixes
//! their components would swing the long way round, so neighbours are kept within 90°
//! of each other in quaternion space: ⟨qₖ, qₖ₊₁⟩ ≥ 0.

use serde_json::{Value, json};

use super::buffer::{BinaryBuffer, Target};
use super::{Animation, NodeTrack};
use crate::error::ExchangeError;

/// What the document needs to know about movement.
pub(super) struct Described {
    pub nodes: Vec<Value>,
    /// None when nothing moves.
    pub animation: Option<Value>,
}

/// Writes all keys into the buffer.
pub(super) fn describe_tracks(
    animation: &Animation,
    buffer: &mut BinaryBuffer,
) -> Result<Described, ExchangeError> {
    let (kept, seconds) = key_times(&animation.times)?;
    let mut channels = Channels::new(seconds);
    let mut nodes = vec![root_node(animation.nodes.len())];
    for (index, track) in animation.nodes.iter().enumerate() {
        check_track(track, animation)?;
        let translations = pick_translations(track, &kept)?;
        let rotations = pick_rotations(track, &kept)?;
        nodes.push(json!({
            "name": track.name, "mesh": track.mesh,
            "translation": translations[0], "rotation": rotations[0],
        }));
        channels.add(index + 1, "translation", &translations, buffer);
        channels.add(index + 1, "rotation", &rotations, buffer);
    }
    Ok(Described {
        nodes,
        animation: channels.finish(),
    })
}

/// Turns z up into y up. glTF quaternions are (x, y, z, w).
fn root_node(children: usize) -> Value {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let mut root = json!({ "name": "world", "rotation": [-half, 0.0, 0.0, half] });
    if children > 0 {
        root["children"] = (1..=children).collect::<Vec<_>>().into();
    }
    root
}

/// The channels and samplers of the one animation.
struct Channels {
    seconds: Vec<[f32; 1]>,
    /// Accessor of the key times, written when the first moving node asks for it.
    input: Option<usize>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
}

impl Channels {
    fn new(seconds: Vec<[f32; 1]>) -> Channels {
        Channels {
            seconds,
            input: None,
            channels: Vec::new(),
            samplers: Vec::new(),
        }
    }

    fn add<const N: usize>(
        &mut self,
        node: usize,
        path: &str,
        keys: &[[f32; N]],
        buffer: &mut BinaryBuffer,
    ) {
        if keys.iter().all(|key| *key == keys[0]) {
            return; // The node's own pose says it all.
        }
        let seconds = &self.seconds;
        let input = *self
            .input
            .get_or_insert_with(|| buffer.push_floats(seconds, Target::Keys, true));
        let output = buffer.push_floats(keys, Target::Keys, false);
        let sampler = self.samplers.len();
        self.samplers
            .push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        self.channels
            .push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    fn finish(self) -> Option<Value> {
        (!self.channels.is_empty()).then(|| {
            json!({ "name": "simulation", "channels": self.channels, "samplers": self.samplers })
        })
    }
}

/// The frames that single precision can tell apart, and their times from zero.
fn key_times(times: &[f64]) -> Result<(Vec<usize>, Vec<[f32; 1]>), ExchangeError> {
    let bad = |problem: String| Err(ExchangeError::data("animation", "times", problem));
    let Some(&start) = times.first() else {
        return bad("there are no frames: give at least one time".into());
    };
    if let Some(row) = times.iter().position(|time| !time.is_finite()) {
        return bad(format!("time {row} is not finite"));
    }
    if let Some(row) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
        let (before, after) = (times[row], times[row + 1]);
        return bad(format!("must increase, but {after} follows {before}"));
    }
    let mut kept = Vec::with_capacity(times.len());
    let mut seconds: Vec<[f32; 1]> = Vec::with_capacity(times.len());
    for (frame, time) in times.iter().enumerate() {
        let second = (time - start) as f32;
        if !second.is_finite() {
            return bad(format!("time {frame} is beyond single precision"));
        }
        if seconds.last().is_none_or(|last| second > last[0]) {
            kept.push(frame);
            seconds.push([second]);
        }
    }
    Ok((kept, seconds))
}

fn check_track(track: &NodeTrack, animation: &Animation) -> Result<(), ExchangeError> {
    let bad = |problem: String| Err(ExchangeError::data("node", &track.name, problem));
    let (meshes, frames) = (animation.meshes.len(), animation.times.len());
    if track.mesh >= meshes {
        return bad(format!("shows mesh {} of {meshes}", track.mesh));
    }
    let lengths = (track.translations.len(), track.rotations_wxyz.len());
    if lengths != (frames, frames) {
        let (translations, rotations) = lengths;
        return bad(format!(
            "has {translations} translations and {rotations} rotations for {frames} times"
        ));
    }
    Ok(())
}

fn pick_translations(track: &NodeTrack, kept: &[usize]) -> Result<Vec<[f32; 3]>, ExchangeError> {
    kept.iter()
        .map(|&frame| {
            let key = track.translations[frame].map(|x| x as f32);
            if key.iter().all(|x| x.is_finite()) {
                return Ok(key);
            }
            let problem = format!("the translation of frame {frame} is not finite");
            Err(ExchangeError::data("node", &track.name, problem))
        })
        .collect()
}

/// Unit quaternions in glTF order (x, y, z, w) with continuous signs.
fn pick_rotations(track: &NodeTrack, kept: &[usize]) -> Result<Vec<[f32; 4]>, ExchangeError> {
    let mut previous = [1.0, 0.0, 0.0, 0.0];
    let mut keys = Vec::with_capacity(kept.len());
    for &frame in kept {
        let given = track.rotations_wxyz[frame];
        let length = dot(given, given).sqrt();
        if !(length.is_finite() && length > 1e-12) {
            let problem = format!("the rotation of frame {frame}, {given:?}, has no direction");
            return Err(ExchangeError::data("node", &track.name, problem));
        }
        let sign = if dot(given, previous) < 0.0 {
            -1.0
        } else {
            1.0
        };
        let [w, x, y, z] = given.map(|part| sign * part / length);
        previous = [w, x, y, z];
        keys.push([x as f32, y as f32, z as f32, w as f32]);
    }
    Ok(keys)
}

fn dot(a: [f64; 4], b: [f64; 4]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p * q).sum()
}
