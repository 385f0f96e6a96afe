//! Sets of ranks in the users' notation: `0-31,40`.

use super::{
    Annotation, Completed, Event, Incoming, Mark, Message, OneSided, Partitioned, Rank, RequestKey, Synchronisation,
};

/// A set of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankSet(Vec<(u32, u32)>);

impl RankSet {
    /// The set that `0-31,40` says; `None` if `text` is no such list, or empty.
    #[must_use]
    pub fn written(text: &str) -> Option<Self> {
        ranges_written(text).map(Self)
    }

    /// Whether the set contains `rank`.
    #[must_use]
    pub fn contains(&self, Rank(rank): Rank) -> bool {
        self.0.iter().any(|&(first, last)| (first..=last).contains(&rank))
    }

    /// The last rank.
    #[must_use]
    pub fn last(&self) -> Rank {
        Rank(self.0.iter().map(|&(_, last)| last).max().unwrap_or(0))
    }

    /// Whether the set contains exactly these ranks.
    #[must_use]
    pub fn is(&self, ranks: &[Rank]) -> bool {
        let sizes: u64 = self.0.iter().map(|&(first, last)| u64::from(last - first) + 1).sum();
        sizes == ranks.len() as u64 && ranks.iter().all(|rank| self.contains(*rank))
    }
}

/// The ranges of numbers that `0-31,40` says, each with its first and its last number; `None` if `text` is no such list, or
/// empty.
#[must_use]
pub fn ranges_written(text: &str) -> Option<Vec<(u32, u32)>> {
    let range = |item: &str| {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last).then_some((first, last))
    };
    text.split(',').map(range).collect()
}

/// Visitors get mutable access, so that a reader may replace ranks: when several worlds are replayed together, each
/// rank's own numbers become numbers of the whole.
impl Event {
    /// Visits every rank that the event names: peers, roots, members, neighbours and targets.
    pub fn ranks(&mut self, mut visit: impl FnMut(&mut Rank)) {
        let source = |message: &mut Incoming, visit: &mut dyn FnMut(&mut Rank)| message.from.iter_mut().for_each(visit);
        match self {
            Self::Send(_, message, _) => visit(&mut message.to),
            Self::Recv(message, _) | Self::Probe(message) | Self::Iprobe(message, _) => source(message, &mut visit),
            Self::Sendrecv(sent, received) => {
                sent.iter_mut().for_each(|message| visit(&mut message.to));
                received.iter_mut().for_each(|message| source(message, &mut visit));
            }
            Self::Partitioned(Partitioned::SendInit(message, ..)) => visit(&mut message.to),
            Self::Partitioned(Partitioned::RecvInit(message, ..)) => source(message, &mut visit),
            Self::Matched(_, from, _) => visit(from),
            Self::Wait(_, completed) | Self::Test(_, Some(completed)) => match completed {
                Completed::One(RequestKey { from, to, .. }, _) => {
                    from.iter_mut().for_each(&mut visit);
                    visit(to);
                }
                Completed::Outstanding(_) | Completed::These(_) => {}
            },
            Self::Collective(call, _) => call.root.iter_mut().for_each(visit),
            Self::Neighborhood(call, _) => {
                call.sends.iter_mut().chain(&mut call.recvs).for_each(|(rank, _)| visit(rank));
            }
            Self::OneSided(OneSided::Sync(Synchronisation { ranks, .. })) => ranks.iter_mut().for_each(visit),
            Self::OneSided(OneSided::Access(access)) => visit(&mut access.target),
            Self::CommCreate(_, _, Some(group)) => {
                group.members.iter_mut().chain(&mut group.remote).for_each(visit);
            }
            Self::Annotation(Annotation::Message(Message { peer, .. })) => visit(peer),
            Self::Mark(Mark::Unrecorded(calls)) => {
                calls.iter_mut().filter_map(|calls| calls.call.rank()).for_each(visit);
            }
            Self::Partitioned(Partitioned::Ready(..) | Partitioned::Arrived(..)) => {}
            Self::OneSided(OneSided::Create(..) | OneSided::Free(_)) => {}
            Self::CommCreate(_, _, None) | Self::CommFree(_) | Self::Task(_) => {}
            Self::Annotation(Annotation::Call(_)) => {}
            Self::Init | Self::Finalize | Self::Compute(_) | Self::Sleep(_) | Self::File(_) | Self::Other(_) => {}
            Self::Start(_) | Self::RequestFree(_) | Self::Cancel(_) | Self::Test(_, None) | Self::Mark(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_ranks_is_a_list_of_ranges() {
        let set = RankSet::written("0-3, 7,9 - 10").unwrap();
        let has: Vec<u32> = (0..12).filter(|rank| set.contains(Rank(*rank))).collect();
        assert_eq!(has, [0, 1, 2, 3, 7, 9, 10]);
        assert_eq!(set.last(), Rank(10));
        assert!(set.is(&[0, 1, 2, 3, 7, 9, 10].map(Rank)) && !set.is(&[0, 1, 2, 3, 7, 9, 11].map(Rank)));
        for text in ["", "1-", "3-1", "a", "-1", "1,,2"] {
            assert_eq!(RankSet::written(text), None, "{text}");
        }
    }
}
