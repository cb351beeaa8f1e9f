//! Parameters of scenes: declared once, then parsed, checked and documented from that.

use crate::error::SceneError;
use crate::values::Value;

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A real number between two bounds, both allowed.
    Float {
        /// Value when nothing is said.
        default: f64,
        /// Least value.
        least: f64,
        /// Greatest value.
        most: f64,
    },
    /// A whole number between two bounds, both allowed.
    Int {
        /// Value when nothing is said.
        default: u64,
        /// Least value.
        least: u64,
        /// Greatest value.
        most: u64,
    },
    /// `true` or `false`.
    Bool {
        /// Value when nothing is said.
        default: bool,
    },
    /// One of several words.
    Choice {
        /// Value when nothing is said.
        default: &'static str,
        /// The words.
        words: &'static [&'static str],
    },
}

/// One parameter of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Name on the command line and in Python.
    pub key: &'static str,
    /// What values it takes, and its default.
    pub kind: Kind,
    /// Unit; empty for pure numbers.
    pub unit: &'static str,
    /// One line of help.
    pub help: &'static str,
}

impl Param {
    /// A real number with its default, bounds (least, most) and unit.
    pub const fn float(
        key: &'static str,
        default: f64,
        (least, most): (f64, f64),
        unit: &'static str,
        help: &'static str,
    ) -> Param {
        Param {
            key,
            kind: Kind::Float {
                default,
                least,
                most,
            },
            unit,
            help,
        }
    }

    /// A whole number with its default and bounds (least, most).
    pub const fn int(
        key: &'static str,
        default: u64,
        (least, most): (u64, u64),
        help: &'static str,
    ) -> Param {
        Param {
            key,
            kind: Kind::Int {
                default,
                least,
                most,
            },
            unit: "",
            help,
        }
    }

    /// `true` or `false`.
    pub const fn bool(key: &'static str, default: bool, help: &'static str) -> Param {
        Param {
            key,
            kind: Kind::Bool { default },
            unit: "",
            help,
        }
    }

    /// One of several words; the first is the default.
    pub const fn choice(
        key: &'static str,
        words: &'static [&'static str],
        help: &'static str,
    ) -> Param {
        Param {
            key,
            kind: Kind::Choice {
                default: words[0],
                words,
            },
            unit: "",
            help,
        }
    }

    /// The step length, s.
    pub const fn step(default: f64) -> Param {
        Param::float("h", default, (1e-7, 0.1), "s", "time step")
    }

    /// The time to simulate, s.
    pub const fn duration(default: f64) -> Param {
        Param::float("duration", default, (1e-6, 1e6), "s", "time to simulate")
    }

    /// Young's modulus, Pa.
    pub const fn young() -> Param {
        Param::float(
            "young",
            1e9,
            (1e3, 1e15),
            "Pa",
            "Young's modulus of the bodies",
        )
    }

    /// Gravity, m/s², downwards.
    pub const fn gravity() -> Param {
        Param::float("gravity", 9.81, (1e-6, 1e4), "m/s²", "gravity, downwards")
    }

    /// The default as text.
    pub fn default_text(&self) -> String {
        match self.kind {
            Kind::Float { default, .. } => number(default),
            Kind::Int { default, .. } => default.to_string(),
            Kind::Bool { default } => default.to_string(),
            Kind::Choice { default, .. } => default.to_owned(),
        }
    }

    /// The values allowed, as text.
    pub fn range_text(&self) -> String {
        match self.kind {
            Kind::Float { least, most, .. } => format!("{} … {}", number(least), number(most)),
            Kind::Int { least, most, .. } => format!("{least} … {most}"),
            Kind::Bool { .. } => "true, false".to_owned(),
            Kind::Choice { words, .. } => words.join(", "),
        }
    }

    pub(crate) fn default_value(&self) -> Value {
        match self.kind {
            Kind::Float { default, .. } => Value::Float(default),
            Kind::Int { default, .. } => Value::Int(default),
            Kind::Bool { default } => Value::Bool(default),
            Kind::Choice { default, .. } => Value::Choice(default),
        }
    }

    pub(crate) fn parse(&self, text: &str) -> Result<Value, SceneError> {
        let text = text.trim();
        match self.kind {
            Kind::Float { least, most, .. } => {
                let value: f64 = text.parse().map_err(|_| self.wrong(text, "a number"))?;
                self.check(value, (least, most), text)?;
                Ok(Value::Float(value))
            }
            Kind::Int { least, most, .. } => {
                // Parsed as signed first, so that −3 is out of range rather than not a number.
                let value: i128 = text
                    .parse()
                    .map_err(|_| self.wrong(text, "a whole number"))?;
                self.check(value as f64, (least as f64, most as f64), text)?;
                Ok(Value::Int(value as u64))
            }
            Kind::Bool { .. } => match text {
                "true" | "yes" | "1" => Ok(Value::Bool(true)),
                "false" | "no" | "0" => Ok(Value::Bool(false)),
                _ => Err(self.wrong(text, "true or false")),
            },
            Kind::Choice { words, .. } => words
                .iter()
                .find(|word| **word == text)
                .map(|word| Value::Choice(word))
                .ok_or_else(|| self.wrong(text, &format!("one of {}", words.join(", ")))),
        }
    }

    fn check(&self, value: f64, (least, most): (f64, f64), text: &str) -> Result<(), SceneError> {
        let (key, value_text) = (self.key, text.to_owned());
        if !value.is_finite() {
            return Err(SceneError::NotFinite {
                key,
                value: value_text,
            });
        }
        if value < least || value > most {
            let unit = self.unit;
            return Err(SceneError::OutOfRange {
                key,
                value: value_text,
                least,
                most,
                unit,
            });
        }
        Ok(())
    }

    fn wrong(&self, value: &str, wanted: &str) -> SceneError {
        SceneError::WrongKind {
            key: self.key,
            value: value.to_owned(),
            wanted: wanted.to_owned(),
        }
    }
}

/// A short decimal, with an exponent only where it helps.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e5).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}
