//! The JSON Schema (draft 2020-12) of all that the commands print as JSON, generated from the types that they print.
//!
//! The schema is closed: an object has no properties but those that the schema names. The types of quantities have their unit
//! as `x-unit`. `docs/schema/result.json` is the schema of all outputs, and a test holds the file to the code.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use titr_analyses::AnalysedResult;
use titr_simulation::traffic::TrafficResult;
use titr_simulation::triggered::TriggeredResult;

use crate::diff::Difference;
use crate::inspect::TraceInfo;
use crate::machine::MachineSummary;
use crate::page::{PageData, StudyPage};
use crate::report::variations::Variations;
use crate::scaling::EfficiencyTable;
use crate::studies::advise::Advice;
use crate::studies::placement::FastestPlacement;
use crate::studies::tolerance::Tolerances;

/// A kind of JSON object that a command writes.
pub struct Output {
    /// The name of the output.
    pub name: &'static str,
    /// The command that writes the object.
    pub command: &'static str,
    /// Adds the types of the object to those of a generator, and returns a reference to its own.
    add: fn(&mut SchemaGenerator) -> Schema,
}

/// Declares the outputs: the name, the command that writes the object, and the type of the object.
macro_rules! outputs {
    ($($name:literal, $command:literal => $type:ty;)+) => {
        /// The names of all outputs. Apart from [`OUTPUTS`], so that a command that names them contains no generator.
        pub(crate) const NAMES: &[&str] = &[$($name),+];

        /// All outputs.
        pub static OUTPUTS: &[Output] = &[$(Output::of::<$type>($name, $command)),+];
    };
}

outputs! {
    "replay", "titr replay --json" => AnalysedResult;
    "vary", "titr vary --json" => Variations;
    "traffic", "titr traffic --json" => TrafficResult;
    "triggered", "titr trigger --json" => TriggeredResult;
    "diff", "titr diff --json" => Difference;
    "efficiency", "titr efficiency --json" => EfficiencyTable;
    "tolerance", "titr tolerance --json" => Tolerances;
    "place", "titr place --json" => FastestPlacement;
    "advise", "titr advise --json" => Advice;
    "info", "titr info --json" => TraceInfo;
    "platform", "titr platform show --json" => MachineSummary;
    "page", "titr replay --report, which embeds the object in the page" => PageData;
    "study-page", "titr sweep, which embeds the object in page.html" => StudyPage;
}

impl Output {
    const fn of<T: JsonSchema>(name: &'static str, command: &'static str) -> Self {
        Self { name, command, add: SchemaGenerator::subschema_for::<T> }
    }

    /// The schema of this output alone.
    #[must_use]
    pub fn schema(&self) -> Schema {
        let mut generator = generator();
        let title = format!("Output of {}", self.command);
        let root = (self.add)(&mut generator);
        document(generator, &title, root)
    }
}

/// The schema of all outputs: an object is valid if it is one of them.
#[must_use]
pub fn schema() -> Schema {
    let mut generator = generator();
    let mut one_of = |output: &Output| {
        let mut schema = (output.add)(&mut generator);
        schema.insert("title".to_owned(), output.name.into());
        schema.insert("description".to_owned(), format!("Output of {}", output.command).into());
        schema.to_value()
    };
    let outputs: Vec<Value> = OUTPUTS.iter().map(&mut one_of).collect();
    let mut root = Schema::default();
    root.insert("anyOf".to_owned(), outputs.into());
    document(generator, "Results of titr", root)
}

/// A generator of schemas of what is written, with all objects closed.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(close)).with_transform(RecursiveTransform(reword));
    settings.into_generator()
}

/// Forbids other properties than those of an object's schema, and `null` for a property that is left out instead.
fn close(schema: &mut Schema) {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (name, property) in properties {
        let is_optional = !required.iter().any(|required| required == name);
        let Some(property) = property.as_object_mut() else { continue };
        // A default is of what is read, and everything is written.
        property.remove("default");
        let none = if is_optional { "absent" } else { "`null`" };
        if let Some(Value::String(description)) = property.get_mut("description") {
            *description = description.replace("`None`", none);
        }
        if is_optional {
            forbid_null(property);
        }
    }
    if schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Makes the schema of `T` from the schema of an `Option<T>`.
fn forbid_null(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| *choice != json!({"type": "null"}));
        if let [Value::Object(only)] = &choices[..] {
            let only = only.clone();
            schema.remove("anyOf");
            schema.extend(only);
        }
    }
}

/// Makes a description of a comment: without the targets of its links, and in one line.
fn reword(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        let mut parts = description.split("](");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (_, after) = part.split_once(')').unwrap_or(("", part));
            text = text.replace('[', "") + after;
        }
        *description = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// A document with the types of a generator.
fn document(mut generator: SchemaGenerator, title: &str, root: Schema) -> Schema {
    let types = generator.take_definitions(true);
    let mut document = schemars::json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
    });
    let root = root.to_value();
    document.ensure_object().extend(root.as_object().cloned().unwrap_or_default());
    document.insert("$defs".to_owned(), json!(types));
    document
}
