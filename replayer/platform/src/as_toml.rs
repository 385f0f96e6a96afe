//! Platforms as the text of a platform file, such as the file that a platform of one line stands for.

use std::path::Path;

use titr_document::{Checked, Located, Source, Value};
use toml::Value as Toml;

use crate::{Platform, PlatformError, build, read, simgrid};

impl Platform {
    /// The text of a platform file for the platform in a file, or of one line, with `KEY=VALUE` overrides.
    ///
    /// # Errors
    /// As [`Platform::load`], or if the platform is in XML.
    pub fn as_toml(path: &Path, overrides: &[String]) -> Result<String, PlatformError> {
        Self::as_toml_scaled(path, overrides, &[])
    }

    /// The text of a platform file, like [`Platform::as_toml`], with the values of keys multiplied by factors.
    ///
    /// # Errors
    /// As [`Platform::as_toml`], or if the value of a key is neither a quantity nor a number.
    pub fn as_toml_scaled(
        path: &Path,
        overrides: &[String],
        factors: &[(String, f64)],
    ) -> Result<String, PlatformError> {
        let text = read(path)?;
        // A platform file is of a platform.
        Self::parse_scaled(path, text.clone(), overrides, factors)?;
        let source = Source::new(&path.display().to_string(), text.clone(), []);
        let unwritten =
            || source.mistake(None, "titr writes TOML of TOML or of one line, and this is another language");
        if simgrid::is_xml(&text) {
            return Err(unwritten().with_help("use the file as it is").into());
        }
        let tables = build::tables(path, text, overrides, factors)?;
        let value = toml_of(&tables, &source)?;
        Ok(toml::to_string(&value).map_err(|_| unwritten())?)
    }
}

fn toml_of(located: &Located, source: &Source) -> Checked<Toml> {
    Ok(match &located.value {
        Value::Text(text) => Toml::from(text.as_str()),
        Value::Whole(number) => Toml::from(
            i64::try_from(*number).map_err(|_| source.mistake(None, format!("{number} is too large for TOML")))?,
        ),
        Value::Number(number) | Value::Quantity(number) => Toml::from(*number),
        Value::Flag(flag) => Toml::from(*flag),
        Value::List(items) => Toml::Array(items.iter().map(|item| toml_of(item, source)).collect::<Checked<_>>()?),
        Value::Table(table) => {
            let entry = |(key, value): (&str, &Located)| Ok((key.to_owned(), toml_of(value, source)?));
            Toml::Table(table.entries().map(entry).collect::<Checked<_>>()?)
        }
    })
}
