//! Communicators: which numbers of different ranks denote the same one, and its members.
//!
//! Two ranks mean the same communicator if they created it from the same parent, name the same members in the same
//! order (for an inter-communicator: the same two groups) and it is the *n*-th of these for both: MPI requires every
//! member to create the communicators of one parent in one order (MPI 4.0 §7.4.2). Calls that are not collective on the
//! parent are counted separately ([`made`]). In the same way, the *n*-th collective that a member starts on a
//! communicator corresponds to the *n*-th of every other member (§6.12), which is checked.

mod amounts;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use slab::Slab;

use super::Context;
use super::fault::Fault;
use super::members::{Members, Name};
use crate::collectives::Member;
use crate::event::{Collective, CommCall, CommId, Group, Rank, Tag, Volumes};
use amounts::{Amounts, Unequal};

/// A communicator of a program, the same for all its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommIndex(usize);

impl CommIndex {
    /// `MPI_COMM_WORLD`.
    pub const WORLD: Self = Self(0);

    /// A number that no other communicator of the program has at the time.
    pub(crate) fn number(self) -> usize {
        self.0
    }
}

/// All communicators of a program.
pub struct Communicators {
    ranks: usize,
    all: Slab<Communicator>,
    /// The communicators by the numbers that each rank gives them, without the world.
    names: Vec<FxHashMap<CommId, CommIndex>>,
    /// The number of contexts in use.
    contexts: u32,
    /// Whether collectives are reported in which the amounts of data that members give and get do not match. Those between two
    /// groups are not compared.
    pub compares_amounts: bool,
}

/// A communicator that exists.
pub struct Communicator {
    /// The context of the communicator's point-to-point messages.
    pub context: Context,
    /// The members of the communicator.
    pub members: Rc<Members>,
    /// The communicators created from this one; for the world, also those of two groups.
    made: Made,
    /// The number of members that have freed the communicator.
    freed: usize,
    /// The number of collectives that each member has started.
    started: Vec<u64>,
    /// Collectives that some members have started and others have not.
    open: VecDeque<FirstCall>,
    /// The number of collectives that all members have started.
    closed: u64,
}

/// A collective as the first to start it saw it.
struct FirstCall {
    word: &'static str,
    root: Option<Rank>,
    first: Rank,
    missing: usize,
    /// The amounts of data, where they are compared.
    amounts: Option<Box<Amounts>>,
}

