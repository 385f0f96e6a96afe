//! The units of numbers in findings: the page shows findings of any shape, and knows by a number's key how to write it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;
use titr_analyses::Findings;

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A count, or the number of a rank.
    Count,
    /// A number without a unit.
    Number,
}

impl Unit {
    /// The units of all numbers in the findings of analyses, by their keys. They are those of the numbers' types.
    pub(super) fn of_findings() -> BTreeMap<String, Self> {
        Self::by_key().into_iter().map(|(key, unit, _)| (key, unit)).collect()
    }

    /// The key of each number, its unit, and the type that has the key.
    fn by_key() -> Vec<(String, Self, String)> {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        generator.subschema_for::<Findings>();
        let types = generator.take_definitions(true);
        let mut found = Vec::new();
        for (name, schema) in &types {
            for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                // An optional property has its own type or null.
                let property = property.get("anyOf").and_then(|choices| choices.get(0)).unwrap_or(property);
                let referred = property.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
                let schema = referred.map_or(property, |name| types.get(name).unwrap_or(property));
                found.extend(Self::of(schema).map(|unit| (key.clone(), unit, name.clone())));
            }
        }
        found
    }

    /// The unit of numbers of a schema; `None` if it is not of numbers.
    fn of(schema: &Value) -> Option<Self> {
        let is_a = |name: &str| match schema.get("type") {
            Some(Value::Array(types)) => types.iter().any(|one| one == name),
            Some(one) => one == name,
            None => false,
        };
        match schema.get("x-unit").and_then(Value::as_str) {
            Some("s") => Some(Self::Seconds),
            Some("B") => Some(Self::Bytes),
            _ if is_a("integer") => Some(Self::Count),
            _ => is_a("number").then_some(Self::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key has one unit, wherever it is.
    #[test]
    fn a_key_has_one_unit() {
        let units = Unit::of_findings();
        for (key, unit, name) in Unit::by_key() {
            assert_eq!(units[&key], unit, "{key} of {name}");
        }
        let some = ["seconds", "bytes", "communicator", "replays"].map(|key| units[key]);
        assert_eq!(some, [Unit::Seconds, Unit::Bytes, Unit::Count, Unit::Number]);
    }
}
