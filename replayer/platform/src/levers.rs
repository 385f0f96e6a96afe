//! The keys of a platform by which its network and its hosts could be twice as fast, for suggestions.

use std::path::Path;

use titr_common::units::{Bandwidth, Seconds, Written};
use titr_document::{Located, Table, Value};

use crate::scaling::scaled_text;
use crate::{HostSpeed, Platform, PlatformError, read, tables};

/// The property of a machine that a key sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The speed of hosts.
    Speed,
    /// The bandwidth of links.
    Bandwidth,
    /// The latency of links.
    Latency,
}

/// A key of a platform, with a value that makes the machine faster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lever {
    /// The key, such as `network.bandwidth`.
    pub key: String,
    /// The property that it sets.
    pub property: Property,
    /// Twice the speed or bandwidth, or half the latency, as `--set` takes it.
    pub value: String,
}

impl Platform {
    /// The levers of the platform in a file, with `KEY=VALUE` overrides. Links that are listed one by one have none.
    ///
    /// # Errors
    /// As [`Platform::load`].
    pub fn levers(path: &Path, overrides: &[String]) -> Result<Vec<Lever>, PlatformError> {
        let tables = tables::tables(path, read(path)?, overrides, &[])?;
        let mut levers = Vec::new();
        if let Value::Table(table) = &tables.value {
            of_table(table, "", &mut levers);
        }
        Ok(levers)
    }
}

/// Appends the levers among the keys of a table, whose own key is `path`.
fn of_table(table: &Table, path: &str, levers: &mut Vec<Lever>) {
    for (key, Located { value, .. }) in table.entries() {
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let property = match (path.split('.').next(), key) {
            (Some("hosts"), "speed") => Property::Speed,
            (Some("network" | "topology"), "bandwidth") => Property::Bandwidth,
            (Some("network" | "topology"), "latency") => Property::Latency,
            (root, _) if path == "hosts" || matches!(root, Some("network" | "topology")) => {
                if let Value::Table(below) = value {
                    of_table(below, &path, levers);
                }
                continue;
            }
            (_, _) => continue,
        };
        levers.extend(property.improved(value).map(|value| Lever { key: path, property, value: plain(value) }));
    }
}

/// A value in TOML as `--set` takes it: a text needs no quotes there.
fn plain(value: String) -> String {
    match value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        Some(text) => text.to_owned(),
        None => value,
    }
}

/// A quantity as people write it, such as `2.5 GB/s`, where that is exact.
fn quantity(number: f64, unit: &str) -> String {
    let prefixes = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n")];
    let (scale, prefix) = prefixes.into_iter().find(|(scale, _)| number >= *scale).unwrap_or((1.0, ""));
    let short = format!("{} {prefix}{unit}", number / scale);
    let is_exact = number / scale * scale == number && short.len() < 16;
    if is_exact { short } else { format!("{number} {unit}") }
}

impl Property {
    /// The factor that makes the property twice as good.
    fn factor(self) -> f64 {
        match self {
            Self::Speed | Self::Bandwidth => 2.0,
            Self::Latency => 0.5,
        }
    }

    /// The value in TOML for a property that is twice as good; `None` if `value` is no quantity, or nothing can be better.
    fn improved(self, value: &Value) -> Option<String> {
        let quoted = |text: &str| Some(toml::Value::from(text).to_string());
        match value {
            Value::Text(text) => quoted(&self.improved_text(text)?),
            Value::Quantity(number) if *number > 0.0 => {
                let unit = match self {
                    Self::Speed => "flop/s",
                    Self::Bandwidth => "B/s",
                    Self::Latency => "s",
                };
                quoted(&quantity(number * self.factor(), unit))
            }
            Value::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.improved(&item.value)).collect();
                Some(format!("[{}]", items.filter(|items| !items.is_empty())?.join(", ")))
            }
            Value::Quantity(_) | Value::Whole(_) | Value::Number(_) | Value::Flag(_) | Value::Table(_) => None,
        }
    }

    /// The quantity in `text`, twice as good, in the same unit.
    fn improved_text(self, text: &str) -> Option<String> {
        let is_right = match self {
            Self::Speed => HostSpeed::written(text).is_ok(),
            Self::Bandwidth => Bandwidth::written(text).is_ok(),
            Self::Latency => Seconds::written(text).is_ok_and(|latency| latency.0 > 0.0),
        };
        is_right.then(|| scaled_text(text, self.factor())).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lever_makes_a_property_twice_as_good_in_the_unit_that_was_written() {
        let improved = |property: Property, text: &str| property.improved(&Value::Text(text.to_owned()));
        let shown = [
            improved(Property::Bandwidth, "10 Gbit/s"),
            improved(Property::Latency, "1.5us"),
            improved(Property::Speed, "1 x recorded"),
            improved(Property::Bandwidth, "1e9 B/s"),
        ];
        let expected = ["\"20 Gbit/s\"", "\"0.75 us\"", "\"2 x recorded\"", "\"2000000000 B/s\""];
        assert_eq!(shown, expected.map(|value| Some(value.to_owned())));
    }

    #[test]
    fn what_is_no_quantity_or_cannot_be_better_is_no_lever() {
        let improved = |property: Property, text: &str| property.improved(&Value::Text(text.to_owned()));
        assert_eq!(improved(Property::Latency, "0 s"), None);
        assert_eq!(improved(Property::Bandwidth, "fast"), None);
        assert_eq!(Property::Latency.improved(&Value::Quantity(0.0)), None);
        assert_eq!(Property::Latency.improved(&Value::List(Vec::new())), None);
    }
}
