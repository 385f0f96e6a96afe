//! The definitions of an archive, `NAME.def`: its clock, ranks, regions, communicators, counters and windows.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::trace::TraceError;

use super::communicators::{MPI, Otf2Communicator, Otf2Communicators, RawComm, RawGroup};
use super::fields::Otf2Fields;
use super::functions::Otf2Function;
use super::own::CALLS;
use super::records::{Contents, Otf2Records};
use crate::input::rank_events::region_name;

/// What an archive defines.
pub(super) struct Definitions {
    pub clock: ClockProperties,
    /// The location of each rank of the world.
    pub locations: Vec<u64>,
    /// Those of the further threads of its process, and the numbers of their events.
    pub threads: Vec<Vec<(u64, u64)>>,
    /// The host of each rank; empty where the archive does not name it.
    pub hosts: Vec<String>,
    /// Regions by their numbers.
    pub regions: FxHashMap<u32, Region>,
    pub communicators: Otf2Communicators,
    /// For each metric class or instance with a counter of instructions, the place of the counter among its members.
    pub instructions: FxHashMap<u32, usize>,
    /// The communicators of windows, and whether the events create and destroy them.
    pub windows: FxHashMap<u32, (Arc<Otf2Communicator>, bool)>,
    /// The attribute with the text of calls, in an archive that titr wrote, and all texts.
    pub calls: Option<u32>,
    pub texts: FxHashMap<u32, Box<[u8]>>,
    /// The number of locations that are no rank's, such as devices and metrics; and of their events.
    pub further: (u64, u64),
}

/// The unit of times in events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockProperties {
    pub ticks_per_second: u64,
    /// The earliest time, which becomes 0.
    pub origin: u64,
}

/// A part of the program that events enter and leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// A function of MPI, and its name.
    Mpi(Otf2Function, Box<str>),
    /// A function or another part of the program itself, and its [place in the source](source_place).
    User { name: Box<str>, source: Option<Box<str>> },
    /// A construct of another paradigm.
    Other,
}

/// The name of PAPI's counter of instructions.
const INSTRUCTIONS: &[u8] = b"PAPI_TOT_INS";

/// The type of a location that is a thread.
const THREAD: u8 = 1;

/// A paradigm that the archive does not name.
const UNKNOWN: u8 = 0;
/// The paradigms whose regions are of the program itself: unknown, user, compiler.
const OF_PROGRAM: [u8; 3] = [UNKNOWN, 1, 2];
/// A paradigm that means nothing for a replay.
const OTHER: u8 = u8::MAX;

/// Types of regions before OTF2 1.2, which had no paradigms, from the first to the last of OpenMP.
const OPENMP: std::ops::RangeInclusive<u8> = 5..=20;

/// Definitions as the file has them, in which a definition may name one that follows.
#[derive(Default)]
struct Raw {
    clock: Option<ClockProperties>,
    strings: FxHashMap<u32, Box<[u8]>>,
    /// Attributes with their names.
    attributes: FxHashMap<u32, u32>,
    nodes: FxHashMap<u32, u32>,
    location_groups: FxHashMap<u32, u32>,
    locations: Vec<(u64, u8, u64, u32)>,
    regions: Vec<RawRegion>,
    groups: Vec<RawGroup>,
    comms: Vec<RawComm>,
    members: FxHashMap<u32, u32>,
    classes: FxHashMap<u32, Vec<u32>>,
    instances: FxHashMap<u32, u32>,
    windows: FxHashMap<u32, (u32, bool)>,
}

/// A region, with references to its name and the file of its source.
struct RawRegion {
    id: u32,
    name: u32,
    file: u32,
    lines: [u32; 2],
    paradigm: u8,
}

impl Definitions {
    /// Reads the definitions of a file.
    pub(super) fn read(path: &Path, chunk: u64) -> Result<Self, TraceError> {
        let mut raw = Raw::default();
        Otf2Records::open(path, Contents::Definitions, chunk)?.read_all(|kind, fields| raw.add(kind, fields))?;
        raw.resolve(path)
    }

