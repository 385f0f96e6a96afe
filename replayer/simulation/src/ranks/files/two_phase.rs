//! Two-phase access: aggregators access the storage in large pieces, and exchange the data with all members.
//!
//! This is the core of ROMIO's generic implementation (MPICH 4, `adio/common/ad_write_coll.c`, `ad_read_coll.c`, `ad_aggregate.c`),
//! after R. Thakur and A. Choudhary, "An Extended Two-Phase Method for Accessing Sections of Out-of-Core Arrays"
//! (1996):
//!
//! 1. The range that all members access together is divided into as many domains as there are aggregators.
//! 2. To write, each member sends its part of each domain to the aggregator, which writes the domain; then all agree on
//!    the error code (an allreduce). To read, the aggregator reads its domain and then sends the parts.
//!
//! The rounds in which a buffer limits aggregators, and the messages that prepare them, are left out: no trace has what
//! they depend on.
//!
//! A trace records where each member starts and how much it accesses, but not its view. The range begins at the lowest
//! start and is as long as all data together. The data of every member is assumed to be spread evenly over the range,
//! as it is for a program that distributes an array in small blocks.

use std::collections::VecDeque;

use titr_common::collectives::{Buffer, Member, Step};
use titr_common::event::{CollectiveKind, Direction};
use titr_common::units::Bytes;

use super::part::{INT, Part};

/// A collective access as all members know it.
pub(super) struct TwoPhase {
    direction: Direction,
    /// The start of the range, in bytes from the start of the file.
    pub(super) start: u64,
    /// The bytes that each member accesses.
    volumes: Vec<Bytes>,
    /// The bytes that all members access together.
    total: u128,
    /// The members that access the storage.
    aggregators: Vec<Member>,
}

impl TwoPhase {
    pub(super) fn new(direction: Direction, pieces: &[(u64, Bytes)], aggregators: Vec<Member>) -> Self {
        let volumes: Vec<Bytes> = pieces.iter().map(|(_, bytes)| *bytes).collect();
        let total = volumes.iter().map(|bytes| u128::from(bytes.0)).sum();
        let starts = pieces.iter().filter(|(_, bytes)| *bytes > Bytes(0)).map(|(start, _)| *start);
        let start = starts.min().unwrap_or_default();
        Self { direction, start, volumes, total, aggregators }
    }

    pub(super) fn parts(&self, me: Member) -> VecDeque<Part> {
        let data = self.exchange(me);
        let mine = self.aggregators.iter().position(|&aggregator| aggregator == me);
        let (from, to) = mine.map_or((0, 0), |aggregator| self.domain(aggregator));
        let access = (to > from).then(|| Part::Access(self.direction, bytes(from).0, bytes(to - from)));
        match self.direction {
            Direction::Read => access.into_iter().chain([data]).collect(),
            Direction::Write => {
                let agreement = Part::Collective(CollectiveKind::Allreduce, INT);
                [data].into_iter().chain(access).chain([agreement]).collect()
            }
        }
    }

    /// The length of each aggregator's part of the range, except perhaps the last.
    fn domain_length(&self) -> u128 {
        self.total.div_ceil(self.aggregators.len().max(1) as u128)
    }

    /// The domain of an aggregator, as the range's bytes from one up to another.
    fn domain(&self, aggregator: usize) -> (u128, u128) {
        let end = |number: usize| (self.domain_length() * number as u128).min(self.total);
        (end(aggregator), end(aggregator + 1))
    }

    /// The bytes of a part of the range that belong to a member.
    fn share(&self, member: Member, (from, to): (u128, u128)) -> Bytes {
        let volume = u128::from(self.volumes[member as usize].0);
        let before = |place: u128| volume.saturating_mul(place) / self.total.max(1);
        bytes(before(to) - before(from))
    }

