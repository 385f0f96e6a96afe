//! `titr schema`: the committed schema, which a test holds to the types of the outputs. The command thus needs no generator.

use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Map, Value};

use super::Failure;
use crate::schema::NAMES;

/// The schema of all outputs.
const SCHEMA: &str = include_str!("../../../docs/schema/result.json");

/// Prints the JSON Schema of the output of --json.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// Prints the schema of this output only.
    #[arg(value_parser = PossibleValuesParser::new(NAMES))]
    output: Option<String>,
}

pub(super) fn print_schema(args: &SchemaArgs, out: &mut impl Write) -> Result<(), Failure> {
    let Some(name) = &args.output else { return Ok(out.write_all(SCHEMA.as_bytes())?) };
    let all = serde_json::from_str(SCHEMA).map_err(std::io::Error::from)?;
    serde_json::to_writer_pretty(&mut *out, &schema_of(name, all)).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

/// The schema of one output: its own type, and the types which that one refers to.
fn schema_of(name: &str, mut all: Value) -> Value {
    let outputs = all["anyOf"].take();
    let output = outputs.as_array().into_iter().flatten().find(|output| output["title"] == name);
    let mut schema = Map::from_iter([("$schema".to_owned(), all["$schema"].take())]);
    schema.extend(output.and_then(Value::as_object).cloned().unwrap_or_default());
    let mut types = BTreeSet::new();
    for property in schema.values() {
        collect_types(property, &all["$defs"], &mut types);
    }
    if let Some(definitions) = all["$defs"].as_object_mut() {
        definitions.retain(|name, _| types.contains(name));
    }
    schema.insert("$defs".to_owned(), all["$defs"].take());
    Value::Object(schema)
}

/// Adds the types that a schema refers to, and those which these refer to.
fn collect_types(schema: &Value, definitions: &Value, types: &mut BTreeSet<String>) {
    match schema {
        Value::String(text) => {
            if let Some(name) = text.strip_prefix("#/$defs/")
                && types.insert(name.to_owned())
            {
                collect_types(&definitions[name], definitions, types);
            }
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect_types(part, definitions, types)),
        Value::Object(parts) => parts.values().for_each(|part| collect_types(part, definitions, types)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
