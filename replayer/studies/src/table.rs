//! The table of results: a row for each point, as CSV (RFC 4180), and the units of its columns in a second file.

use std::io;
use std::path::Path;

use csv::WriterBuilder;
use titr_common::format::cell;
use titr_common::output::OutputFile;

use crate::inputs::Inputs;
use crate::outcome::{COLUMNS, Column, PointOutcome};

/// The name of the table.
pub(crate) const RESULTS: &str = "results.csv";

/// The name of the table of units.
pub(crate) const UNITS: &str = "results.units.csv";

/// Writes the outcomes of all points, in the order of the points.
pub(crate) fn write(inputs: &Inputs, outcomes: &[PointOutcome], folder: &Path) -> io::Result<()> {
    let axes: Vec<_> = inputs.study.varied().map(|(number, axis)| (number, axis.key.name(), axis.unit())).collect();
    let is_used = |column: &&Column| outcomes.iter().any(|outcome| (column.number)(outcome).is_some());
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_used).collect();

    let mut table = WriterBuilder::new().from_writer(OutputFile::create(&folder.join(RESULTS))?);
    let names = axes.iter().map(|(_, name, _)| *name).chain(columns.iter().map(|column| column.name));
    table.write_record(names.clone().map(|name| cell(name).into_owned()))?;
    for (point, outcome) in outcomes.iter().enumerate() {
        let settings = inputs.settings(point);
        let of_axes = axes.iter().map(|(number, _, unit)| {
            settings.get(*number).map_or_else(String::new, |setting| cell(&setting.cell(*unit)).into_owned())
        });
        let number = |column: &&Column| (column.number)(outcome).map_or_else(String::new, |number| number.to_string());
        table.write_record(of_axes.chain(columns.iter().map(number)))?;
    }
    let mut units = WriterBuilder::new().from_writer(OutputFile::create(&folder.join(UNITS))?);
    units.write_record(["column", "unit"])?;
    let of_columns = columns.iter().map(|column| column.unit);
    for (name, unit) in names.zip(axes.iter().map(|(_, _, unit)| unit.unwrap_or_default()).chain(of_columns)) {
        units.write_record([cell(name).as_ref(), unit])?;
    }
    let mut files = [table, units].map(|table| table.into_inner().map_err(csv::IntoInnerError::into_error));
    for file in &mut files {
        match file {
            Ok(file) => file.finish()?,
            Err(error) => return Err(io::Error::new(error.kind(), error.to_string())),
        }
    }
    Ok(())
}
