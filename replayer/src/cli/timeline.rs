//! Options for timelines, and the files that these are written to.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::error::Error;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use titr_formats::timeline::{EventSorter, FORMATS, Subject, TimelineFormat, TimelineWriter};

/// The timelines that are asked for: an option for each format.
#[derive(Default)]
pub(super) struct TimelineArgs(Vec<(&'static TimelineFormat, PathBuf)>);

impl TimelineArgs {
    /// Begins the files; `None` if none is asked for.
    pub(super) fn begin(&self, subject: Subject) -> io::Result<Option<EventSorter>> {
        let writers = self.0.iter().map(|(format, path)| begin(format, path, subject));
        let writers: Vec<_> = writers.collect::<io::Result<_>>()?;
        Ok((!writers.is_empty()).then(|| EventSorter::new(writers)))
    }
}

impl Args for TimelineArgs {
    fn augment_args(command: Command) -> Command {
        let option = |format: &TimelineFormat| {
            let help = format!(
                "Writes a timeline for {}: what each rank does when, and each message as an arrow. With several runs, the \
                 timeline is that of the first",
                format.viewers
            );
            let option = Arg::new(format.name).long(format.name).value_name("FILE").help(help);
            option.value_parser(value_parser!(PathBuf)).conflicts_with_all(["traffic", "triggered"])
        };
        command.args(FORMATS.iter().map(option))
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

/// Begins a file in `format` at `path`.
pub(super) fn begin(format: &TimelineFormat, path: &Path, subject: Subject) -> io::Result<Box<dyn TimelineWriter>> {
    let file = File::create(path).map_err(|error| at(path, error))?;
    (format.begin)(Box::new(BufWriter::new(NamedFile { path: path.into(), file })), &subject)
}

/// A file whose errors name its path.
struct NamedFile {
    path: PathBuf,
    file: File,
}

impl Write for NamedFile {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.file.write(text).map_err(|error| at(&self.path, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| at(&self.path, error))
    }
}

fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
