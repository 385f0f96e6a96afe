//! When nobody can go on: who waits for whom; and what is left over in the end.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use titr_common::event::{Rank, Tag};
use titr_common::units::Seconds;

use super::envelope::{Context, Selector};
use super::error::Place;
use super::exchange::Message;
use super::operation::{Operation, What};
use super::{Agent, Ranks};
use crate::observe::Observer;
use crate::words::{count, plural};
use crate::workload::Program;

/// How many lines of a kind a report has at most.
const SHOWN: usize = 8;

/// A state in which nothing will ever happen, though ranks are not at their end.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadlock {
    /// When nothing happened any more.
    pub at: Seconds,
    /// Size of the world.
    pub ranks: usize,
    /// The ranks that wait: first the cycle or the chain that explains it, then all others.
    pub stuck: Vec<Stuck>,
    /// How many of them are that cycle or chain.
    pub chain: usize,
    /// Whether it is a cycle.
    pub cycle: bool,
    /// Messages that no receive took.
    pub leftovers: Vec<String>,
}

/// A rank that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Where it waits.
    pub place: Place,
    /// For what, in words, and for which rank; the first is told.
    pub waits: Vec<(String, Option<Rank>)>,
}

impl Stuck {
    fn peer(&self) -> Option<Rank> {
        self.waits.iter().find_map(|(_, peer)| *peer)
    }
}

impl<P: Program, O: Observer> Ranks<'_, P, O> {
    /// Why nobody can go on.
    pub(crate) fn deadlock(&self) -> Deadlock {
        let mut stuck: BTreeMap<Rank, Stuck> = (0..)
            .map(Rank)
            .zip(&self.processes)
            .filter(|(_, process)| !process.finished)
            .map(|(rank, _)| {
                let probe =
                    self.exchange.probing(rank).map(|selector| self.selected("a message to probe", selector, None));
                (rank, Stuck { place: self.place(rank), waits: probe.into_iter().collect() })
            })
            .collect();
        for operation in self.exchange.operations.awaited() {
            let rank = match operation.owner {
                Agent::Rank(rank) => rank,
                Agent::Run(run) => self.runs[run.0 as usize].rank,
            };
            if let Some(stuck) = stuck.get_mut(&rank) {
                stuck.waits.extend(self.wait(operation));
            }
        }
        let (chain, cycle) = explanation(&stuck);
        let mut order: Vec<Stuck> = chain.iter().filter_map(|rank| stuck.remove(rank)).collect();
        let chain = order.len();
        order.extend(stuck.into_values());
        let leftovers = self.leftovers();
        Deadlock { at: self.now.seconds(), ranks: self.processes.len(), stuck: order, chain, cycle, leftovers }
    }

    /// What the owner of an operation waits for; nothing for a collective, whose own operations say it.
    fn wait(&self, operation: &Operation) -> Option<(String, Option<Rank>)> {
        let within = match operation.owner {
            Agent::Rank(_) => None,
            Agent::Run(run) => Some(self.runs[run.0 as usize].word),
        };
        match operation.what {
            What::Send(id) => {
                let Message { to, envelope, bytes, .. } = self.exchange.message(id);
                let place = self.place_of(envelope.context, Some(envelope.tag), within);
                Some((format!("a send of {} bytes to rank {}{place}", bytes.0, to.0), Some(*to)))
            }
            What::Receive(_, selector) => Some(self.selected("a receive", selector, within)),
            What::Collective => None,
        }
    }

    fn selected(&self, what: &str, selector: Selector, within: Option<&str>) -> (String, Option<Rank>) {
        let source = selector.source.map_or_else(|| "any rank".to_owned(), |source| format!("rank {}", source.0));
        let place = self.place_of(selector.context, selector.tag, within);
        (format!("{what} from {source}{place}"), selector.source)
    }

    /// The tag of a message, or the collective it is part of, and the communicator.
    fn place_of(&self, context: Context, tag: Option<Tag>, within: Option<&str>) -> String {
        let on = self.communicators.describe(context);
        match tag {
            _ if context.is_collective() => format!(" within {} on {on}", within.unwrap_or("a collective")),
            Some(tag) => format!(" with tag {} on {on}", tag.0),
            None => format!(" with any tag on {on}"),
        }
    }

    /// Messages that no receive took and whose sender does not wait, in words.
    fn leftovers(&self) -> Vec<String> {
        let mut kinds: BTreeMap<_, (u64, u64)> = BTreeMap::new();
        for message in self.exchange.unmatched() {
            let envelope = message.envelope;
            let kind = (envelope.source, message.to, envelope.context, envelope.tag);
            let (count, bytes) = kinds.entry(kind).or_default();
            *count += 1;
            *bytes += message.bytes.0;
        }
        let sentence = |((from, to, context, tag), (count, bytes)): ((Rank, Rank, Context, Tag), _)| {
            let (messages, place) = (plural(count, "message", "messages"), self.place_of(context, Some(tag), None));
            format!("{count} {messages} ({bytes} bytes) from rank {} to rank {}{place}", from.0, to.0)
        };
        let all = kinds.len();
        let mut told: Vec<String> = kinds.into_iter().take(SHOWN).map(sentence).collect();
        if all > told.len() {
            told.push(format!("messages of {} other kinds", all - told.len()));
        }
        told
    }

    /// What of the trace is not simulated.
    pub(crate) fn skipped(&self) -> Vec<String> {
        self.warnings.skipped()
    }

    /// What is to be said about a replay that came to its end, or was left where it stood.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut all = self.warnings.sentences();
        let waiting = self.processes.len() - self.finished;
        if waiting > 0 {
            all.push(format!(
                "{waiting} of {} ranks wait at the end for what is not in the trace",
                self.processes.len()
            ));
        }
        all.extend((0..self.processes.len() as u32).filter_map(|rank| self.workload.torn(Rank(rank))));
        all.extend(self.leftovers().into_iter().map(|what| format!("never received: {what}")));
        let open: Vec<usize> = self.processes.iter().map(|process| process.requests.outstanding()).collect();
        let ranks = open.iter().filter(|&&open| open > 0).count();
        if ranks > 0 {
            let open = open.iter().sum::<usize>() as u64;
            let (requests, of) = (plural(open, "request", "requests"), plural(ranks as u64, "rank", "ranks"));
            all.push(format!("{} {requests} of {ranks} {of} never completed", count(open)));
        }
        all
    }
}

