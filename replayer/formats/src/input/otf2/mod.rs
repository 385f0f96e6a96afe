//! The Open Trace Format 2, which Score-P, EZTrace, TAU and other tools write.
//!
//! An archive is an anchor `NAME.otf2`, global definitions `NAME.def`, and in the folder `NAME` the local definitions and the
//! events of each location. A rank of MPI is a location, and so is each further thread of its process. Others are left out. Definitions are read
//! when the archive is opened, events as they are needed.

mod anchor;
mod call_sites;
mod communicators;
mod definitions;
mod fields;
pub(crate) mod functions;
mod in_order;
mod local;
mod notes;
mod one_sided;
pub(crate) mod own;
mod own_calls;
mod rank;
mod records;
mod requests;
mod shares;
#[cfg(test)]
mod tests;
mod threads;
mod translation;
pub(crate) mod volumes;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use titr_common::event::Rank;
use titr_common::format::counted;
use titr_common::input;
use titr_common::trace::manifest::Counter;
use titr_common::trace::{Candidate, EventSource, Manifest, RankSources, Trace, TraceError, TraceFormat};

use crate::input::notes::NotesOfRanks;
use anchor::Anchor;
use definitions::Definitions;
use notes::Otf2Notes;
use rank::RankEvents;
use shares::Shares;
use volumes::Convention;

/// An archive in the Open Trace Format 2: its anchor, or a directory that has one.
pub(super) struct Otf2 {
    /// The meaning of the bytes of collectives; `None`: that of the tool that the anchor names.
    pub bytes: Option<Convention>,
}

impl TraceFormat for Otf2 {
    fn name(&self) -> &'static str {
        "otf2"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        match candidate.directory() {
            Some(directory) => !anchor::in_directory(directory).is_empty(),
            None => anchor::is_anchor(&candidate.head),
        }
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or(Path::new(""));
        let path = if path.is_dir() { the_anchor(path)? } else { path.to_owned() };
        let archive = Archive::open(&path, self.bytes)?;
        let manifest = archive.manifest();
        Ok(Trace::new(manifest.ranks, Otf2Sources(Arc::new(archive))).with_manifest(manifest))
    }
}

/// The only anchor of a directory.
fn the_anchor(directory: &Path) -> Result<PathBuf, TraceError> {
    let mut anchors = anchor::in_directory(directory);
    match (anchors.pop(), anchors.len()) {
        (Some(anchor), 0) => Ok(anchor),
        (_, others) => {
            let what = format!("{} archives of OTF2 are here: name the anchor (.otf2) of one", others + 1);
            Err(TraceError::Directory { path: directory.into(), what })
        }
    }
}

/// An open archive.
struct Archive {
    anchor: Anchor,
    definitions: Definitions,
    convention: Convention,
    /// The meaning of the bytes of collectives, and whether the user has chosen it.
    bytes: Convention,
    is_chosen: bool,
    is_known_creator: bool,
    /// The folder with a file for each location.
    folder: PathBuf,
    /// The locations of each rank whose files were looked at.
    threads: Box<[OnceLock<Box<[u64]>>]>,
    shares: OnceLock<Shares>,
    notes: NotesOfRanks<Otf2Notes>,
}

impl Archive {
    fn open(path: &Path, bytes: Option<Convention>) -> Result<Self, TraceError> {
        let mut anchor = Anchor::read(path)?;
        let definitions = Definitions::read(&path.with_extension("def"), anchor.definition_chunk)?;
        // EZTrace does not name itself, except by a region.
        if anchor.creator.is_empty() && definitions.has_region("EZTrace_finalize") {
            anchor.creator = "EZTrace".to_owned();
        }
        let (convention, is_known_creator) = Convention::of_creator(&anchor.creator);
        let (folder, shares, notes) = (path.with_extension(""), OnceLock::new(), NotesOfRanks::default());
        for file in fs::read_dir(&folder).into_iter().flatten().flatten() {
            input::announce(&file.path()).map_err(TraceError::io(&file.path()))?;
        }
        let threads = definitions.locations.iter().map(|_| OnceLock::new()).collect();
        let (is_chosen, bytes) = (bytes.is_some(), bytes.unwrap_or(convention));
        Ok(Self { anchor, definitions, convention, bytes, is_chosen, is_known_creator, folder, threads, shares, notes })
    }

    /// Whether titr wrote the archive.
    fn is_own(&self) -> bool {
        self.definitions.calls.is_some() && self.anchor.creator.starts_with(own::CREATOR)
    }

    fn is_score_p(&self) -> bool {
        self.convention == Convention::ScoreP
    }

    /// Whether each call that makes a communicator makes it of the world. Only Score-P names the communicator that another was
    /// made of.
    fn makes_of_world(&self) -> bool {
        let is_whole = self.is_known_creator && self.is_score_p() && !self.anchor.lacks_messages;
        is_whole && self.definitions.communicators.are_of_world()
    }

    /// The lists of collectives, which are read when the first one needs them.
    fn shares(&self) -> &Shares {
        self.shares.get_or_init(|| Shares::read(self))
    }

    fn file(&self, location: u64, extension: &str) -> PathBuf {
        self.folder.join(format!("{location}.{extension}"))
    }

    fn manifest(&self) -> Manifest {
        let ranks = u32::try_from(self.definitions.locations.len()).unwrap_or(u32::MAX);
        let mut manifest = Manifest::of_foreign(ranks, "OTF2", &self.anchor.creator);
        for (entry, host) in manifest.per_rank.iter_mut().zip(&self.definitions.hosts) {
            entry.host.clone_from(host);
            if self.definitions.counts_instructions() {
                entry.counter = Counter { resolution: 1.0, ..Counter::exact("papi") };
            }
        }
        manifest
    }

    /// Parts of the archive without a counterpart in titr's events.
    fn untranslated(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.is_known_creator && !self.is_chosen {
            sentences.push(format!(
                "The archive is of {}: the bytes of its collectives are taken to mean what they mean in Score-P's archives.",
                if self.anchor.creator.is_empty() { "an unknown tool" } else { self.anchor.creator.as_str() }
            ));
        }
        if self.anchor.lacks_messages {
            sentences.push(
                "The archive says that messages are missing, because of a filter or because the measurement was off at times."
                    .to_owned(),
            );
        }
        // Threads of ranks that were not read may call MPI.
        let (mut locations, mut events) = self.definitions.further;
        for (known, threads) in self.threads.iter().zip(&self.definitions.threads) {
            let Some(known) = known.get() else { continue };
            for (_, more) in threads.iter().filter(|(id, _)| !known.contains(id)) {
                (locations, events) = (locations + 1, events.saturating_add(*more));
            }
        }
        if locations > 0 {
            sentences.push(format!(
                "{} no calls of MPI (threads, devices, metrics): {} left out.",
                counted(locations, "location has", "locations have"),
                counted(events, "event is", "events are")
            ));
        }
        sentences.extend(self.notes.sum(Otf2Notes::add).sentences());
        sentences
    }
}

/// The events of an archive's ranks.
struct Otf2Sources(Arc<Archive>);

impl RankSources for Otf2Sources {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(RankEvents::open(&self.0, rank, partial)?))
    }

    fn untranslated(&self) -> Vec<String> {
        self.0.untranslated()
    }
}
