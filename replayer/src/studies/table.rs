//! The table of results: a row for each point, as CSV (RFC 4180) with the units of its columns in a second file.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use csv::WriterBuilder;
use titr_common::format::cell;
use titr_common::output::OutputFile;

use crate::studies::inputs::Inputs;
use crate::studies::outcome::{COLUMNS, PointOutcome};

/// The name of the table.
pub(crate) const RESULTS: &str = "results.csv";

/// The name of the table of units.
pub(crate) const UNITS: &str = "results.units.csv";

/// A column of the table.
struct Series<'a> {
    name: Cow<'a, str>,
    /// The unit; empty for plain numbers and texts.
    unit: &'a str,
    /// The value of each point, a number or a text; empty if there is none.
    cells: Vec<String>,
}

/// Writes the outcomes of all points, in the order of the points.
pub(crate) fn write(inputs: &Inputs, outcomes: &[PointOutcome], folder: &Path) -> io::Result<()> {
    let series = series(inputs, outcomes);
    let mut table = WriterBuilder::new().from_writer(OutputFile::create(&folder.join(RESULTS))?);
    table.write_record(series.iter().map(|column| cell(&column.name).into_owned()))?;
    for point in 0..outcomes.len() {
        table.write_record(series.iter().map(|column| cell(&column.cells[point]).into_owned()))?;
    }
    let mut units = WriterBuilder::new().from_writer(OutputFile::create(&folder.join(UNITS))?);
    units.write_record(["column", "unit"])?;
    for column in &series {
        units.write_record([cell(&column.name).as_ref(), column.unit])?;
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

/// The columns: axes, and the numbers of outcomes that any point has.
fn series<'a>(inputs: &'a Inputs, outcomes: &[PointOutcome]) -> Vec<Series<'a>> {
    let axes = inputs.study.varied().flat_map(|(number, axis)| {
        let unit = axis.written_unit();
        let value = |point| inputs.settings(point).get(number).map_or_else(String::new, |one| one.cell(unit));
        let unit = unit.unwrap_or_default();
        let series = Series { name: axis.key.name().into(), unit, cells: (0..outcomes.len()).map(value).collect() };
        let units = (!unit.is_empty()).then(|| Series {
            name: format!("{}_unit", axis.key.name()).into(),
            unit: "",
            cells: vec![unit.to_owned(); outcomes.len()],
        });
        let name =
            |point: usize| inputs.settings(point).get(number).and_then(|one| one.name.clone()).unwrap_or_default();
        let names = Series {
            name: format!("{}_name", axis.key.name()).into(),
            unit: "",
            cells: (0..outcomes.len()).map(name).collect(),
        };
        let names = names.cells.iter().any(|name| !name.is_empty()).then_some(names);
        [Some(series), names, units].into_iter().flatten()
    });
    let numbers = COLUMNS.iter().map(|column| {
        let number = |outcome| (column.number)(outcome).map_or_else(String::new, |number| number.to_string());
        Series { name: column.name.into(), unit: column.unit, cells: outcomes.iter().map(number).collect() }
    });
    axes.chain(numbers.filter(|series| series.cells.iter().any(|cell| !cell.is_empty()))).collect()
}
