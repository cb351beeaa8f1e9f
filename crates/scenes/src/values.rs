//! The values of a scene's parameters, checked.

use crate::error::SceneError;
use crate::nearest::nearest;
use crate::param::Param;

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
