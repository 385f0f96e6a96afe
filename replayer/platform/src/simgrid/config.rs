//! `<config>`: SimGrid's options that affect the predictions of a replay.

use super::Reading;
use super::element::{Attribute, Element, Known};
use super::units::{BANDWIDTH, TIME};
use titr_document::{Checked, Located, Value};

const CONFIG: Known = &["id"];
const PROP: Known = &["id", "value"];

/// Options of SimGrid that have hardly any effect on its predictions.
const WITHOUT_EFFECT: [&str; 37] = [
    "bmf/",
    "clean-atexit",
    "contexts/",
    "cpu/",
    "debug/",
    "disk/",
    "exception/",
    "host/",
    "maxmin/",
    "model-check/",
    "network/coordinates",
    "network/maxmin-selective-update",
    "network/optim",
    "network/solver",
    "ns3/",
    "path",
    "plugin",
    "precision/",
    "storage/",
    "surf/precision",
    "tracing",
    "verbose-exit",
    "vm/",
    "smpi/auto-shared-malloc-thresh",
    "smpi/buffering",
    "smpi/cpu-threshold",
    "smpi/display-",
    "smpi/errors-are-fatal",
    "smpi/grow-injected-times",
    "smpi/iprobe-cpu-usage",
    "smpi/keep-temps",
    "smpi/list-leaks",
    "smpi/papi-events",
    "smpi/pedantic",
    "smpi/privati",
    "smpi/shared-malloc",
    "smpi/trace-call",
];

/// Options of network models that smpirun does not select, provided that the factors are single numbers: the steps that
/// SimGrid 4 accepts there belong to its model for MPI.
const OF_OTHER_MODELS: [&str; 3] = ["network/model", "network/bandwidth-factor", "network/latency-factor"];

/// Options for programs that run inside SimGrid. A replay has none of their calls, and does not measure computation.
const OF_RUNNING_PROGRAMS: [&str; 5] =
    ["smpi/comp-adjustment-file", "smpi/host-speed", "smpi/init", "smpi/tmpdir", "smpi/wtime"];

/// The speed of hosts whose computation takes no time, in instructions per second.
const WITHOUT_COMPUTATION: f64 = 1e30;

/// Names that options had in earlier versions of SimGrid.
const OLD_NAMES: [(&str, &str); 12] = [
    ("network/TCP_gamma", "network/TCP-gamma"),
    ("network/weight_S", "network/weight-S"),
    ("network/bandwidth_factor", "network/bandwidth-factor"),
    ("network/latency_factor", "network/latency-factor"),
    ("smpi/bw_factor", "smpi/bw-factor"),
    ("smpi/lat_factor", "smpi/lat-factor"),
    ("smpi/async_small_thres", "smpi/async-small-thresh"),
    ("smpi/send_is_detached_thres", "smpi/send-is-detached-thresh"),
    ("smpi/coll_selector", "smpi/coll-selector"),
    ("smpi/cpu_threshold", "smpi/cpu-threshold"),
    ("smpi/running-power", "smpi/host-speed"),
    ("smpi/simulate_computation", "smpi/simulate-computation"),
];

/// Reads one `<config>`. An option that is given again keeps its first value, as in SimGrid.
pub(crate) fn read(config: &Element, reading: &mut Reading) -> Checked<()> {
    config.check_attributes(CONFIG)?;
    for prop in config.children() {
        if prop.name() != "prop" {
            return Err(prop.unexpected(config));
        }
        prop.check_attributes(PROP)?;
        read_option(&prop.required("id")?, &prop.required("value")?, reading)?;
    }
    Ok(())
}

fn read_option(option: &Attribute, value: &Attribute, reading: &mut Reading) -> Checked<()> {
    let current = OLD_NAMES.iter().find(|(old, _)| *old == option.value).map_or(option.value, |(_, current)| current);
    let (key, meaning): (_, Value) = match current {
        model if OF_OTHER_MODELS.contains(&model) && !value.value.contains(':') => {
            let message = "smpirun chooses the network model itself, so this has no effect";
            reading.warn_once("network/model", &value.place, message);
            return Ok(());
        }
        "network/TCP-gamma" => ("network.flow.tcp_gamma", number(value)?.into()),
        "network/weight-S" => ("network.flow.weight_s", number(value)?.into()),
        "network/crosstraffic" => ("network.flow.crosstraffic", if is_yes(value)? { 0.05 } else { 0.0 }.into()),
        "smpi/simulate-computation" if is_yes(value)? => return Ok(()),
        "smpi/simulate-computation" => ("hosts.speed", Value::Quantity(WITHOUT_COMPUTATION)),
        left_out if OF_RUNNING_PROGRAMS.contains(&left_out) => {
            reading.left_out.insert(option.value.to_owned());
            return Ok(());
        }
        "smpi/test" => ("mpi.test_overhead", Value::Quantity(value.quantity(&TIME)?)),
        "smpi/iprobe" => ("mpi.iprobe_overhead", Value::Quantity(value.quantity(&TIME)?)),
        "smpi/bw-factor" | "network/bandwidth-factor" => ("network.flow.bandwidth_factor", steps(value, 1)?.into()),
        "smpi/lat-factor" | "network/latency-factor" => ("network.flow.latency_factor", steps(value, 1)?.into()),
        "smpi/os" => ("mpi.send_overhead", steps(value, 2)?.into()),
        "smpi/ois" => ("mpi.isend_overhead", steps(value, 2)?.into()),
        "smpi/or" => ("mpi.recv_overhead", steps(value, 2)?.into()),
        "smpi/send-is-detached-thresh" => ("mpi.eager_threshold", Value::Quantity(value.count()?.into())),
        "smpi/coll-selector" => {
            let libraries = [("default", "simgrid"), ("mpich", "mpich"), ("ompi", "simgrid-openmpi")];
            ("mpi.collectives", value.one_of(&libraries)?.into())
        }
        "network/loopback-bw" => return loopback(value, value.positive(&BANDWIDTH)?, "network/loopback-bw", reading),
        "network/loopback-lat" => return loopback(value, value.quantity(&TIME)?, "network/loopback-lat", reading),
        "smpi/async-small-thresh" => match value.count()? {
            0 => return Ok(()),
            _ => ("mpi.eager_transfer", "at-once".into()),
        },
        "network/sender_gap" if number(value)? == 0.0 => return Ok(()),
        known if WITHOUT_EFFECT.iter().any(|option| known.starts_with(option)) => return Ok(()),
        unknown => {
            let mistake = option.wrong(format!("titr does not know the option `{unknown}`"));
            return Err(mistake.with_help("leave it out; --set KEY=VALUE sets what titr has of the kind"));
        }
    };
    reading.set(key, value.says(meaning));
    Ok(())
}

/// Takes note of an option about the link by which hosts outside clusters reach themselves.
fn loopback(value: &Attribute, quantity: f64, option: &'static str, reading: &mut Reading) -> Checked<()> {
    if quantity.is_finite() {
        reading.options.entry(option).or_insert(quantity);
        return Ok(());
    }
    Err(value.wrong("this is not finite"))
}

fn is_yes(written: &Attribute) -> Checked<bool> {
    let [yes, no] = [["yes", "on", "true", "1"], ["no", "off", "false", "0"]];
    written.one_of(&[yes.map(|word| (word, true)), no.map(|word| (word, false))].concat())
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
