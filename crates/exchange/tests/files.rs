//! Staging, arrays and tables: what lands on disk, and what never does.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use vincula_exchange::*;

/// A fresh directory that is removed at the end of a test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("vincula-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn names(&self) -> Vec<String> {
        names(&self.0)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_directory_appears_whole_on_commit() {
    let scratch = Scratch::new("new");
    let target = scratch.0.join("deep/er/run");
    let output = OutputDir::create(&target).unwrap();
    fs::write(output.path("a.txt").unwrap(), "a").unwrap();
    fs::write(output.path("frames/1.txt").unwrap(), "1").unwrap();
    assert!(!target.exists());
    output.commit().unwrap();
    assert_eq!(names(&target), ["a.txt", "frames"]);
    assert_eq!(names(&scratch.0.join("deep/er")), ["run"]);
}

#[test]
fn dropping_without_commit_leaves_no_trace() {
    let scratch = Scratch::new("drop");
    let output = OutputDir::create(scratch.0.join("deep/run")).unwrap();
    fs::write(output.path("a.txt").unwrap(), "a").unwrap();
    drop(output);
    assert!(scratch.names().is_empty());

    let mut file = StagedFile::create(scratch.0.join("b.txt")).unwrap();
    file.write_all(b"half").unwrap();
    drop(file);
    assert!(scratch.names().is_empty());
}

#[test]
fn an_existing_directory_keeps_its_other_files() {
    let scratch = Scratch::new("merge");
    fs::write(scratch.0.join("keep.txt"), "keep").unwrap();
    fs::write(scratch.0.join("old.txt"), "old").unwrap();
    fs::create_dir(scratch.0.join("frames")).unwrap();
    fs::write(scratch.0.join("frames/0.txt"), "0").unwrap();
    let output = OutputDir::create(&scratch.0).unwrap();
    fs::write(output.path("old.txt").unwrap(), "new").unwrap();
    fs::write(output.path("frames/1.txt").unwrap(), "1").unwrap();
    assert_eq!(
        fs::read_to_string(scratch.0.join("old.txt")).unwrap(),
        "old"
    );
    output.commit().unwrap();
    assert_eq!(scratch.names(), ["frames", "keep.txt", "old.txt"]);
    assert_eq!(
        fs::read_to_string(scratch.0.join("old.txt")).unwrap(),
        "new"
    );
    assert_eq!(names(&scratch.0.join("frames")), ["0.txt", "1.txt"]);
}

#[test]
fn a_conflict_moves_nothing() {
    let scratch = Scratch::new("conflict");
    fs::create_dir(scratch.0.join("b")).unwrap();
    let output = OutputDir::create(&scratch.0).unwrap();
    fs::write(output.path("a").unwrap(), "").unwrap();
    fs::write(output.path("b").unwrap(), "").unwrap();
    let error = output.commit().unwrap_err();
    assert!(matches!(error, ExchangeError::KindConflict(_)), "{error}");
    assert_eq!(scratch.names(), ["b"]);
}

#[test]
fn bad_destinations_are_named() {
    let scratch = Scratch::new("bad");
    let file = scratch.0.join("file");
    fs::write(&file, "").unwrap();
    let error = OutputDir::create(&file).unwrap_err().to_string();
    assert!(
        error.contains("is a file") && error.contains("file"),
        "{error}"
    );
    let error = OutputDir::create(file.join("x/run")).unwrap_err();
    assert!(
        error.to_string().contains("cannot create directory"),
        "{error}"
    );
    assert!(OutputDir::create("/proc/no/such/run").is_err());
    assert!(OutputDir::create("").is_err());
    assert!(write_atomic(scratch.0.join("missing/x"), b"").is_err());
    assert!(write_atomic(&scratch.0, b"").is_err());
    let output = OutputDir::create(scratch.0.join("run")).unwrap();
    for name in ["", "../x", "/etc/x", "a/../b", "."] {
        assert!(output.path(name).is_err(), "{name}");
    }
    drop(output);
    assert_eq!(scratch.names(), ["file"]);
}

#[test]
fn csv_reads_back_to_the_last_bit() {
    let scratch = Scratch::new("csv");
    let path = scratch.0.join("t.csv");
    let time = [0.0, 0.1 + 0.2, 1e-300, 1e300];
    let position = [f64::NAN, -0.0, f64::INFINITY, std::f64::consts::PI];
    let columns = [
        Column {
            name: "time",
            unit: "s",
            values: &time,
        },
        Column {
            name: "bob, \"x\"",
            unit: "m",
            values: &position,
        },
    ];
    write_csv(&path, &columns).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next().unwrap(), "time [s],\"bob, \"\"x\"\" [m]\"");
    for (row, line) in lines.enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells[0].to_bits(), time[row].to_bits());
        assert!(cells[1].to_bits() == position[row].to_bits() || position[row].is_nan());
    }
    let uneven = [
        columns[0],
        Column {
            name: "short",
            unit: "",
            values: &[],
        },
    ];
    let error = write_csv(&path, &uneven).unwrap_err().to_string();
    assert!(error.contains("`short`"), "{error}");
    write_csv(&path, &[]).unwrap();
    assert_eq!(scratch.names(), ["t.csv"]);
}

