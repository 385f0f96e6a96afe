//! The members of communicators, from the arguments of all ranks.
//!
//! Each rank carries out its calls in order. `MPI_Comm_split` and the functions for inter-communicators wait until all who
//! take part have come to the call; all other calls have their members in their own arguments.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use titr_common::event::{Rank, Tag};
use titr_common::trace::TraceError;

use super::call::{COMM_NULL, DumpiCall, Handle, Make};
use super::handles::{Handles, SELF_IDENTITY};
use super::{DumpiCommunicator, DumpiShared, Made};
use crate::input::dumpi::file::DumpiRankFile;

/// The calls of all ranks, until their communicators are known.
pub(in crate::input::dumpi) struct Agreement {
    world: Arc<[Rank]>,
    ranks: Vec<RankCalls>,
    /// Those who have come to a call and wait.
    meetings: FxHashMap<DumpiPlace, Vec<DumpiArrival>>,
    /// The sides of inter-communicators whose other side has not come yet, by tag and leaders.
    sides: FxHashMap<(i32, Rank, Rank), Side>,
    /// Communicators by where they are made, and the first member.
    made: FxHashMap<(DumpiPlace, Rank), Arc<DumpiCommunicator>>,
    /// The identities of duplicates of inter-communicators, which both sides share, by the call.
    duplicates: FxHashMap<(u32, u32), u32>,
    identities: u32,
    shared: DumpiShared,
    runnable: VecDeque<Rank>,
}

/// The call of a side of an inter-communicator, and its members.
type Side = (DumpiPlace, Arc<[Rank]>);

/// A call in the order of its communicator: the same for all members that make it together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct DumpiPlace {
    identity: u32,
    /// The number of calls on this communicator before.
    before: u32,
    /// The first member of the rank's own group, which tells the two sides of an inter-communicator apart, and the
    /// communicators of single ranks.
    first: Rank,
}

#[derive(Default)]
struct RankCalls {
    /// The calls that were not carried out yet, with the numbers of their records.
    calls: VecDeque<(DumpiCall, u64)>,
    /// The number of calls on each communicator so far.
    before: FxHashMap<u32, u32>,
    /// Communicators with processes of other worlds.
    elsewhere: FxHashSet<Handle>,
    made: Vec<Made>,
}

/// One who has come to a call.
type DumpiArrival = (Rank, Make, Handle);

impl Agreement {
    pub(super) fn new(ranks: u32) -> Self {
        Self {
            world: (0..ranks).map(Rank).collect(),
            ranks: (0..ranks).map(|_| RankCalls::default()).collect(),
            meetings: FxHashMap::default(),
            sides: FxHashMap::default(),
            made: FxHashMap::default(),
            duplicates: FxHashMap::default(),
            identities: SELF_IDENTITY + 1,
            shared: DumpiShared::default(),
            runnable: VecDeque::new(),
        }
    }

    /// Adds the next call of `rank`, which is the record with this number.
    pub(super) fn add(&mut self, rank: Rank, call: DumpiCall, record: u64) {
        self.ranks[rank.0 as usize].calls.push_back((call, record));
    }

    /// Carries out all calls, and returns what each rank has made.
    pub(super) fn reach(mut self, files: &[DumpiRankFile]) -> Result<Vec<Arc<[Made]>>, TraceError> {
        let callers = self.ranks.iter().zip(&*self.world).filter(|(calls, _)| !calls.calls.is_empty());
        self.runnable = callers.map(|(_, &rank)| rank).collect();
        let mut handles: Vec<Option<Handles>> = self.world.iter().map(|_| None).collect();
        while let Some(rank) = self.runnable.pop_front() {
            let known = handles[rank.0 as usize].get_or_insert_with(|| Handles::new(rank, &self.world));
            if let Err(what) = self.run(known) {
                let record = self.ranks[rank.0 as usize].calls.front().map_or(0, |&(_, record)| record);
                return Err(error(files, rank, record, what));
            }
        }
        // Members whose files were cut do not come, so the calls of the others make no communicator.
        let is_whole = files.iter().all(|file| !file.is_cut);
        if is_whole
            && let Some((&place, meeting)) =
                self.meetings.iter().min_by_key(|(place, _)| (place.identity, place.before))
        {
            return Err(self.stuck(files, place, meeting));
        }
        Ok(self.ranks.into_iter().map(|calls| calls.made.into()).collect())
    }

