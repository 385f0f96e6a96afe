//! Communicators: which of the numbers that ranks use mean the same one, and who its members are.
//!
//! Two ranks mean the same communicator if they name the same members in the same order (of an inter-communicator: the
//! same two groups) and it is the *n*-th of these members for both: MPI has every member make the communicators it
//! shares in one order (MPI 4.0 §7.4.2). Likewise the *n*-th collective that a member starts on a communicator belongs
//! with the *n*-th of every other member (§6.12), which is checked.

use std::collections::VecDeque;
use std::rc::Rc;

use super::context::Context;
use super::fault::Fault;
use super::members::{Members, Name};
use crate::collectives::Member;
use crate::event::{Collective, CommId, Group, Rank, Volumes};
use rustc_hash::FxHashMap;
use slab::Slab;

/// A communicator of a program, the same for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommIndex(usize);

impl CommIndex {
    /// `MPI_COMM_WORLD`.
    pub const WORLD: Self = Self(0);
}

/// All communicators of a program.
pub struct Communicators {
    ranks: usize,
    all: Slab<Communicator>,
    /// The communicators by the numbers that each rank gives them, without the world.
    names: Vec<FxHashMap<CommId, CommIndex>>,
    series: FxHashMap<Groups, Series>,
    /// How many contexts were given out.
    contexts: u32,
}

/// The members; the groups of an inter-communicator, the one with the smaller first rank first.
type Groups = (Vec<Rank>, Vec<Rank>);

/// A communicator that exists.
pub struct Communicator {
    /// The context of the communicator's point-to-point messages.
    pub context: Context,
    /// The members of the communicator.
    pub members: Rc<Members>,
    /// How many members have freed the communicator.
    freed: usize,
    /// How many collectives each member has started.
    started: Vec<u64>,
    /// Collectives that some members have started and others have not.
    open: VecDeque<FirstCall>,
    /// How many collectives all members have started.
    closed: u64,
}

/// The communicators made of the same groups, one after another.
#[derive(Default)]
struct Series {
    /// How many of the communicators each member has made.
    made: Vec<u64>,
    /// The communicators that some members have made and others have not, with how many members still have to.
    open: VecDeque<(CommIndex, usize)>,
    /// How many of the communicators all members have made.
    closed: u64,
}

/// A collective as the first to start it saw it.
struct FirstCall {
    word: &'static str,
    root: Option<Rank>,
    first: Rank,
    missing: usize,
}

/// A member's part in a collective.
#[derive(Debug)]
pub struct Participation {
    /// The rank's place among the members of the communicator.
    pub me: Member,
    /// The root; 0 for a collective without one.
    pub root: Member,
    /// The number of the collective on the communicator, from 0.
    pub number: u64,
}

impl Communicators {
    /// The communicators of a program of `ranks` ranks at its start: the world.
    #[must_use]
    pub fn new(ranks: usize) -> Self {
        let mut this = Self {
            ranks,
            all: Slab::new(),
            names: vec![FxHashMap::default(); ranks],
            series: FxHashMap::default(),
            contexts: 0,
        };
        let world = (0..ranks as u32).map(Rank).collect();
        this.insert(Members::world(world));
        this
    }

    /// The communicator of an index.
    #[must_use]
    pub fn get(&self, index: CommIndex) -> &Communicator {
        &self.all[index.0]
    }

    /// The communicator that `rank` calls `id`.
    ///
    /// # Errors
    /// Where no event has introduced it, or it is freed.
    #[inline]
    pub fn find(&mut self, rank: Rank, id: CommId) -> Result<CommIndex, Fault> {
        if id == CommId::WORLD { Ok(CommIndex::WORLD) } else { self.find_made(rank, id) }
    }

    fn find_made(&mut self, rank: Rank, id: CommId) -> Result<CommIndex, Fault> {
        if let Some(&index) = self.names[rank.0 as usize].get(&id) {
            return Ok(index);
        }
        if id != CommId::SELF {
            return Err(Fault::NoSuchCommunicator(id));
        }
        let index = self.insert(Members::new(Name::Itself, vec![rank], Vec::new())?);
        self.names[rank.0 as usize].insert(id, index);
        Ok(index)
    }

    /// `rank` has made a communicator.
    ///
    /// # Errors
    /// Where the members are impossible.
    pub fn create(&mut self, rank: Rank, group: &Group) -> Result<CommIndex, Fault> {
        let (mut first, mut second) = (group.members.clone(), group.remote.clone());
        if !second.is_empty() && second < first {
            std::mem::swap(&mut first, &mut second);
        }
        if let Some(&stranger) = first.iter().chain(&second).find(|member| member.0 as usize >= self.ranks) {
            return Err(Fault::NoSuchRank { rank: stranger, world: self.ranks });
        }
        let members = Members::new(Name::Made, first.clone(), second.clone())?;
        let me = members.place(rank).ok_or_else(|| Fault::NotAMember { rank, on: members.describe() })?;
        let size = members.len();

        let groups = (first, second);
        let series = self.series.entry(groups.clone()).or_default();
        series.made.resize(size, 0);
        let nth = (series.made[me as usize] - series.closed) as usize;
        series.made[me as usize] += 1;
        let index = match series.open.get_mut(nth) {
            Some((index, missing)) => {
                *missing -= 1;
                *index
            }
            None => {
                let index = self.insert(members);
                self.series.entry(groups.clone()).or_default().open.push_back((index, size - 1));
                index
            }
        };
        let series = self.series.entry(groups).or_default();
        while series.open.front().is_some_and(|(_, missing)| *missing == 0) {
            series.open.pop_front();
            series.closed += 1;
        }
        self.names[rank.0 as usize].insert(group.id, index);
        Ok(index)
    }

