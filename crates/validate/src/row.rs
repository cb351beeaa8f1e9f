//! One row of evidence: what was measured, against what, and whether it holds.

/// A measured quantity beside its reference.
#[derive(Clone, Debug)]
pub struct Row {
    /// Motion, integrator and step.
    pub case: String,
    /// What was measured, with its unit.
    pub quantity: String,
    /// The value it should have, or the truth that an error is measured against.
    pub reference: Reference,
    /// The measured value, or the largest error.
    pub measured: f64,
    /// Largest allowed distance from the reference.
    pub tolerance: f64,
}

/// What a measurement is held against.
#[derive(Clone, Debug)]
pub enum Reference {
    /// The measured number should equal this one.
    Value(f64),
    /// The measured number is an error against this truth and should vanish.
    Truth(&'static str),
}

impl Row {
    /// An error that should vanish.
    pub fn error(
        case: impl Into<String>,
        quantity: impl Into<String>,
        truth: &'static str,
        measured: f64,
        tolerance: f64,
    ) -> Row {
        let reference = Reference::Truth(truth);
        Row {
            case: case.into(),
            quantity: quantity.into(),
            reference,
            measured,
            tolerance,
        }
    }

    /// A number that should equal another.
    pub fn value(
        case: impl Into<String>,
        quantity: impl Into<String>,
        reference: f64,
        measured: f64,
        tolerance: f64,
    ) -> Row {
        let reference = Reference::Value(reference);
        Row {
            case: case.into(),
            quantity: quantity.into(),
            reference,
            measured,
            tolerance,
        }
    }

    /// Whether the measurement is within the tolerance; what is not a number is not.
    pub fn passes(&self) -> bool {
        let distance = match self.reference {
            Reference::Value(value) => self.measured - value,
            Reference::Truth(_) => self.measured,
        };
        distance.abs() <= self.tolerance
    }

    /// The cells of the row as text.
    pub fn cells(&self) -> [String; 6] {
        let reference = match self.reference {
            Reference::Value(value) => number(value),
            Reference::Truth(truth) => truth.to_owned(),
        };
        let verdict = if self.passes() { "yes" } else { "NO" };
        [
            self.case.clone(),
            self.quantity.clone(),
            reference,
            number(self.measured),
            format!("{:.1e}", self.tolerance),
            verdict.to_owned(),
        ]
    }
}

/// Headings of the cells.
pub const HEADINGS: [&str; 6] = [
    "case",
    "quantity",
    "reference",
    "measured",
    "tolerance",
    "pass",
];

/// A number with the digits that matter.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if (0.1..1e5).contains(&size) {
        format!("{value:.5}")
    } else {
        format!("{value:.2e}")
    }
}

/// The rows for a terminal.
pub fn text_table(rows: &[Row]) -> String {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells().to_vec()).collect();
    align(&HEADINGS, &cells)
}

/// The rows for the book.
pub fn markdown_table(rows: &[Row]) -> String {
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells().to_vec()).collect();
    markdown(&HEADINGS, &cells)
}

/// Columns as wide as their widest cell, two spaces apart.
pub fn align(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = headings.iter().map(|text| text.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let head: Vec<String> = headings.iter().map(|text| (*text).to_owned()).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{}{body}", line(&head), line(&rule))
}

/// The same as a table of Markdown.
pub fn markdown(headings: &[&str], rows: &[Vec<String>]) -> String {
    let rule = "|---".repeat(headings.len());
    let body: String = rows
        .iter()
        .map(|row| format!("| {} |\n", row.join(" | ")))
        .collect();
    format!("| {} |\n{rule}|\n{body}", headings.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_within_their_tolerance_only() {
        assert!(Row::value("c", "q", 2.0, 2.1, 0.2).passes());
        assert!(!Row::value("c", "q", 2.0, 2.3, 0.2).passes());
        assert!(Row::error("c", "q", "truth", -0.1, 0.2).passes());
        assert!(!Row::error("c", "q", "truth", f64::NAN, 0.2).passes());
    }

    #[test]
    fn tables_align_and_name_failures() {
        let rows = [Row::error("flight", "position [m]", "parabola", 1.0, 0.5)];
        let text = text_table(&rows);
        assert!(text.contains("flight  position [m]  parabola") && text.contains("NO"));
        assert!(markdown_table(&rows).starts_with("| case | quantity |"));
    }
}
