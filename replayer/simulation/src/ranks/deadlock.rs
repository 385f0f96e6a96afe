//! Reports of a deadlock: which threads wait for which; and of messages left unmatched at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display, Formatter};

use rustc_hash::FxHashMap;
use titr_common::event::{Actor, Rank, Tag, ThreadId};
use titr_common::format::counted;
use titr_common::program::{Context, Place};
use titr_common::trace::EventSource;
use titr_common::units::{Bytes, Seconds};

use super::ids::{PartitionedSide, ThreadIndex};
use super::operation::{Condition, OperationKind};
use super::point_to_point::Selector;
use super::point_to_point::exchange::Message;
use super::scheduler::Waiter;
use super::{Ranks, RequestTable};
use crate::observe::{Observer, OperationId};
use crate::warnings::many;

/// The end of the sentence on requests that are left open.
pub const NEVER_COMPLETED: &str = "never completed";

/// Maximum number of lines of one kind in a report.
const SHOWN: usize = 8;

/// A state in which nothing will ever happen, though ranks are not at their end.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadlock {
    /// The time of the last event; `None` for a replay in which nothing takes time and no send waits for its receive.
    pub at: Option<Seconds>,
    /// Size of the world.
    pub ranks: usize,
    /// The threads that wait, one of most ranks: first the cycle or the chain that explains it, then all others.
    pub stuck: Vec<Stuck>,
    /// The number of threads in that cycle or chain.
    pub chain: usize,
    /// Whether it is a cycle.
    pub cycle: bool,
    /// Messages that no receive took.
    pub leftovers: Vec<String>,
    /// Sends of the program that wait for their receives only because their messages are not smaller than the eager
    /// threshold, and the largest of these messages.
    pub unbuffered: Option<(u64, Bytes)>,
    /// Ranks that wait for the lock of a window.
    pub locks: u64,
}

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Where it waits.
    pub place: Place,
    /// The conditions it waits for, in words, each with the thread it waits for: a thread of its own rank, or any
    /// thread of another rank. The report prints the first.
    pub waits: Vec<(String, Option<Actor>)>,
}

impl Stuck {
    fn peer(&self) -> Option<Actor> {
        self.waits.iter().find_map(|(_, peer)| *peer)
    }
}

