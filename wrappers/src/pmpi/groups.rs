//! The ranks of the members of one group in another.

use std::ffi::c_int;

use super::{ErrorCode, comm_is_inter, comm_remote_size, comm_size};
use crate::abi::Abi;
use crate::argument::{Comm, Group, HandleCell};
use crate::handle::GroupKind;

/// The ranks of the members of a communicator in another one, in order. `None` stands for a member that the other one
/// does not have.
pub struct Translation {
    /// The members of its own (or local) group.
    pub local: Vec<Option<u32>>,
    /// The members of the remote group of an inter-communicator.
    pub remote: Vec<Option<u32>>,
}

/// The ranks of the members of `comm` in `base`; `None` if MPI does not tell.
#[must_use]
pub fn translate(abi: &Abi, comm: Comm, base: Comm) -> Option<Translation> {
    translate_to(abi, comm, &KnownGroup(OwnedGroup::of(base)?))
}

/// The ranks of the members of `comm` in a group; `None` if MPI does not tell.
#[must_use]
pub fn translate_to(abi: &Abi, comm: Comm, KnownGroup(base): &KnownGroup) -> Option<Translation> {
    // The communicators are asked how many members they have: MPICH 5.0.2 says that the group of a communicator that
    // MPI_Cart_create has made smaller than its parent is as large as the parent.
    let local = OwnedGroup::of(comm)?.ranks_in(abi, comm_size(comm), base)?;
    let remote = if comm_is_inter(comm) {
        OwnedGroup::remote_of(comm)?.ranks_in(abi, comm_remote_size(comm), base)?
    } else {
        Vec::new()
    };
    Some(Translation { local, remote })
}

/// The ranks of the members of `group` in `base`; `None` if MPI does not tell.
#[must_use]
pub fn translate_group(abi: &Abi, group: Group, base: Comm) -> Option<Vec<Option<u32>>> {
    let size = usize::try_from(int_of!(MPI_Group_size(group))?).ok()?;
    ranks_in(abi, group, size, OwnedGroup::of(base)?.0.get(abi))
}

/// A group to find the members of communicators in.
#[derive(Debug)]
pub struct KnownGroup(OwnedGroup);

impl KnownGroup {
    /// The remote group of an inter-communicator.
    #[must_use]
    pub fn remote_of(comm: Comm) -> Option<Self> {
        OwnedGroup::remote_of(comm).map(Self)
    }
}

/// A group that is freed when the value is dropped.
#[derive(Debug)]
struct OwnedGroup(HandleCell<GroupKind>);

impl OwnedGroup {
    fn of(comm: Comm) -> Option<Self> {
        // SAFETY: (MPI_Comm, MPI_Group *).
        Self::filled(|cell| unsafe { call!(MPI_Comm_group(comm, cell.address())) })
    }

    fn remote_of(comm: Comm) -> Option<Self> {
        // SAFETY: (MPI_Comm, MPI_Group *).
        Self::filled(|cell| unsafe { call!(MPI_Comm_remote_group(comm, cell.address())) })
    }

    fn filled(fill: impl FnOnce(&mut HandleCell<GroupKind>) -> Result<(), ErrorCode>) -> Option<Self> {
        let mut cell = HandleCell::empty();
        // Owned only if it was made.
        fill(&mut cell).ok().map(|()| Self(cell))
    }

    /// The ranks of its first `size` members. A size of 0 means that MPI did not tell how many there are.
    fn ranks_in(&self, abi: &Abi, size: usize, base: &Self) -> Option<Vec<Option<u32>>> {
        (size > 0).then(|| ranks_in(abi, self.0.get(abi), size, base.0.get(abi))).flatten()
    }
}

impl Drop for OwnedGroup {
    fn drop(&mut self) {
        // SAFETY: (MPI_Group *), a group that MPI has made.
        let _ = unsafe { call!(MPI_Group_free(self.0.address())) };
    }
}

/// The ranks that the first `size` members of a group have in another.
fn ranks_in(abi: &Abi, group: Group, size: usize, base: Group) -> Option<Vec<Option<u32>>> {
    let count = c_int::try_from(size).ok()?;
    let ranks: Vec<c_int> = (0..count).collect();
    let mut in_base: Vec<c_int> = vec![abi.undefined; size];
    // SAFETY: (MPI_Group, int n, const int ranks1[n], MPI_Group, int ranks2[n]).
    unsafe { call!(MPI_Group_translate_ranks(group, count, ranks.as_ptr(), base, in_base.as_mut_ptr())) }.ok()?;
    Some(in_base.iter().map(|&rank| u32::try_from(rank).ok()).collect())
}
