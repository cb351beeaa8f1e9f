//! NumPy `.npz`: a ZIP archive whose members are `.npy` arrays.
//!
//! Sources: the NPY format 1.0 of NumPy Enhancement Proposal 1, and PKWARE's
//! APPNOTE.TXT sections 4.3.7 (local header), 4.3.12 (central directory) and 4.3.16
//! (end record). Members are stored uncompressed: trajectories of floating-point
//! numbers hardly compress, and a reader may take them in place. Sizes are known in
//! advance; only the checksum is patched in afterwards, so data pass once.

use std::collections::HashSet;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use crc32fast::Hasher;

use crate::error::ExchangeError;
use crate::staging::StagedFile;

const LOCAL_HEADER: u32 = 0x0403_4b50;
const CENTRAL_HEADER: u32 = 0x0201_4b50;
const END_RECORD: u32 = 0x0605_4b50;
/// ZIP version 2.0: the plainest that every reader knows.
const VERSION: u16 = 20;
/// General-purpose bit 11: the member's name is UTF-8.
const UTF8_NAME: u16 = 1 << 11;
/// 1 January 1980, the zero of ZIP: equal results give equal files.
const DATE: u16 = (1 << 5) | 1;
/// Where the checksum stands in a local header.
const CHECKSUM_OFFSET: u64 = 14;
const LIMIT: &str = "4 GiB in all, 65,534 arrays";

struct Member {
    name: String,
    checksum: u32,
    size: u32,
    offset: u32,
}

/// An element type: its name in NumPy and its size.
struct Kind {
    name: String,
    bytes: usize,
}

impl Kind {
    fn number(name: &str) -> Kind {
        Kind {
            name: name.to_owned(),
            bytes: 8,
        }
    }
}

/// Writes named arrays, one after the other, to a file `numpy.load` opens.
///
/// The file appears on [`finish`](Self::finish).
pub struct NpzWriter {
    file: StagedFile,
    members: Vec<Member>,
    names: HashSet<String>,
    /// Bytes written so far, which is where the next member begins.
    position: u64,
}

impl NpzWriter {
    /// Opens an archive.
    pub fn create(path: impl AsRef<Path>) -> Result<NpzWriter, ExchangeError> {
        Ok(NpzWriter {
            file: StagedFile::create(path)?,
            members: Vec::new(),
            names: HashSet::new(),
            position: 0,
        })
    }

    /// Adds a float64 array in row-major order; an empty `shape` means a scalar.
    pub fn add_f64(
        &mut self,
        name: &str,
        shape: &[usize],
        values: &[f64],
    ) -> Result<(), ExchangeError> {
        check_shape(name, shape, values.len())?;
        self.add(name, Kind::number("<f8"), shape, values, |value, bytes| {
            bytes.extend_from_slice(&value.to_le_bytes());
        })
    }

    /// Adds an int64 array in row-major order; an empty `shape` means a scalar.
    pub fn add_i64(
        &mut self,
        name: &str,
        shape: &[usize],
        values: &[i64],
    ) -> Result<(), ExchangeError> {
        check_shape(name, shape, values.len())?;
        self.add(name, Kind::number("<i8"), shape, values, |value, bytes| {
            bytes.extend_from_slice(&value.to_le_bytes());
        })
    }

    /// Adds one text, such as JSON metadata: `str(archive[name])` in Python.
    pub fn add_text(&mut self, name: &str, text: &str) -> Result<(), ExchangeError> {
        self.add_unicode(name, &[], &[text])
    }

    /// Adds a list of texts, such as the names of bodies.
    pub fn add_texts(&mut self, name: &str, texts: &[&str]) -> Result<(), ExchangeError> {
        self.add_unicode(name, &[texts.len()], texts)
    }

    /// Completes the archive and moves it into place.
    pub fn finish(mut self) -> Result<(), ExchangeError> {
        let mut directory = Vec::new();
        for member in &self.members {
            push_central_header(&mut directory, member);
        }
        let start = self.position;
        if start + directory.len() as u64 > u64::from(u32::MAX) {
            return Err(self.too_large());
        }
        let count = self.members.len() as u16;
        let length = directory.len() as u32;
        push_u32(&mut directory, END_RECORD);
        push_u16s(&mut directory, &[0, 0, count, count]);
        push_u32(&mut directory, length);
        push_u32(&mut directory, start as u32);
        push_u16s(&mut directory, &[0]);
        self.write(&directory)?;
        self.file.commit()
    }

    /// NumPy text is UTF-32 padded with zeros to one width.
    fn add_unicode(
        &mut self,
        name: &str,
        shape: &[usize],
        texts: &[&str],
    ) -> Result<(), ExchangeError> {
        let width = texts.iter().map(|text| text.chars().count()).max();
        let width = width.unwrap_or(1).max(1);
        let kind = Kind {
            name: format!("<U{width}"),
            bytes: 4 * width,
        };
        self.add(name, kind, shape, texts, |text, bytes| {
            let start = bytes.len();
            for letter in text.chars() {
                bytes.extend_from_slice(&u32::from(letter).to_le_bytes());
            }
            bytes.resize(start + 4 * width, 0);
        })
    }

