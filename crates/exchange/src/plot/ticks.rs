//! Round numbers on an axis, and how they are written.
//!
//! A step is 1, 2 or 5 times a power of ten. Ticks are counted in whole steps, so a
//! label is an integer shifted by decimals and never shows rounding (0.30000000000004).
//! Digits that all labels share, and a common power of ten, are moved into a note at
//! the end of the axis: labels 2, 4, 6 with the note `×10⁻⁹ + 9.81`.

/// A labelled position, in the units of the axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

/// The ticks of an axis.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticks {
    pub major: Vec<Tick>,
    /// Unlabelled positions in between.
    pub minor: Vec<f64>,
    /// What to multiply labels by and add to them; empty for nothing.
    pub note: String,
}

/// A step m·10ᵉ with m of 1, 2 or 5.
#[derive(Clone, Copy)]
struct Step {
    mantissa: i64,
    exponent: i32,
}

impl Step {
    /// The round step that comes nearest to `count` intervals, by ratio.
    fn nearest(span: f64, count: usize) -> Step {
        let raw = span / count.max(1) as f64;
        let exponent = raw.log10().floor() as i32;
        let ratio = raw / power(exponent);
        let (mantissa, exponent) = match ratio {
            r if r <= 2f64.sqrt() => (1, exponent),
            r if r <= 10f64.sqrt() => (2, exponent),
            r if r <= 50f64.sqrt() => (5, exponent),
            _ => (1, exponent + 1),
        };
        Step { mantissa, exponent }
    }

    /// The value of `count` steps; division by a power of ten is exact more often than
    /// multiplication by its inverse.
    fn times(self, count: i64, exponent: i32) -> f64 {
        let whole = (count * self.mantissa) as f64;
        let shift = self.exponent - exponent;
        if shift < 0 {
            whole / power(-shift)
        } else {
            whole * power(shift)
        }
    }
}

fn power(exponent: i32) -> f64 {
    10f64.powi(exponent)
}

/// Ticks of a linear axis, at most about `count`.
pub(super) fn linear(low: f64, high: f64, count: usize) -> Ticks {
    let step = Step::nearest(high - low, count);
    let size = step.times(1, 0);
    let first = (low / size - 1e-6).ceil() as i64;
    let last = (high / size + 1e-6).floor() as i64;
    if last < first || last - first > 1000 {
        return Ticks::default(); // Beyond what 64 bits can tell apart.
    }
    let (origin, offset) = common_offset(step, first, last);
    let largest = (first - origin).abs().max((last - origin).abs());
    let factor = common_factor(step.times(largest, 0));
    let decimals = (factor - step.exponent).max(0) as usize;
    let major = (first..=last)
        .map(|count| Tick {
            value: step.times(count, 0),
            label: signed(&format!(
                "{:.decimals$}",
                step.times(count - origin, factor)
            )),
        })
        .collect();
    Ticks {
        major,
        minor: Vec::new(),
        note: note(factor, offset),
    }
}

/// When labels would share more than five leading digits: how many steps to take off
/// them, and the same as text. The roundest tick is taken, 100 rather than 99.9999998.
fn common_offset(step: Step, first: i64, last: i64) -> (i64, Option<String>) {
    let largest = first.abs().max(last.abs());
    if largest / (last - first).max(1) < 100_000 {
        return (0, None);
    }
    let roundness = |count: &i64| {
        let mut digits = count * step.mantissa;
        let mut zeros = 0;
        while digits != 0 && digits % 10 == 0 {
            (digits, zeros) = (digits / 10, zeros + 1);
        }
        zeros
    };
    let origin = (first..=last).max_by_key(roundness).unwrap_or(first);
    let value = step.times(origin, 0);
    let text = if (1e-4..1e7).contains(&value.abs()) {
        let decimals = (-step.exponent).max(0) as usize;
        trimmed(&format!("{value:.decimals$}")).to_owned()
    } else {
        scientific(value)
    };
    (origin, Some(text))
}

