//! `titr cat`, and the tables of a trace.

use std::io::{self, Write};
use std::ops::Range;

use clap::Args;
use titr_common::event::{Actor, Rank};
use titr_common::grammar::write_event;
use titr_common::terminal::say;
use titr_common::trace::{Trace, TraceError, Transformation};

use super::{Failure, TraceArgs};
use crate::call_sites::CallSiteNames;
use crate::inspect::{EventRow, sent_by};

/// Prints a trace as text.
#[derive(Args)]
pub(super) struct CatArgs {
    /// Prints only this rank.
    #[arg(long)]
    rank: Option<u32>,
    /// Prints a torn trace up to the point where it breaks off.
    #[arg(long)]
    partial: bool,
    /// Prints functions and lines of the program instead of the addresses of call sites.
    #[arg(long)]
    names: bool,
    /// Prints a table (CSV) with a row for each event (see docs/TRACING.md).
    #[arg(long, conflicts_with = "names")]
    csv: bool,
    #[command(flatten)]
    trace: TraceArgs,
}

pub(super) fn cat(args: &CatArgs, out: &mut impl Write) -> Result<(), Failure> {
    let CatArgs { rank, partial, names, csv, trace } = args;
    let source = trace.open_one()?.partial_unless_empty(*partial)?;
    if let Some(rank) = rank.filter(|&rank| rank >= source.ranks()) {
        let what = format!("there is no rank {rank} among its {}", source.ranks());
        return Err(TraceError::Directory { path: trace.to_string().into(), what }.into());
    }
    let ranks = rank.map_or(0..source.ranks(), |rank| rank..rank + 1);
    if *csv { table(&source, ranks, out) } else { text(source, ranks, *names, out) }
}

/// Prints a row for each event.
fn table(source: &Trace, ranks: Range<u32>, out: &mut impl Write) -> Result<(), Failure> {
    let mut rows = csv::Writer::from_writer(out);
    for rank in ranks.map(Rank) {
        let mut stream = source.stream(rank)?;
        while let Some(event) = stream.next_event()? {
            rows.serialize(EventRow::of(rank, stream.location(), &event)).map_err(of_writing)?;
        }
    }
    Ok(rows.flush()?)
}

/// Prints a line for each event.
fn text(recorded: Trace, ranks: Range<u32>, is_named: bool, out: &mut impl Write) -> Result<(), Failure> {
    let names = CallSiteNames::default();
    let source = if is_named { names.apply(recorded)? } else { recorded };
    let mut line = Vec::new();
    for rank in ranks.map(Rank) {
        let mut stream = source.stream(rank)?;
        while let Some(event) = stream.next_event()? {
            line.clear();
            write_event(&mut line, Actor { rank, thread: stream.location().thread }, &event);
            out.write_all(&line)?;
        }
    }
    for reason in names.unnamed() {
        say(format_args!("{reason}"));
    }
    Ok(())
}

/// Prints the communication matrix of a trace.
pub(super) fn matrix(trace: &TraceArgs, out: &mut impl Write) -> Result<(), Failure> {
    let source = trace.open_one()?.partial(true);
    let mut rows = csv::Writer::from_writer(out);
    for rank in (0..source.ranks()).map(Rank) {
        sent_by(&source, rank)?.iter().try_for_each(|pair| rows.serialize(pair)).map_err(of_writing)?;
    }
    Ok(rows.flush()?)
}

/// The error of writing that ended a table.
fn of_writing(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}
