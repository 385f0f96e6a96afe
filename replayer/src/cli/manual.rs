//! `titr completions` and `titr man`: the options of all commands for shells and for `man`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use super::{Failure, replay};

/// Prints completions of titr and titr-replay for a shell: `source <(titr completions bash)`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Writes manual pages of titr and titr-replay into a directory, such as ~/.local/share/man/man1.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The directory; it is made if it is missing.
    directory: PathBuf,
}

/// Prints the completions of both programs.
pub(super) fn completions(args: &CompletionsArgs, titr: Command, out: &mut impl Write) -> Result<(), Failure> {
    for mut command in [titr, replay::command()] {
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(args.shell, &mut command, name, &mut script);
        out.write_all(&script)?;
    }
    Ok(())
}

/// Writes the pages of both programs, and of each subcommand.
pub(super) fn man(args: &ManArgs, titr: Command) -> Result<(), Failure> {
    let path = args.directory.display();
    let at = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
    std::fs::create_dir_all(&args.directory).map_err(at)?;
    for command in [titr, replay::command()] {
        clap_mangen::generate_to(command, &args.directory).map_err(at)?;
    }
    Ok(())
}
