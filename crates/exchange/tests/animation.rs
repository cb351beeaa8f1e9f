//! The animation as an independent reader sees it.

use std::path::PathBuf;

use gltf::animation::Property;
use vincula_exchange::{Animation, MeshData, NodeTrack, Shading};

const FRAMES: usize = 200;

fn tetrahedron(name: &str, shading: Shading) -> MeshData {
    MeshData {
        name: name.into(),
        positions: vec![
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        color: [0.1, 0.4, 0.7, 1.0],
        shading,
    }
}

/// Two turning bodies that share a mesh, and one that stands still. The quaternions of
/// the first change sign at every frame.
fn sample() -> Animation {
    let times: Vec<f64> = (0..FRAMES).map(|k| 5.0 + 0.01 * k as f64).collect();
    let turning = |name: &str, flip: bool| NodeTrack {
        name: name.into(),
        mesh: 0,
        translations: times.iter().map(|t| [t.cos(), t.sin(), *t]).collect(),
        rotations_wxyz: (0..FRAMES)
            .map(|k| {
                let half = 0.05 * k as f64;
                let sign = if flip && k % 2 == 1 { -3.0 } else { 3.0 };
                [sign * half.cos(), 0.0, 0.0, sign * half.sin()]
            })
            .collect(),
    };
    let still = NodeTrack {
        name: "ground".into(),
        mesh: 1,
        translations: vec![[0.0, 0.0, -1.0]; FRAMES],
        rotations_wxyz: vec![[1.0, 0.0, 0.0, 0.0]; FRAMES],
    };
    Animation {
        meshes: vec![
            tetrahedron("body", Shading::Flat),
            tetrahedron("round", Shading::Smooth),
        ],
        nodes: vec![turning("a", true), turning("b", false), still],
        times,
    }
}

fn write(animation: &Animation, name: &str) -> (PathBuf, Vec<u8>) {
    let path = std::env::temp_dir().join(format!("vincula-{name}-{}.glb", std::process::id()));
    animation.write_glb(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    (path, bytes)
}

#[test]
fn the_container_is_well_formed() {
    let (_, bytes) = write(&sample(), "container");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&bytes[0..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, bytes.len()));
    let text = word(12);
    assert_eq!((text % 4, &bytes[16..20]), (0, b"JSON".as_slice()));
    let binary = word(20 + text);
    assert_eq!(
        (binary % 4, &bytes[24 + text..28 + text]),
        (0, b"BIN\0".as_slice())
    );
    assert_eq!(28 + text + binary, bytes.len());
    let document: serde_json::Value = serde_json::from_slice(&bytes[20..20 + text]).unwrap();
    assert_eq!(document["buffers"][0]["byteLength"], binary);
    for accessor in document["accessors"].as_array().unwrap() {
        let view = &document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 4,
            "VEC3" => 12,
            _ => 16,
        };
        let (start, length) = (
            view["byteOffset"].as_u64().unwrap(),
            view["byteLength"].as_u64().unwrap(),
        );
        assert_eq!(start % 4, 0);
        assert_eq!(length, width * accessor["count"].as_u64().unwrap());
        assert!((start + length) as usize <= binary);
    }
}

#[test]
fn an_independent_reader_finds_meshes_nodes_and_keys() {
    let (_, bytes) = write(&sample(), "reader");
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = blob.unwrap();
    assert_eq!((document.meshes().len(), document.nodes().len()), (2, 4));
    let root = document.scenes().next().unwrap().nodes().next().unwrap();
    assert_eq!(root.children().len(), 3);
    let matrix = root.transform().matrix();
    assert!((matrix[2][1] - 1.0).abs() < 1e-6, "our z is the viewer's y");
    assert!((matrix[1][2] + 1.0).abs() < 1e-6);
    for mesh in document.meshes() {
        let primitive = mesh.primitives().next().unwrap();
        let reader = primitive.reader(|_| Some(&blob));
        let count = reader.read_positions().unwrap().count() as u32;
        assert!(
            reader
                .read_indices()
                .unwrap()
                .into_u32()
                .all(|index| index < count)
        );
        for normal in reader.read_normals().unwrap() {
            let length: f32 = normal.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-6);
        }
        let bounds = primitive.bounding_box();
        assert_eq!((bounds.min, bounds.max), ([0.0; 3], [1.0; 3]));
    }
    let animation = document.animations().next().unwrap();
    assert_eq!(animation.channels().count(), 4, "the ground needs no keys");
    for channel in animation.channels() {
        check_channel(&channel, &blob);
    }
}

