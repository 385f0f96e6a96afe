//! The records of calls that make communicators.
//!
//! titr's trace has the members of a communicator, and not the arguments of the call. Functions that all members of the parent
//! call become `MPI_Comm_split`, with the first member's place as the colour and the rank's place as the key, except for
//! `MPI_Comm_dup` and `MPI_Comm_create`.

use std::io::Error;

use titr_common::event::{CommCall, CommId, Group, Rank};
use titr_common::program::Members;

use super::NotWritten;
use super::completions::UNDEFINED;
use super::file::DumpiBytes;
use super::rank::{DumpiRank, handle};
use crate::input::dumpi::communicators::{COMM_NULL, COMM_WORLD, GROUP_EMPTY};
use crate::input::dumpi::functions::DumpiFunction;
use crate::input::notes::Notes;

/// The numbers of two groups that a call needs, and that are freed after it.
pub(super) const GROUP_OF_ALL: u16 = 3;
pub(super) const GROUP: u16 = 4;

impl DumpiRank<'_> {
    pub(super) fn create(
        &mut self,
        function: CommCall,
        parent: CommId,
        group: Option<&Group>,
        notes: &mut Notes,
    ) -> Result<(), NotWritten> {
        let (number, members) = self.comm(parent)?;
        match function {
            CommCall::Dup => self.duplicate(number, group)?,
            CommCall::Idup => {
                notes.add("calls of MPI_Comm_idup are those of MPI_Comm_dup");
                self.duplicate(number, group)?;
            }
            CommCall::Create => self.create_of_group(number, &members, group)?,
            CommCall::Split => self.split(number, &members, group)?,
            CommCall::SplitType | CommCall::CartCreate | CommCall::CartSub | CommCall::GraphCreate => {
                notes.add("calls that make a communicator with a topology or of one host are those of MPI_Comm_split");
                self.split(number, &members, group)?;
            }
            CommCall::DistGraphCreate | CommCall::DistGraphCreateAdjacent => {
                notes.add("calls that make a communicator with a topology or of one host are those of MPI_Comm_split");
                self.split(number, &members, group)?;
            }
            CommCall::IntercommCreate => self.join(number, group)?,
            CommCall::IntercommMerge => self.merge(number, &members, group)?,
            CommCall::CreateGroup if group.is_some_and(|group| group.members.len() == members.len()) => {
                notes.add("calls of MPI_Comm_create_group are those of MPI_Comm_create");
                self.create_of_group(number, &members, group)?;
            }
            CommCall::CreateGroup | CommCall::CreateFromGroup => {
                return Err(self.has_no_function("a communicator that only its members call for"));
            }
            CommCall::Spawn | CommCall::Parent | CommCall::Accept | CommCall::Connect | CommCall::Join => {
                return Err(self.has_no_function("a communicator with another world"));
            }
            CommCall::World => {}
        }
        if let Some(group) = group {
            self.communicators.create(self.rank, function, parent, group)?;
        }
        Ok(())
    }

    fn has_no_function(&self, what: &str) -> NotWritten {
        Error::other(format!("rank {}: {what}, which cannot be written as DUMPI", self.rank.0)).into()
    }

    fn duplicate(&mut self, parent: u16, group: Option<&Group>) -> Result<(), NotWritten> {
        let arguments = DumpiBytes::default().handle(parent).handle(new_handle(group)?);
        self.record(DumpiFunction::COMM_DUP, &arguments)
    }

    fn create_of_group(&mut self, parent: u16, members: &Members, group: Option<&Group>) -> Result<(), NotWritten> {
        let Some(made) = group else {
            let arguments = DumpiBytes::default().handle(parent).handle(GROUP_EMPTY).handle(COMM_NULL);
            return self.record(DumpiFunction::COMM_CREATE, &arguments);
        };
        let places: Result<Vec<i32>, _> = made.members.iter().map(|&rank| self.place(members, rank)).collect();
        self.make_group(parent, &places?)?;
        let arguments = DumpiBytes::default().handle(parent).handle(GROUP).handle(new_handle(group)?);
        self.record(DumpiFunction::COMM_CREATE, &arguments)?;
        self.free_group()
    }

    /// Makes the group of these members of a communicator, for the current call.
    pub(super) fn make_group(&mut self, comm: u16, places: &[i32]) -> Result<(), NotWritten> {
        self.record_before(DumpiFunction::COMM_GROUP, &DumpiBytes::default().handle(comm).handle(GROUP_OF_ALL))?;
        let arguments = DumpiBytes::default().handle(GROUP_OF_ALL).int(places.len() as i32).integers(places);
        self.record_before(DumpiFunction::GROUP_INCL, &arguments.handle(GROUP))
    }

    /// Frees the group after the current call.
    pub(super) fn free_group(&mut self) -> Result<(), NotWritten> {
        self.span.begin = self.span.end;
        for group in [GROUP, GROUP_OF_ALL] {
            self.record(DumpiFunction::GROUP_FREE, &DumpiBytes::default().handle(group))?;
        }
        Ok(())
    }

    fn split(&mut self, parent: u16, members: &Members, group: Option<&Group>) -> Result<(), NotWritten> {
        let (color, key) = match group {
            Some(group) => self.color_and_key(members, &group.members)?,
            None => (UNDEFINED, 0),
        };
        let arguments = DumpiBytes::default().handle(parent).int(color).int(key).handle(new_handle(group)?);
        self.record(DumpiFunction::COMM_SPLIT, &arguments)
    }

    /// A colour that the members of a group have alone, and the rank's place among them.
    fn color_and_key(&self, parent: &Members, members: &[Rank]) -> Result<(i32, i32), NotWritten> {
        let first = members.first().map_or(Ok(UNDEFINED), |&first| self.place(parent, first))?;
        let me = members.iter().position(|&rank| rank == self.rank).unwrap_or_default();
        Ok((first, me as i32))
    }

    /// Joins two groups, whose leaders are their first members.
    fn join(&mut self, parent: u16, group: Option<&Group>) -> Result<(), NotWritten> {
        let leader = group.and_then(|group| group.remote.first()).map_or(0, |rank| rank.0.cast_signed());
        let tag = group.and_then(|group| group.tag).unwrap_or_default().0;
        let arguments = DumpiBytes::default().handle(parent).int(0).handle(COMM_WORLD).int(leader).int(tag);
        self.record(DumpiFunction::INTERCOMM_CREATE, &arguments.handle(new_handle(group)?))
    }

    /// Merges the groups of an inter-communicator. The ranks of the group that comes second are high.
    fn merge(&mut self, parent: u16, members: &Members, group: Option<&Group>) -> Result<(), NotWritten> {
        let is_in_first = |rank: Rank| members.place(rank).is_some_and(|member| member < members.first_group());
        let first = group.and_then(|group| group.members.first()).copied().unwrap_or_default();
        let is_high = is_in_first(first) != is_in_first(self.rank);
        let arguments = DumpiBytes::default().handle(parent).int(i32::from(is_high)).handle(new_handle(group)?);
        self.record(DumpiFunction::INTERCOMM_MERGE, &arguments)
    }

    /// The number of members in the rank's group of an inter-communicator.
    pub(super) fn own_group(&self, members: &Members) -> Result<usize, NotWritten> {
        let first = members.first_group();
        let is_in_first = members.member(self.rank)? < first;
        Ok(if is_in_first { first as usize } else { members.len() - first as usize })
    }

    /// Makes the communicators that the trace defines without a call.
    pub(super) fn define(&mut self) -> Result<(), NotWritten> {
        let definitions = self.definitions;
        for (members, id) in definitions.of_rank(self.rank) {
            let place = members.iter().position(|&rank| rank == self.rank);
            let (color, key) = place.map_or((UNDEFINED, 0), |place| (0, place as i32));
            let new = id.map_or(Ok(COMM_NULL), |id| handle(id.0))?;
            let arguments = DumpiBytes::default().handle(COMM_WORLD).int(color).int(key).handle(new);
            self.record(DumpiFunction::COMM_SPLIT, &arguments)?;
        }
        Ok(())
    }
}

/// The number of a new communicator, or that which stands for none.
fn new_handle(group: Option<&Group>) -> Result<u16, Error> {
    group.map_or(Ok(COMM_NULL), |group| handle(group.id.0))
}
