//! `titr schema`.

use std::io::Write;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::Failure;
use crate::schema::{OUTPUTS, schema};

/// Prints the JSON Schema of the output of --json.
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// Prints the schema of this output only.
    #[arg(value_parser = PossibleValuesParser::new(OUTPUTS.iter().map(|output| output.name)))]
    output: Option<String>,
}

/// The command.
pub(super) fn print_schema(args: &SchemaArgs, out: &mut impl Write) -> Result<(), Failure> {
    let asked = args.output.as_ref().and_then(|name| OUTPUTS.iter().find(|output| output.name == name));
    let schema = asked.map_or_else(schema, |output| output.schema());
    serde_json::to_writer_pretty(&mut *out, &schema).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}
