//! Gathers all ranks' streams into one archive at `MPI_Finalize`, if `TITRACE_GATHER` requests it.
//!
//! The ranks send their files up a [K-nomial tree](tree), [piece by piece](relay), to rank 0, which writes the
//! [archive]: first the entries of the manifest, with the length and checksum of each stream, then the streams. It does
//! not matter whether the ranks share disks, or how their directories are called.
//!
//! Rank 0 then gives ranks that do the same one stream, as `titr gather` does, unless the trace is large.
//!
//! After each step all ranks vote on its success. Only when the archive is complete, its checksums are right and it has
//! its final name do the ranks remove their parts. If anything fails before that, such as a full disk or a dying rank,
//! the parts remain the trace.

mod archive;
mod relay;

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use titr_common::output::give_name;
use titr_common::trace::manifest::{Manifest, RankEntry};
use titr_common::trace::{OwnFile, directory};
use titr_config::{Gathering, Placeholders};
use titr_wrappers::Abi;

use crate::descriptors::place_high;
use crate::directory::{absolute, candidate};
use crate::launched;
use crate::pmpi::ToolComm;
use crate::sink::{announce, size};
use crate::stderr::log;
use archive::{Archive, Entries, with_file_size_errors};
use relay::Tree;
use relay::{Broken, Link, Parent, Receiver, relay};

/// The gathering that all ranks have agreed on at `MPI_Init`, to be done at `MPI_Finalize`.
pub(crate) struct Gather {
    tree: Tree,
    /// The place of this rank's part.
    directory: PathBuf,
    /// The place of the archive, and the description of the run, on rank 0.
    root: Option<(PathBuf, Manifest)>,
}

impl Gather {
    /// Plans to gather, if all ranks were asked to and can. `part` is present if this rank records, with rank 0's
    /// description of the run. Collective: `agree` gives the maximum over all ranks.
    pub(crate) fn plan(
        asked: Option<&Gathering>,
        placeholders: &Placeholders,
        directory: &Path,
        records: bool,
        run: Option<Manifest>,
        mut agree: impl FnMut(i64) -> i64,
    ) -> Option<Self> {
        let arity = agree(asked.map_or(0, |gathering| i64::from(gathering.arity)));
        if arity == 0 {
            return None;
        }
        let ranks = u32::try_from(agree(run.as_ref().map_or(0, |run| i64::from(run.ranks)))).ok()?;
        let archive = asked.map(|gathering| absolute(gathering.archive.expand(placeholders)));
        let root = archive.clone().zip(run);
        let cannot = match &root {
            Some((archive, _)) => prepare(archive).err().map(|error| format!("{}: {error}", archive.display())),
            None => archive.is_none().then(|| format!("TITRACE_GATHER is not set for rank {}", placeholders.rank.0)),
        };
        if let Some(reason) = &cannot {
            log(format_args!("the trace will not be gathered: {reason}; its parts stay where they are"));
        }
        let agreed = agree(i64::from(cannot.is_some() || !records)) == 0;
        let tree = Tree { arity: u32::try_from(arity).ok()?, rank: placeholders.rank.0, ranks };
        agreed.then(|| Self { tree, directory: directory.to_owned(), root })
    }

    /// Gathers, and removes this rank's part if that succeeded. Collective; `entry` is the rank's final entry.
    pub(crate) fn run(self, abi: &'static Abi, entry: Option<RankEntry>) {
        let Some(comm) = ToolComm::like(abi, abi.comm_world) else { return };
        let done = with_file_size_errors(|| self.bring(&comm, entry.as_ref()));
        if done == Ok(true) {
            // Best effort: a remaining file is a copy of data in the complete archive.
            let _ = self.remove_part();
        }
    }

