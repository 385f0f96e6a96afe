//! Several worlds in one trace: a program that spawns processes or connects to others leaves a trace for each world,
//! and they are read as one.
//!
//! The ranks of the worlds are concatenated: in a world of four and one of two, the second world's ranks are 4 and 5.
//! Each rank's events are [renumbered] as they are read, and its `MPI_COMM_WORLD` becomes a communicator of some of all
//! ranks. A reader of the trace therefore sees one world with communicators.
//!
//! The manifests record which worlds have met ([`Encounter`](super::encounter::Encounter)), and [`numbers`] finds the
//! processes behind the numbers that a rank gave to processes of other worlds. The trace of an encountered world is
//! searched for next to the given ones. Events that concern a world without a trace are [skipped](unmatched), with a
//! warning.

mod numbers;
mod renumbered;
mod unmatched;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::encounter::{Encounter, Side};
use super::error::TraceError;
use super::event_source::EventSource;
use super::manifest::{Manifest, Mode, RankEntry};
use super::opened::{RankSources, Trace, World};
use super::part::Parts;
use super::section::Section;
use super::transformation::ChangedEvents;
use crate::event::Rank;
use crate::format::{count, plural};
use numbers::{Encounters, EntryKey, Foreign, Numbering};
use renumbered::Renumber;

/// Opens the trace at `places` with `open`, and with it the traces of all worlds that its ranks have met, which are
/// among `places` or next to them.
///
/// # Errors
/// If a trace cannot be opened, or the traces contradict each other.
pub fn with_worlds(
    places: &[impl AsRef<Path>],
    open: impl Fn(&[&Path]) -> Result<Trace, TraceError>,
) -> Result<Trace, TraceError> {
    let places: Vec<&Path> = places.iter().map(AsRef::as_ref).collect();
    open_worlds(&places, open).map(Trace::with_part_matched)
}

/// The traces of programs that run at the same time and do not know each other, as one trace; each has the place that it was
/// read from. The ranks of the first come first.
///
/// # Errors
/// If there are too many ranks.
pub fn side_by_side(programs: Vec<(PathBuf, Trace)>) -> Result<Trace, TraceError> {
    let mut worlds = Vec::new();
    for (place, trace) in programs {
        add(&mut worlds, &[&place], trace)?;
    }
    let foreign = worlds.iter().map(|world| vec![Foreign::default(); world.ranks() as usize]).collect();
    Ok(join(worlds, foreign, Vec::new()))
}

fn open_worlds(places: &[&Path], open: impl Fn(&[&Path]) -> Result<Trace, TraceError>) -> Result<Trace, TraceError> {
    let groups = by_run(places);
    let mut worlds = Vec::new();
    for group in &groups {
        // Incomplete parts of several runs are an error that is reported for all of them.
        match open(group) {
            Ok(trace) => add(&mut worlds, group, trace)?,
            Err(_) if groups.len() > 1 => return open(places),
            Err(error) => return Err(error),
        }
    }
    if !worlds.iter().all(World::has_encounters) {
        return match worlds.pop() {
            Some(World { trace, .. }) if worlds.is_empty() => Ok(trace),
            _ => open(places),
        };
    }
    let mut taken: Vec<PathBuf> = places.iter().filter_map(|place| fs::canonicalize(place).ok()).collect();
    loop {
        let encounters = Encounters::new(&worlds)?;
        let beside = wanted(&worlds, &encounters, places, &mut taken);
        if beside.is_empty() {
            break;
        }
        for place in beside {
            let trace = open(&[&place])?;
            add(&mut worlds, &[&place], trace)?;
        }
    }
    let encounters = Encounters::new(&worlds)?;
    let missing = encounters.alone.iter().map(|&key| is_missing(&worlds, key, encounters.entry(key))).collect();
    let foreign = encounters.resolve()?;
    Ok(join(worlds, foreign, missing))
}

fn add(worlds: &mut Vec<World>, places: &[&Path], trace: Trace) -> Result<(), TraceError> {
    let place = places.first().map_or(PathBuf::new(), PathBuf::from);
    let ranks: u32 = worlds.iter().map(World::ranks).sum();
    if ranks.checked_add(trace.ranks()).is_none() {
        return Err(TraceError::Directory { path: place, what: "there are too many ranks in all worlds".to_owned() });
    }
    worlds.push(World { first: Rank(ranks), place, trace });
    Ok(())
}

/// The places that hold parts of one trace together, in the order in which they were given. Places without the name of a run
/// are parts of one trace.
fn by_run<'p>(places: &[&'p Path]) -> Vec<Vec<&'p Path>> {
    let mut groups: Vec<(String, Vec<&Path>)> = Vec::new();
    for &place in places {
        let run = if places.len() > 1 { Parts::open(&[place]).ok().and_then(|parts| parts.run()) } else { None };
        let run = run.unwrap_or_default();
        match groups.iter_mut().find(|(known, _)| *known == run) {
            Some((_, group)) => group.push(place),
            None => groups.push((run, vec![place])),
        }
    }
    groups.into_iter().map(|(_, places)| places).collect()
}