/// The cycle of ranks that wait for each other, from its lowest; if there is none, the chain from the lowest rank that waits. True for a cycle.
fn explanation(stuck: &BTreeMap<Rank, Stuck>) -> (Vec<Rank>, bool) {
    // Each rank is walked over once: a walk ends where an earlier one has been.
    let mut walked: BTreeMap<Rank, Rank> = BTreeMap::new();
    let mut chain = Vec::new();
    for &start in stuck.keys() {
        let mut path = Vec::new();
        let mut at = Some(start);
        while let Some(rank) = at.filter(|rank| stuck.contains_key(rank) && !walked.contains_key(rank)) {
            walked.insert(rank, start);
            path.push(rank);
            at = stuck.get(&rank).and_then(Stuck::peer);
        }
        if let Some(entry) = at.and_then(|end| path.iter().position(|&rank| rank == end)) {
            let mut cycle = path.split_off(entry);
            let lowest = cycle.iter().enumerate().min_by_key(|(_, rank)| **rank).map_or(0, |(place, _)| place);
            cycle.rotate_left(lowest);
            return (cycle, true);
        }
        if chain.is_empty() {
            chain = path;
        }
    }
    (chain, false)
}

impl Display for Deadlock {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { at, ranks, stuck, chain, cycle, leftovers } = self;
        write!(f, "deadlock after {:.9} s: {} of {ranks} ranks wait for ever", at.0, stuck.len())?;
        if *cycle {
            write!(f, ", {chain} of them for each other")?;
        }
        for (shown, rank) in stuck.iter().enumerate() {
            if shown >= SHOWN.max(*chain).min(2 * SHOWN) {
                write!(f, "\n  and {} ranks more", stuck.len() - shown)?;
                break;
            }
            let more = match rank.waits.len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let what = rank.waits.first().map_or("nothing that is known", |(what, _)| what);
            write!(f, "\n  {} waits for {what}{more}", rank.place)?;
            if let Some(peer) = rank.peer()
                && !stuck.iter().any(|other| other.place.rank == peer)
            {
                write!(f, ", and rank {} has ended", peer.0)?;
            }
        }
        for message in leftovers {
            write!(f, "\n  never received: {message}")?;
        }
        Ok(())
    }
}
