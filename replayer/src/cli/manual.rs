//! `titr completions` and `titr man`: the options of all commands for shells and for `man`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use titr_common::output::{OutputFile, make_directory};

use super::Failure;

/// Prints completions of titr and titr-replay for a shell: `source <(titr completions bash)`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Writes manual pages of titr and titr-replay into a directory, such as ~/.local/share/man/man1.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The directory. titr creates it if it does not exist.
    directory: PathBuf,
}

/// Prints the completions of both programs.
pub(super) fn completions(args: &CompletionsArgs, titr: Command, out: &mut impl Write) -> Result<(), Failure> {
    let titr_replay = titr.find_subcommand("replay").map(|replay| replay.clone().name("titr-replay"));
    for mut command in [titr].into_iter().chain(titr_replay) {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(args.shell, &mut command, name, &mut script);
        out.write_all(&script)?;
    }
    Ok(())
}

/// Writes the pages of `titr` and of each subcommand. That of `titr replay` is the page of `titr-replay`, too.
pub(super) fn man(args: &ManArgs, titr: Command) -> Result<(), Failure> {
    make_directory(&args.directory)?;
    let mut titr = titr.disable_help_subcommand(true);
    titr.build();
    pages(&titr, &args.directory)
}

/// The end of each page.
const SEE_ALSO: &str = ".SH \"SEE ALSO\"
.BR titr (1),
.BR titr\\-replay (1),
.BR titrace (1mpi),
.BR titr\\-calibrate (1mpi);
the manuals, in share/doc/titr/docs of the installation
";

/// Writes the page of a command, and those of its subcommands.
fn pages(command: &Command, directory: &Path) -> Result<(), Failure> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        pages(subcommand, directory)?;
    }
    // The generator's own synopsis names all options, and leaves out their arguments.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let version = format!("titr {}", env!("CARGO_PKG_VERSION"));
    let page = Man::new(command.clone().override_usage(usage)).source(version).manual("titr");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = String::from_utf8_lossy(&text).replace(".SH EXTRA\n", ".SH NOTES\n.ad l\n.nh\n");
    let mut file = OutputFile::create(&directory.join(page.get_filename()))?;
    file.write_all(text.as_bytes())?;
    file.write_all(SEE_ALSO.as_bytes())?;
    Ok(file.finish()?)
}