    /// The messages of `me`: to the aggregators for a write, from them for a read.
    fn exchange(&self, me: Member) -> Part {
        let between = |aggregator, member| self.share(member, self.domain(aggregator));
        let with_aggregators = (0..).zip(&self.aggregators).map(|(number, &peer)| (peer, between(number, me)));
        let mine = self.aggregators.iter().position(|&aggregator| aggregator == me);
        let members = 0..self.volumes.len() as Member;
        let with_members = mine.into_iter().flat_map(|mine| members.clone().map(move |peer| (mine, peer)));
        let with_members = with_members.map(|(mine, peer)| (peer, between(mine, peer)));
        let send = |(to, len): (Member, Bytes)| Step::Isend { to, data: Buffer::Send.first(len.0) };
        let receive = |(from, len): (Member, Bytes)| Step::Irecv { from, data: Buffer::Recv.first(len.0) };
        let has_data = |(_, len): &(Member, Bytes)| len.0 > 0;
        let mut steps: Vec<Step> = match self.direction {
            Direction::Write => {
                let receives = with_members.filter(has_data).map(receive);
                receives.chain(with_aggregators.filter(has_data).map(send)).collect()
            }
            Direction::Read => {
                let receives = with_aggregators.filter(has_data).map(receive);
                receives.chain(with_members.filter(has_data).map(send)).collect()
            }
        };
        steps.push(Step::WaitAll);
        Part::Exchange(steps)
    }
}

/// A number of bytes, at most as many as a trace can say.
fn bytes(number: u128) -> Bytes {
    Bytes(u64::try_from(number).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The bytes that a member sends and receives, with the peers, and how many it accesses.
    #[derive(Default)]
    struct Moved {
        sent: Vec<(Member, u64)>,
        received: Vec<(Member, u64)>,
        accessed: u64,
    }

    impl Moved {
        fn by(me: Member, access: &TwoPhase) -> Self {
            let mut moved = Self::default();
            for part in access.parts(me) {
                match part {
                    Part::Access(_, _, bytes) => moved.accessed += bytes.0,
                    Part::Exchange(steps) => steps.iter().for_each(|step| match *step {
                        Step::Isend { to, data } => moved.sent.push((to, data.len.0)),
                        Step::Irecv { from, data } => moved.received.push((from, data.len.0)),
                        _ => {}
                    }),
                    Part::Collective(..) | Part::FirstHalf(_) | Part::Lock | Part::Unlock => {}
                    Part::Announce | Part::Joint(_) => {}
                }
            }
            moved
        }
    }

    proptest! {
        /// For any aggregators, all bytes reach the storage once, and every message has a receive.
        #[test]
        fn bytes_are_conserved(
            volumes in prop::collection::vec(0_u64..5000, 1..7),
            every in 1_u32..4,
            reads in any::<bool>(),
        ) {
            let members = volumes.len() as Member;
            let direction = if reads { Direction::Read } else { Direction::Write };
            let aggregators = (0..members).step_by(every as usize).collect();
            let pieces: Vec<_> = volumes.iter().map(|bytes| (0, Bytes(*bytes))).collect();
            let access = TwoPhase::new(direction, &pieces, aggregators);
            let all: Vec<Moved> = (0..members).map(|me| Moved::by(me, &access)).collect();
            let accessed: u64 = all.iter().map(|moved| moved.accessed).sum();
            prop_assert_eq!(accessed, volumes.iter().sum::<u64>());
            for (me, &volume) in (0..members).zip(&volumes) {
                let Moved { sent, received, .. } = &all[me as usize];
                let own: u64 = if reads { received } else { sent }.iter().map(|(_, bytes)| bytes).sum();
                prop_assert_eq!(own, volume);
                for peer in 0..members {
                    let to_peer: Vec<u64> = sent.iter().filter(|(to, _)| *to == peer).map(|(_, bytes)| *bytes).collect();
                    let from_me = all[peer as usize].received.iter().filter(|(from, _)| *from == me);
                    prop_assert_eq!(to_peer, from_me.map(|(_, bytes)| *bytes).collect::<Vec<_>>());
                }
            }
        }
    }
}
