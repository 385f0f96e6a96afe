//! What has to be known of a whole trace before the events of a rank: the communicators, the roots of collectives, and the
//! volumes of those whose members have different ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{CollectiveKind, Rank};
use titr_common::trace::{Lines, TraceError};

use super::line::{Header, PrvFields, PrvLine, parse};
use super::names::{COMMUNICATOR, INSTRUCTIONS, MPI_TYPES, Names, RECEIVED, ROOT, SENT};
use crate::input::functions::{self, has_lists};

/// The most volumes of collectives that are kept.
const MOST_VOLUMES: usize = 1 << 22;

/// The number of a communicator in the trace.
pub(super) type CommNumber = u64;

/// A collective: its communicator, and the number of collectives on that before.
pub(super) type Instance = (CommNumber, u64);

/// The events of a line, by what they mean.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Point {
    /// The value of an MPI event: the function that begins, or 0 where one ends.
    pub mpi: Option<u64>,
    pub sent: u64,
    pub received: u64,
    pub root: u64,
    pub comm: CommNumber,
    pub instructions: Option<u64>,
}

impl Point {
    /// The meaning of pairs of types and values; `None` if they are wrong.
    pub(super) fn of(mut pairs: PrvFields<'_>) -> Option<Self> {
        let mut point = Self { comm: 1, ..Self::default() };
        while let Some(kind) = pairs.next() {
            // Some values are negative.
            let (kind, value) = (kind?, pairs.next()?.unwrap_or(0));
            match kind {
                SENT => point.sent = value,
                RECEIVED => point.received = value,
                ROOT => point.root = value,
                COMMUNICATOR => point.comm = value,
                INSTRUCTIONS => point.instructions = Some(value),
                kind if MPI_TYPES.contains(&kind) => point.mpi = Some(value),
                _ => {}
            }
        }
        Some(point)
    }
}

/// What a trace says about the root of a collective.
#[derive(Default)]
struct KnownRoot {
    /// The member that names itself. The first one does not in programs in C, where the value is the root's rank. In some
    /// communicators, Extrae compares that with a rank of the world and marks another task, or none.
    marked: Option<Rank>,
    /// The last member with bytes that only a root has.
    with_bytes: Option<Rank>,
    /// Whether more than one member has such bytes, which therefore tell nothing.
    is_ambiguous: bool,
}

/// What is known of a trace.
pub(super) struct PrvSurvey {
    pub header: Header,
    pub names: Names,
    pub communicators: BTreeMap<CommNumber, Arc<[Rank]>>,
    roots: FxHashMap<Instance, KnownRoot>,
    /// What members of collectives with lists give and get.
    volumes: FxHashMap<Instance, FxHashMap<Rank, (u64, u64)>>,
    /// The time of the first MPI call of each rank.
    pub began: Vec<Option<u64>>,
    pub counts_instructions: bool,
}

impl PrvSurvey {
    pub(super) fn of(path: &Path) -> Result<Self, TraceError> {
        let mut lines = Lines::open(path)?;
        let wrong = |lines: &Lines, what: &str| {
            let (path, place) = (path.to_owned(), format!("line {}", lines.line()));
            Err(TraceError::Foreign { path, place, what: what.to_owned() })
        };
        let Some(header) = lines.next()?.and_then(Header::parse) else {
            return wrong(&lines, "the header of a trace of Paraver is damaged");
        };
        if header.applications != 1 {
            return wrong(&lines, "several applications in one trace: cut one out of it, with Paraver or prvutils");
        }
        // A header that lies must not take the memory of a world: each task has a line at least, and there it is needed.
        let tasks = header.tasks;
        let mut survey = Self {
            header,
            names: Names::beside(path)?,
            communicators: BTreeMap::new(),
            roots: FxHashMap::default(),
            volumes: FxHashMap::default(),
            began: Vec::new(),
            counts_instructions: false,
        };
        let mut before: FxHashMap<(Rank, CommNumber), u64> = FxHashMap::default();
        let mut kept = 0;
        while let Some(text) = lines.next()? {
            match parse(text, tasks) {
                None => return wrong(&lines, "a line whose fields are not those of its kind"),
                Some(PrvLine::Communicator(id, members)) => _ = survey.communicators.insert(id, members.into()),
                Some(PrvLine::Events(rank, _, time, pairs)) => {
                    let Some(point) = Point::of(pairs) else {
                        return wrong(&lines, "a line whose fields are not pairs of types and values");
                    };
                    survey.point(rank, time, &point, &mut before, &mut kept);
                }
                Some(PrvLine::Message(_) | PrvLine::Other) => {}
            }
        }
        if survey.began.iter().all(Option::is_none) {
            let what = "the trace has no events of MPI calls (types 50000001 to 50000003), which a replay needs; the timelines of \
                        titr replay have none either";
            return Err(TraceError::Directory { path: path.into(), what: what.to_owned() });
        }
        if u64::from(tasks) > lines.line() {
            return wrong(&lines, "the header has more tasks than the trace has lines");
        }
        survey.began.resize(tasks as usize, None);
        Ok(survey)
    }

    fn point(
        &mut self,
        rank: Rank,
        time: u64,
        point: &Point,
        before: &mut FxHashMap<(Rank, CommNumber), u64>,
        kept: &mut usize,
    ) {
        let Some(value) = point.mpi.filter(|&value| value != 0) else { return };
        let at = rank.0 as usize;
        if self.began.len() <= at {
            self.began.resize(at + 1, None);
        }
        self.began[at].get_or_insert(time);
        self.counts_instructions |= point.instructions.is_some();
        let Some(kind) = self.names.get(value).and_then(functions::collective) else { return };
        let number = before.entry((rank, point.comm)).or_default();
        let instance = (point.comm, *number);
        *number += 1;
        let of_root = match kind {
            CollectiveKind::Bcast | CollectiveKind::Scatter | CollectiveKind::Scatterv => point.sent,
            CollectiveKind::Reduce | CollectiveKind::Gather | CollectiveKind::Gatherv => point.received,
            _ => 0,
        };
        if point.root != 0 || of_root > 0 {
            let root = self.roots.entry(instance).or_default();
            if point.root != 0 {
                root.marked = Some(rank);
            }
            if of_root > 0 {
                root.is_ambiguous |= root.with_bytes.replace(rank).is_some();
            }
        }
        if has_lists(kind) && *kept < MOST_VOLUMES {
            *kept += 1;
            self.volumes.entry(instance).or_default().insert(rank, (point.sent, point.received));
        }
    }

    /// The root of a collective of these members.
    pub(super) fn root(&self, instance: Instance, members: &[Rank]) -> Option<Rank> {
        let known = self.roots.get(&instance);
        let by_bytes = known.filter(|root| !root.is_ambiguous).and_then(|root| root.with_bytes);
        by_bytes.or_else(|| known?.marked).or_else(|| members.first().copied())
    }

    /// What the members of a collective give and get; `None` for those whose members all have the same, or if there were too
    /// many.
    pub(super) fn volumes(&self, instance: Instance, members: &[Rank]) -> Option<Vec<(u64, u64)>> {
        let volumes = self.volumes.get(&instance)?;
        members.iter().map(|rank| volumes.get(rank).copied()).collect()
    }
}
