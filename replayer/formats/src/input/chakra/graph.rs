//! The tasks of a rank of a Chakra trace. A rank's nodes are all in memory while it is read: a node may depend on any
//! other.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use titr_common::event::{
    Collective, CollectiveKind, CommCall, CommId, Completion, Event, Extent, Group, Incoming, Outgoing, Rank, SendMode,
    Signature, Tag, Volumes, Wildcard,
};
use titr_common::format::counted;
use titr_common::trace::{EventSource, LocatedEvents, Location, TraceError};
use titr_common::units::{Bytes, Instructions, Seconds};

use super::node::{COLLECTIVE, Node, Nodes, RECEIVE, SEND};
use crate::input::goal::TaskWriter;

/// The number of nodes that are appended at a time.
const BATCH: usize = 256;
/// The core of the nodes of the accelerator; those of the host have the first.
const ACCELERATOR: u32 = 1;
/// The event of a node that takes no time.
const NOTHING: Event = Event::Sleep(Seconds(0.0));
/// The number of the first communicator that an event introduces.
const FIRST_COMM: u32 = 2;

/// The tasks of a rank.
pub(super) struct GraphSource {
    path: PathBuf,
    rank: Rank,
    ranks: u32,
    /// The communicators of the rank's process groups, by name.
    groups: BTreeMap<String, Group>,
    nodes: Vec<GraphNode>,
    ready: VecDeque<u32>,
    /// Has no tasks before the first event.
    writer: TaskWriter,
    appended: usize,
    is_ended: bool,
}

struct GraphNode {
    event: Event,
    core: u32,
    /// The number of nodes that it depends on and that are no tasks yet.
    missing: u32,
    /// The tasks that it depends on.
    after: Vec<u64>,
    /// The nodes that depend on it.
    dependents: Vec<u32>,
}

impl GraphSource {
    pub(super) fn new(
        path: &Path,
        rank: Rank,
        ranks: u32,
        groups: &BTreeMap<String, Vec<Rank>>,
    ) -> Result<Self, TraceError> {
        let numbered = (0..).zip(groups).filter(|(_, (_, members))| members.contains(&rank));
        let group = |(number, (name, members)): (i32, (&String, &Vec<Rank>))| {
            let id = CommId(FIRST_COMM + number.cast_unsigned());
            let (members, remote) = (members.clone(), Vec::new());
            (name.clone(), Group { id, members, remote, tag: Some(Tag(number)) })
        };
        let groups = numbered.map(group).collect();
        let (nodes, ready, writer) = (Vec::new(), VecDeque::new(), TaskWriter::default());
        let mut this =
            Self { path: path.to_owned(), rank, ranks, groups, nodes, ready, writer, appended: 0, is_ended: false };
        this.load()?;
        Ok(this)
    }

    /// Reads all nodes.
    fn load(&mut self) -> Result<(), TraceError> {
        let mut file = Nodes::open(&self.path)?;
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut after = Vec::new();
        while let Some((node, at)) = file.next()? {
            let number = self.nodes.len() as u32;
            numbers.insert(node.id, number);
            after.extend(node.after.iter().map(|&other| (number, other)));
            let event = self.event(&node).map_err(|what| file.error(at, format!("node {}: {what}", node.id)))?;
            let core = if node.is_of_host { 0 } else { ACCELERATOR };
            self.nodes.push(GraphNode { event, core, missing: 0, after: Vec::new(), dependents: Vec::new() });
        }
        for (number, other) in after {
            // Traces of PyTorch name nodes that they do not have; the survey counts these.
            if let Some(&other) = numbers.get(&other) {
                self.nodes[other as usize].dependents.push(number);
                self.nodes[number as usize].missing += 1;
            }
        }
        let roots = (0..).zip(&self.nodes).filter(|(_, node)| node.missing == 0);
        self.ready = roots.map(|(number, _)| number).collect();
        Ok(())
    }

    /// The event of a node. An error is a reason in words.
    fn event(&self, node: &Node) -> Result<Event, String> {
        let known = |rank: u64| {
            u32::try_from(rank)
                .ok()
                .filter(|&rank| rank < self.ranks)
                .map(Rank)
                .ok_or_else(|| format!("rank {rank} is not one of the {} ranks of the trace", self.ranks))
        };
        let (comm, tag, bytes) = (CommId::WORLD, Tag(node.tag as u32 as i32), Bytes(node.bytes));
        Ok(match node.kind {
            2..=4 => Event::Sleep(Seconds(node.duration as f64 / 1e6)),
            SEND => {
                let message = Outgoing { comm, to: known(node.destination)?, tag, bytes };
                // A node ends without a receive being posted.
                Event::Send(SendMode::Buffered, message, Completion::Blocking)
            }
            RECEIVE => {
                let (from, tag, wildcard) = (Some(known(node.source)?), Some(tag), Wildcard::NONE);
                Event::Recv(Incoming { comm, from, tag, bytes, wildcard }, Completion::Blocking)
            }
            COLLECTIVE => match node.collective {
                Some(kind) => Event::Collective(self.collective(node, kind)?, Completion::Blocking),
                // A wrapper of another node.
                None => NOTHING,
            },
            0 | 1 => NOTHING,
            kind => return Err(format!("the kind {kind} is not known")),
        })
    }

