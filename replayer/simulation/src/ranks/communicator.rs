//! Communicators: which of the numbers that ranks use mean the same one, and who its members are.
//!
//! Two ranks mean the same communicator if they name the same members in the same order (of an inter-communicator: the
//! same two groups) and it is the *n*-th of these members for both: MPI has every member make the communicators it
//! shares in one order (MPI 4.0 §7.4.2). Likewise the *n*-th collective that a member starts on a communicator belongs
//! with the *n*-th of every other member (§6.12), which is checked.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use slab::Slab;
use titr_common::collectives::Member;
use titr_common::event::{Collective, CommId, Group, Rank, Volumes};

use super::envelope::Context;
use super::error::Fault;

/// A communicator of the simulated program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommIndex(usize);

impl CommIndex {
    pub(crate) const WORLD: Self = Self(0);
}

pub(crate) struct Communicators {
    ranks: usize,
    all: Slab<Communicator>,
    /// What each rank calls them, but for the world.
    names: Vec<FxHashMap<CommId, CommIndex>>,
    series: FxHashMap<Groups, Series>,
    /// How many contexts were given out.
    contexts: u32,
}

/// The members; the groups of an inter-communicator, the one with the smaller first rank first.
type Groups = (Vec<Rank>, Vec<Rank>);

pub(crate) struct Communicator {
    /// Of its point-to-point messages.
    pub(crate) context: Context,
    pub(crate) members: Rc<Members>,
    /// Members that have freed it.
    freed: usize,
    /// How many collectives each member has started.
    started: Vec<u64>,
    /// Collectives that some members have started and others have not.
    open: VecDeque<Call>,
    /// How many all have started.
    closed: u64,
}

/// Who the members are.
pub(crate) struct Members {
    name: Name,
    /// In order; of an inter-communicator, its two groups one after the other.
    ranks: Vec<Rank>,
    /// How many of them are in the first group.
    first_group: usize,
    /// The place of each; none for the world, where it is the rank.
    places: FxHashMap<Rank, Member>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    World,
    Itself,
    Made,
}

/// The communicators made of the same groups, one after another.
#[derive(Default)]
struct Series {
    /// How many each member has made.
    made: Vec<u64>,
    /// Those that some members have made and others have not, with how many members still have to.
    open: VecDeque<(CommIndex, usize)>,
    /// How many all have made.
    closed: u64,
}

/// A collective as the first to start it saw it.
struct Call {
    word: &'static str,
    root: Option<Rank>,
    first: Rank,
    missing: usize,
}

/// A member's part in a collective.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) me: Member,
    pub(crate) root: Member,
    /// Which collective on the communicator it is.
    pub(crate) number: u64,
}

impl Communicators {
    pub(crate) fn new(ranks: usize) -> Self {
        let mut this = Self {
            ranks,
            all: Slab::new(),
            names: vec![FxHashMap::default(); ranks],
            series: FxHashMap::default(),
            contexts: 0,
        };
        let world = (0..ranks as u32).map(Rank).collect();
        this.insert(Members { name: Name::World, ranks: world, first_group: ranks, places: FxHashMap::default() });
        this
    }

    pub(crate) fn get(&self, index: CommIndex) -> &Communicator {
        &self.all[index.0]
    }

