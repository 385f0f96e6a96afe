//! All that a test has a command print as JSON is valid by the schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;
use titr_replayer::schema::OUTPUTS;

use super::command::TITR_REPLAY;

/// The schema of each output, by its name.
static SCHEMAS: LazyLock<BTreeMap<&'static str, Value>> =
    LazyLock::new(|| OUTPUTS.iter().map(|output| (output.name, output.schema().as_value().clone())).collect());

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
    let mut errors = Vec::new();
    find_errors(&SCHEMAS[name], &SCHEMAS[name], output, "", &mut errors);
    assert!(errors.is_empty(), "the output of {name} is not valid:\n{}", errors.join("\n"));
}

/// Whether a value is valid by a part of the schema `root`.
fn is_valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let mut errors = Vec::new();
    find_errors(root, schema, value, "", &mut errors);
    errors.is_empty()
}

/// Appends what is wrong with the value at `place` by a part of the schema `root`, with those keywords of JSON Schema
/// (draft 2020-12) that the schema has. Any other keyword is an error, so that none is passed over.
fn find_errors(root: &Value, schema: &Value, value: &Value, place: &str, errors: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        if *schema == Value::Bool(false) {
            errors.push(format!("{place}: '{}' is unexpected", place.rsplit('/').next().unwrap()));
        }
        return;
    };
    let items = || value.as_array().into_iter().flatten().enumerate();
    let prefix = keywords.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
    for (keyword, said) in keywords {
        let is_right = match keyword.as_str() {
            "$ref" => {
                let pointer = said.as_str().unwrap().strip_prefix('#').unwrap();
                find_errors(root, root.pointer(pointer).unwrap(), value, place, errors);
                true
            }
            "type" => match said {
                Value::Array(types) => types.iter().any(|one| is_of_type(value, one.as_str().unwrap())),
                one => is_of_type(value, one.as_str().unwrap()),
            },
            "const" => value == said,
            "enum" => said.as_array().unwrap().contains(value),
            "minimum" => value.as_f64().is_none_or(|number| number >= said.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|number| number <= said.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= said.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= said.as_u64().unwrap()),
            "required" => {
                let names = said.as_array().unwrap().iter();
                let missing =
                    |name: &&Value| value.as_object().is_some_and(|it| !it.contains_key(name.as_str().unwrap()));
                errors.extend(names.filter(missing).map(|name| format!("{place}: {name} is a required property")));
                true
            }
            "anyOf" => said.as_array().unwrap().iter().any(|one| is_valid(root, one, value)),
            "oneOf" => said.as_array().unwrap().iter().filter(|one| is_valid(root, one, value)).count() == 1,
            "items" => {
                items()
                    .skip(prefix)
                    .for_each(|(at, item)| find_errors(root, said, item, &format!("{place}/{at}"), errors));
                true
            }
            "prefixItems" => {
                for ((at, item), schema) in items().zip(said.as_array().unwrap()) {
                    find_errors(root, schema, item, &format!("{place}/{at}"), errors);
                }
                true
            }
            "properties" | "patternProperties" | "additionalProperties" => {
                for (name, item) in value.as_object().into_iter().flatten() {
                    if let Some(schema) = schema_of(keywords, keyword, name) {
                        find_errors(root, schema, item, &format!("{place}/{name}"), errors);
                    }
                }
                true
            }
            "$schema" | "$defs" | "title" | "description" | "format" | "default" | "x-unit" => true,
            unknown => panic!("the schema has the keyword {unknown}, which this test does not know"),
        };
        if !is_right {
            errors.push(format!("{place}: {keyword} is {said}, and this is {value}"));
        }
    }
}

/// The schema that a keyword has for a property.
fn schema_of<'s>(keywords: &'s serde_json::Map<String, Value>, keyword: &str, name: &str) -> Option<&'s Value> {
    let named = keywords.get("properties").and_then(|properties| properties.get(name));
    let by_pattern = keywords.get("patternProperties").and_then(Value::as_object).and_then(|patterns| {
        assert!(patterns.keys().all(|pattern| pattern == r"^\d+$"), "this test knows numbers only");
        let is_number = !name.is_empty() && name.bytes().all(|letter| letter.is_ascii_digit());
        patterns.values().next().filter(|_| is_number)
    });
    match keyword {
        "properties" => named,
        "patternProperties" => by_pattern,
        _ if named.is_some() || by_pattern.is_some() => None,
        _ => keywords.get("additionalProperties"),
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        unknown => panic!("there is no type {unknown}"),
    }
}

#[test]
fn what_the_schema_forbids_is_found() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"a": {"type": ["integer", "null"], "minimum": 1}, "b": {"$ref": "#/$defs/B"}},
        "required": ["a"],
        "additionalProperties": false,
        "$defs": {"B": {"oneOf": [{"const": "x"}, {"type": "array", "items": {"type": "number"}, "maxItems": 2}]}},
    });
    for right in [r#"{"a": 1}"#, r#"{"a": null, "b": "x"}"#, r#"{"a": 3, "b": [1.5, 2]}"#] {
        assert!(is_valid(&schema, &schema, &serde_json::from_str(right).unwrap()), "{right}");
    }
    let wrong = [
        "3",
        "{}",
        r#"{"a": 0}"#,
        r#"{"a": 1.5}"#,
        r#"{"a": 1, "c": 1}"#,
        r#"{"a": 1, "b": "y"}"#,
        r#"{"a": 1, "b": [1, 2, 3]}"#,
        r#"{"a": 1, "b": ["x"]}"#,
    ];
    for wrong in wrong {
        assert!(!is_valid(&schema, &schema, &serde_json::from_str(wrong).unwrap()), "{wrong}");
    }
}