    fn collective(&self, node: &Node, kind: u64) -> Result<Collective, String> {
        let kind = match kind {
            0 => CollectiveKind::Allreduce,
            1 => CollectiveKind::Reduce,
            2 => CollectiveKind::Allgather,
            3 => CollectiveKind::Gather,
            4 => CollectiveKind::Scatter,
            5 => CollectiveKind::Bcast,
            6 => CollectiveKind::Alltoall,
            7 | 8 => CollectiveKind::ReduceScatterBlock,
            9 => CollectiveKind::Barrier,
            kind => return Err(format!("the collective {kind} is not known")),
        };
        let group = self.groups.get(&node.group);
        let (comm, size) = group.map_or((CommId::WORLD, self.ranks), |group| (group.id, group.members.len() as u32));
        let member =
            |number: u32| group.map_or(Some(Rank(number)), |group| group.members.get(number as usize).copied());
        let Signature { send, recv, is_rooted, .. } = kind.signature();
        let root = if is_rooted {
            let found = u32::try_from(node.root).ok().filter(|&root| root < size).and_then(member);
            Some(found.ok_or_else(|| format!("the root {} is not one of {size} members", node.root))?)
        } else {
            None
        };
        // Where the data of a member is shared out among all, the volumes are those of a share.
        let is_shared =
            matches!(kind, CollectiveKind::Alltoall | CollectiveKind::ReduceScatterBlock | CollectiveKind::Scatter);
        let bytes = Bytes(if is_shared { node.bytes / u64::from(size.max(1)) } else { node.bytes });
        let is_root = root == Some(self.rank);
        let volume = |extent, is_significant| match extent {
            Extent::None => Volumes::None,
            Extent::Each | Extent::PerMember => Volumes::Each(if is_significant { bytes } else { Bytes(0) }),
        };
        let send = volume(send, kind != CollectiveKind::Scatter || is_root);
        let recv = volume(recv, kind != CollectiveKind::Gather || is_root);
        let (element, work, is_commutative) = (Bytes(1), Instructions(0.0), true);
        Ok(Collective { comm, kind, root, send, recv, element, work, is_commutative })
    }

    /// Appends the beginning: `MPI_Init`, on which the first nodes depend, and the communicators.
    fn begin(&mut self, events: &mut LocatedEvents) {
        let dependents = u32::try_from(self.ready.len()).unwrap_or(u32::MAX);
        self.writer.init(events, dependents);
        for group in self.groups.values() {
            let made = Event::CommCreate(CommCall::World, CommId::WORLD, Some(group.clone()));
            events.push(made, Location::default());
        }
    }

    fn append(&mut self, number: u32, events: &mut LocatedEvents) -> Result<(), TraceError> {
        let node = &mut self.nodes[number as usize];
        let event = std::mem::replace(&mut node.event, NOTHING);
        let (after, dependents) = (std::mem::take(&mut node.after), std::mem::take(&mut node.dependents));
        self.appended += 1;
        let count = u32::try_from(dependents.len()).unwrap_or(u32::MAX);
        let Some(task) = self.writer.task(events, (event, node.core), count, [&after, &[]], None) else {
            return Err(self.error("more than 4294967295 nodes lie between two that depend on each other".to_owned()));
        };
        for dependent in dependents {
            let other = &mut self.nodes[dependent as usize];
            other.after.push(task);
            other.missing -= 1;
            if other.missing == 0 {
                self.ready.push_back(dependent);
            }
        }
        Ok(())
    }

    fn error(&self, what: String) -> TraceError {
        TraceError::Foreign { path: self.path.clone(), place: format!("rank {}", self.rank.0), what }
    }
}

impl EventSource for GraphSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.is_ended {
            return Ok(false);
        }
        if self.writer.tasks == 0 {
            self.begin(events);
        }
        for _ in 0..BATCH {
            let Some(number) = self.ready.pop_front() else {
                let left = (self.nodes.len() - self.appended) as u64;
                if left > 0 {
                    let nodes = counted(left, "node", "nodes");
                    return Err(self.error(format!("{nodes} depend on each other in a circle, or on such nodes")));
                }
                events.push(Event::Finalize, Location::default());
                self.is_ended = true;
                break;
            };
            self.append(number, events)?;
        }
        Ok(true)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.path.clone())
    }
}