impl<S: EventSource, O: Observer> Ranks<'_, S, O> {
    /// The reason why no thread is runnable.
    pub(crate) fn deadlock(&self) -> Deadlock {
        let mut stuck: BTreeMap<Actor, Stuck> = (0..)
            .map(ThreadIndex)
            .zip(&self.threads)
            .filter(|(thread, state)| !state.finished && !self.is_idle_in_graph(*thread))
            .map(|(thread, _)| {
                (self.programs.actor(thread), Stuck { place: self.place(thread), waits: self.turn(thread) })
            })
            .collect();
        let callers: FxHashMap<OperationId, Actor> =
            self.mpi.exchange.operations.awaited().map(|(id, waiter, _)| (id, self.actor(waiter))).collect();
        let actor = |waiter| match waiter {
            Waiter::Collective(index) => callers.get(&self.chapters.collectives.describe(index).1).copied(),
            _ => None,
        };
        let actor = |waiter| actor(waiter).unwrap_or_else(|| self.actor(waiter));
        for (waiter, selector) in (0..self.mpi.ranks() as u32).flat_map(|rank| self.mpi.exchange.probing(Rank(rank))) {
            if let Some(stuck) = stuck.get_mut(&actor(*waiter)) {
                stuck.waits.push(self.selected("a message to probe", *selector, None));
            }
        }
        for (waiter, index) in self.chapters.partitioned.awaited_parts() {
            if let Some(stuck) = stuck.get_mut(&actor(waiter)) {
                let (what, peer) = self.chapters.partitioned.describe(index);
                stuck.waits.push((format!("a part of {what}"), Some(peer.into())));
            }
        }
        for (_, waiter, what) in self.mpi.exchange.operations.awaited() {
            if let Some(stuck) = stuck.get_mut(&actor(waiter)) {
                stuck.waits.extend(self.wait(waiter, what));
            }
        }
        let (chain, cycle) = explanation(&stuck);
        let mut order: Vec<Stuck> = chain.iter().filter_map(|actor| stuck.remove(actor)).collect();
        let chain = order.len();
        order.extend(stuck.into_values());
        let leftovers = self.leftovers();
        Deadlock {
            at: Some(self.mpi.now().seconds()),
            ranks: self.mpi.ranks(),
            stuck: order,
            chain,
            cycle,
            leftovers,
            unbuffered: self.unbuffered(),
            locks: self.locks(),
        }
    }

    /// Called at a standstill. Ends the calls that hold their threads only for sends, and were tests in the traced run: a
    /// program that polls has a reason to wait, one that tests once goes on. Returns whether there are any.
    pub(crate) fn give_way(&mut self) -> bool {
        let Self { threads, mpi, chapters, .. } = self;
        let awaited: Vec<_> = mpi.exchange.operations.awaited().collect();
        // A collective in which nothing but sends is left needs no more from others than they do.
        let needing: BTreeSet<OperationId> = awaited
            .iter()
            .filter_map(|&(_, waiter, kind)| match (waiter, kind) {
                (_, OperationKind::Send(_)) => None,
                (Waiter::Collective(index), _) => Some(chapters.collectives.describe(index).1),
                _ => None,
            })
            .collect();
        let mut tested: BTreeMap<u32, Vec<(OperationId, bool)>> = BTreeMap::new();
        for (operation, waiter, kind) in awaited {
            if let Waiter::Thread(thread) = waiter
                && threads[thread.0 as usize].tests
            {
                let is_send = match kind {
                    OperationKind::Send(_) | OperationKind::Partitioned(_, PartitionedSide::Sender) => true,
                    OperationKind::Collective => !needing.contains(&operation),
                    _ => false,
                };
                tested.entry(thread.0).or_default().push((operation, is_send));
            }
        }
        tested.retain(|_, operations| operations.iter().all(|(_, is_send)| *is_send));
        for (&thread, operations) in &tested {
            let thread = &mut threads[thread as usize];
            for &(operation, _) in operations {
                mpi.exchange.operations.abandon(operation);
                thread.clock.complete(mpi.now(), Seconds(0.0));
            }
            mpi.release(thread.waiter());
            mpi.scheduler.ready(thread.waiter());
        }
        mpi.warnings.gave_way += tested.len() as u64;
        !tested.is_empty()
    }

    /// The number of sends that would not wait with a larger eager threshold, and the size of their largest message.
    fn unbuffered(&self) -> Option<(u64, Bytes)> {
        let exchange = &self.mpi.exchange;
        let sizes = exchange.operations.awaited().filter_map(|(_, waiter, kind)| {
            let (Waiter::Thread(_), OperationKind::Send(id)) = (waiter, kind) else { return None };
            let message = exchange.message(id);
            (!message.synchronous).then_some(message.bytes)
        });
        sizes.fold(None, |most, bytes| match most {
            Some((sends, most)) => Some((sends + 1, bytes.max(most))),
            None => Some((1, bytes)),
        })
    }

    /// How many waits are for the lock of a window.
    fn locks(&self) -> u64 {
        let waits = self.mpi.exchange.operations.awaited();
        let of_locks = waits.filter(|(.., kind)| {
            matches!(kind, OperationKind::Condition(.., Condition::Granted(_) | Condition::Leader))
        });
        of_locks.count() as u64
    }

    /// Whether a thread executes tasks of a graph, and has none.
    fn is_idle_in_graph(&self, thread: ThreadIndex) -> bool {
        self.programs.is_of_graph(thread) && self.programs.number_in_graph(thread).is_none()
    }

    /// The turn that `thread` waits for, in words, with the thread of its rank that comes before; empty if none.
    fn turn(&self, thread: ThreadIndex) -> Vec<(String, Option<Actor>)> {
        let other = |number: ThreadId| {
            let actor = Actor { thread: number, ..self.programs.actor(thread) };
            (format!("its turn, which comes after an event of thread {}", number.0), Some(actor))
        };
        self.programs.waits_for(thread).map(other).into_iter().collect()
    }

    /// The message that `waiter` waits for in an operation of this `kind`, in words, and the rank at its other end;
    /// `None` for a collective, which is described by its own operations.
    fn wait(&self, waiter: Waiter, kind: OperationKind) -> Option<(String, Option<Actor>)> {
        let within = match waiter {
            // The operation of the whole tells.
            Waiter::Part(_) => return None,
            Waiter::Collective(index) => Some(self.chapters.collectives.describe(index).0),
            _ => None,
        };
        match kind {
            OperationKind::Send(id) => {
                let Message { to, envelope, bytes, .. } = self.mpi.exchange.message(id);
                let place = self.place_of(envelope.context, Some(envelope.tag), within);
                Some((
                    format!("a send of {} to rank {}{place}", counted(bytes.0, "byte", "bytes"), to.0),
                    Some(Actor::from(*to)),
                ))
            }
            OperationKind::Receive(_, selector) => Some(self.selected("a receive", selector, within)),
            OperationKind::Condition(window, rank, condition) => {
                Some(self.chapters.one_sided.describe(window, rank, condition))
            }
            OperationKind::Access(target) => {
                Some((format!("an access to the window of rank {}", target.0), Some(Actor::from(target))))
            }
            OperationKind::Collective | OperationKind::Background => None,
            OperationKind::Partitioned(index, _) => {
                let (what, peer) = self.chapters.partitioned.describe(index);
                Some((what, Some(peer.into())))
            }
        }
    }

    fn selected(&self, what: &str, selector: Selector, within: Option<&str>) -> (String, Option<Actor>) {
        let source = selector.source.map_or_else(|| "any rank".to_owned(), |source| format!("rank {}", source.0));
        let place = self.place_of(selector.context, selector.tag, within);
        (format!("{what} from {source}{place}"), selector.source.map(Actor::from))
    }

    /// The tag of a message, or the collective it is part of, and the communicator.
    fn place_of(&self, context: Context, tag: Option<Tag>, within: Option<&str>) -> String {
        let on = self.mpi.communicators.describe(context);
        match tag {
            _ if context.is_collective() => format!(" within {} on {on}", within.unwrap_or("a collective")),
            Some(tag) => format!(" with tag {} on {on}", tag.0),
            None => format!(" with any tag on {on}"),
        }
    }

    /// Messages that no receive took and whose sender does not wait, in words.
    fn leftovers(&self) -> Vec<String> {
        let mut kinds: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        for message in self.mpi.exchange.unmatched() {
            let envelope = message.envelope;
            let kind = (envelope.source, message.to, envelope.context, envelope.tag);
            let (count, bytes) = kinds.entry(kind).or_default();
            *count += 1;
            *bytes += message.bytes.0;
        }
        let sentence = |((from, to, context, tag), (count, bytes)): ((Rank, Rank, Context, Tag), _)| {
            let (messages, place) = (counted(count, "message", "messages"), self.place_of(context, Some(tag), None));
            let bytes = counted(bytes, "byte", "bytes");
            format!("{messages} ({bytes}) from rank {} to rank {}{place}", from.0, to.0)
        };
        let all = kinds.len();
        let mut told: Vec<String> = kinds.into_iter().take(SHOWN).map(sentence).collect();
        if all > told.len() {
            told.push(format!("messages of {} other kinds", all - told.len()));
        }
        told
    }

    /// The ways in which a replay of a sound trace deviates from the program, one sentence each.
    pub(crate) fn approximations(&self) -> Vec<String> {
        let mut approximations = self.mpi.warnings.approximations(self.events());
        approximations.extend(self.chapters.files.assumption());
        approximations
    }

    pub(crate) fn spawned(&self) -> u64 {
        self.mpi.warnings.spawned
    }

    /// The number of ranks that wait forever.
    pub(crate) fn waiting(&self) -> u64 {
        let waiting = self.threads.iter().filter(|state| !state.finished).map(|state| state.actor.rank);
        waiting.collect::<BTreeSet<Rank>>().len() as u64
    }

    /// The ranks whose streams are incomplete, and why.
    pub(crate) fn torn(&self) -> Vec<(Rank, String)> {
        let ranks = (0..self.mpi.ranks() as u32).map(Rank);
        ranks.filter_map(|rank| Some((rank, self.programs.torn(rank)?))).collect()
    }

    /// The warnings about a replay that came to its end or was left where it stood, a sentence each.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut all = self.mpi.warnings.sentences();
        all.extend(self.leftovers().into_iter().map(|what| format!("never received: {what}")));
        let open: Vec<usize> = self.mpi.all_requests().iter().map(RequestTable::outstanding).collect();
        let ranks = open.iter().filter(|&&open| open > 0).count();
        if ranks > 0 {
            let open = open.iter().sum::<usize>() as u64;
            let (requests, ranks) = (many(open, "request", "requests"), counted(ranks, "rank", "ranks"));
            all.push(format!("{requests} of {ranks} {NEVER_COMPLETED}"));
        }
        all
    }
}

