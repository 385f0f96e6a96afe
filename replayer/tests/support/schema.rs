//! All that a test has a command print as JSON is valid by the schema. This understands the words that the schema has, and
//! refuses others; the tests of the Python package ask `jsonschema` the same.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;
use titr_replayer::schema::OUTPUTS;

use super::command::TITR_REPLAY;

/// The schema of each output, by its name.
static SCHEMAS: LazyLock<BTreeMap<&'static str, Value>> =
    LazyLock::new(|| OUTPUTS.iter().map(|output| (output.name, output.schema().to_value())).collect());

/// Fails if a command was asked for JSON and has printed anything that its schema forbids.
pub fn check(command: &str, arguments: &[&str], out: &str) {
    if !arguments.contains(&"--json") && !arguments.windows(2).any(|option| option == ["--format", "json"]) {
        return;
    }
    let name = if command == TITR_REPLAY {
        let options = ["vary", "traffic", "triggered"];
        let given = |option: &&str| arguments.iter().any(|argument| argument.strip_prefix("--") == Some(option));
        options.into_iter().find(given).unwrap_or("replay")
    } else {
        arguments[0]
    };
    validate(name, &serde_json::from_str(out).unwrap());
}

/// Fails if an output of this name is not valid.
pub fn validate(name: &str, output: &Value) {
    let schema = &SCHEMAS[name];
    if let Err(error) = (Validator { types: &schema["$defs"] }).check(schema, output, "") {
        panic!("the output of {name} is not valid: {error}");
    }
}

struct Validator<'a> {
    types: &'a Value,
}

impl Validator<'_> {
    /// Checks the value at `place` by a schema; `Err` with the place and the words of the schema that it breaks.
    fn check(&self, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
        if let Value::Bool(allowed) = schema {
            return if *allowed { Ok(()) } else { Err(format!("{place}: not expected")) };
        }
        for (word, rule) in schema.as_object().unwrap() {
            let holds = match word.as_str() {
                "description" | "title" | "format" | "default" | "$schema" | "$defs" | "x-unit" => true,
                "$ref" => {
                    let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.check(&self.types[name], value, place)?;
                    true
                }
                "type" => match rule {
                    Value::Array(types) => types.iter().any(|of| is_of(of, value)),
                    of => is_of(of, value),
                },
                "const" => rule == value,
                "enum" => rule.as_array().unwrap().contains(value),
                "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
                "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
                "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
                "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
                "anyOf" | "oneOf" => {
                    let fits = |one: &&Value| self.check(one, value, place).is_ok();
                    let fitting = rule.as_array().unwrap().iter().filter(fits).count();
                    fitting == 1 || fitting > 1 && word == "anyOf"
                }
                "required" => rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
                "properties" | "additionalProperties" | "patternProperties" | "items" | "prefixItems" => true,
                other => panic!("{place}: the tests do not know the word {other} of a schema"),
            };
            if !holds {
                return Err(format!("{place}: {value} breaks {word}: {rule}"));
            }
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            let of_item = schema["prefixItems"].get(index).or_else(|| schema.get("items"));
            of_item.map_or(Ok(()), |of_item| self.check(of_item, item, &format!("{place}/{index}")))?;
        }
        for (key, member) in value.as_object().into_iter().flatten() {
            // The schema's only pattern is one of digits.
            let is_number = key.bytes().all(|byte| byte.is_ascii_digit());
            let of_pattern = || schema["patternProperties"].as_object().and_then(|all| all.values().next());
            let of_key = schema["properties"].get(key).or_else(|| of_pattern().filter(|_| is_number));
            let of_key = of_key.or_else(|| schema.get("additionalProperties"));
            of_key.map_or(Ok(()), |of_key| self.check(of_key, member, &format!("{place}/{key}")))?;
        }
        Ok(())
    }
}

fn is_of(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}
