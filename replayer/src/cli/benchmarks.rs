//! `titr calibrate` with the results of benchmarks.

use std::collections::BTreeSet;
use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::Args;
use titr_calibration::NamedTopology;
use titr_calibration::benchmarks::{
    BenchmarkError, Compared, DataSheet, Errors, FittedMachine, Job, Row, Selection, compare, node_range, read,
};
use titr_common::collectives::Library;
use titr_common::format::counted;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_common::output::{OutputFile, claim};
use titr_common::terminal::on_one_line;
use titr_common::units::{Bandwidth, Bytes, Quantity, Seconds};
use titr_platform::Platform;

use super::{Failure, library};

/// Results of IMB and OSU's programs, and the data sheet of the machine.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results of benchmarks")]
pub(super) struct BenchmarkArgs {
    /// Results of this machine only.
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// Results with this MPI library only.
    #[arg(long, value_name = "NAME")]
    library: Option<String>,
    /// Results on so many nodes are fitted; others are only compared.
    #[arg(long, value_name = "N-M", value_parser = node_range)]
    nodes: Option<RangeInclusive<u32>>,
    /// Ranks of the job, where the text does not say it (OSU's collectives): of all files, or of each.
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    ranks: Vec<u32>,
    /// Nodes of the job, where the text does not say it: of all files, or of each.
    #[arg(long, value_name = "N,...", value_delimiter = ',')]
    job_nodes: Vec<u32>,
    /// Hosts of the machine to be predicted. Default: the nodes of the largest result.
    #[arg(long, value_name = "N")]
    hosts: Option<u32>,
    /// Cores of a host. Default: the most ranks that results have on one.
    #[arg(long, value_name = "N", default_value_t = 1)]
    cores: u32,
    /// Bandwidth of a host's links, from the data sheet.
    #[arg(long, value_name = "BANDWIDTH", default_value = "100 Gbit/s")]
    link: Quantity<Bandwidth>,
    /// Latency between two hosts, from the data sheet.
    #[arg(long, value_name = "TIME", default_value = "1 us")]
    latency: Quantity<Seconds>,
    /// Bandwidth of a host's memory, from the data sheet.
    #[arg(long, value_name = "BANDWIDTH")]
    memory: Option<Quantity<Bandwidth>>,
    /// Part of the last two levels of cache that a core has, from the data sheet.
    #[arg(long, value_name = "SIZE")]
    cache: Option<Quantity<Bytes>>,
    /// Library whose rules hold for collectives that are not fitted: mpich, openmpi.
    #[arg(long, value_name = "NAME", default_value = "mpich", value_parser = library)]
    rules: Library,
    /// Fits nothing: the platform is that of the data sheet.
    #[arg(long)]
    data_sheet: bool,
    /// Also writes all results of the machine beside their predictions, as CSV.
    #[arg(long, value_name = "FILE")]
    predict: Option<PathBuf>,
    /// Largest size of a call that is compared.
    #[arg(long, value_name = "SIZE", default_value = "1 MiB")]
    largest: Quantity<Bytes>,
}

/// Whether titr-calibrate wrote a file.
pub(super) fn is_of_calibrate(path: &Path) -> bool {
    input::read_text(path, WRITTEN_BY_PROGRAM).map_or(true, |text| text.trim_start().starts_with('{'))
}