/// Without zeros that follow a decimal point for nothing.
fn trimmed(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

/// The power of ten to take out of labels, zero when they read well as they are.
fn common_factor(largest: f64) -> i32 {
    if largest == 0.0 || (1e-3..1e5).contains(&largest) {
        return 0;
    }
    (largest.log10() + 1e-9).floor() as i32
}

fn note(factor: i32, offset: Option<String>) -> String {
    let mut note = String::new();
    if factor != 0 {
        note = format!("×10{}", superscript(factor));
    }
    if let Some(offset) = offset {
        let (sign, digits) = match offset.strip_prefix('-') {
            Some(digits) => ("−", digits.to_owned()),
            None => ("+", offset),
        };
        let gap = if note.is_empty() { "" } else { " " };
        note += &format!("{gap}{sign} {digits}");
    }
    note
}

/// Ticks of a logarithmic axis between two positive numbers, at most about `count`.
pub(super) fn logarithmic(low: f64, high: f64, count: usize) -> Ticks {
    let (from, to) = (low.log10(), high.log10());
    if to - from < 0.7 {
        return linear(low, high, count.min(5)); // Less than a decade: round numbers.
    }
    let decades = (from - 1e-9).ceil() as i32..=(to + 1e-9).floor() as i32;
    if to - from < 2.0 {
        return within_decades(low, high);
    }
    let stride = ((to - from) / count.max(1) as f64).ceil().max(1.0) as i32;
    let major = decades
        .clone()
        .filter(|exponent| exponent.rem_euclid(stride) == 0)
        .map(|exponent| Tick {
            value: power(exponent),
            label: format!("10{}", superscript(exponent)),
        })
        .collect();
    let minor = if stride == 1 {
        multiples(low, high, &[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    } else {
        decades.map(power).collect()
    };
    Ticks {
        major,
        minor,
        note: String::new(),
    }
}

/// One or two decades: label 1, 2 and 5 of each.
fn within_decades(low: f64, high: f64) -> Ticks {
    let label = |value: f64| match value {
        v if (1e-3..1e5).contains(&v) => plain(v),
        v => scientific(v),
    };
    let major = multiples(low, high, &[1.0, 2.0, 5.0])
        .into_iter()
        .map(|value| Tick {
            value,
            label: label(value),
        })
        .collect();
    Ticks {
        major,
        minor: multiples(low, high, &[3.0, 4.0, 6.0, 7.0, 8.0, 9.0]),
        note: String::new(),
    }
}

/// The given multiples of powers of ten within a range.
fn multiples(low: f64, high: f64, factors: &[f64]) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    decades
        .flat_map(|exponent| {
            factors.iter().map(move |factor| match exponent {
                e if e < 0 => factor / power(-e),
                e => factor * power(e),
            })
        })
        .filter(|value| (low..=high).contains(value))
        .collect()
}

/// A number with a single leading digit, without an exponent.
fn plain(value: f64) -> String {
    let decimals = (-(value.log10() + 1e-9).floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// 1.5e-7 as 1.5×10⁻⁷.
fn scientific(value: f64) -> String {
    let text = format!("{value:.14e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!(
        "{}×10{}",
        trimmed(mantissa),
        superscript(exponent.parse().unwrap_or(0))
    )
}

/// Minus signs as wide as digits, and no minus before zero.
fn signed(text: &str) -> String {
    let zero = text.trim_start_matches('-');
    if zero.chars().all(|c| matches!(c, '0' | '.')) {
        return zero.to_owned();
    }
    text.replace('-', "−")
}

fn superscript(exponent: i32) -> String {
    exponent
        .to_string()
        .chars()
        .map(|digit| match digit {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' => '⁰',
            other => char::from_u32('⁴' as u32 + (other as u32).saturating_sub('4' as u32))
                .unwrap_or(other),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_labels_are_round() {
        assert_eq!(
            labels(&linear(0.0, 0.5, 5)),
            ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]
        );
        assert_eq!(
            labels(&linear(-1.0, 1.0, 5)),
            ["−1.0", "−0.5", "0.0", "0.5", "1.0"]
        );
        assert_eq!(
            labels(&linear(0.0, 100.0, 5)),
            ["0", "20", "40", "60", "80", "100"]
        );
    }

    #[test]
    fn shared_digits_move_into_the_note() {
        let ticks = linear(0.0, 4e-7, 5);
        assert_eq!(
            (labels(&ticks), ticks.note.as_str()),
            (vec!["0", "1", "2", "3", "4"], "×10⁻⁷")
        );
        let ticks = linear(100.0, 100.0 + 4e-7, 5);
        assert_eq!(ticks.note, "×10⁻⁷ + 100");
        assert_eq!(labels(&ticks), ["0", "1", "2", "3", "4"]);
        let ticks = linear(-9.81, -9.81 + 4e-9, 5);
        assert_eq!(ticks.note, "×10⁻⁹ − 9.81");
        assert_eq!(linear(0.0, 4e6, 5).note, "×10⁶");
    }

    #[test]
    fn logarithmic_labels_are_powers() {
        assert_eq!(
            labels(&logarithmic(1e-3, 1.0, 5)),
            ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]
        );
        assert_eq!(
            labels(&logarithmic(0.9, 30.0, 5)),
            ["1", "2", "5", "10", "20"]
        );
        assert!(logarithmic(1e-300, 1e300, 5).major.len() <= 6);
        assert!(!logarithmic(1.0, 1.5, 5).major.is_empty());
    }

    #[test]
    fn extreme_ranges_give_finite_ticks() {
        for (low, high) in [
            (-1e300, 1e300),
            (0.0, 1e-299),
            (1e15, 1e15 + 1.0),
            (5.0, 5.0 + 1e-12),
        ] {
            let ticks = linear(low, high, 6);
            assert!(
                ticks.major.len() >= 2 && ticks.major.len() < 20,
                "{low} {high}: {ticks:?}"
            );
            assert!(ticks.major.iter().all(|tick| tick.value.is_finite()));
        }
    }
}