    fn add<T>(
        &mut self,
        name: &str,
        kind: Kind,
        shape: &[usize],
        values: &[T],
        encode: impl Fn(&T, &mut Vec<u8>),
    ) -> Result<(), ExchangeError> {
        let member_name = self.claim(name)?;
        let header = npy_header(&kind.name, shape);
        let size = kind
            .bytes
            .checked_mul(values.len())
            .and_then(|bytes| bytes.checked_add(header.len()))
            .ok_or_else(|| self.too_large())? as u64;
        let offset = self.position;
        // The names of all members appear twice; leave room for a generous directory.
        if offset + size + (1 << 22) > u64::from(u32::MAX) || self.members.len() >= 65_534 {
            return Err(self.too_large());
        }
        let mut member = Member {
            name: member_name,
            checksum: 0,
            size: size as u32,
            offset: offset as u32,
        };
        let mut local = Vec::new();
        push_local_header(&mut local, &member);
        self.write(&local)?;
        member.checksum = self.write_values(&header, values, encode)?;
        self.patch_checksum(offset + CHECKSUM_OFFSET, member.checksum)?;
        self.members.push(member);
        Ok(())
    }

    /// Writes header and values in pieces and returns their checksum.
    fn write_values<T>(
        &mut self,
        header: &[u8],
        values: &[T],
        encode: impl Fn(&T, &mut Vec<u8>),
    ) -> Result<u32, ExchangeError> {
        let mut hasher = Hasher::new();
        hasher.update(header);
        self.write(header)?;
        let mut bytes = Vec::new();
        for piece in values.chunks(8192) {
            bytes.clear();
            piece.iter().for_each(|value| encode(value, &mut bytes));
            hasher.update(&bytes);
            self.write(&bytes)?;
        }
        Ok(hasher.finalize())
    }

    fn patch_checksum(&mut self, at: u64, checksum: u32) -> Result<(), ExchangeError> {
        let patched = self
            .file
            .seek(SeekFrom::Start(at))
            .and_then(|_| self.file.write_all(&checksum.to_le_bytes()))
            .and_then(|()| self.file.seek(SeekFrom::Start(self.position)));
        patched.map_err(ExchangeError::io("write", self.file.destination()))?;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExchangeError> {
        self.file
            .write_all(bytes)
            .map_err(ExchangeError::io("write", self.file.destination()))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn claim(&mut self, name: &str) -> Result<String, ExchangeError> {
        if name.is_empty() || name.len() > 1000 || name.contains('\0') {
            let problem = "give a name of 1 to 1,000 bytes without NUL";
            return Err(ExchangeError::data("array", name, problem));
        }
        if !self.names.insert(name.to_owned()) {
            let problem = "is already in the archive: give each array its own name";
            return Err(ExchangeError::data("array", name, problem));
        }
        Ok(format!("{name}.npy"))
    }

    fn too_large(&self) -> ExchangeError {
        ExchangeError::TooLarge {
            what: format!("`{}`", self.file.destination().display()),
            limit: LIMIT,
        }
    }
}

fn check_shape(name: &str, shape: &[usize], length: usize) -> Result<(), ExchangeError> {
    let product = shape
        .iter()
        .try_fold(1usize, |product, &extent| product.checked_mul(extent));
    if product == Some(length) {
        return Ok(());
    }
    let problem = format!("shape {shape:?} does not hold the {length} values given");
    Err(ExchangeError::data("array", name, problem))
}

/// Magic, version 1.0, and a Python dictionary padded so that data start at a multiple
/// of 64 bytes.
fn npy_header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let extents = match shape.len() {
        0 | 1 => extents.trim_end(), // A tuple of one keeps its comma.
        _ => extents.trim_end_matches(", "),
    };
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({extents}), }}");
    let total = (10 + text.len() + 1).next_multiple_of(64);
    text.push_str(&" ".repeat(total - 11 - text.len()));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&(text.len() as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header
}

fn push_u32(bytes: &mut Vec<u8>, value: u32) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn push_u16s(bytes: &mut Vec<u8>, values: &[u16]) {
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
}

/// The fields that local and central headers share: version needed, flags, method 0
/// (stored), time, date, checksum, packed and unpacked size, name and extra length.
fn push_common(bytes: &mut Vec<u8>, member: &Member) {
    push_u16s(bytes, &[VERSION, UTF8_NAME, 0, 0, DATE]);
    push_u32(bytes, member.checksum);
    push_u32(bytes, member.size);
    push_u32(bytes, member.size);
    push_u16s(bytes, &[member.name.len() as u16, 0]);
}

fn push_local_header(bytes: &mut Vec<u8>, member: &Member) {
    push_u32(bytes, LOCAL_HEADER);
    push_common(bytes, member);
    bytes.extend_from_slice(member.name.as_bytes());
}

fn push_central_header(bytes: &mut Vec<u8>, member: &Member) {
    push_u32(bytes, CENTRAL_HEADER);
    push_u16s(bytes, &[VERSION]);
    push_common(bytes, member);
    push_u16s(bytes, &[0, 0, 0]); // no comment, first disk, no internal attributes
    push_u32(bytes, 0); // no external attributes
    push_u32(bytes, member.offset);
    bytes.extend_from_slice(member.name.as_bytes());
}