#[test]
fn json_is_replaced_whole() {
    let scratch = Scratch::new("json");
    let path = scratch.0.join("summary.json");
    write_json(
        &path,
        &serde_json::json!({ "steps": 10, "drift": f64::NAN }),
    )
    .unwrap();
    let read: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(read["steps"], 10);
    assert!(read["drift"].is_null());
    assert_eq!(scratch.names(), ["summary.json"]);
}

/// Follows the central directory of a ZIP archive by the specification and returns
/// each member's name and bytes.
fn unzip(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let short = |at: usize| u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()) as usize;
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let end = bytes.len() - 22;
    assert_eq!(word(end), 0x0605_4b50);
    let mut at = word(end + 16) as usize;
    let mut members = Vec::new();
    for _ in 0..short(end + 10) {
        assert_eq!(word(at), 0x0201_4b50);
        let (size, length, local) = (
            word(at + 24) as usize,
            short(at + 28),
            word(at + 42) as usize,
        );
        let name = String::from_utf8(bytes[at + 46..at + 46 + length].to_vec()).unwrap();
        assert_eq!(word(local), 0x0403_4b50);
        assert_eq!(word(local + 14), word(at + 16));
        let data = &bytes[local + 30 + length..local + 30 + length + size];
        assert_eq!(crc32fast::hash(data), word(at + 16), "{name}");
        members.push((name, data.to_vec()));
        at += 46 + length;
    }
    assert_eq!(at, end);
    members
}

fn write_sample_npz(path: &Path) -> Vec<f64> {
    let values: Vec<f64> = (0..30_000).map(|i| (i as f64).sin()).collect();
    let mut archive = NpzWriter::create(path).unwrap();
    archive
        .add_f64("trajectory", &[100, 100, 3], &values)
        .unwrap();
    archive.add_f64("scalar", &[], &[9.81]).unwrap();
    archive.add_f64("empty", &[0, 3], &[]).unwrap();
    archive.add_i64("counts", &[2], &[-1, i64::MAX]).unwrap();
    archive.add_text("metadata", "{\"α\": 1}").unwrap();
    archive.add_text("nothing", "").unwrap();
    archive.add_texts("bodies", &["bob", "φ-link"]).unwrap();
    archive.finish().unwrap();
    values
}

#[test]
fn npz_members_follow_both_formats() {
    let scratch = Scratch::new("npz");
    let path = scratch.0.join("run.npz");
    let values = write_sample_npz(&path);
    let members = unzip(&fs::read(&path).unwrap());
    assert_eq!(members.len(), 7);
    for (name, data) in &members {
        assert!(name.ends_with(".npy") && data.starts_with(b"\x93NUMPY\x01\x00"));
        let length = u16::from_le_bytes([data[8], data[9]]) as usize;
        assert_eq!((10 + length) % 64, 0);
    }
    let (name, data) = &members[0];
    assert_eq!(name, "trajectory.npy");
    let length = 10 + u16::from_le_bytes([data[8], data[9]]) as usize;
    let header = std::str::from_utf8(&data[10..length]).unwrap();
    assert!(
        header.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (100, 100, 3), }")
    );
    let read: Vec<f64> = data[length..]
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(read, values);
    let shape_of = |i: usize| String::from_utf8_lossy(&members[i].1[10..120]).into_owned();
    assert!(shape_of(1).contains("'shape': ()"));
    assert!(shape_of(3).contains("'shape': (2,)"));
}

#[test]
fn npz_refuses_what_does_not_fit() {
    let scratch = Scratch::new("npz-bad");
    let mut archive = NpzWriter::create(scratch.0.join("run.npz")).unwrap();
    assert!(archive.add_f64("x", &[2, 2], &[1.0]).is_err());
    assert!(archive.add_f64("x", &[usize::MAX, 2], &[1.0]).is_err());
    archive.add_f64("x", &[1], &[1.0]).unwrap();
    let error = archive.add_f64("x", &[1], &[1.0]).unwrap_err().to_string();
    assert!(
        error.contains("`x`") && error.contains("already"),
        "{error}"
    );
    assert!(archive.add_f64("", &[1], &[1.0]).is_err());
    drop(archive);
    assert!(scratch.names().is_empty());
}

/// Runs where Python has NumPy, and says so where it has not.
#[test]
fn numpy_opens_the_npz() {
    let scratch = Scratch::new("numpy");
    let path = scratch.0.join("run.npz");
    write_sample_npz(&path);
    let script = "
import sys, numpy as np
a = np.load(sys.argv[1])
assert a['trajectory'].shape == (100, 100, 3) and a['trajectory'].dtype == np.float64
assert np.allclose(a['trajectory'].ravel(), np.sin(np.arange(30000.0)), atol=1e-12)
assert a['scalar'] == 9.81 and a['empty'].shape == (0, 3)
assert list(a['counts']) == [-1, 2**63 - 1]
assert str(a['metadata']) == '{\"\\u03b1\": 1}' and str(a['nothing']) == ''
assert list(a['bodies']) == ['bob', '\\u03c6-link']
";
    let python = std::env::var("VINCULA_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = |arguments: &[&str]| {
        std::process::Command::new(&python)
            .args(arguments)
            .output()
            .map(|output| (output.status.success(), output.stderr))
    };
    if !run(&["-c", "import numpy"]).is_ok_and(|(success, _)| success) {
        eprintln!("skipped: no NumPy for {python}");
        return;
    }
    let (success, message) = run(&["-c", script, path.to_str().unwrap()]).unwrap();
    assert!(success, "{}", String::from_utf8_lossy(&message));
}