fn check_channel(channel: &gltf::animation::Channel, blob: &[u8]) {
    assert_ne!(channel.target().node().name(), Some("ground"));
    let reader = channel.reader(|_| Some(blob));
    let times: Vec<f32> = reader.read_inputs().unwrap().collect();
    assert_eq!((times.len(), times[0]), (FRAMES, 0.0));
    assert!(times.windows(2).all(|pair| pair[1] > pair[0]));
    let keys = reader.read_outputs().unwrap();
    match (channel.target().property(), keys) {
        (Property::Translation, gltf::animation::util::ReadOutputs::Translations(keys)) => {
            let last = keys.last().unwrap();
            assert!((last[2] - 6.99).abs() < 1e-5);
        }
        (Property::Rotation, gltf::animation::util::ReadOutputs::Rotations(keys)) => {
            let keys: Vec<[f32; 4]> = keys.into_f32().collect();
            let dot = |a: [f32; 4], b: [f32; 4]| a.iter().zip(b).map(|(p, q)| p * q).sum::<f32>();
            assert!(keys.iter().all(|&key| (dot(key, key) - 1.0).abs() < 1e-6));
            assert!(keys.windows(2).all(|pair| dot(pair[0], pair[1]) > 0.99));
        }
        _ => panic!("unexpected channel"),
    }
}

#[test]
fn flat_normals_stand_on_their_triangles() {
    let (_, bytes) = write(&sample(), "flat");
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).unwrap();
    let primitive = document
        .meshes()
        .next()
        .unwrap()
        .primitives()
        .next()
        .unwrap();
    let reader = primitive.reader(|_| blob.as_deref());
    let normals: Vec<[f32; 3]> = reader.read_normals().unwrap().collect();
    assert_eq!(normals[0], [0.0, 0.0, -1.0]);
    let third = 1.0 / 3f32.sqrt();
    assert!(
        normals[9..12]
            .iter()
            .all(|n| n.iter().all(|x| (x - third).abs() < 1e-6))
    );
}

#[test]
fn a_still_scene_has_no_animation_and_an_empty_one_is_valid() {
    let mut still = sample();
    still.times.truncate(1);
    for node in &mut still.nodes {
        node.translations.truncate(1);
        node.rotations_wxyz.truncate(1);
    }
    let (_, bytes) = write(&still, "still");
    assert_eq!(
        gltf::Gltf::from_slice(&bytes).unwrap().animations().count(),
        0
    );
    let empty = Animation {
        times: vec![0.0],
        ..Animation::default()
    };
    let (_, bytes) = write(&empty, "empty");
    assert_eq!(gltf::Gltf::from_slice(&bytes).unwrap().nodes().count(), 1);
}

#[test]
fn keys_closer_than_single_precision_are_left_out() {
    let mut animation = sample();
    animation.times = (0..FRAMES)
        .map(|k| if k == 0 { 0.0 } else { 1e4 + 1e-6 * k as f64 })
        .collect();
    let (_, bytes) = write(&animation, "close");
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(&bytes).unwrap();
    let channel = document
        .animations()
        .next()
        .unwrap()
        .channels()
        .next()
        .unwrap();
    let reader = channel.reader(|_| blob.as_deref());
    assert_eq!(reader.read_inputs().unwrap().count(), 2);
}

#[test]
fn bad_animations_name_the_culprit() {
    let spoil = |change: fn(&mut Animation)| {
        let mut animation = sample();
        change(&mut animation);
        let path = std::env::temp_dir().join("vincula-never-written.glb");
        let error = animation.write_glb(&path).unwrap_err().to_string();
        assert!(!path.exists());
        error
    };
    assert!(spoil(|a| a.nodes[1].mesh = 7).contains("`b`: shows mesh 7 of 2"));
    assert!(spoil(|a| a.nodes[0].rotations_wxyz[3] = [0.0; 4]).contains("frame 3"));
    assert!(spoil(|a| a.nodes[0].translations[4][1] = f64::NAN).contains("frame 4"));
    assert!(spoil(|a| a.nodes[2].translations.truncate(5)).contains("`ground`"));
    assert!(spoil(|a| a.times[9] = 0.0).contains("must increase"));
    assert!(spoil(|a| a.times.clear()).contains("no frames"));
    assert!(spoil(|a| a.meshes[1].triangles[0][0] = 9).contains("`round`"));
    assert!(spoil(|a| a.meshes[0].triangles.clear()).contains("no triangles"));
    assert!(spoil(|a| a.meshes[0].color[0] = 2.0).contains("colour"));
    assert!(spoil(|a| a.meshes[0].positions[2][0] = f32::NAN).contains("vertex 2"));
}
