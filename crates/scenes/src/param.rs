//! Parameters of scenes: declared once, then parsed, checked and documented from that.

use crate::error::SceneError;
use crate::nearest::nearest;

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

    fn default_value(&self) -> Value {
        match self.kind {
            Kind::Float { default, .. } => Value::Float(default),
            Kind::Int { default, .. } => Value::Int(default),
            Kind::Bool { default } => Value::Bool(default),
            Kind::Choice { default, .. } => Value::Choice(default),
        }
    }

    fn parse(&self, text: &str) -> Result<Value, SceneError> {
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

/// A checked value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of a real parameter.
    Float(f64),
    /// Of a whole parameter.
    Int(u64),
    /// Of a switch.
    Bool(bool),
    /// Of a choice.
    Choice(&'static str),
}

/// All parameters of a scene with their values, and the seed of its random numbers.
#[derive(Clone, Debug)]
pub struct Values {
    params: &'static [Param],
    values: Vec<Value>,
    seed: u64,
}

impl Values {
    /// Parses settings over the defaults. Of a key set twice the last setting counts.
    pub fn parse(
        scene: &'static str,
        params: &'static [Param],
        settings: &[(&str, &str)],
        seed: u64,
    ) -> Result<Values, SceneError> {
        let mut values: Vec<Value> = params.iter().map(Param::default_value).collect();
        for (key, text) in settings {
            let index = params
                .iter()
                .position(|param| param.key == *key)
                .ok_or_else(|| unknown(scene, params, key))?;
            values[index] = params[index].parse(text)?;
        }
        Ok(Values {
            params,
            values,
            seed,
        })
    }

    /// Seed of random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The parameters and their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Param, Value)> {
        self.params.iter().zip(self.values.iter().copied())
    }

    /// A real parameter.
    ///
    /// # Panics
    /// Like the other getters, if the scene declares no such parameter: a mistake in the
    /// scene, found by the test that builds every scene.
    pub fn float(&self, key: &str) -> f64 {
        match self.get(key) {
            Value::Float(value) => value,
            other => panic!("parameter '{key}' is {other:?}, not a real number"),
        }
    }

    /// A whole parameter.
    pub fn int(&self, key: &str) -> usize {
        match self.get(key) {
            Value::Int(value) => value as usize,
            other => panic!("parameter '{key}' is {other:?}, not a whole number"),
        }
    }

    /// A switch.
    pub fn bool(&self, key: &str) -> bool {
        match self.get(key) {
            Value::Bool(value) => value,
            other => panic!("parameter '{key}' is {other:?}, not a switch"),
        }
    }

    /// A choice.
    pub fn choice(&self, key: &str) -> &'static str {
        match self.get(key) {
            Value::Choice(value) => value,
            other => panic!("parameter '{key}' is {other:?}, not a choice"),
        }
    }

    fn get(&self, key: &str) -> Value {
        let index = self.params.iter().position(|param| param.key == key);
        self.values[index.unwrap_or_else(|| panic!("the scene declares no parameter '{key}'"))]
    }
}

fn unknown(scene: &'static str, params: &'static [Param], key: &str) -> SceneError {
    let keys: Vec<&'static str> = params.iter().map(|param| param.key).collect();
    SceneError::UnknownKey {
        scene,
        key: key.to_owned(),
        nearest: nearest(key, keys.iter().copied()),
        known: keys.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: &[Param] = &[
        Param::float("mass", 1.0, (1e-6, 1e6), "kg", "mass"),
        Param::int("links", 3, (1, 10), "links"),
        Param::bool("folded", false, "folded"),
        Param::choice("start", &["sliding", "rolling"], "start"),
    ];

    fn parse(key: &str, text: &str) -> Result<Values, SceneError> {
        Values::parse("test", PARAMS, &[(key, text)], 0)
    }

    #[test]
    fn values_replace_defaults() {
        let values = parse("mass", " 2.5 ").unwrap();
        assert_eq!((values.float("mass"), values.int("links")), (2.5, 3));
        assert!(parse("folded", "yes").unwrap().bool("folded"));
        assert_eq!(
            parse("start", "rolling").unwrap().choice("start"),
            "rolling"
        );
    }

    #[test]
    fn errors_name_the_culprit_and_the_cure() {
        let says = |key, text| parse(key, text).unwrap_err().to_string();
        assert_eq!(
            says("mass", "-1"),
            "parameter 'mass' is -1 kg; it must lie between 0.000001 and 1000000 kg"
        );
        assert_eq!(
            says("mass", "nan"),
            "parameter 'mass' is nan; it must be a finite number"
        );
        assert_eq!(
            says("mass", "heavy"),
            "parameter 'mass' takes a number, not 'heavy'"
        );
        assert_eq!(
            says("links", "-3"),
            "parameter 'links' is -3; it must lie between 1 and 10"
        );
        assert_eq!(
            says("links", "2.5"),
            "parameter 'links' takes a whole number, not '2.5'"
        );
        assert_eq!(
            says("start", "flying"),
            "parameter 'start' takes one of sliding, rolling, not 'flying'"
        );
        assert_eq!(
            says("mas", "1"),
            "scene 'test' has no parameter 'mas' (did you mean 'mass'?); it has mass, links, folded, start"
        );
    }
}