    /// Notes that `rank` has freed a communicator. Its context is never given again, so messages under way in it go on.
    ///
    /// # Errors
    /// Where no event has introduced it, or it is freed.
    pub fn free(&mut self, rank: Rank, id: CommId) -> Result<(), Fault> {
        let index = self.names[rank.0 as usize].remove(&id).ok_or(Fault::NoSuchCommunicator(id))?;
        let communicator = &mut self.all[index.0];
        communicator.freed += 1;
        if communicator.freed == communicator.members.len() {
            self.all.remove(index.0);
        }
        Ok(())
    }

    /// `rank` starts its next collective on a communicator, and that belongs with what the other members called.
    ///
    /// # Errors
    /// Where other members called another collective there.
    pub fn enter(&mut self, index: CommIndex, rank: Rank, call: &Collective) -> Result<Participation, Fault> {
        let part = self.begin(index, rank, call)?;
        self.compare(index, rank, part.number, call.kind.word(), call.root)?;
        Ok(part)
    }

    /// `rank` starts a neighbourhood collective, and that belongs with what the other members called.
    ///
    /// # Errors
    /// Where other members called another collective there.
    pub fn enter_neighborhood(
        &mut self,
        index: CommIndex,
        rank: Rank,
        word: &'static str,
    ) -> Result<Participation, Fault> {
        let part = self.begin_neighborhood(index, rank)?;
        self.compare(index, rank, part.number, word, None)?;
        Ok(part)
    }

    /// Compares a collective with what the members called that came to this one before.
    fn compare(
        &mut self,
        index: CommIndex,
        rank: Rank,
        number: u64,
        word: &'static str,
        root: Option<Rank>,
    ) -> Result<(), Fault> {
        let Communicator { members, open, closed, .. } = &mut self.all[index.0];
        match open.get_mut((number - *closed) as usize) {
            None => open.push_back(FirstCall { word, root, first: rank, missing: members.len() - 1 }),
            Some(call) if call.word == word && call.root == root => call.missing -= 1,
            Some(call) => {
                let name = |word: &str, root: Option<Rank>| match root {
                    Some(root) => format!("{word} with root {}", root.0),
                    None => word.to_owned(),
                };
                return Err(Fault::Mismatch {
                    mine: name(word, root),
                    theirs: name(call.word, call.root),
                    other: call.first,
                    number: number + 1,
                    on: members.describe(),
                });
            }
        }
        while open.front().is_some_and(|call| call.missing == 0) {
            open.pop_front();
            *closed += 1;
        }
        Ok(())
    }

    /// `rank` starts its next collective on a communicator; that others call the same is not looked at.
    ///
    /// # Errors
    /// Where its volumes or its root do not fit the members.
    pub fn begin(&mut self, index: CommIndex, rank: Rank, call: &Collective) -> Result<Participation, Fault> {
        let members = &self.all[index.0].members;
        let mut listed = [&call.send, &call.recv].into_iter().filter_map(Volumes::members);
        if let Some(found) = listed.find(|&found| found != members.len()) {
            let (word, on) = (call.kind.word(), members.describe());
            return Err(Fault::Volumes { word, on, found, members: members.len() });
        }
        self.next(index, rank, call.root)
    }

    /// `rank` starts a neighbourhood collective; that others call the same is not looked at.
    ///
    /// # Errors
    /// Where the rank is no member.
    pub fn begin_neighborhood(&mut self, index: CommIndex, rank: Rank) -> Result<Participation, Fault> {
        self.next(index, rank, None)
    }

    fn next(&mut self, index: CommIndex, rank: Rank, root: Option<Rank>) -> Result<Participation, Fault> {
        let Communicator { members, started, .. } = &mut self.all[index.0];
        let outside = |rank| Fault::NotAMember { rank, on: members.describe() };
        let me = members.place(rank).ok_or_else(|| outside(rank))?;
        let root = root.map_or(Ok(0), |root| members.place(root).ok_or_else(|| outside(root)))?;
        let number = started[me as usize];
        started[me as usize] += 1;
        Ok(Participation { me, root, number })
    }

    /// The name in messages of the communicator that has `context`.
    #[must_use]
    pub fn describe(&self, context: Context) -> String {
        let has = |communicator: &&Communicator| {
            communicator.context == context || communicator.context.of_collectives() == context
        };
        let found = self.all.iter().map(|(_, communicator)| communicator).find(has);
        found.map_or_else(|| "a communicator that is freed".to_owned(), |communicator| communicator.members.describe())
    }

