//! Background loads: synthetic traffic beside the jobs.

use titr_common::time::Time;
use titr_common::units::Bandwidth;
use titr_document::{Checked, Source};
use titr_network::topology::HostId;
use titr_network::traffic::{Arrangement, BackgroundLoad, Destinations, Pattern, Sizes};

use crate::job_mix::placement::hosts;
use crate::job_mix::schema::BackgroundTable;
use crate::job_mix::starts::time;

/// A background load of a mix.
#[derive(Clone, Debug)]
pub struct Background {
    /// The name of the load in reports.
    pub name: String,
    /// The load.
    pub load: BackgroundLoad,
}

/// The sizes of messages if the file names none.
const SIZES: &str = "64KiB";

/// The background loads of a file, on a platform of `all` hosts.
///
/// # Errors
/// If a load names a host or a pattern that does not exist, or has no time.
pub(crate) fn backgrounds(source: &Source, tables: &[BackgroundTable], all: u32) -> Checked<Vec<Background>> {
    tables.iter().map(|table| background(source, table, all)).collect()
}

fn background(source: &Source, table: &BackgroundTable, all: u32) -> Checked<Background> {
    let among = match &table.hosts {
        Some(written) => hosts(source, written, all)?,
        None => (0..all).map(HostId).collect(),
    };
    let wrong = |error: &dyn std::error::Error| source.wrong(&table.pattern, error.to_string());
    let pattern: Pattern = table.pattern.get_ref().parse().map_err(|error| wrong(&error))?;
    let destinations =
        Destinations::new(pattern, among.len() as u32, Arrangement::Line).map_err(|error| wrong(&error))?;
    let sizes: Sizes = match &table.message {
        Some(written) => written.get_ref().parse(),
        None => SIZES.parse(),
    }
    .map_err(|error: titr_network::traffic::NoSize| match &table.message {
        Some(written) => source.wrong(written, error.to_string()),
        None => wrong(&error),
    })?;
    let rate: Bandwidth = table.rate.0;
    let from = table.start.as_ref().map_or(Ok(Time::ZERO), |written| time(source, written))?;
    let until = table.end.as_ref().map_or(Ok(Time::NEVER), |written| time(source, written))?;
    if let Some(end) = table.end.as_ref().filter(|_| until <= from) {
        return Err(source.wrong(end, "the load ends before it starts"));
    }
    let load = BackgroundLoad { hosts: among, destinations, sizes, rate, from, until, seed: table.seed };
    Ok(Background { name: table.name.clone().unwrap_or_else(|| format!("{pattern} traffic")), load })
}
