//! The definitions of an archive: names, regions, communicators, and the locations of the ranks.

use std::hash::Hash;
use std::io;

use rustc_hash::FxHashMap;
use titr_common::event::{Activity, CollectiveKind, Rank, ThreadId};
use titr_common::program::{Context, Members};
use titr_common::trace::Manifest;

use super::chunks::{ChunkedFile, RecordBody};
use crate::input::otf2::own::CALLS;

/// The number of that attribute, and of the class of metrics with the counter of instructions.
pub(super) const ONLY: u32 = 0;
/// An undefined reference.
pub(super) const UNDEFINED: u32 = u32::MAX;

/// The numbers of the communicators that exist from the beginning.
pub(super) const WORLD: u32 = 0;
pub(super) const ITSELF: u32 = 1;

/// The paradigms of regions: the program, MPI, and the tool.
const USER: u8 = 1;
const MPI: u8 = 4;
const TOOL: u8 = 6;

/// DefinitionNumbers for things, in the order in which they were first named.
struct DefinitionNumbers<T> {
    numbers: FxHashMap<T, u32>,
    all: Vec<T>,
    /// The number of the first thing.
    first: u32,
}

impl<T: Clone + Eq + Hash> DefinitionNumbers<T> {
    fn from(first: u32) -> Self {
        Self { numbers: FxHashMap::default(), all: Vec::new(), first }
    }

    fn of(&mut self, thing: T) -> u32 {
        let next = self.first + self.all.len() as u32;
        let all = &mut self.all;
        *self.numbers.entry(thing).or_insert_with_key(|thing| {
            all.push(thing.clone());
            next
        })
    }

    fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (self.first..).zip(&self.all)
    }
}

/// A region, by its name, its role and its paradigm.
type RegionKey = (Box<str>, u8, u8);

/// The definitions that the ranks' records need.
pub(super) struct ArchiveDefinitions {
    texts: DefinitionNumbers<Box<str>>,
    regions: DefinitionNumbers<RegionKey>,
    /// The groups of communicators, after those of the world and of each rank alone.
    groups: DefinitionNumbers<Vec<Rank>>,
    /// The groups of each communicator that a call made, by its context.
    comms: FxHashMap<Context, u32>,
    made: Vec<(u32, Option<u32>)>,
    ranks: u32,
    /// The further threads, whose locations follow those of the ranks.
    threads: Vec<(Rank, ThreadId)>,
    /// The events of each location.
    events: FxHashMap<u64, u64>,
}

impl ArchiveDefinitions {
    pub(super) fn new(ranks: u32) -> Self {
        Self {
            texts: DefinitionNumbers::from(0),
            regions: DefinitionNumbers::from(0),
            groups: DefinitionNumbers::from(3),
            comms: FxHashMap::default(),
            made: Vec::new(),
            ranks,
            threads: Vec::new(),
            events: FxHashMap::default(),
        }
    }

    pub(super) fn text(&mut self, text: &str) -> u32 {
        match self.texts.numbers.get(text) {
            Some(&known) => known,
            None => self.texts.of(text.into()),
        }
    }

    pub(super) fn region_of_program(&mut self, name: &str) -> u32 {
        const CODE: u8 = 4;
        self.regions.of((name.into(), CODE, USER))
    }

    /// The region of the whole program.
    pub(super) fn program(&mut self) -> u32 {
        const ARTIFICIAL: u8 = 31;
        self.regions.of(("PROGRAM".into(), ARTIFICIAL, TOOL))
    }

    /// The region of an MPI function.
    pub(super) fn function(&mut self, name: &str, kind: Option<CollectiveKind>, activity: Option<Activity>) -> u32 {
        self.regions.of((name.into(), role(kind, activity), MPI))
    }

    /// The number of a communicator that a call made.
    pub(super) fn communicator(&mut self, context: Context, members: &Members) -> u32 {
        if let Some(&known) = self.comms.get(&context) {
            return known;
        }
        let mut ranks = (0..members.len() as u32).map(|member| members.rank(member));
        let first: Vec<Rank> = ranks.by_ref().take(members.first_group() as usize).collect();
        let second: Vec<Rank> = ranks.collect();
        let groups = (self.groups.of(first), (!second.is_empty()).then(|| self.groups.of(second)));
        let number = ITSELF + 1 + self.made.len() as u32;
        self.made.push(groups);
        self.comms.insert(context, number);
        number
    }

    /// The location of a further thread.
    pub(super) fn add_thread(&mut self, rank: Rank, thread: ThreadId) -> u64 {
        self.threads.push((rank, thread));
        self.locations() - 1
    }

    /// Takes note of the number of events of a location.
    pub(super) fn end_location(&mut self, location: u64, events: u64) {
        self.events.insert(location, events);
    }

    /// The number of locations.
    pub(super) fn locations(&self) -> u64 {
        u64::from(self.ranks) + self.threads.len() as u64
    }