    /// Whether there is a region of the program of this name.
    pub(super) fn has_region(&self, name: &str) -> bool {
        self.regions.values().any(|region| matches!(region, Region::User { name: other, .. } if **other == *name))
    }

    /// Whether computation was counted in instructions.
    pub(super) fn counts_instructions(&self) -> bool {
        !self.instructions.is_empty()
    }
}

impl Raw {
    /// Adds a definition; `None` if its fields are not what OTF2 says. If a number is defined twice, the first holds.
    fn add(&mut self, kind: u8, mut fields: Otf2Fields<'_>) -> Option<()> {
        let f = &mut fields;
        match kind {
            5 => {
                let (ticks_per_second, origin) = (f.u64()?, f.u64()?);
                self.clock.get_or_insert(ClockProperties { ticks_per_second, origin });
            }
            10 => {
                let (id, text) = (f.u32()?, f.text()?);
                self.strings.entry(id).or_insert_with(|| text.into());
            }
            // Definitions that name one other: attributes, nodes, members of metrics, and instances of these.
            11 | 12 | 19 | 21 => {
                let (id, other) = (f.u32()?, f.u32()?);
                let table = match kind {
                    11 => &mut self.attributes,
                    12 => &mut self.nodes,
                    19 => &mut self.members,
                    _ => &mut self.instances,
                };
                table.entry(id).or_insert(other);
            }
            13 => {
                let (id, _name, _type, node) = (f.u32()?, f.u32()?, f.byte()?, f.u32()?);
                self.location_groups.entry(id).or_insert(node);
            }
            14 => {
                let (id, _name, kind, events, group) = (f.u64()?, f.u32()?, f.byte()?, f.u64()?, f.u32()?);
                self.locations.push((id, kind, events, group));
            }
            15 => {
                let (id, name, _description, old_type) = (f.u32()?, f.u32()?, f.u32()?, f.byte()?);
                let (file, lines) = (f.u32()?, [f.u32()?, f.u32()?]);
                let paradigm = match old_type {
                    _ if !f.is_empty() => (f.u32()?, f.byte()?, f.byte()?).2,
                    old_type if OPENMP.contains(&old_type) => OTHER,
                    _ => UNKNOWN,
                };
                self.regions.push(RawRegion { id, name, file, lines, paradigm });
            }
            18 => self.groups.push(RawGroup::read(f)?),
            20 => {
                let (id, number) = (f.u32()?, f.byte()?);
                let members = (0..number).map(|_| f.u32()).collect::<Option<_>>()?;
                self.classes.entry(id).or_insert(members);
            }
            22 | 43 => self.comms.push(RawComm::read(kind == 43, f)?),
            24 => {
                let (id, _name, comm) = (f.u32()?, f.u32()?, f.u32()?);
                let flags = if f.is_empty() { 1 } else { f.u32()? };
                self.windows.entry(id).or_insert((comm, flags & 1 != 0));
            }
            _ => {}
        }
        Some(())
    }

    fn text(&self, id: u32) -> String {
        self.strings.get(&id).map_or(String::new(), |text| String::from_utf8_lossy(text).into_owned())
    }

