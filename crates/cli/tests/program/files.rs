//! What `--out` writes.

use std::fs;

use super::{listing_of, scratch, vincula_in};

#[test]
fn a_run_leaves_trajectory_summary_plots_and_animation() {
    let directory = scratch();
    let answer = vincula_in(
        &directory,
        &["run", "pendulum", "--steps", "100", "--out", "a/b", "--csv"],
    );
    assert_eq!(answer.code, 0, "{}", answer.err);
    assert!(answer.out.contains("a/b: summary.json"), "{}", answer.out);
    let out = directory.join("a/b");
    let expected = [
        "angle.png",
        "angle.svg",
        "animation.glb",
        "energy.png",
        "energy.svg",
        "momentum.png",
        "momentum.svg",
        "reaction.png",
        "reaction.svg",
        "summary.json",
        "trajectory.csv",
        "trajectory.npz",
    ];
    assert_eq!(listing_of(&out), expected);
    assert_eq!(listing_of(&directory.join("a")), ["b"]);
    let read = |name: &str| fs::read(out.join(name)).expect("readable");
    assert!(read("trajectory.npz").starts_with(b"PK\x03\x04"));
    assert!(read("animation.glb").starts_with(b"glTF\x02\0\0\0"));
    assert!(read("energy.png").starts_with(b"\x89PNG"));
    assert!(read("angle.svg").starts_with(b"<svg"));
    let summary: serde_json::Value =
        serde_json::from_slice(&read("summary.json")).expect("summary.json is JSON");
    assert_eq!(
        (&summary["scene"], &summary["steps"]),
        (&"pendulum".into(), &100.into())
    );
}

#[test]
fn the_table_has_a_row_per_time_and_starts_level() {
    let directory = scratch();
    let call = [
        "run", "pendulum", "--steps", "10", "--out", "out", "--csv", "--quiet",
    ];
    assert_eq!(vincula_in(&directory, &call).code, 0);
    let table = fs::read_to_string(directory.join("out/trajectory.csv")).expect("readable");
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|title| *title == name).expect(name);
    let rows: Vec<Vec<f64>> = lines
        .map(|line| {
            line.split(',')
                .map(|cell| cell.parse().expect("a number"))
                .collect()
        })
        .collect();
    assert_eq!(rows.len(), 11);
    assert!((rows[0][column("rod.x [m]")] - 0.5).abs() < 1e-12);
    assert!((rows[10][column("time [s]")] - 0.1).abs() < 1e-12);
    let angle = rows[10][column("angle [rad]")] - rows[10][column("angle.reference [rad]")];
    assert!(angle.abs() < 1e-3);
}

#[test]
fn the_animation_shares_the_mesh_of_equal_links() {
    let directory = scratch();
    let call = [
        "run", "chain", "--set", "links=6", "--steps", "30", "--out", "out", "--quiet",
    ];
    assert_eq!(vincula_in(&directory, &call).code, 0);
    let bytes = fs::read(directory.join("out/animation.glb")).expect("readable");
    let length = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let document: serde_json::Value =
        serde_json::from_slice(&bytes[20..20 + length]).expect("the JSON chunk");
    assert_eq!(document["meshes"].as_array().map(Vec::len), Some(1));
    assert_eq!(document["nodes"].as_array().map(Vec::len), Some(7));
}

#[test]
fn without_arguments_the_pendulum_runs_into_out() {
    let directory = scratch();
    let answer = vincula_in(&directory, &[]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    assert!(
        answer.out.contains("out/pendulum: summary.json"),
        "{}",
        answer.out
    );
    assert!(directory.join("out/pendulum/animation.glb").is_file());
    // A second run replaces the files of the first.
    assert_eq!(vincula_in(&directory, &[]).code, 0);
}