/// A member's part in a collective.
#[derive(Clone, Copy, Debug)]
pub struct Participation {
    /// The rank's place among the members of the communicator.
    pub me: Member,
    /// The root; 0 for a collective without one.
    pub root: Member,
    /// The number of the collective on the communicator, from 0; of a persistent one, the number that it got when it was set
    /// up.
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
            contexts: 0,
            compares_amounts: false,
        };
        let world = (0..ranks as u32).map(Rank).collect();
        this.insert(Members::world(world));
        this
    }

    /// The communicator of an index.
    pub fn get(&self, index: CommIndex) -> &Communicator {
        &self.all[index.0]
    }

    /// The communicator that `rank` calls `id`.
    ///
    /// # Errors
    /// If no event has introduced it, or it is freed.
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

    /// `rank` has made a communicator of `parent`.
    ///
    /// # Errors
    /// If the members are impossible, or no event has introduced the parent.
    pub fn create(&mut self, rank: Rank, call: CommCall, parent: CommId, group: &Group) -> Result<CommIndex, Fault> {
        let (mut first, mut second) = (group.members.clone(), group.remote.clone());
        if !second.is_empty() && second < first {
            std::mem::swap(&mut first, &mut second);
        }
        if let Some(&stranger) = first.iter().chain(&second).find(|member| member.0 as usize >= self.ranks) {
            return Err(Fault::NoSuchRank { rank: stranger, world: self.ranks });
        }
        let members = Members::new(Name::Made, first.clone(), second.clone())?;
        let me = members.member(rank)?;
        let size = members.len();

        let origin = Origin::of(call, group.tag);
        let home = match origin {
            Origin::TwoGroups(_) | Origin::TwoWorlds => CommIndex::WORLD,
            Origin::Parent | Origin::Group(_) => self.find(rank, parent)?,
        };
        let mut made = std::mem::take(&mut self.all[home.0].made);
        let index = made.next((origin, (first, second)), me, size, || self.insert(members));
        self.all[home.0].made = made;
        self.names[rank.0 as usize].insert(group.id, index);
        Ok(index)
    }

    /// A communicator of these members, which have made a window.
    pub fn create_for_window(&mut self, members: &Members) -> CommIndex {
        self.insert(members.of_window())
    }

    /// Makes a communicator with the same members as another, which no rank has a number for.
    pub fn duplicate(&mut self, index: CommIndex) -> CommIndex {
        let members = Rc::clone(&self.all[index.0].members);
        self.insert(members)
    }

    /// A context that no communicator has.
    pub fn new_context(&mut self) -> Context {
        let context = Context(self.contexts);
        self.contexts += 2;
        context
    }

    /// Forgets a communicator that no rank has a number for.
    pub fn forget(&mut self, index: CommIndex) {
        self.all.remove(index.0);
    }

    /// The number that the next collective of a member on a communicator will have.
    pub fn next_collective(&self, index: CommIndex, member: Member) -> u64 {
        self.all[index.0].started.get(member as usize).copied().unwrap_or_default()
    }

    /// Records that `rank` has freed a communicator. Its context is never reused, so messages in transit in it
    /// continue.
    ///
    /// # Errors
    /// If no event has introduced it, or it is already freed.
    pub fn free(&mut self, rank: Rank, id: CommId) -> Result<(), Fault> {
        let index = self.names[rank.0 as usize].remove(&id).ok_or(Fault::NoSuchCommunicator(id))?;
        let communicator = &mut self.all[index.0];
        communicator.freed += 1;
        if communicator.freed == communicator.members.len() {
            self.all.remove(index.0);
        }
        Ok(())
    }

    /// `rank` starts its next collective on a communicator, which is checked against the calls of the other members.
    ///
    /// # Errors
    /// If other members called another collective there.
    pub fn enter(&mut self, index: CommIndex, rank: Rank, call: &Collective) -> Result<Participation, Fault> {
        let part = self.begin(index, rank, call)?;
        if self.compares_amounts && !self.all[index.0].members.is_inter() {
            self.compare_amounts_of(index, rank, part, call)?;
        }
        self.compare(index, rank, part.number, call.kind.word(), call.root)?;
        Ok(part)
    }

    /// `rank` starts a neighbourhood collective, which is checked against the calls of the other members.
    ///
    /// # Errors
    /// If other members called another collective there.
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

    /// Compares a collective with the calls of the members that reached it before.
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
            None => {
                open.push_back(FirstCall { word, root, first: rank, missing: members.len() - 1, amounts: None });
            }
            Some(call)
                if call.word == word
                    && (call.root == root || members.is_inter() && (call.root.is_none() || root.is_none())) =>
            {
                // In the root's group of an inter-communicator, only the root knows that it is the root.
                call.root = call.root.or(root);
                call.missing -= 1;
            }
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

    /// Compares the amounts of a collective with those of the members that reached it before.
    #[cold]
    fn compare_amounts_of(
        &mut self,
        index: CommIndex,
        rank: Rank,
        Participation { me, root, number }: Participation,
        call: &Collective,
    ) -> Result<(), Fault> {
        let Communicator { members, open, closed, .. } = &mut self.all[index.0];
        let (place, size) = ((number - *closed) as usize, members.len());
        if open.len() == place {
            let (word, root) = (call.kind.word(), call.root);
            open.push_back(FirstCall { word, root, first: rank, missing: size, amounts: None });
        }
        // Another collective, or another root, is found fault with later.
        let Some(first) = open.get_mut(place).filter(|first| first.word == call.kind.word() && first.root == call.root)
        else {
            return Ok(());
        };
        let amounts = first.amounts.get_or_insert_default();
        let added = amounts.add(call, rank, (me, root, size as u32));
        let compared = added.and_then(|()| if first.missing == 1 { amounts.end() } else { Ok(()) });
        compared.map_err(|unequal| {
            let (word, number, on) = (call.kind.word(), number + 1, members.describe());
            match unequal {
                Unequal::Members { mine, theirs, other } => Fault::Mismatch {
                    mine: format!("{word} with {mine}"),
                    theirs: format!("{word} with {theirs}"),
                    other,
                    number,
                    on,
                },
                Unequal::Own { given, got } => Fault::UnequalBuffers { word, number, on, given, got },
                Unequal::Together { given, got } => Fault::UnequalAmounts { word, number, on, given, got },
            }
        })
    }

    /// `rank` starts its next collective on a communicator; that others call the same is not looked at.
    ///
    /// # Errors
    /// If its volumes or its root do not fit the members.
    pub fn begin(&mut self, index: CommIndex, rank: Rank, call: &Collective) -> Result<Participation, Fault> {
        let members = &self.all[index.0].members;
        let mut listed = [&call.send, &call.recv].into_iter().filter_map(|volumes| match volumes {
            Volumes::PerMember(list) => Some(list.len()),
            Volumes::None | Volumes::Each(_) => None,
        });
        if let Some(found) = listed.next()
            && let Some(me) = members.place(rank)
        {
            let expected = if call.kind.is_shared_out() { members.group(me) } else { members.peers(me) };
            if let Some(found) = std::iter::once(found).chain(listed).find(|&found| found != expected) {
                let (word, on) = (call.kind.word(), members.describe());
                return Err(Fault::Volumes { word, on, found, members: expected });
            }
        }
        self.next(index, rank, call.root)
    }

    /// `rank` starts a neighbourhood collective; that others call the same is not looked at.
    ///
    /// # Errors
    /// If the rank is not a member.
    pub fn begin_neighborhood(&mut self, index: CommIndex, rank: Rank) -> Result<Participation, Fault> {
        self.next(index, rank, None)
    }

    fn next(&mut self, index: CommIndex, rank: Rank, root: Option<Rank>) -> Result<Participation, Fault> {
        let Communicator { members, started, .. } = &mut self.all[index.0];
        let me = members.member(rank)?;
        let root = root.map_or(Ok(0), |root| members.member(root))?;
        let number = started[me as usize];
        started[me as usize] += 1;
        Ok(Participation { me, root, number })
    }

    /// The name in messages of the communicator that has `context`.
    pub fn describe(&self, context: Context) -> String {
        let has = |communicator: &&Communicator| {
            communicator.context == context || communicator.context.of_collectives() == context
        };
        let found = self.all.iter().map(|(_, communicator)| communicator).find(has);
        found.map_or_else(|| "a communicator that is freed".to_owned(), |communicator| communicator.members.describe())
    }

    fn insert(&mut self, members: impl Into<Rc<Members>>) -> CommIndex {
        let context = self.new_context();
        let members = members.into();
        let started = vec![0; members.len()];
        let (made, open) = (Made::default(), VecDeque::new());
        CommIndex(self.all.insert(Communicator { context, members, made, freed: 0, started, open, closed: 0 }))
    }
}

