//! The table of results as Apache Parquet. A column whose cells are all numbers has numbers, and each other column has texts. A
//! cell without a value is null. The metadata of the file has the units, as `unit.COLUMN`.

use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use titr_common::output::OutputFile;

use crate::series::Series;

/// Writes the file.
pub(crate) fn write(series: &[Series], path: &Path) -> io::Result<()> {
    let file = OutputFile::create(path)?;
    write_to(series, file).map_err(as_io)?.finish()
}

fn as_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        other => io::Error::other(other),
    }
}

fn write_to<W: io::Write + Send>(series: &[Series], to: W) -> Result<W> {
    let columns: Vec<Cells> = series.iter().map(Cells::of).collect();
    let fields = series.iter().zip(&columns).map(|(column, cells)| cells.field(column.name));
    let schema = Type::group_type_builder("results").with_fields(fields.collect::<Result<_>>()?).build()?;
    let units = series.iter().filter(|column| !column.unit.is_empty());
    let units = units.map(|column| KeyValue::new(format!("unit.{}", column.name), column.unit.to_owned())).collect();
    let properties = WriterProperties::builder()
        .set_created_by(format!("titr {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(units));
    let mut file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties.build()))?;
    let mut rows = file.next_row_group()?;
    for cells in &columns {
        let Some(mut column) = rows.next_column()? else { break };
        let levels = cells.levels();
        match cells {
            Cells::Numbers(numbers) => {
                let values: Vec<f64> = numbers.iter().flatten().copied().collect();
                column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
            }
            Cells::Texts(texts) => {
                let values: Vec<ByteArray> =
                    texts.iter().flatten().map(|text| ByteArray::from(text.as_str())).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
            }
        }
        column.close()?;
    }
    rows.close()?;
    file.into_inner()
}

/// The cells of a column.
enum Cells {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl Cells {
    fn of(series: &Series) -> Self {
        let value = |cell: &String| Some(cell.clone()).filter(|cell| !cell.is_empty());
        let number = |cell: &String| match value(cell) {
            Some(cell) => cell.parse().ok().filter(|number: &f64| number.is_finite()).map(Some),
            None => Some(None),
        };
        match series.cells.iter().map(number).collect() {
            Some(numbers) => Self::Numbers(numbers),
            None => Self::Texts(series.cells.iter().map(value).collect()),
        }
    }

    fn field(&self, name: &str) -> Result<Arc<Type>> {
        let (physical, logical) = match self {
            Self::Numbers(_) => (Physical::DOUBLE, None),
            Self::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
    }

    /// Parquet's definition levels: 1 for a value, 0 for none.
    fn levels(&self) -> Vec<i16> {
        match self {
            Self::Numbers(numbers) => numbers.iter().map(|number| number.is_some().into()).collect(),
            Self::Texts(texts) => texts.iter().map(|text| text.is_some().into()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn numbers_texts_and_cells_without_a_value_are_read_back() {
        let cells = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let series = [
            Series { name: "network.bandwidth", unit: "B/s", cells: cells(["125000000", "1e9", "12.5"]) },
            Series { name: "trace", unit: "", cells: cells(["cg", "1", ""]) },
            Series { name: "cost", unit: "", cells: cells(["", "0.1", ""]) },
        ];
        let written = write_to(&series, Vec::new()).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(written)).unwrap();
        let rows: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(
            rows,
            [
                r#"{network.bandwidth: 125000000.0, trace: "cg", cost: null}"#,
                r#"{network.bandwidth: 1000000000.0, trace: "1", cost: 0.1}"#,
                r#"{network.bandwidth: 12.5, trace: null, cost: null}"#,
            ]
        );
        let units = reader.metadata().file_metadata().key_value_metadata().cloned();
        assert_eq!(units, Some(vec![KeyValue::new("unit.network.bandwidth".to_owned(), "B/s".to_owned())]));
    }
}