    /// Replaces references by what they refer to.
    fn resolve(self, path: &Path) -> Result<Definitions, TraceError> {
        let refuse = |what: String| TraceError::Directory { path: path.into(), what };
        let Some(clock) = self.clock.filter(|clock| clock.ticks_per_second > 0) else {
            return Err(refuse("there is no definition of the clock, or it has no ticks".to_owned()));
        };
        let names = |id| self.text(id);
        let (locations, communicators) =
            Otf2Communicators::resolve(&self.groups, &self.comms, names).map_err(refuse)?;

        let ranks: FxHashMap<u64, usize> = locations.iter().enumerate().map(|(rank, &id)| (id, rank)).collect();
        let mut hosts = vec![String::new(); locations.len()];
        // The rank of each process; a process of several ranks has no threads that are known to be of one.
        let mut processes: FxHashMap<u32, Option<usize>> = FxHashMap::default();
        for &(id, _, _, group) in &self.locations {
            if let Some(&rank) = ranks.get(&id) {
                let node = self.location_groups.get(&group).and_then(|node| self.nodes.get(node));
                hosts[rank] = node.map_or(String::new(), |&name| self.text(name));
                processes.entry(group).and_modify(|rank| *rank = None).or_insert(Some(rank));
            }
        }
        let (mut threads, mut further) = (vec![Vec::new(); locations.len()], (0, 0));
        for &(id, kind, events, group) in self.locations.iter().filter(|(id, ..)| !ranks.contains_key(id)) {
            match processes.get(&group).copied().flatten() {
                Some(rank) if kind == THREAD => threads[rank].push((id, events)),
                _ => further = (further.0 + 1, events.saturating_add(further.1)),
            }
        }

        let mut regions = FxHashMap::default();
        for &RawRegion { id, name, file, lines, paradigm } in &self.regions {
            let name = self.text(name);
            let region = match Otf2Function::of_region(&name, paradigm == MPI) {
                Some(function) => Region::Mpi(function, name.into()),
                // A function of a library that is not in the standard.
                None if paradigm == MPI => Region::Mpi(Otf2Function::Plain, name.into()),
                None if OF_PROGRAM.contains(&paradigm) && !name.is_empty() => {
                    let name = region_name(&name);
                    let source = source_place(&name, &self.text(file), lines);
                    Region::User { name, source }
                }
                None => Region::Other,
            };
            regions.entry(id).or_insert(region);
        }

        let is_counter = |member: &u32| {
            self.members.get(member).and_then(|name| self.strings.get(name)).is_some_and(|name| **name == *INSTRUCTIONS)
        };
        let mut instructions: FxHashMap<u32, usize> =
            self.classes.iter().filter_map(|(&id, members)| Some((id, members.iter().position(is_counter)?))).collect();
        for (&id, class) in &self.instances {
            if let Some(&place) = instructions.get(class) {
                instructions.insert(id, place);
            }
        }

        let windows = self
            .windows
            .iter()
            .filter_map(|(&id, &(comm, has_events))| Some((id, (Arc::clone(communicators.get(comm)?), has_events))));
        let windows = windows.collect();
        let is_calls = |name: &u32| self.strings.get(name).is_some_and(|name| **name == *CALLS.as_bytes());
        let calls = self.attributes.iter().find(|(_, name)| is_calls(name)).map(|(&id, _)| id);
        let texts = if calls.is_some() { self.strings } else { FxHashMap::default() };
        Ok(Definitions {
            clock,
            locations,
            threads,
            hosts,
            regions,
            communicators,
            instructions,
            windows,
            calls,
            texts,
            further,
        })
    }
}

/// The place of a region in the source of the program, as titr writes call sites: `solve (lu.c:40-97)`. `None` if the file is
/// not known.
fn source_place(region: &str, file: &str, [first, last]: [u32; 2]) -> Option<Box<str>> {
    let file = file.rsplit('/').next().filter(|file| !file.is_empty())?;
    let is_line = |line: u32| line > 0 && line < u32::MAX;
    let lines = match (is_line(first), is_line(last) && last > first) {
        (true, true) => format!(":{first}-{last}"),
        (true, false) => format!(":{first}"),
        (false, _) => String::new(),
    };
    Some(format!("{region} ({file}{lines})").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_the_lines_that_are_known() {
        let place = |file, lines| source_place("f", file, lines);
        assert_eq!(place("/home/me/a.c", [3, 9]).as_deref(), Some("f (a.c:3-9)"));
        assert_eq!(place("a.c", [3, u32::MAX]).as_deref(), Some("f (a.c:3)"));
        assert_eq!(place("a.c", [u32::MAX, 0]).as_deref(), Some("f (a.c)"));
        assert_eq!(place("", [3, 9]), None);
    }
}