    /// Carries out the calls of a rank until it has to wait.
    fn run(&mut self, handles: &mut Handles) -> Result<(), String> {
        let at = handles.me().0 as usize;
        // What the rank has made while it waited.
        while let Some((call, _)) = self.ranks[at].calls.front().cloned() {
            let DumpiCall::Make { make, parent, new } = call else {
                handles.apply(&call)?;
                self.ranks[at].calls.pop_front();
                continue;
            };
            let waiting = self.ranks[at].made.len();
            if make == Make::Elsewhere || self.ranks[at].elsewhere.contains(&parent) {
                if new != COMM_NULL {
                    self.ranks[at].elsewhere.insert(new);
                }
                self.ranks[at].calls.pop_front();
                self.ranks[at].made.push(Made::Elsewhere);
                continue;
            }
            let parent = Arc::clone(handles.comm(parent)?);
            let place = self.place(handles.me(), &parent, &make);
            let Some(made) = self.make(handles, &parent, place, &make, new)? else { return Ok(()) };
            debug_assert_eq!(waiting, self.ranks[at].made.len());
            if let Made::Known(_, _, comm) = &made {
                handles.add(new, Arc::clone(comm));
            }
            let calls = &mut self.ranks[at];
            *calls.before.entry(parent.identity).or_default() += 1;
            calls.calls.pop_front();
            calls.made.push(made);
        }
        Ok(())
    }

    fn place(&self, rank: Rank, parent: &DumpiCommunicator, make: &Make) -> DumpiPlace {
        let before = self.ranks[rank.0 as usize].before.get(&parent.identity).copied().unwrap_or(0);
        let first = match make {
            // Both sides of the inter-communicator meet.
            Make::Merge { .. } => Rank(0),
            _ => parent.members.first().copied().unwrap_or_default(),
        };
        DumpiPlace { identity: parent.identity, before, first }
    }

    /// The communicator that the next call of a rank makes; `None` if the rank has to wait for others.
    fn make(
        &mut self,
        handles: &Handles,
        parent: &Arc<DumpiCommunicator>,
        place: DumpiPlace,
        make: &Make,
        new: Handle,
    ) -> Result<Option<Made>, String> {
        let Some(function) = make.function() else { return Ok(Some(Made::Elsewhere)) };
        let me = handles.me();
        if !parent.remote.is_empty() && !matches!(make, Make::Dup | Make::Merge { .. }) {
            return Err("a call on an inter-communicator that titr does not follow".to_owned());
        }
        let members: Arc<[Rank]> = match make {
            Make::Split { .. } | Make::Between { .. } | Make::Merge { .. } => {
                return self.meet(handles, parent, place, make, new);
            }
            _ if new == COMM_NULL => return Ok(Some(Made::NotMember(function))),
            Make::Dup => Arc::clone(&parent.members),
            Make::Create { group } => self.shared.list(handles.group(*group)?),
            Make::Grid { extents } => {
                let size =
                    extents.iter().try_fold(1_usize, |size, &extent| size.checked_mul(usize::try_from(extent).ok()?));
                self.first_of(parent, size)?
            }
            Make::Graph { nodes } => self.first_of(parent, usize::try_from(*nodes).ok())?,
            Make::SubGrid { remain } => {
                let members =
                    parent.row(me, remain).ok_or("MPI_Cart_sub of a communicator that is no grid of its rank")?;
                self.shared.list(&members)
            }
            Make::Elsewhere => Arc::default(),
        };
        let grid = match make {
            Make::Grid { extents } => extents.iter().map(|&extent| extent.cast_unsigned()).collect(),
            Make::SubGrid { remain } => {
                parent.grid.iter().zip(remain).filter(|(_, remain)| **remain != 0).map(|(&extent, _)| extent).collect()
            }
            _ => Arc::clone(&parent.grid),
        };
        if !members.contains(&me) {
            return Err(format!("rank {} makes a communicator that it is no member of", me.0));
        }
        let comm = self.communicator(place, members, Arc::clone(&parent.remote), grid)?;
        Ok(Some(Made::Known(function, None, comm)))
    }

    fn first_of(&mut self, parent: &DumpiCommunicator, number: Option<usize>) -> Result<Arc<[Rank]>, String> {
        let members = number.and_then(|number| parent.members.get(..number));
        let members = members.ok_or_else(|| format!("more members than the {} of its parent", parent.members.len()))?;
        Ok(self.shared.list(members))
    }

