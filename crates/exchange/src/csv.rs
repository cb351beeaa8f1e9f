//! Trajectories as comma-separated values (RFC 4180) with units in the header.
//!
//! Each number is the shortest decimal that reads back to the same f64, so nothing is
//! lost; non-finite numbers are `NaN`, `inf` and `-inf`, as NumPy and pandas read them.

use std::io::Write;
use std::path::Path;

use crate::error::ExchangeError;
use crate::staging::StagedFile;

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// What it is, such as `time` or `bob.x`.
    pub name: &'a str,
    /// Its unit, such as `s`; empty for pure numbers.
    pub unit: &'a str,
    /// One value per row.
    pub values: &'a [f64],
}

/// Writes `columns` of equal length to `path`, atomically.
pub fn write_csv(path: impl AsRef<Path>, columns: &[Column]) -> Result<(), ExchangeError> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    if let Some(odd) = columns.iter().find(|column| column.values.len() != rows) {
        let problem = format!(
            "has {} rows where `{}` has {rows}: give all columns one length",
            odd.values.len(),
            columns[0].name
        );
        return Err(ExchangeError::data("column", odd.name, problem));
    }
    let header: Vec<(&str, &str)> = columns.iter().map(|c| (c.name, c.unit)).collect();
    let mut table = CsvWriter::create(path, &header)?;
    let mut row = vec![0.0; columns.len()];
    for index in 0..rows {
        for (cell, column) in row.iter_mut().zip(columns) {
            *cell = column.values[index];
        }
        table.row(&row)?;
    }
    table.finish()
}

/// Writes a table row by row while a simulation runs; it appears on [`finish`](Self::finish).
#[derive(Debug)]
pub struct CsvWriter {
    file: StagedFile,
    width: usize,
    line: Vec<u8>,
}

impl CsvWriter {
    /// Opens a table whose columns are given as (name, unit).
    pub fn create(
        path: impl AsRef<Path>,
        columns: &[(&str, &str)],
    ) -> Result<CsvWriter, ExchangeError> {
        let mut table = CsvWriter {
            file: StagedFile::create(path)?,
            width: columns.len(),
            line: Vec::new(),
        };
        let titles: Vec<String> = columns.iter().map(|(n, u)| quoted(&title(n, u))).collect();
        table.line.extend_from_slice(titles.join(",").as_bytes());
        table.write_line()?;
        Ok(table)
    }

    /// Appends one row, one value per column.
    pub fn row(&mut self, values: &[f64]) -> Result<(), ExchangeError> {
        if values.len() != self.width {
            let name = self.file.destination().display().to_string();
            let problem = format!("a row of {} in {} columns", values.len(), self.width);
            return Err(ExchangeError::data("table", name, problem));
        }
        for (index, value) in values.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // `{:?}` is the shortest text that reads back exactly, with an exponent
            // for very large and very small numbers, unlike `{}`.
            let _ = write!(self.line, "{comma}{value:?}"); // A Vec never refuses.
        }
        self.write_line()
    }

    /// Completes the table and moves it into place.
    pub fn finish(self) -> Result<(), ExchangeError> {
        self.file.commit()
    }

    fn write_line(&mut self) -> Result<(), ExchangeError> {
        self.line.push(b'\n');
        let written = self.file.write_all(&self.line);
        self.line.clear();
        written.map_err(ExchangeError::io("write", self.file.destination()))
    }
}

fn title(name: &str, unit: &str) -> String {
    if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name} [{unit}]")
    }
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