/// The members; the groups of an inter-communicator, the one with the smaller first rank first.
type Groups = (Vec<Rank>, Vec<Rank>);

/// The way in which the members of a new communicator find each other. All members create the communicators of one
/// origin, one parent and the same groups in one order.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    /// All members of the parent make the call.
    Parent,
    /// Only the members of the new communicator make the call, with a tag.
    Group(Option<Tag>),
    /// Two groups without a parent in common make the call, with a tag.
    TwoGroups(Option<Tag>),
    /// Two groups that may be of different worlds make two different calls.
    TwoWorlds,
}

impl Origin {
    fn of(call: CommCall, tag: Option<Tag>) -> Self {
        match call {
            CommCall::IntercommCreate => Self::TwoGroups(tag),
            _ if call.joins_worlds() => Self::TwoWorlds,
            _ if call.is_collective_on_parent() => Self::Parent,
            _ => Self::Group(tag),
        }
    }
}

/// The communicators that were made of one parent.
#[derive(Default)]
struct Made(FxHashMap<(Origin, Groups), Siblings>);

/// The communicators of one origin, parent and groups, one after another.
#[derive(Default)]
struct Siblings {
    /// The number of the communicators that each member has made.
    made: Vec<u64>,
    /// The communicators that some members have made and others have not, with how many members still have to.
    open: VecDeque<(CommIndex, usize)>,
    /// The number of the communicators that all members have made.
    closed: u64,
}

impl Made {
    /// The communicator that a member of the origin's next one, which has `size` members, makes; `insert` makes it if the
    /// member is the first.
    fn next(
        &mut self,
        origin: (Origin, Groups),
        member: Member,
        size: usize,
        insert: impl FnOnce() -> CommIndex,
    ) -> CommIndex {
        let Siblings { made, open, closed } = self.0.entry(origin).or_default();
        made.resize(size, 0);
        let nth = (made[member as usize] - *closed) as usize;
        made[member as usize] += 1;
        let index = match open.get_mut(nth) {
            Some((index, missing)) => {
                *missing -= 1;
                *index
            }
            None => {
                let index = insert();
                open.push_back((index, size - 1));
                index
            }
        };
        while open.front().is_some_and(|(_, missing)| *missing == 0) {
            open.pop_front();
            *closed += 1;
        }
        index
    }
}
