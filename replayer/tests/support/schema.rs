//! All that a test has a command print as JSON is valid by the schema.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::Value;
use titr_replayer::schema::OUTPUTS;

use super::command::TITR_REPLAY;

/// A validator for each output, by its name.
static VALIDATORS: LazyLock<BTreeMap<&'static str, Validator>> = LazyLock::new(|| {
    let validator = |schema: &Value| jsonschema::draft202012::new(schema).unwrap();
    OUTPUTS.iter().map(|output| (output.name, validator(output.schema().as_value()))).collect()
});

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
    let errors: Vec<String> =
        VALIDATORS[name].iter_errors(output).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "the output of {name} is not valid:\n{}", errors.join("\n"));
}