    /// The number of definitions, which the anchor has, after all are written to `file`.
    pub(super) fn write(mut self, file: &mut ChunkedFile, length: u64, manifest: Option<&Manifest>) -> io::Result<u64> {
        let mut number = 0;
        let mut write = |kind: u8, body: RecordBody| {
            number += 1;
            file.definition(kind, &body)
        };
        let [empty, mpi, machine, node, thread] = ["", "MPI", "machine", "node", "Master thread"].map(|t| self.text(t));
        let [calls, about, counter, unit] =
            [CALLS, "What titr's trace says of a call", "PAPI_TOT_INS", "#"].map(|text| self.text(text));
        let [world, itself] = ["MPI_COMM_WORLD", "MPI_COMM_SELF"].map(|text| self.text(text));
        let hosts: Vec<u32> = (0..self.ranks)
            .map(|rank| {
                let host =
                    manifest.and_then(|manifest| manifest.per_rank.get(rank as usize)).map(|entry| entry.host.clone());
                self.text(&host.filter(|host| !host.is_empty()).unwrap_or_else(|| "unknown host".to_owned()))
            })
            .collect();
        let ranks: Vec<u32> = (0..self.ranks).map(|rank| self.text(&format!("MPI Rank {rank}"))).collect();
        let further = self.threads.clone();
        let further: Vec<(u32, u32)> =
            further.iter().map(|&(rank, thread)| (rank.0, self.text(&format!("Thread {}", thread.0)))).collect();
        let names: Vec<u32> = self.regions.all.clone().iter().map(|(name, ..)| self.text(name)).collect();

        write(5, RecordBody::default().u64(1_000_000_000).u64(0).u64(length).u64(u64::MAX))?;
        for (id, text) in self.texts.iter() {
            write(10, RecordBody::of(&[id]).text(text))?;
        }
        write(6, RecordBody::default().byte(MPI).u32(mpi).byte(0))?;
        const TEXT: u8 = 11;
        write(11, RecordBody::of(&[ONLY, calls]).byte(TEXT).u32(about))?;
        write(12, RecordBody::of(&[0, machine, machine, UNDEFINED]))?;
        let mut nodes = DefinitionNumbers::from(1);
        for &host in &hosts {
            nodes.of(host);
        }
        for (id, &host) in nodes.iter() {
            write(12, RecordBody::of(&[id, host, node, 0]))?;
        }
        const PROCESS: u8 = 1;
        for (rank, (&name, &host)) in (0..).zip(ranks.iter().zip(&hosts)) {
            write(13, RecordBody::of(&[rank, name]).byte(PROCESS).u32(nodes.of(host)).u32(UNDEFINED))?;
        }
        let own = (0..self.ranks).map(|rank| (rank, thread));
        for (location, (rank, name)) in (0..).zip(own.chain(further)) {
            let events = self.events.get(&location).copied().unwrap_or_default();
            write(14, RecordBody::default().u64(location).u32(name).byte(PROCESS).u64(events).u32(rank))?;
        }
        for ((id, (_, role, paradigm)), &name) in self.regions.iter().zip(&names) {
            let file = if *paradigm == MPI { mpi } else { UNDEFINED };
            let old = RecordBody::of(&[id, name, empty]).byte(0).u32(file).u32(0).u32(0);
            write(15, old.u32(name).byte(*role).byte(*paradigm).u32(0))?;
        }
        const ACCUMULATED: u8 = 0;
        const U64: u8 = 4;
        const DECIMAL: u8 = 1;
        let member = RecordBody::of(&[ONLY, counter, counter]).byte(1).byte(ACCUMULATED).byte(U64).byte(DECIMAL);
        write(19, member.u64(0).u32(unit))?;
        const SYNCHRONOUS: u8 = 1;
        write(20, RecordBody::of(&[ONLY]).byte(1).u32(ONLY).byte(SYNCHRONOUS).byte(0))?;

        let all: Vec<Rank> = (0..self.ranks).map(Rank).collect();
        let groups = [(0, 4, &all[..]), (1, 5, &all[..]), (2, 6, &[])];
        let made = self.groups.iter().map(|(id, members)| (id, 5, &members[..]));
        for (id, kind, members) in groups.into_iter().chain(made) {
            let group = RecordBody::of(&[id, empty]).byte(0).u32(members.len() as u32);
            let group = members.iter().fold(group, |group, member| group.u64(member.0.into()));
            write(18, group.byte(kind).byte(MPI).u32(0))?;
        }
        write(22, RecordBody::of(&[WORLD, world, 1, UNDEFINED, 0]))?;
        write(22, RecordBody::of(&[ITSELF, itself, 2, UNDEFINED, 0]))?;
        const HAS_EVENTS: u32 = 1;
        for (id, &(first, second)) in (ITSELF + 1..).zip(&self.made) {
            match second {
                None => write(22, RecordBody::of(&[id, empty, first, UNDEFINED, HAS_EVENTS]))?,
                Some(second) => write(43, RecordBody::of(&[id, empty, first, second, UNDEFINED, HAS_EVENTS]))?,
            }
        }
        Ok(number)
    }
}

/// The role of the region of an MPI function.
fn role(kind: Option<CollectiveKind>, activity: Option<Activity>) -> u8 {
    use CollectiveKind as K;
    match (kind, activity) {
        (Some(K::Barrier), _) => 15,
        (Some(K::Bcast | K::Scatter | K::Scatterv), _) => 23,
        (Some(K::Gather | K::Gatherv | K::Reduce), _) => 24,
        (Some(K::Scan | K::Exscan), _) | (None, Some(Activity::Collective)) => 26,
        (Some(K::Allreduce | K::ReduceScatter | K::ReduceScatterBlock), _) => 25,
        (Some(K::Allgather | K::Allgatherv | K::Alltoall | K::Alltoallv | K::Alltoallw), _) => 25,
        (None, Some(Activity::Send | Activity::Recv)) => 28,
        (None, Some(Activity::File)) => 27,
        (None, Some(Activity::Compute | Activity::Wait) | None) => 1,
    }
}