/// Fits a platform to the results of benchmarks.
pub(super) fn benchmarks(
    files: &[PathBuf],
    of: &BenchmarkArgs,
    (topology, output): (&NamedTopology, &Path),
    out: &mut impl Write,
) -> Result<(), Failure> {
    for (option, values) in [("ranks", of.ranks.len()), ("job-nodes", of.job_nodes.len())] {
        if values > 1 && values != files.len() {
            return Err(Failure::Value(format!("--{option} has {values} values, and there are {} files", files.len())));
        }
    }
    let (mut rows, mut passed_over) = (Vec::new(), BTreeSet::new());
    for (number, file) in files.iter().enumerate() {
        if files[..number].contains(file) {
            return Err(Failure::Value(format!("{} is named twice", file.display())));
        }
        let of_file = |values: &[u32]| values.get(number).or(values.last()).copied();
        let job = Job { ranks: of_file(&of.ranks), nodes: of_file(&of.job_nodes) };
        let results = read(file, job)?;
        rows.extend(results.rows);
        passed_over.extend(results.passed_over);
    }
    let chosen = Selection { machine: of.machine.clone(), library: of.library.clone(), nodes: None };
    let rows = chosen.of(rows).map_err(BenchmarkError::from)?;
    let few = match &of.nodes {
        Some(nodes) => {
            Selection { nodes: Some(nodes.clone()), ..chosen }.of(rows.clone()).map_err(BenchmarkError::from)?
        }
        None => rows.clone(),
    };
    claim([output].into_iter().chain(of.predict.as_deref()).map(Path::to_owned))?;
    let nodes = rows.iter().map(|row| row.nodes).max().unwrap_or(1);
    let sheet = DataSheet {
        hosts: of.hosts.unwrap_or(nodes),
        cores: of.cores,
        topology: topology.clone(),
        bandwidth: of.link.0.bytes_per_second,
        latency: of.latency.0,
        memory: of.memory.as_ref().map(|memory| memory.0.bytes_per_second),
        cache: of.cache.as_ref().map(|cache| cache.0),
        library: of.rules,
    };
    let names: Vec<String> = files.iter().map(|file| on_one_line(&file.display().to_string()).into_owned()).collect();
    let cores = rows.iter().map(|row| row.ranks_per_node).max().unwrap_or(1);
    let (head, cluster, fitted) = if of.data_sheet {
        (
            "From the data sheet and typical costs; nothing is fitted.".to_owned(),
            FittedMachine::of_sheet(&sheet, cores),
            Vec::new(),
        )
    } else {
        let FittedMachine { cluster, fitted, unknown } = FittedMachine::of(&few, &sheet)?;
        if fitted.is_empty() {
            let message = "none of these results shows a property of the machine; messages of two ranks, windows of messages, \
                           and all-to-all, allgather and allreduce on one node and on two do";
            return Err(Failure::Value(message.to_owned()));
        }
        let results = counted(fitted.len() as u64, "result", "results");
        let mut head = format!("Fitted to {results} of {}.", names.join(", "));
        if let Some(errors) = Errors::of(&fitted) {
            head += &format!(" They are {errors}.");
        }
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            head += &format!("\n# They do not show: {unknown}. That is from the data sheet, or typical.");
        }
        if !passed_over.is_empty() {
            head += &format!("\n# Not used: {}.", Vec::from_iter(passed_over).join(", "));
        }
        (head, cluster, fitted)
    };
    let platform = Platform::parse(output, cluster.clone(), &[])?;
    let there_are = platform.topology.hosts();
    if let Some(hosts) = of.hosts.filter(|&hosts| hosts > there_are) {
        return Err(Failure::Value(format!("the topology has {there_are} hosts, and --hosts says {hosts}")));
    }
    OutputFile::write(output, format!("# {head}\n{cluster}").as_bytes())?;
    writeln!(out, "{}", head.replace("\n# ", "\n"))?;
    if let Some(file) = &of.predict {
        let is_fitted = |row: &Row| fitted.iter().any(|compared| compared.row == *row);
        let others: Vec<Row> = rows.into_iter().filter(|row| row.bytes <= of.largest.0 && !is_fitted(row)).collect();
        let predicted = compare(&platform, &others).map_err(BenchmarkError::from)?;
        let errors = Errors::of(&predicted).map_or_else(String::new, |errors| format!(": {errors}"));
        writeln!(out, "{} other results are predicted{errors}", predicted.len())?;
        let mut text = String::from("machine,library,bench,nodes,ranks,bytes,measured_us,predicted_us,fitted\n");
        for (compared, is_fitted) in fitted.iter().map(|one| (one, 1)).chain(predicted.iter().map(|one| (one, 0))) {
            let Compared { row, measured, predicted } = compared;
            let Row { machine, library, benchmark, nodes, ranks, bytes, .. } = row;
            text += &format!(
                "{machine},{library},{benchmark},{nodes},{ranks},{},{:.3},{:.3},{is_fitted}\n",
                bytes.0,
                measured.0 * 1e6,
                predicted.0 * 1e6
            );
        }
        OutputFile::write(file, text.as_bytes())?;
    }
    Ok(writeln!(out, "{} is the platform", on_one_line(&output.display().to_string()))?)
}
