//! Options for timelines, and for the part of a run that they show.

use std::io;
use std::path::PathBuf;

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use titr_common::event::RankSet;
use titr_common::time::Time;
use titr_common::timeline::{Excerpt, Subject, TimelineWriter};
use titr_common::units::{Seconds, Written};
use titr_formats::timeline::{FORMATS, TimelineFormat};

use super::Failure;
use super::program::EVERY_ITERATION;

/// The timelines that are asked for: an option for each format.
#[derive(Default)]
pub(super) struct TimelineArgs(Vec<(&'static TimelineFormat, PathBuf)>);

impl TimelineArgs {
    /// Begins the files.
    pub(super) fn begin(&self, subject: &Subject) -> io::Result<Vec<Box<dyn TimelineWriter>>> {
        self.0.iter().map(|(format, path)| format.begin(path, subject)).collect()
    }

    /// The files that are going to be written.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().map(|(_, path)| path.clone())
    }

    /// Whether none is asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Args for TimelineArgs {
    fn augment_args(command: Command) -> Command {
        let option = |format: &TimelineFormat| {
            let help = format!(
                "Writes a timeline for {}: the activity of each rank, and each message. With several runs, the timeline is of the first",
                format.viewers
            );
            let option = Arg::new(format.name).long(format.name).value_name("FILE").help(help);
            option.value_parser(value_parser!(PathBuf)).group(EVERY_ITERATION)
        };
        command.next_help_heading("Timelines").args(FORMATS.iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TimelineArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let asked_for = FORMATS.iter().map(|format| (format, matches.get_one::<PathBuf>(format.name)));
        Ok(Self(asked_for.filter_map(|(format, path)| Some((format, path?.clone()))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The part of a run that is shown.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Timelines")]
pub(super) struct ExcerptArgs {
    /// Shows only these ranks in timelines, such as 0-31,40, and the messages between them.
    #[arg(long, value_name = "RANKS", value_parser = ranks)]
    timeline_ranks: Option<RankSet>,
    /// Shows only this part of the time in timelines, such as 10ms..20ms; either end may be left out.
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    timeline_window: Option<Window>,
}

/// The beginning and the end of what is shown.
type Window = (Time, Time);

impl ExcerptArgs {
    /// The excerpt of a world of this many ranks.
    pub(super) fn of(&self, world: u32) -> Result<Excerpt, Failure> {
        if let Some(ranks) = self.timeline_ranks.as_ref().filter(|ranks| ranks.last().0 >= world) {
            let (missing, last) = (ranks.last().0, world.saturating_sub(1));
            let message =
                format!("--timeline-ranks: there is no rank {missing} in this trace, whose ranks are 0 to {last}");
            return Err(Failure::Value(message));
        }
        let (from, to) = self.timeline_window.unwrap_or((Time::ZERO, Time::NEVER));
        Ok(Excerpt { ranks: self.timeline_ranks.clone(), from, to })
    }

    /// Rejects an excerpt without a timeline.
    pub(super) fn is_of(&self, something: bool) -> Result<(), Failure> {
        if something || (self.timeline_ranks.is_none() && self.timeline_window.is_none()) {
            return Ok(());
        }
        let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let message = format!(
            "--timeline-ranks and --timeline-window say what a timeline shows, and none is asked for: there are {}",
            names.join(", ")
        );
        Err(Failure::Usage(message))
    }
}

fn ranks(text: &str) -> Result<RankSet, String> {
    RankSet::written(text).ok_or_else(|| "expected ranks, such as 0-31,40".to_owned())
}

fn window(text: &str) -> Result<Window, String> {
    let (from, to) = text.split_once("..").ok_or("expected a beginning and an end, such as 10ms..20ms")?;
    let time = |text: &str, default: Time| match text.trim() {
        "" => Ok(default),
        text => Seconds::written(text).map(Time::from_seconds).map_err(|error| error.to_string()),
    };
    let (from, to) = (time(from, Time::ZERO)?, time(to, Time::NEVER)?);
    if from < to { Ok((from, to)) } else { Err("it ends before it begins".to_owned()) }
}