    fn insert(&mut self, members: Members) -> CommIndex {
        let context = Context(self.contexts);
        self.contexts += 2;
        let started = vec![0; members.len()];
        let members = Rc::new(members);
        let open = VecDeque::new();
        CommIndex(self.all.insert(Communicator { context, members, freed: 0, started, open, closed: 0 }))
    }
}

#[cfg(test)]
mod tests {
    use crate::event::CollectiveKind;
    use crate::units::Bytes;

    use super::*;

    fn group(id: u32, members: &[u32], remote: &[u32]) -> Group {
        let ranks = |list: &[u32]| list.iter().copied().map(Rank).collect();
        Group { id: CommId(id), members: ranks(members), remote: ranks(remote) }
    }

    #[test]
    fn the_nth_of_the_same_members_is_the_same_whatever_it_is_called() {
        let mut all = Communicators::new(3);
        let first = all.create(Rank(0), &group(2, &[0, 1], &[])).unwrap();
        let second = all.create(Rank(0), &group(3, &[0, 1], &[])).unwrap();
        let reversed = all.create(Rank(0), &group(4, &[1, 0], &[])).unwrap();
        assert_ne!(first, second);
        assert_ne!(first, reversed);
        assert_eq!(all.create(Rank(1), &group(7, &[1, 0], &[])).unwrap(), reversed);
        assert_eq!(all.create(Rank(1), &group(8, &[0, 1], &[])).unwrap(), first);
        assert_eq!(all.create(Rank(1), &group(9, &[0, 1], &[])).unwrap(), second);
        assert_eq!(all.find(Rank(1), CommId(9)).unwrap(), second);
        assert!(matches!(all.find(Rank(2), CommId(9)), Err(Fault::NoSuchCommunicator(_))));
    }

    #[test]
    fn the_two_groups_of_an_inter_communicator_see_one() {
        let mut all = Communicators::new(3);
        let left = all.create(Rank(2), &group(2, &[2], &[0, 1])).unwrap();
        let right = all.create(Rank(0), &group(5, &[0, 1], &[2])).unwrap();
        assert_eq!(left, right);
        assert!(all.get(left).members.is_inter());
        assert_eq!(all.get(left).members.describe(), "the communicator between ranks 0, 1 and 2");
    }

    #[test]
    fn what_all_have_freed_is_gone_and_its_context_is_not_given_again() {
        let mut all = Communicators::new(2);
        let mut contexts = Vec::new();
        for _ in 0..3 {
            for rank in [Rank(0), Rank(1)] {
                let index = all.create(rank, &group(2, &[0, 1], &[])).unwrap();
                contexts.push(all.get(index).context.0);
            }
            for rank in [Rank(0), Rank(1)] {
                all.free(rank, CommId(2)).unwrap();
            }
        }
        assert_eq!(contexts, [2, 2, 4, 4, 6, 6]);
        assert_eq!(all.all.len(), 1);
    }

    #[test]
    fn self_is_each_ranks_own() {
        let mut all = Communicators::new(2);
        let mine = all.find(Rank(0), CommId::SELF).unwrap();
        assert_eq!(all.find(Rank(0), CommId::SELF).unwrap(), mine);
        assert_ne!(all.find(Rank(1), CommId::SELF).unwrap(), mine);
    }

    #[test]
    fn collectives_that_do_not_belong_together_name_the_ranks() {
        let mut all = Communicators::new(3);
        let barrier = Collective::barrier(CommId::WORLD);
        let bcast = |root| {
            let (kind, root, send) = (CollectiveKind::Bcast, Some(Rank(root)), Volumes::Each(Bytes(1)));
            Collective { kind, root, send, ..Collective::barrier(CommId::WORLD) }
        };
        all.enter(CommIndex::WORLD, Rank(0), &barrier).unwrap();
        all.enter(CommIndex::WORLD, Rank(0), &bcast(1)).unwrap();
        all.enter(CommIndex::WORLD, Rank(2), &barrier).unwrap();
        let error = all.enter(CommIndex::WORLD, Rank(2), &bcast(2)).unwrap_err().to_string();
        assert_eq!(
            error,
            "bcast with root 2 is this rank's collective number 2 on the world, where rank 0 called bcast with root 1"
        );
    }

    #[test]
    fn impossible_members_are_refused() {
        let mut all = Communicators::new(2);
        assert!(matches!(all.create(Rank(0), &group(2, &[0, 0], &[])), Err(Fault::NamedTwice(Rank(0)))));
        assert!(matches!(all.create(Rank(0), &group(2, &[1], &[])), Err(Fault::NotAMember { rank: Rank(0), .. })));
        assert!(matches!(
            all.create(Rank(0), &group(2, &[0, 2], &[])),
            Err(Fault::NoSuchRank { rank: Rank(2), world: 2 })
        ));
    }
}
