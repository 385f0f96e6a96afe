//! `<config>`: SimGrid's options, as far as they are about what a replay predicts.

use std::collections::BTreeMap;

use toml::Value;

use super::Reading;
use super::element::{Attribute, Element, Known, Read};
use crate::source::Place;

const CONFIG: Known = Known { read: &["id"], refused: &[] };
const PROP: Known = Known { read: &["id", "value"], refused: &[] };

/// Options that change how SimGrid works and not, or hardly, what it finds.
const WITHOUT_EFFECT: [&str; 12] = [
    "contexts/",
    "cpu/optim",
    "cpu/maxmin-selective-update",
    "debug/",
    "maxmin/",
    "network/maxmin-selective-update",
    "network/optim",
    "path",
    "precision/",
    "surf/precision",
    "tracing",
    "smpi/host-speed",
];

/// Keys of titr's schema, with values and where those are said.
#[derive(Default)]
pub struct Options {
    /// Under `[network.flow]`.
    pub flow: BTreeMap<&'static str, (Value, Place)>,
    /// Under `[mpi]`.
    pub mpi: BTreeMap<&'static str, (Value, Place)>,
}

impl Options {
    /// Reads one `<config>`. An option that is given again keeps its first value, as in SimGrid.
    pub fn read(&mut self, config: &Element, reading: &mut Reading) -> Read<()> {
        config.check_attributes(&CONFIG)?;
        for prop in config.children() {
            if prop.name() != "prop" {
                return Err(prop.unexpected(config));
            }
            prop.check_attributes(&PROP)?;
            let (option, value) = (prop.required("id")?, prop.required("value")?);
            self.option(&option, &value, reading)?;
        }
        Ok(())
    }

    fn option(&mut self, option: &Attribute, value: &Attribute, reading: &mut Reading) -> Read<()> {
        let place = value.place.clone();
        let (table, key, meaning) = match option.value {
            "network/TCP-gamma" => (&mut self.flow, "tcp_gamma", number(value)?.into()),
            "network/weight-S" => (&mut self.flow, "weight_s", number(value)?.into()),
            "network/crosstraffic" => {
                let yes_or_no = [
                    ("yes", 0.05),
                    ("on", 0.05),
                    ("true", 0.05),
                    ("1", 0.05),
                    ("no", 0.0),
                    ("off", 0.0),
                    ("false", 0.0),
                    ("0", 0.0),
                ];
                (&mut self.flow, "crosstraffic", value.one_of(&yes_or_no)?.into())
            }
            "smpi/bw-factor" => (&mut self.flow, "bandwidth_factor", steps(value, 1)?),
            "smpi/lat-factor" => (&mut self.flow, "latency_factor", steps(value, 1)?),
            "smpi/os" => (&mut self.mpi, "send_overhead", steps(value, 2)?),
            "smpi/ois" => (&mut self.mpi, "isend_overhead", steps(value, 2)?),
            "smpi/or" => (&mut self.mpi, "recv_overhead", steps(value, 2)?),
            "smpi/send-is-detached-thresh" => {
                (&mut self.mpi, "eager_threshold", format!("{} B", value.count()?).into())
            }
            "smpi/coll-selector" => {
                let libraries = [("default", "simgrid"), ("mpich", "mpich"), ("ompi", "simgrid-openmpi")];
                (&mut self.mpi, "collectives", value.one_of(&libraries)?.into())
            }
            "network/model" => {
                reading.warn(&place, "smpirun chooses the network model itself, so this has no effect");
                return Ok(());
            }
            known if WITHOUT_EFFECT.iter().any(|option| known.starts_with(option)) => return Ok(()),
            unknown => {
                let mistake = option.wrong(format!("titr does not know the option `{unknown}`"));
                return Err(mistake.with_help("leave it out; --set KEY=VALUE sets what titr has of the kind"));
            }
        };
        table.entry(key).or_insert((meaning, place));
        Ok(())
    }
}

fn number(written: &Attribute) -> Read<f64> {
    let wrong = |_| written.wrong(format!("`{}` is not a number", written.value));
    written.value.trim().parse().map_err(wrong)
}

/// `size:value;…` as a list of lists. Of each step's values SimGrid takes the first `width`.
fn steps(written: &Attribute, width: usize) -> Read<Value> {
    let step = |step: Attribute| {
        let mut parts = step.split(':');
        let size = parts.next().map_or(Ok(0), |size| size.count())?;
        let values = parts.take(width).map(|value| number(&value)).collect::<Read<Vec<_>>>()?;
        if values.len() < width {
            let mistake = step.wrong(format!("a step has a size and {width} more numbers"));
            return Err(mistake.with_help("separate numbers by colons, and steps by semicolons"));
        }
        let values = values.into_iter().map(Value::from);
        Ok(Value::Array(std::iter::once(Value::from(size)).chain(values).collect()))
    };
    Ok(Value::Array(written.split(';').map(step).collect::<Read<_>>()?))
}
