//! The comments at the head of a calibrated platform file: the sources of its numbers, and their reliability.

use std::fmt::Write as _;

use crate::cluster::figures;
use crate::compute::ComputeRate;
use crate::fit::Fit;
use crate::measurements::Measurements;
use crate::residuals::Residuals;
use crate::topology::NamedTopology;

/// Columns of a comment.
const WIDTH: usize = 110;

/// The comments, each line beginning with `#`.
pub(crate) fn comments(
    measurements: &Measurements,
    topology: &NamedTopology,
    fit: &Fit,
    residuals: &[Residuals],
    remarks: &[String],
    rate: Option<&ComputeRate>,
) -> String {
    let mut text = String::new();
    let (ranks, hosts) = (measurements.places.len(), &measurements.hosts);
    paragraph(&mut text, "", "A platform for titr-replay, fitted to measurements by titr-calibrate.");
    paragraph(
        &mut text,
        "",
        &format!("{ranks} ranks on {} as {topology}: {}.", hosts_of(hosts.len()), hosts.join(", ")),
    );
    paragraph(&mut text, "", &format!("Measured with {}.", measurements.mpi.lines().next().unwrap_or_default().trim()));
    text += "#\n";
    for remark in remarks {
        paragraph(&mut text, "NOTE: ", remark);
    }
    if !remarks.is_empty() {
        text += "#\n";
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
        paragraph(
            &mut text,
            "",
            &format!("The {ranks} ranks of the trace computed at {least} to {most} % of the speed below."),
        );
    }
    text += "\n";
    text
}

fn hosts_of(count: usize) -> String {
    if count == 1 { "one host".to_owned() } else { format!("{count} hosts") }
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
