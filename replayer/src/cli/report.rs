//! Options for the forms that results are written in.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::report::{FORMS, Files, Form, Print, Renderer, Results, Save};

/// The option that says which form is printed, and the name there of the summary.
const FORMAT: &str = "format";
const SUMMARY: &str = "text";
/// The option by which nothing is said.
const QUIET: &str = "quiet";

/// The forms that are asked for: an option for each.
#[derive(Default)]
pub(super) struct ReportArgs {
    quiet: bool,
    print: Option<Print>,
    save: Vec<(Files, Save, PathBuf)>,
}

impl ReportArgs {
    /// Whether the summary for people is to be printed.
    pub(super) fn has_summary(&self) -> bool {
        self.print.is_none() && !self.quiet
    }

    /// Whether nothing but errors is to be said.
    pub(super) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The files that may be written.
    pub(super) fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.save.iter().flat_map(|(files, _, path)| files(path))
    }

    /// Writes `results` in all forms that are asked for, but the summary.
    pub(super) fn write(&self, results: Results, out: &mut impl Write) -> io::Result<()> {
        self.save.iter().try_for_each(|(_, save, path)| save(results, path))?;
        self.print.map_or(Ok(()), |print| print(results, out))
    }
}

impl Args for ReportArgs {
    fn augment_args(command: Command) -> Command {
        let option = |form: &Form| {
            let option = Arg::new(form.option).long(form.option).help(form.help);
            match form.renderer {
                Renderer::Print(_) => option.action(ArgAction::SetTrue),
                Renderer::Save { place, .. } => option.value_name(place).value_parser(value_parser!(PathBuf)),
            }
        };
        let printed = FORMS.iter().filter(|form| matches!(form.renderer, Renderer::Print(_))).map(|form| form.option);
        let names: Vec<&str> = [SUMMARY].into_iter().chain(printed.clone()).collect();
        let format = Arg::new(FORMAT).long(FORMAT).value_name("FORM").value_parser(PossibleValuesParser::new(names));
        let format =
            format.help("Says what is printed [default: text]").conflicts_with_all(printed.collect::<Vec<_>>());
        let quiet = Arg::new(QUIET).long(QUIET).short('q').action(ArgAction::SetTrue);
        let quiet = quiet.help("Prints neither a summary nor how far the replay is");
        command.next_help_heading("Output").args(FORMS.iter().map(option)).args([format, quiet])
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ReportArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut asked_for = Self { quiet: matches.get_flag(QUIET), ..Self::default() };
        let format = matches.get_one::<String>(FORMAT);
        for form in FORMS {
            match form.renderer {
                Renderer::Print(print)
                    if matches.get_flag(form.option) || format.is_some_and(|name| name == form.option) =>
                {
                    asked_for.print = Some(print);
                }
                Renderer::Print(_) => {}
                Renderer::Save { files, save, .. } => {
                    let path = matches.get_one::<PathBuf>(form.option);
                    asked_for.save.extend(path.map(|path| (files, save, path.clone())));
                }
            }
        }
        Ok(asked_for)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