/// The cycle of threads that wait for each other, from its lowest; if there is none, the chain from the lowest that waits.
/// True for a cycle.
fn explanation(stuck: &BTreeMap<Actor, Stuck>) -> (Vec<Actor>, bool) {
    // Each is walked over once: a walk ends where an earlier one has been.
    let mut walked: BTreeSet<Actor> = BTreeSet::new();
    let mut chain = Vec::new();
    for &start in stuck.keys() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(actor) = at.filter(|&actor| walked.insert(actor)) {
            path.push(actor);
            at = stuck.get(&actor).and_then(Stuck::peer).and_then(|peer| waiting(stuck, actor, peer));
        }
        if let Some(entry) = at.and_then(|end| path.iter().position(|&actor| actor == end)) {
            let mut cycle = path.split_off(entry);
            let lowest = cycle.iter().enumerate().min_by_key(|(_, actor)| **actor).map_or(0, |(place, _)| place);
            cycle.rotate_left(lowest);
            return (cycle, true);
        }
        if chain.is_empty() {
            chain = path;
        }
    }
    (chain, false)
}

/// The waiting actor that `actor` waits for. Any thread of a rank could do the work asked of its main thread; within
/// the same rank, another thread is more likely.
fn waiting(stuck: &BTreeMap<Actor, Stuck>, actor: Actor, peer: Actor) -> Option<Actor> {
    if peer.thread != ThreadId::MAIN {
        return stuck.contains_key(&peer).then_some(peer);
    }
    let of_rank = || stuck.range(peer..).map(|(&other, _)| other).take_while(|other| other.rank == peer.rank);
    of_rank().find(|&other| other != actor).or_else(|| of_rank().next())
}