    /// The communicator that is made at `place`: the same for all its members.
    fn communicator(
        &mut self,
        place: DumpiPlace,
        members: Arc<[Rank]>,
        remote: Arc<[Rank]>,
        grid: Arc<[u32]>,
    ) -> Result<Arc<DumpiCommunicator>, String> {
        let first = members.first().copied().unwrap_or_default();
        let known = self.made.entry((place, first)).or_insert_with(|| {
            let next = self.identities;
            self.identities += 1;
            let identity = if remote.is_empty() {
                next
            } else {
                *self.duplicates.entry((place.identity, place.before)).or_insert(next)
            };
            Arc::new(DumpiCommunicator { identity, members: Arc::clone(&members), remote, grid })
        });
        if known.members == members {
            Ok(Arc::clone(known))
        } else {
            Err("other members than another rank has in the same call".to_owned())
        }
    }

    /// Joins those who have come to a call that needs the arguments of all; `None` if the rank has to wait.
    fn meet(
        &mut self,
        handles: &Handles,
        parent: &Arc<DumpiCommunicator>,
        place: DumpiPlace,
        make: &Make,
        new: Handle,
    ) -> Result<Option<Made>, String> {
        let me = handles.me();
        if let Some(made) = self.outcome(me, place, make, new) {
            return Ok(Some(made));
        }
        if let &Make::Between { leader, through, remote_leader, tag } = make {
            self.lead(handles, parent, place, (leader, through, remote_leader, tag))?;
            if let Some(made) = self.outcome(me, place, make, new) {
                return Ok(Some(made));
            }
        }
        let meeting = self.meetings.entry(place).or_default();
        meeting.push((me, make.clone(), new));
        let expected = parent.members.len() + if matches!(make, Make::Merge { .. }) { parent.remote.len() } else { 0 };
        if matches!(make, Make::Between { .. }) || meeting.len() < expected {
            return Ok(None);
        }
        let come = self.meetings.remove(&place).unwrap_or_default();
        match make {
            Make::Merge { .. } => self.merge(parent, place, &come)?,
            _ => self.split(parent, place, &come)?,
        }
        self.runnable.extend(come.iter().map(|&(rank, ..)| rank).filter(|&rank| rank != me));
        self.outcome(me, place, make, new).map(Some).ok_or_else(|| "a call that its rank takes no part in".to_owned())
    }

    /// What a call has made that all have come to.
    fn outcome(&self, me: Rank, place: DumpiPlace, make: &Make, new: Handle) -> Option<Made> {
        let function = make.function()?;
        let tag = if let Make::Between { tag, .. } = make { Some(Tag(*tag)) } else { None };
        let key = match make {
            Make::Split { .. } => me,
            Make::Merge { .. } | Make::Between { .. } => Rank(0),
            _ => return None,
        };
        let comm = self.made.get(&(place, key))?;
        if new == COMM_NULL {
            Some(Made::NotMember(function))
        } else {
            Some(Made::Known(function, tag, Arc::clone(comm)))
        }
    }

    /// Groups those who have split a communicator by colour, and orders each group by key.
    fn split(&mut self, parent: &DumpiCommunicator, place: DumpiPlace, come: &[DumpiArrival]) -> Result<(), String> {
        let places: FxHashMap<Rank, usize> = parent.members.iter().enumerate().map(|(at, &rank)| (rank, at)).collect();
        let mut order = Vec::new();
        for (rank, make, new) in come {
            let Make::Split { color, key } = make else {
                return Err("another function than other ranks call at the same time on this communicator".to_owned());
            };
            // Those who are in no group are alone, and do not use what they made.
            let color = (*new == COMM_NULL, if *new == COMM_NULL { rank.0.cast_signed() } else { *color });
            order.push((color, *key, places.get(rank).copied().unwrap_or(usize::MAX), *rank));
        }
        order.sort_unstable();
        for group in order.chunk_by(|(one, ..), (other, ..)| one == other) {
            let members: Vec<Rank> = group.iter().map(|&(.., rank)| rank).collect();
            let members = self.shared.list(&members);
            let comm = self.new_communicator(Arc::clone(&members), Arc::default());
            for &rank in &*members {
                self.made.insert((place, rank), Arc::clone(&comm));
            }
        }
        Ok(())
    }

