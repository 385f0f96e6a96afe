//! `<config>`: SimGrid's options, as far as they are about what a replay predicts.

use super::Reading;
use super::element::{Attribute, Element, Known};
use crate::document::{Located, Value};
use crate::source::Checked;

const CONFIG: Known = Known { read: &["id"], refused: &[] };
const PROP: Known = Known { read: &["id", "value"], refused: &[] };

/// Options that change how SimGrid works, but hardly what it predicts.
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

/// Reads one `<config>`. An option that is given again keeps its first value, as in SimGrid.
pub fn read(config: &Element, reading: &mut Reading) -> Checked<()> {
    config.check_attributes(&CONFIG)?;
    for prop in config.children() {
        if prop.name() != "prop" {
            return Err(prop.unexpected(config));
        }
        prop.check_attributes(&PROP)?;
        read_option(&prop.required("id")?, &prop.required("value")?, reading)?;
    }
    Ok(())
}

fn read_option(option: &Attribute, value: &Attribute, reading: &mut Reading) -> Checked<()> {
    let (key, meaning): (_, Value) = match option.value {
        "network/TCP-gamma" => ("network.flow.tcp_gamma", number(value)?.into()),
        "network/weight-S" => ("network.flow.weight_s", number(value)?.into()),
        "network/crosstraffic" => {
            let (yes, no) = (0.05, 0.0);
            let choices = [
                ("yes", yes),
                ("on", yes),
                ("true", yes),
                ("1", yes),
                ("no", no),
                ("off", no),
                ("false", no),
                ("0", no),
            ];
            ("network.flow.crosstraffic", value.one_of(&choices)?.into())
        }
        "smpi/bw-factor" => ("network.flow.bandwidth_factor", steps(value, 1)?.into()),
        "smpi/lat-factor" => ("network.flow.latency_factor", steps(value, 1)?.into()),
        "smpi/os" => ("mpi.send_overhead", steps(value, 2)?.into()),
        "smpi/ois" => ("mpi.isend_overhead", steps(value, 2)?.into()),
        "smpi/or" => ("mpi.recv_overhead", steps(value, 2)?.into()),
        "smpi/send-is-detached-thresh" => ("mpi.eager_threshold", Value::Quantity(value.count()?.into())),
        "smpi/coll-selector" => {
            let libraries = [("default", "simgrid"), ("mpich", "mpich"), ("ompi", "simgrid-openmpi")];
            ("mpi.collectives", value.one_of(&libraries)?.into())
        }
        "network/model" => {
            reading.warn(&value.place, "smpirun chooses the network model itself, so this has no effect");
            return Ok(());
        }
        known if WITHOUT_EFFECT.iter().any(|option| known.starts_with(option)) => return Ok(()),
        unknown => {
            let mistake = option.wrong(format!("titr does not know the option `{unknown}`"));
            return Err(mistake.with_help("leave it out; --set KEY=VALUE sets what titr has of the kind"));
        }
    };
    reading.set(key, value.says(meaning));
    Ok(())
}

fn number(written: &Attribute) -> Checked<f64> {
    let wrong = |_| written.wrong(format!("`{}` is not a number", written.value));
    written.value.trim().parse().map_err(wrong)
}

/// `size:value;…` as a list of lists. Of each step's values SimGrid takes the first `width`.
fn steps(written: &Attribute, width: usize) -> Checked<Vec<Located>> {
    let step = |step: Attribute| {
        let mut parts = step.split(':');
        let mut numbers = vec![written.says(parts.next().map_or(Ok(0), |size| size.count())?)];
        for value in parts.take(width) {
            numbers.push(written.says(number(&value)?));
        }
        if numbers.len() <= width {
            let mistake = step.wrong(format!("a step has a size and {width} more numbers"));
            return Err(mistake.with_help("separate numbers by colons, and steps by semicolons"));
        }
        Ok(written.says(numbers))
    };
    written.split(';').map(step).collect()
}