/// With `{:#}`, without its time.
impl Display for Deadlock {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { at, ranks, stuck, chain, cycle, leftovers, unbuffered: _, locks: _ } = self;
        let waiting: BTreeSet<Rank> = stuck.iter().map(|thread| thread.place.rank).collect();
        match at {
            _ if f.alternate() => {}
            None => f.write_str("deadlock on any machine: ")?,
            Some(Seconds(0.0)) => f.write_str("deadlock before any time has passed: ")?,
            Some(Seconds(at)) => write!(f, "deadlock after {at:.9} s: ")?,
        }
        write!(f, "{} of {} wait for ever", waiting.len(), counted(*ranks, "rank", "ranks"))?;
        if *cycle {
            write!(f, ", {chain} of them for each other")?;
        }
        for (shown, rank) in stuck.iter().enumerate() {
            if shown >= SHOWN.max(*chain).min(2 * SHOWN) {
                write!(f, "\n  and {} more", counted(stuck.len() - shown, "rank", "ranks"))?;
                break;
            }
            let more = match rank.waits.len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let what = rank.waits.first().map_or("nothing that is known", |(what, _)| what);
            write!(f, "\n  {} waits for {what}{more}", rank.place)?;
            if let Some(peer) = rank.peer()
                && !waiting.contains(&peer.rank)
            {
                write!(f, ", and rank {} has ended", peer.rank.0)?;
            }
        }
        for message in leftovers {
            write!(f, "\n  never received: {message}")?;
        }
        Ok(())
    }
}
