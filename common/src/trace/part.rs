//! The parts of a trace in directories and archives, and their combination.
//!
//! Each process writes locally: its stream, its entry of the manifest, and rank 0 the manifest's part about the run. If
//! hosts share no file system, or each rank has its own directory, each place has a part. The parts form the trace if
//! together they contain each rank once and belong to the same run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::archive;
use super::directory::{self, Kind};
use super::error::TraceError;
use super::manifest::{Manifest, RankEntry};
use super::manifest_file::from_file;
use super::section::Section;
use crate::event::Rank;
use crate::format::ranges;

/// The pieces of a trace that were found, and the place of each.
#[derive(Default)]
pub(super) struct Parts {
    /// The directories and archives that were searched.
    places: Vec<PathBuf>,
    manifest: Option<(PathBuf, Manifest)>,
    entries: BTreeMap<u32, (PathBuf, RankEntry)>,
    streams: BTreeMap<u32, Section>,
}

/// A trace: the entry and the stream of every rank that ran with the tracer.
pub(super) struct Whole {
    pub(super) manifest: Manifest,
    /// The stream of each entry.
    pub(super) streams: Vec<Section>,
    /// The error of a rank that ran without the tracer.
    pub(super) untraced: Option<Untraced>,
}

/// The ranks of a trace that ran without the tracer.
pub(super) struct Untraced {
    path: PathBuf,
    what: String,
}

impl Untraced {
    pub(super) fn error(&self) -> TraceError {
        TraceError::Directory { path: self.path.clone(), what: self.what.clone() }
    }
}

impl Manifest {
    /// Reads the manifest in `directory`, with entries in separate files beside it.
    ///
    /// # Errors
    /// If a file is missing, not JSON or of another version, or a rank has no entry.
    pub fn read(directory: &Path) -> Result<Self, TraceError> {
        Parts::open(&[directory])?.manifest()
    }
}

impl Parts {
    /// Finds the parts of a trace in directories and archives.
    ///
    /// # Errors
    /// If one cannot be read, or two have the same rank.
    pub(super) fn open(places: &[impl AsRef<Path>]) -> Result<Self, TraceError> {
        let mut parts = Self::default();
        for place in places {
            parts.add(place.as_ref())?;
        }
        Ok(parts)
    }

    fn add(&mut self, place: &Path) -> Result<(), TraceError> {
        let files: Vec<(Kind, Section)> = if place.is_dir() {
            let files = directory::scan(place).map_err(TraceError::io(place))?;
            files.into_iter().map(|(kind, path)| (kind, Section::closed(path))).collect()
        } else if archive::is_archive(place) {
            archive::scan(place)?
        } else {
            fs::metadata(place).map_err(TraceError::io(place))?;
            return refuse(place, "neither a trace directory nor an archive of one");
        };
        if self.places.iter().any(|known| known == place) {
            return refuse(place, "it is given twice");
        }
        self.places.push(place.into());
        // A rank's own entry goes before the one in the manifest, where that is of the same place.
        let mut folded = Vec::new();
        let mut own = BTreeMap::new();
        for (kind, file) in files {
            let path = file.name().to_owned();
            match kind {
                Kind::Stream(rank) => match self.streams.get(&rank.0) {
                    None => _ = self.streams.insert(rank.0, file),
                    Some(first) => return Err(twice(path, &format!("rank {}", rank.0), first.name())),
                },
                Kind::Entry(rank) => _ = own.insert(rank.0, (path, from_file(file)?)),
                Kind::Manifest => {
                    let mut manifest = Manifest::from_file(file)?;
                    folded = std::mem::take(&mut manifest.per_rank);
                    if let Some((first, _)) = &self.manifest {
                        return Err(twice(path, "the manifest", first));
                    }
                    self.manifest = Some((path, manifest));
                }
            }
        }
        for entry in folded {
            let Some((path, _)) = &self.manifest else { break };
            own.entry(entry.rank).or_insert_with(|| (path.clone(), entry));
        }
        for (rank, (path, entry)) in own {
            if let Some((first, _)) = self.entries.get(&rank) {
                return Err(twice(path, &format!("rank {rank}"), first));
            }
            self.entries.insert(rank, (path, entry));
        }
        Ok(())
    }

    /// The manifest with the entries of all ranks.
    ///
    /// # Errors
    /// If there is none, or an entry is missing, too many, or of another run.
    pub(super) fn manifest(mut self) -> Result<Manifest, TraceError> {
        self.check()?.map_or(Ok(()), |untraced| Err(untraced.error()))?;
        self.take_manifest()
    }

    fn take_manifest(&mut self) -> Result<Manifest, TraceError> {
        let (_, manifest) = self.manifest.take().ok_or_else(|| self.no_manifest())?;
        let per_rank = std::mem::take(&mut self.entries).into_values().map(|(_, entry)| entry).collect();
        Ok(Manifest { per_rank, ..manifest })
    }

