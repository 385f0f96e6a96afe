//! The text of a platform file with the fitted parameters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use titr_common::units::{Bytes, Speed};

use crate::benchmarks::HostsFit;
use crate::compute::ComputeRate;
use crate::directions::Duplexity;
use crate::fit::Fit;
use crate::host_links::{Direction, HostLinks};
use crate::measurements::Measurements;
use crate::noise::Confidence;
use crate::noise::Noise;
use crate::residuals::Residuals;
use crate::robust::Line;
use crate::segments::Segment;
use crate::topology::NamedTopology;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hosts {
    pub count: u32,
    /// Ranks that a host has room for.
    pub cores: u32,
    pub speed: Speed,
    /// The source of the speed.
    pub speed_is: &'static str,
    pub links: HostLinks,
    pub inside: HostsFit,
    /// The part of the speed at which cores compute in regions of the program, by their names.
    pub regions: BTreeMap<String, f64>,
}

/// The platform file. `cables` is how many cables the messages took that were fitted; `collectives` names the MPI library.
pub(crate) fn cluster(
    fit: &Fit,
    confidence: &Confidence,
    noise: &Noise,
    hosts: &Hosts,
    topology: &NamedTopology,
    cables: u32,
    collectives: &str,
) -> String {
    let mut text = String::from("schema = 1\n\n[hosts]\n");
    if *topology == NamedTopology::Star {
        let _ = writeln!(text, "count = {}", hosts.count);
    }
    let _ = writeln!(text, "cores = {}", hosts.cores);
    let _ = writeln!(text, "# {}\nspeed = \"{} instr/s\"\n", hosts.speed_is, number(hosts.speed.per_second));
    if !hosts.regions.is_empty() {
        text += "# The rates in regions of the traced program, as parts of that speed.\n[hosts.regions]\n";
        for (region, &part) in &hosts.regions {
            let _ = writeln!(text, "{} = {}", toml_key(region), float(part));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{}", topology.table());

    let between = |unit: &str, scale: f64, parameter: &dyn Fn(&Fit) -> Option<f64>| match confidence.interval(parameter)
    {
        Some([low, high]) => format!(" 90 % confidence: {} to {} {unit}.", figures(low * scale), figures(high * scale)),
        None => String::new(),
    };
    let of_most = hosts.links.bandwidth / fit.bandwidth();
    let bandwidth = between("Mbit/s", of_most * 8e-6, &|fit| Some(fit.bandwidth()));
    let _ = writeln!(text, "[network]\n# {} Mbit/s.{bandwidth}", figures(hosts.links.bandwidth * 8e-6));
    if let Some(card) = hosts.inside.bandwidth {
        let _ = writeln!(text, "# That is of one process; several reach {} Mbit/s together.", figures(card * 8e-6));
    }
    let _ = writeln!(text, "bandwidth = \"{} B/s\"", number(hosts.inside.bandwidth.unwrap_or(hosts.links.bandwidth)));
    if let Some(limiter) = hosts.inside.limiter {
        text += "# What a host sends and receives together.\n";
        let _ = writeln!(text, "limiter = \"{} B/s\"", number(limiter));
    }
    let cables_of_fit = f64::from(cables.max(1));
    let latency = between("us", 1e6 / cables_of_fit, &|fit| Some(fit.latency()));
    let _ = writeln!(text, "# Of a cable; the messages that were measured took {cables}.{latency}");
    let _ = writeln!(text, "latency = \"{} s\"", number(fit.latency() / cables_of_fit));
    if fit.duplex == Duplexity::Half {
        let share = confidence.share(|refit| refit.duplex == fit.duplex);
        text += "# An exchange takes twice as long as a message one way.";
        let _ = writeln!(text, " Confidence: {:.0} %.\nduplex = \"half\"", 100.0 * share);
    }
    if let Some(loopback) = fit.loopback.filter(|_| !hosts.inside.has_inside) {
        text += "\n# Messages within a host, before the factors for their size.\n[network.loopback]\n";
        let rate = |fit: &Fit| Some(1.0 / fit.loopback?.per_byte.max(1e-11));
        let _ =
            writeln!(text, "# {} GB/s.{}", figures(1e-9 / loopback.per_byte.max(1e-11)), between("GB/s", 1e-9, &rate));
        let _ = writeln!(text, "bandwidth = \"{} B/s\"", number(1.0 / loopback.per_byte.max(1e-11)));
        let _ = writeln!(text, "latency = \"{} s\"", number(loopback.seconds));
    }
    text += "\n[network.flow]\npreset = \"plain\"\n";
    if fit.segments.len() > 1 {
        text += "# For messages larger than each size in bytes, the factors of the latency and of the bandwidth.\n";
        let of = |factor: &dyn Fn(&Segment) -> f64| {
            steps(fit.segments.iter().map(|segment| (segment.above, vec![factor(segment)])))
        };
        let _ = writeln!(text, "latency_factor = {}", of(&|segment| segment.line.seconds / fit.latency()));
        let _ = writeln!(text, "bandwidth_factor = {}", of(&|segment| 1.0 / segment.line.per_byte / fit.bandwidth()));
    }
    if let Some(Bytes(bytes)) = fit.burst {
        text += "# What a link passes at once after a pause: a limiter with a token bucket does.\n";
        let _ = writeln!(text, "burst = \"{bytes} B\"");
    }
    if fit.crosstraffic > 0.0 {
        let part = between("%", 100.0, &|fit| Some(fit.crosstraffic));
        let _ = writeln!(text, "# The part of a message's rate that goes back for it, such as acknowledgements.{part}");
        let _ = writeln!(text, "crosstraffic = {}", float(fit.crosstraffic));
    }
    for (host, way, bandwidth) in &hosts.links.unlike {
        let way = match way {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        let _ = writeln!(text, "\n# {} Mbit/s.\n[[network.link]]", figures(bandwidth * 8e-6));
        let _ =
            writeln!(text, "name = \"node-{host} {way}\"\none_way = true\nbandwidth = \"{} B/s\"", number(*bandwidth));
    }
    if !hosts.inside.tables.is_empty() {
        let _ = write!(text, "\n# Full hosts.\n{}", hosts.inside.tables);
    }
    text += "\n[mpi]\n";
    match fit.eager_threshold {
        Some(Bytes(bytes)) => {
            text += "# The smallest message whose send waits for its receive.\n";
            let _ = writeln!(text, "eager_threshold = \"{bytes} B\"");
        }
        None => text += "# No send waited for its receive.\neager_threshold = \"1 PB\"\n",
    }
    if fit.duplex == Duplexity::RendezvousOneWay {
        text += "# Between two ranks, the data of messages that are not eager goes one way at a time.";
        let share = confidence.share(|refit| refit.duplex == fit.duplex);
        let _ = writeln!(text, " Confidence: {:.0} %.", 100.0 * share);
        text += "rendezvous_duplex = false\n";
    }
    text += "# From each size in bytes on, the seconds of a call, and the seconds for each byte.\n";
    let overhead = |name: &str, of: fn(&Fit) -> Line| {
        let line = of(fit);
        let first = (Bytes(0), vec![line.seconds, line.per_byte]);
        // The data of other messages is sent later.
        let rest = fit.eager_threshold.map(|from| (Bytes(from.0.saturating_sub(1)), vec![line.seconds, 0.0]));
        let nothing = |fit: &Fit| Some(of(fit).seconds);
        let comment = format!("# {} us.{}\n", figures(line.seconds * 1e6), between("us", 1e6, &nothing));
        format!("{comment}{name} = {}\n", steps([first].into_iter().chain(rest.filter(|(above, _)| above.0 > 0))))
    };
    text += &overhead("send_overhead", |fit| fit.overheads.send);
    text += &overhead("isend_overhead", |fit| fit.overheads.isend);
    if fit.overheads.overlap > 0.0 {
        let part = between("%", 100.0, &|fit| Some(fit.overheads.overlap));
        let _ = writeln!(text, "# The part of a send's time that is left when its message has left.{part}");
        let _ = writeln!(text, "send_overlap = {}", float(fit.overheads.overlap));
    }
    text += &overhead("recv_overhead", |fit| fit.overheads.receive);
    if let Some(steps) = &hosts.inside.reduction {
        let _ = writeln!(text, "# All ranks of a host at once, of {REDUCED}.\nreduction = {steps}");
    }
    let _ = writeln!(text, "collectives = \"{collectives}\"");
    text += &spread(noise);
    text
}

/// The table of what varies, for `titr replay --spread`.
fn spread(noise: &Noise) -> String {
    let mut text = String::from("\n# What varies from run to run, for titr replay --spread.\n[spread]\n");
    let _ = writeln!(text, "message = {}", float(noise.message));
    let _ = writeln!(text, "# The errors of predictions, as a part of them.\nmodel = {}", float(noise.model));
    if noise.detour_rate > 0.0 {
        text += "\n# Interruptions of a rank that computes.\n[spread.detours]\n";
        let _ = writeln!(text, "length = \"{} s\"", number(noise.detour_length));
        let _ = writeln!(text, "rate = {}", float(noise.detour_rate));
    }
    text += "\n# Standard errors of values above, as parts of them.\n[spread.uncertainty]\n";
    for (key, error) in [("network.bandwidth", noise.bandwidth), ("network.latency", noise.latency)] {
        if error > 0.0 {
            let _ = writeln!(text, "\"{key}\" = {}", float(error));
        }
    }
    text
}

/// What titr-calibrate reduces.
const REDUCED: &str = "the maxima of 64-bit integers";

/// A name as TOML writes a key in quotes.
fn toml_key(name: &str) -> String {
    let escaped = |letter: char| match letter {
        '"' | '\\' => format!("\\{letter}"),
        letter if letter.is_control() => format!("\\u{:04X}", u32::from(letter)),
        letter => letter.to_string(),
    };
    format!("\"{}\"", name.chars().map(escaped).collect::<String>())
}

/// A list of steps as a platform file has it.
fn steps(all: impl Iterator<Item = (Bytes, Vec<f64>)>) -> String {
    let step = |(above, values): (Bytes, Vec<f64>)| {
        let values = values.into_iter().map(|value| format!(", {}", float(value))).collect::<String>();
        format!("[{}{values}]", above.0)
    };
    format!("[{}]", all.map(step).collect::<Vec<_>>().join(", "))
}

/// A number with six significant figures.
fn number(value: f64) -> String {
    digits(value, 6)
}

/// A number as TOML writes a float.
fn float(value: f64) -> String {
    let text = number(value);
    if text.contains('.') { text } else { format!("{text}.0") }
}

/// A number for people, with four significant figures.
pub(crate) fn figures(value: f64) -> String {
    digits(value, 4)
}

/// A number with this many significant figures, in digits alone.
fn digits(value: f64, figures: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let places = (figures - 1 - value.abs().log10().floor() as i32).max(0) as usize;
    format!("{value:.places$}")
}

/// Columns of a comment.
const WIDTH: usize = 110;

/// The comments, each line beginning with `#`.
pub(crate) fn comments(
    measurements: &Measurements,
    topology: &NamedTopology,
    fit: &Fit,
    (residuals, of_full_hosts): (&[Residuals], &[String]),
    remarks: &[String],
    rate: Option<&ComputeRate>,
) -> String {
    let mut text = String::new();
    let (ranks, hosts) = (measurements.places.len(), &measurements.hosts);
    let of_hosts = if hosts.len() == 1 { "one host".to_owned() } else { format!("{} hosts", hosts.len()) };
    let head = [
        "A platform for titr replay, fitted to measurements by titr-calibrate.".to_owned(),
        format!("{ranks} ranks on {of_hosts} as {topology}: {}.", hosts.join(", ")),
        format!("Measured with {}.", measurements.mpi.lines().next().unwrap_or_default().trim()),
    ];
    for (opening, sentences) in [("", &head[..]), ("NOTE: ", remarks), ("", of_full_hosts)] {
        sentences.iter().for_each(|sentence| paragraph(&mut text, opening, sentence));
        if !sentences.is_empty() {
            text += "#\n";
        }
    }
    text += "# Error of what this platform predicts for each pattern (predicted / measured - 1):\n#\n";
    let _ = writeln!(text, "#   {:<52}{:>8}  {:>8}", "", "median", "worst");
    for of in residuals {
        let Some(worst) = of.worst() else { continue };
        let _ = writeln!(
            text,
            "#   {:<52}{:>6.1} %  {:>+6.1} % at {} B",
            of.title(),
            of.typical() * 100.0,
            worst.error() * 100.0,
            worst.bytes.0
        );
    }
    text += "#\n";
    let noise = format!("Samples of a size typically differ by {} % from their median.", figures(fit.noise * 100.0));
    paragraph(&mut text, "", &noise);
    if fit.overheads.cut > 1.05 {
        let cut = format!(
            "Calls were measured to take up to {} times the overheads below, which had to be cut: they are more than a whole \
             message takes, as messages within a host have others, or as a receive after a pause takes longer.",
            figures(fit.overheads.cut)
        );
        paragraph(&mut text, "", &cut);
    }
    if let Some(rate) = rate {
        let [least, most] = rate.range().map(|part| figures(part * 100.0));
        let ranks = rate.per_rank.len();
        let rates = format!("The {ranks} ranks of the trace computed at {least} to {most} % of the speed below.");
        paragraph(&mut text, "", &rates);
    }
    text += "\n";
    text
}

/// Appends words as a comment of several lines.
fn paragraph(text: &mut String, opening: &str, words: &str) {
    let mut line = format!("# {opening}");
    let indent = line.len();
    for word in words.split(' ') {
        if line.len() > indent && line.chars().count() + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            line = format!("#{}", " ".repeat(indent - 1));
        }
        line += word;
        line.push(' ');
    }
    let _ = writeln!(text, "{}", line.trim_end());
}