    fn new_communicator(&mut self, members: Arc<[Rank]>, remote: Arc<[Rank]>) -> Arc<DumpiCommunicator> {
        self.identities += 1;
        Arc::new(DumpiCommunicator { identity: self.identities - 1, members, remote, grid: Arc::default() })
    }

    /// Merges the two groups of an inter-communicator: that which is not high comes first.
    fn merge(&mut self, parent: &DumpiCommunicator, place: DumpiPlace, come: &[DumpiArrival]) -> Result<(), String> {
        let (one, other) = (&parent.members, &parent.remote);
        let is_high = |group: &[Rank]| {
            let high = |(rank, make, _): &DumpiArrival| {
                matches!(make, Make::Merge { is_high: true }) && group.first() == Some(rank)
            };
            come.iter().any(high)
        };
        // The standard leaves the order open where both say the same.
        let is_swapped = match (is_high(one), is_high(other)) {
            (true, false) => true,
            (false, true) => false,
            _ => one.first() > other.first(),
        };
        let (first, second) = if is_swapped { (other, one) } else { (one, other) };
        let members: Vec<Rank> = first.iter().chain(&**second).copied().collect();
        let members = self.shared.list(&members);
        let comm = self.new_communicator(members, Arc::default());
        self.made.insert((place, Rank(0)), comm);
        Ok(())
    }

    /// If the rank leads its side of an inter-communicator, and the other leader has come: joins the two sides.
    fn lead(
        &mut self,
        handles: &Handles,
        parent: &Arc<DumpiCommunicator>,
        place: DumpiPlace,
        (leader, through, remote_leader, tag): (i32, Handle, i32, i32),
    ) -> Result<(), String> {
        let at = |group: &[Rank], rank: i32| usize::try_from(rank).ok().and_then(|rank| group.get(rank).copied());
        let me = handles.me();
        if at(&parent.members, leader) != Some(me) {
            return Ok(());
        }
        let peers = handles.comm(through)?;
        let peers = if peers.remote.is_empty() { &peers.members } else { &peers.remote };
        let remote = at(peers, remote_leader).ok_or_else(|| format!("leader {remote_leader} among {}", peers.len()))?;
        let Some((other_place, others)) = self.sides.remove(&(tag, remote, me)) else {
            self.sides.insert((tag, me, remote), (place, Arc::clone(&parent.members)));
            return Ok(());
        };
        let ours = Arc::clone(&parent.members);
        self.identities += 1;
        let identity = self.identities - 1;
        for (place, members, remote) in [(place, &ours, &others), (other_place, &others, &ours)] {
            let comm = DumpiCommunicator {
                identity,
                members: Arc::clone(members),
                remote: Arc::clone(remote),
                grid: Arc::default(),
            };
            self.made.insert((place, Rank(0)), Arc::new(comm));
            let come = self.meetings.remove(&place).unwrap_or_default();
            self.runnable.extend(come.into_iter().map(|(rank, ..)| rank));
        }
        Ok(())
    }

    /// The error that not all ranks come to a call.
    fn stuck(&self, files: &[DumpiRankFile], place: DumpiPlace, meeting: &[DumpiArrival]) -> TraceError {
        let waiting = meeting.first();
        let (rank, name) = waiting.map_or((Rank(0), ""), |(rank, make, _)| {
            (
                *rank,
                if matches!(make, Make::Split { .. }) { "MPI_Comm_split" } else { "a call of an inter-communicator" },
            )
        });
        let record = self.ranks[rank.0 as usize].calls.front().map_or(0, |&(_, record)| record);
        let come: FxHashSet<Rank> = meeting.iter().map(|&(rank, ..)| rank).collect();
        let absent = self.world.iter().find(|rank| {
            let at = rank.0 as usize;
            !come.contains(rank) && self.ranks[at].before.get(&place.identity).copied().unwrap_or(0) <= place.before
        });
        let whom = absent.map_or("others".to_owned(), |rank| format!("others, such as rank {}", rank.0));
        let what =
            format!("{name}, which {whom} must call too: their files do not have the call, so the members are unknown");
        error(files, rank, record, what)
    }
}

fn error(files: &[DumpiRankFile], rank: Rank, record: u64, what: String) -> TraceError {
    let path = files.get(rank.0 as usize).map(|file| file.path().to_owned()).unwrap_or_default();
    TraceError::Foreign { path, place: format!("record {record}"), what }
}