    /// Fails unless there is a manifest, and an entry of the same run for each rank that ran with the tracer. Returns the
    /// others.
    fn check(&self) -> Result<Option<Untraced>, TraceError> {
        let (path, manifest) = self.manifest.as_ref().ok_or_else(|| self.no_manifest())?;
        let is_missing = |rank: &u32| !self.entries.contains_key(rank);
        let untraced: BTreeSet<u32> = manifest.untraced_ranks.iter().copied().filter(is_missing).collect();
        let is_lost = |rank: &u32| is_missing(rank) && !untraced.contains(rank);
        let missing: Vec<u32> = (0..manifest.ranks).filter(is_lost).take(MISSING).collect();
        if !missing.is_empty() {
            let (rank, them) = if missing.len() == 1 { ("rank", "it was") } else { ("ranks", "they were") };
            let what = format!(
                "no entry for {rank} {} of {}: {them} traced elsewhere (give that directory as well), or lost",
                ranges(&missing),
                manifest.ranks
            );
            return refuse(path, what);
        }
        let first = self.entries.first_key_value();
        for (rank, (path, entry)) in &self.entries {
            if *rank >= manifest.ranks {
                return refuse(path, format!("an entry for rank {rank} in a world of {}", manifest.ranks));
            }
            if entry.rank != *rank {
                return refuse(path, format!("an entry for rank {} in the file of rank {rank}", entry.rank));
            }
            if let Some((first, (_, known))) = first
                && entry.run != known.run
            {
                return refuse(path, format!("rank {rank} of another run than rank {first}"));
            }
        }
        let untraced: Vec<u32> = untraced.into_iter().collect();
        let ranks = if untraced.len() == 1 { "rank" } else { "ranks" };
        let what = format!("{ranks} {} of {} ran without the tracer", ranges(&untraced), manifest.ranks);
        Ok((!untraced.is_empty()).then(|| Untraced { path: path.clone(), what }))
    }

    /// The trace of a job whose ranks all ran with the tracer.
    ///
    /// # Errors
    /// As [`traced`](Self::traced), and if a rank ran without the tracer.
    pub(super) fn whole(self) -> Result<Whole, TraceError> {
        let whole = self.traced()?;
        whole.untraced.as_ref().map_or(Ok(()), |untraced| Err(untraced.error()))?;
        Ok(whole)
    }

    /// The trace of all ranks that ran with the tracer.
    ///
    /// # Errors
    /// If there is no manifest, an entry is missing, too many, or of another run, or a rank has no stream or several.
    pub(super) fn traced(mut self) -> Result<Whole, TraceError> {
        let untraced = self.check()?;
        if let Some(&rank) = self.entries.keys().find(|rank| !self.streams.contains_key(rank)) {
            return Err(self.no_stream(rank));
        }
        if let Some((_, stranger)) = self.streams.iter().find(|(rank, _)| !self.entries.contains_key(rank)) {
            let ranks = self.manifest.as_ref().map_or(0, |(_, manifest)| manifest.ranks);
            let what = format!("no rank of the {ranks} in manifest.json: a stream of another trace");
            return refuse(stranger.name(), what);
        }
        let manifest = self.take_manifest()?;
        Ok(Whole { manifest, streams: self.streams.into_values().collect(), untraced })
    }

    /// The name of the run, by the first rank that has an entry.
    pub(super) fn run(&self) -> Option<String> {
        self.entries.values().next().map(|(_, entry)| entry.run.clone())
    }

    fn no_manifest(&self) -> TraceError {
        let ranks: Vec<u32> = self.streams.keys().copied().collect();
        let what = match ranks.as_slice() {
            [] => {
                "no directory of a trace: it has no manifest.json. Of SimGrid's traces, give the index file".to_owned()
            }
            [0, ..] => "no manifest.json, and it should be where the stream of rank 0 is: it was lost".to_owned(),
            [rank] => format!("the part of rank {rank} alone: give that of rank 0 as well, which has the manifest"),
            ranks => {
                format!("the part of ranks {}: give that of rank 0 as well, which has the manifest", ranges(ranks))
            }
        };
        TraceError::Directory { path: self.places.first().cloned().unwrap_or_default(), what }
    }

    /// The error of a stream that is missing, at the place beside the rank's entry where it should be.
    fn no_stream(&self, rank: u32) -> TraceError {
        let beside = self.entries.get(&rank).and_then(|(path, _)| path.parent()).unwrap_or(Path::new(""));
        let path = directory::stream(beside, Rank(rank));
        let what =
            format!("the stream of rank {rank} is missing: copy it here, or give the directory that has it as well");
        TraceError::Directory { path, what }
    }
}

/// Number of missing ranks that are searched for: a damaged manifest may claim a world of billions.
const MISSING: usize = 1 << 16;

fn refuse<T>(path: &Path, what: impl Into<String>) -> Result<T, TraceError> {
    Err(TraceError::Directory { path: path.into(), what: what.into() })
}

fn twice(path: PathBuf, what: &str, first: &Path) -> TraceError {
    TraceError::Directory { path, what: format!("{what} is there twice: see {}", first.display()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_in_ranges() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0–2, 5, 7–8");
        assert_eq!(ranges(&(0..40).step_by(2).collect::<Vec<_>>()), "0, 2, 4, 6, 8, 10, 12, 14, …");
    }
}