    /// The communicator that `rank` calls `id`.
    #[inline]
    pub(crate) fn find(&mut self, rank: Rank, id: CommId) -> Result<CommIndex, Fault> {
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
    pub(crate) fn create(&mut self, rank: Rank, group: &Group) -> Result<CommIndex, Fault> {
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

    /// `rank` uses it no more. Its context is never given again, so what is under way in it goes on.
    pub(crate) fn free(&mut self, rank: Rank, id: CommId) -> Result<(), Fault> {
        let index = self.names[rank.0 as usize].remove(&id).ok_or(Fault::NoSuchCommunicator(id))?;
        let communicator = &mut self.all[index.0];
        communicator.freed += 1;
        if communicator.freed == communicator.members.len() {
            self.all.remove(index.0);
        }
        Ok(())
    }

    /// `rank` starts its next collective on a communicator, and that belongs with what the other members called.
    pub(crate) fn enter(&mut self, index: CommIndex, rank: Rank, call: &Collective) -> Result<Part, Fault> {
        let part = self.begin(index, rank, call)?;
        self.compare(index, rank, part.number, call.kind.word(), call.root)?;
        Ok(part)
    }

    /// The same for a neighbourhood collective.
    pub(crate) fn enter_neighborhood(
        &mut self,
        index: CommIndex,
        rank: Rank,
        word: &'static str,
    ) -> Result<Part, Fault> {
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
            None => open.push_back(Call { word, root, first: rank, missing: members.len() - 1 }),
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
    pub(crate) fn begin(&mut self, index: CommIndex, rank: Rank, call: &Collective) -> Result<Part, Fault> {
        let members = &self.all[index.0].members;
        let mut listed = [&call.send, &call.recv].into_iter().filter_map(Volumes::members);
        if let Some(found) = listed.find(|&found| found != members.len()) {
            let (word, on) = (call.kind.word(), members.describe());
            return Err(Fault::Volumes { word, on, found, members: members.len() });
        }
        self.next(index, rank, call.root)
    }

    /// The same for a neighbourhood collective.
    pub(crate) fn begin_neighborhood(&mut self, index: CommIndex, rank: Rank) -> Result<Part, Fault> {
        self.next(index, rank, None)
    }

    fn next(&mut self, index: CommIndex, rank: Rank, root: Option<Rank>) -> Result<Part, Fault> {
        let Communicator { members, started, .. } = &mut self.all[index.0];
        let outside = |rank| Fault::NotAMember { rank, on: members.describe() };
        let me = members.place(rank).ok_or_else(|| outside(rank))?;
        let root = root.map_or(Ok(0), |root| members.place(root).ok_or_else(|| outside(root)))?;
        let number = started[me as usize];
        started[me as usize] += 1;
        Ok(Part { me, root, number })
    }

    /// The name of the communicator that has `context`, for people.
    pub(crate) fn describe(&self, context: Context) -> String {
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

impl Members {
    fn new(name: Name, first: Vec<Rank>, second: Vec<Rank>) -> Result<Self, Fault> {
        let first_group = first.len();
        let mut ranks = first;
        ranks.extend(second);
        let places: FxHashMap<Rank, Member> = (0..).zip(&ranks).map(|(place, &rank)| (rank, place)).collect();
        if places.len() < ranks.len() {
            let twice = (0..).zip(&ranks).find(|&(place, rank)| places.get(rank) != Some(&place));
            return Err(Fault::NamedTwice(twice.map_or(Rank(0), |(_, &rank)| rank)));
        }
        Ok(Self { name, ranks, first_group, places })
    }

    pub(crate) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// The rank of a member in the world.
    pub(crate) fn rank(&self, member: Member) -> Rank {
        self.ranks.get(member as usize).copied().unwrap_or_default()
    }

    /// The rank of a rank of the world here.
    pub(crate) fn place(&self, rank: Rank) -> Option<Member> {
        match self.name {
            Name::World => ((rank.0 as usize) < self.ranks.len()).then_some(rank.0),
            Name::Itself | Name::Made => self.places.get(&rank).copied(),
        }
    }

    /// Whether it is an inter-communicator.
    pub(crate) fn is_inter(&self) -> bool {
        self.first_group < self.ranks.len()
    }

    /// For people.
    pub(crate) fn describe(&self) -> String {
        let list = |ranks: &[Rank]| {
            let shown: Vec<String> = ranks.iter().take(8).map(|rank| rank.0.to_string()).collect();
            let more = if ranks.len() > shown.len() { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        match self.name {
            Name::World => "the world".to_owned(),
            Name::Itself => "MPI_COMM_SELF".to_owned(),
            Name::Made => {
                let (first, second) = self.ranks.split_at(self.first_group);
                if second.is_empty() {
                    format!("the communicator of ranks {}", list(first))
                } else {
                    format!("the communicator between ranks {} and {}", list(first), list(second))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use titr_common::event::CollectiveKind;
    use titr_common::units::Bytes;

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