    fn bring(&self, link: &ToolComm, entry: Option<&RankEntry>) -> Result<bool, Broken> {
        let Some((wanted, run)) = &self.root else {
            let mut parent = Parent { link, rank: self.tree.parent().ok_or(Broken)? };
            let sent = self.send_entry(link, entry, &mut parent)?;
            // Three votes: is all known, has all arrived, is it where it belongs?
            return Ok(vote(link, sent)?
                && vote(link, self.send_stream(link, entry, &mut parent)?)?
                && vote(link, true)?);
        };
        let mut entries = Entries::default();
        let sent = self.send_entry(link, entry, &mut entries)?;
        let mut path = free_name(wanted);
        let begun = entries.manifest(run).and_then(|manifest| {
            loop {
                match Archive::create(&unfinished(&path), &manifest) {
                    // Another run was faster.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => path = free_name(wanted),
                    begun => break begun.map_err(|error| error.to_string()),
                }
            }
        });
        let begun = begun.map_err(|reason| log_loss(&path, &reason));
        let Ok(mut archive) = begun else { return vote(link, false) };
        if !vote(link, sent)? {
            give_up(&path, "a rank's trace is not complete");
            return Ok(false);
        }
        let sent = self.send_stream(link, entry, &mut archive)?;
        let whole = archive.finish().map_err(|reason| give_up(&path, &reason)).is_ok();
        if !vote(link, sent && whole)? {
            if whole {
                give_up(&path, "a rank cannot read what it has written");
            }
            return Ok(false);
        }
        let place = unfinished(&path);
        let named = loop {
            match give_name(&place, &path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => path = free_name(wanted),
                named => break named,
            }
        };
        let named = named.map_err(|error| {
            let _ = fs::remove_file(&place);
            log_loss(&path, &error.to_string());
        });
        let named = named.is_ok();
        if named && path != *wanted {
            log(format_args!("{} exists: gathered into {}", wanted.display(), path.display()));
        }
        if let (true, true, Ok(manifest)) = (named, launched::by_titrace(), entries.manifest(run)) {
            announce(&path, &manifest, size(&manifest));
        }
        vote(link, named)
    }

    fn send_entry(&self, link: &ToolComm, entry: Option<&RankEntry>, to: &mut impl Receiver) -> Result<bool, Broken> {
        let text = entry.and_then(|entry| serde_json::to_vec(entry).ok()).unwrap_or_default();
        let sent = relay(&self.tree, link, &mut text.as_slice(), text.len() as u64, to)?;
        Ok(sent && !text.is_empty())
    }

    fn send_stream(&self, link: &ToolComm, entry: Option<&RankEntry>, to: &mut impl Receiver) -> Result<bool, Broken> {
        let length = entry.map_or(0, |entry| entry.disk.0);
        let path = directory::stream(&self.directory, self.rank());
        match File::open(&path).and_then(place_high).and_then(OwnFile::new) {
            Ok(mut file) => relay(&self.tree, link, &mut file, length, to),
            Err(error) => {
                log(format_args!("{}: {error}", path.display()));
                relay(&self.tree, link, &mut io::empty(), length, to).map(|_| false)
            }
        }
    }

    fn rank(&self) -> titr_common::event::Rank {
        titr_common::event::Rank(self.tree.rank)
    }

    /// Removes this rank's files, and directories that are then empty.
    fn remove_part(&self) -> io::Result<()> {
        let stream = directory::stream(&self.directory, self.rank());
        fs::remove_file(&stream)?;
        let _ = fs::remove_file(directory::entry(&self.directory, self.rank()));
        let _ = fs::remove_file(directory::ended(&self.directory));
        if self.root.is_some() {
            fs::remove_file(directory::manifest(&self.directory))?;
        }
        for folder in stream.parent().into_iter().chain([self.directory.as_path()]) {
            // Unless others' parts are in it still.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }
}

/// Sees to it that the archive can be written there.
fn prepare(archive: &Path) -> io::Result<()> {
    archive.parent().map_or(Ok(()), fs::create_dir_all)?;
    let attempt = unfinished(&free_name(archive));
    File::create_new(&attempt)?;
    fs::remove_file(attempt)
}

/// The place of an archive until it is complete.
fn unfinished(archive: &Path) -> PathBuf {
    archive.with_added_extension("unfinished")
}

/// The name, or the next one that is free.
fn free_name(wanted: &Path) -> PathBuf {
    let mut names = (1..).map(|index| match (index, wanted.extension()) {
        (1, _) | (_, None) => candidate(wanted, index),
        (_, Some(suffix)) => {
            let mut name = candidate(&wanted.with_extension(""), index).into_os_string();
            name.push(".");
            name.push(suffix);
            name.into()
        }
    });
    let is_free =
        |path: &PathBuf| fs::symlink_metadata(path).is_err() && fs::symlink_metadata(unfinished(path)).is_err();
    names.find(is_free).unwrap_or_else(|| wanted.to_owned())
}

/// Removes an archive that was begun.
fn give_up(path: &Path, reason: &str) {
    let _ = fs::remove_file(unfinished(path));
    log_loss(path, reason);
}

fn log_loss(path: &Path, reason: &str) {
    log(format_args!("the trace is not gathered into {}: {reason}; its parts stay where they are", path.display()));
}

/// Whether all ranks say yes. Collective.
fn vote(comm: &ToolComm, yes: bool) -> Result<bool, Broken> {
    comm.all(yes).ok_or(Broken)
}

impl Link for ToolComm {
    fn send(&self, to: u32, bytes: &[u8]) -> Result<(), Broken> {
        self.ssend(bytes, to).map_err(|_| Broken)
    }

    fn receive(&self, from: u32, bytes: &mut [u8]) -> Result<(), Broken> {
        self.recv(bytes, from).map_err(|_| Broken)
    }
}