/// Traces next to the given ones with the missing other side of an encounter.
fn wanted(worlds: &[World], encounters: &Encounters<'_>, places: &[&Path], taken: &mut Vec<PathBuf>) -> Vec<PathBuf> {
    let links: Vec<(&str, Side)> = encounters
        .alone
        .iter()
        .filter_map(|&key| {
            let entry = encounters.entry(key);
            Some((entry.link.as_deref()?, entry.side.other()))
        })
        .collect();
    if links.is_empty() {
        return Vec::new();
    }
    let has_one = |manifest: &Manifest| {
        let mut all = manifest.per_rank.iter().flat_map(|entry| &entry.encounters);
        all.any(|entry| entry.link.as_deref().is_some_and(|link| links.contains(&(link, entry.side))))
    };
    let folders = places.iter().copied().chain(worlds.iter().map(|world| world.place.as_path()));
    let mut folders: Vec<PathBuf> = folders.filter_map(folder_of).collect();
    folders.sort();
    folders.dedup();
    let mut found = Vec::new();
    for folder in folders {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
        let Ok(entries) = fs::read_dir(here) else { continue };
        let mut beside: Vec<PathBuf> = entries.filter_map(|entry| Some(folder.join(entry.ok()?.file_name()))).collect();
        beside.sort();
        for place in beside {
            let is_archive = place.extension().is_some_and(|extension| extension == "tar") && place.is_file();
            let Ok(canonical) = fs::canonicalize(&place) else { continue };
            if !(is_archive || super::directory::manifest(&place).is_file()) || taken.contains(&canonical) {
                continue;
            }
            if Parts::open(&[&place]).and_then(|parts| parts.manifest()).is_ok_and(|manifest| has_one(&manifest)) {
                taken.push(canonical);
                found.push(place);
            }
        }
    }
    found
}

/// The folder that contains a place; an empty path is the working directory.
fn folder_of(place: &Path) -> Option<PathBuf> {
    match place.file_name() {
        Some(_) => place.parent().map(Path::to_owned),
        None => Some(fs::canonicalize(place).ok()?.parent()?.to_owned()),
    }
}

/// Says that a world is missing.
fn is_missing(worlds: &[World], key: EntryKey, entry: &Encounter) -> String {
    let processes = entry.remote.count();
    let place = worlds.get(key.world).map_or(String::new(), |world| world.place.display().to_string());
    format!(
        "not simulated: calls that concern the {} {} that rank {} of {place} has {}; their trace is not beside it: name it \
         after {place}, or trace these processes too (LD_PRELOAD in the environment of mpirun)",
        count(processes),
        plural(processes, "process", "processes"),
        key.rank,
        entry.side,
    )
}

fn join(worlds: Vec<World>, foreign: Vec<Vec<Foreign>>, missing: Vec<String>) -> Trace {
    let foreign = foreign.into_iter().map(|ranks| ranks.into_iter().map(Arc::new).collect()).collect();
    let ranks = worlds.iter().map(World::ranks).sum();
    let manifest = manifest(&worlds, ranks);
    let worlds: Arc<[World]> = worlds.into();
    let joined = Trace::new(ranks, Joined { worlds: Arc::clone(&worlds), foreign, missing }).of_worlds(worlds);
    match manifest {
        Some(manifest) => joined.with_manifest(manifest),
        None => joined,
    }
}

fn manifest(worlds: &[World], ranks: u32) -> Option<Manifest> {
    let first = worlds.first()?.trace.manifest()?.clone();
    let run = first.per_rank.first().map_or(String::new(), |entry| entry.run.clone());
    let (mut mode, mut per_rank, mut untraced_ranks) = (first.mode, Vec::new(), Vec::new());
    for World { first: Rank(offset), trace, .. } in worlds {
        let manifest = trace.manifest()?;
        if manifest.mode == Mode::Ti {
            mode = Mode::Ti;
        }
        let entries = manifest.per_rank.iter();
        per_rank.extend(entries.map(|entry| {
            let entry = RankEntry { rank: entry.rank.saturating_add(*offset), ..entry.clone() };
            entry.with(|entry| {
                // All whom the ranks have met are ranks of the whole.
                entry.encounters.clear();
                entry.run.clone_from(&run);
            })
        }));
        untraced_ranks.extend(manifest.untraced_ranks.iter().map(|rank| rank.saturating_add(*offset)));
    }
    Some(Manifest { mode, ranks, per_rank, untraced_ranks, ..first })
}

/// The ranks of several worlds.
struct Joined {
    worlds: Arc<[World]>,
    foreign: Vec<Vec<Arc<Foreign>>>,
    missing: Vec<String>,
}

impl RankSources for Joined {
    fn source(&self, rank: Rank, partial: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let (index, world, own) = self.place(rank)?;
        let foreign = self.foreign.get(index).and_then(|ranks| ranks.get(own.0 as usize)).cloned().unwrap_or_default();
        let is_one_of_several = self.worlds.len() > 1;
        let numbering = Numbering { first: world.first, size: world.ranks(), foreign, is_one_of_several };
        Ok(Box::new(ChangedEvents::new(world.trace.source(own, partial)?, Renumber::new(numbering))))
    }

    fn file(&self, rank: Rank) -> Result<Option<Section>, TraceError> {
        let (_, world, own) = self.place(rank)?;
        world.trace.file_of(own)
    }

    fn untranslated(&self) -> Vec<String> {
        let of_worlds = self.worlds.iter().flat_map(|world| world.trace.untranslated());
        self.missing.iter().cloned().chain(of_worlds).collect()
    }
}

impl Joined {
    /// The world of a rank, and its number there.
    fn place(&self, rank: Rank) -> Result<(usize, &World, Rank), TraceError> {
        let index = self.worlds.partition_point(|world| world.first <= rank).checked_sub(1);
        let found = index.and_then(|index| Some((index, self.worlds.get(index)?)));
        let absent = || TraceError::Directory { path: PathBuf::new(), what: format!("there is no rank {}", rank.0) };
        let (index, world) = found.ok_or_else(absent)?;
        Ok((index, world, Rank(rank.0 - world.first.0)))
    }
}
