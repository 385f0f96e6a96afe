//! One-sided communication: windows, and the accesses of ranks to them.

use rustc_hash::FxHashMap;
use titr_common::event::{
    Access, AccessOp, Assert, Asserts, Event, OneSided, Rank, RequestId, Synchronisation, WinCall, WinId, WinSync,
};
use titr_common::units::Bytes;
use titr_wrappers::Abi;
use titr_wrappers::argument::{Comm, Group, Place, Request, Win};
use titr_wrappers::functions::one_sided::OneSided as Call;
use titr_wrappers::functions::one_sided::OneSided::*;
use titr_wrappers::signature::{Exchange, Transfer};

use super::id_pool::IdPool;
use super::message_args::{element, volume};
use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::request_table::RequestKind;
use super::{Outcome, RankTrace};
use crate::pmpi;
use crate::ranks::Ranks;

/// The windows of a rank, with the ranks of the world that each has.
pub(super) struct Windows {
    abi: &'static Abi,
    known: FxHashMap<Win, (WinId, Ranks)>,
    ids: IdPool,
}

/// An access as a call describes it.
struct Reach {
    op: AccessOp,
    win: Win,
    target: i32,
    there: Bytes,
    back: Bytes,
}

impl Windows {
    pub(super) fn new(abi: &'static Abi) -> Self {
        Self { abi, known: FxHashMap::default(), ids: IdPool::default() }
    }

    #[inline(never)]
    pub(super) fn call(&mut self, call: &Call<'_>, overwritten: Overwritten, trace: &mut RankTrace) -> Outcome {
        use AccessOp::{Accumulate, CompareAndSwap, FetchAndOp, Put};
        match call {
            MPI_Put(data, win) => self.access(there(Put, data, *win), None, trace),
            MPI_Rput(data, win, request) => self.access(there(Put, data, *win), Some(request), trace),
            MPI_Get(data, win) => self.access(back(data, *win), None, trace),
            MPI_Rget(data, win, request) => self.access(back(data, *win), Some(request), trace),
            MPI_Accumulate(data, _, win) => self.access(there(Accumulate, data, *win), None, trace),
            MPI_Raccumulate(data, _, win, request) => self.access(there(Accumulate, data, *win), Some(request), trace),
            MPI_Get_accumulate(data, _, win) => self.access(both(data, *win), None, trace),
            MPI_Rget_accumulate(data, _, win, request) => self.access(both(data, *win), Some(request), trace),
            MPI_Fetch_and_op(data, _, win) => {
                let element = element(data.datatype());
                let (target, there, back) = (data.target_rank(), element, element);
                self.access(Reach { op: FetchAndOp, win: *win, target, there, back }, None, trace)
            }
            MPI_Compare_and_swap(data, win) => {
                let element = element(data.datatype());
                let (target, there, back) = (data.target_rank(), element.times(2), element);
                self.access(Reach { op: CompareAndSwap, win: *win, target, there, back }, None, trace)
            }
            MPI_Win_create(new) => self.window(WinCall::Create, new.comm(), Bytes(new.size().get()), &new.win(), trace),
            MPI_Win_allocate(new) => {
                self.window(WinCall::Allocate, new.comm(), Bytes(new.size().get()), &new.win(), trace)
            }
            MPI_Win_allocate_shared(new) => {
                self.window(WinCall::AllocateShared, new.comm(), Bytes(new.size().get()), &new.win(), trace)
            }
            MPI_Win_create_dynamic(_, comm, new) => self.window(WinCall::CreateDynamic, *comm, Bytes(0), new, trace),
            MPI_Win_free(_) => {
                let Overwritten::Win(win) = overwritten else { return Err(Omission::Untraced) };
                let (id, _) = self.known.remove(&win).ok_or(Omission::Untraced)?;
                self.ids.give(id.0);
                trace.stream.write(&Event::OneSided(OneSided::Free(id)));
                Ok(())
            }
            MPI_Win_fence(asserts, win) => self.sync(WinSync::Fence, *win, None, *asserts, trace),
            MPI_Win_post(group, asserts, win) => self.sync_with(WinSync::Post, *win, *group, *asserts, trace),
            MPI_Win_start(group, asserts, win) => self.sync_with(WinSync::Start, *win, *group, *asserts, trace),
            MPI_Win_complete(win) => self.sync(WinSync::Complete, *win, None, 0, trace),
            MPI_Win_wait(win) => self.sync(WinSync::Wait, *win, None, 0, trace),
            MPI_Win_test(win, flag) if flag.get() != 0 => self.sync(WinSync::Test, *win, None, 0, trace),
            MPI_Win_test(..) => Err(Omission::Local),
            MPI_Win_lock(kind, rank, asserts, win) => {
                let shared = *kind == self.abi.lock_shared;
                self.sync(if shared { WinSync::LockShared } else { WinSync::Lock }, *win, Some(*rank), *asserts, trace)
            }
            MPI_Win_lock_all(asserts, win) => self.sync(WinSync::LockAll, *win, None, *asserts, trace),
            MPI_Win_unlock(rank, win) => self.sync(WinSync::Unlock, *win, Some(*rank), 0, trace),
            MPI_Win_unlock_all(win) => self.sync(WinSync::UnlockAll, *win, None, 0, trace),
            MPI_Win_flush(rank, win) => self.sync(WinSync::Flush, *win, Some(*rank), 0, trace),
            MPI_Win_flush_all(win) => self.sync(WinSync::FlushAll, *win, None, 0, trace),
            MPI_Win_flush_local(rank, win) => self.sync(WinSync::FlushLocal, *win, Some(*rank), 0, trace),
            MPI_Win_flush_local_all(win) => self.sync(WinSync::FlushLocalAll, *win, None, 0, trace),
        }
    }

    fn window(
        &mut self,
        call: WinCall,
        comm: Comm,
        bytes: Bytes,
        new: &Place<'_, Win>,
        trace: &mut RankTrace,
    ) -> Outcome {
        let known = trace.communicators.known(comm)?;
        let (comm, members) = (known.id, known.members.clone());
        let id = WinId(self.ids.take());
        self.known.insert(new.get(), (id, members));
        trace.stream.write(&Event::OneSided(OneSided::Create(call, comm, id, bytes)));
        Ok(())
    }

    fn access(&self, reach: Reach, request: Option<&Place<'_, Request>>, trace: &mut RankTrace) -> Outcome {
        let target = self.target(reach.win, reach.target);
        let request: Option<RequestId> = request.map(|request| {
            let what = if target.is_ok() { RequestKind::Collective } else { RequestKind::Nothing };
            trace.requests.add(request.get(), request.address(), what, false)
        });
        let (win, target) = target?;
        let Reach { op, there, back, .. } = reach;
        trace.stream.write(&Event::OneSided(OneSided::Access(Access { op, win, target, there, back, request })));
        Ok(())
    }

    fn sync(&self, call: WinSync, win: Win, with: Option<i32>, asserts: i32, trace: &mut RankTrace) -> Outcome {
        let (win, ranks) = match with {
            Some(rank) => {
                let (win, rank) = self.target(win, rank)?;
                (win, vec![rank])
            }
            None => (self.known.get(&win).ok_or(Omission::Untraced)?.0, Vec::new()),
        };
        let asserts = self.asserts(asserts);
        trace.stream.write(&Event::OneSided(OneSided::Sync(Synchronisation { call, win, ranks, asserts })));
        Ok(())
    }

    fn sync_with(&self, call: WinSync, win: Win, group: Group, asserts: i32, trace: &mut RankTrace) -> Outcome {
        let (win, _) = *self.known.get(&win).ok_or(Omission::Untraced)?;
        let ranks = pmpi::translate_group(self.abi, group, self.abi.comm_world).unwrap_or_default();
        let ranks = ranks.into_iter().flatten().map(Rank).collect();
        let asserts = self.asserts(asserts);
        trace.stream.write(&Event::OneSided(OneSided::Sync(Synchronisation { call, win, ranks, asserts })));
        Ok(())
    }

    /// The promises that the bits of an argument are.
    fn asserts(&self, bits: i32) -> Asserts {
        let abi = self.abi;
        let bit = |assert| match assert {
            Assert::NoCheck => abi.mode_nocheck,
            Assert::NoStore => abi.mode_nostore,
            Assert::NoPut => abi.mode_noput,
            Assert::NoPrecede => abi.mode_noprecede,
            Assert::NoSucceed => abi.mode_nosucceed,
        };
        Assert::ALL.into_iter().filter(|&assert| bits & bit(assert) != 0).collect()
    }

    fn target(&self, win: Win, rank: i32) -> Result<(WinId, Rank), Omission> {
        if rank == self.abi.proc_null {
            return Err(Omission::NullPeer);
        }
        let (id, members) = self.known.get(&win).ok_or(Omission::Untraced)?;
        Ok((*id, members.get(rank).ok_or(Omission::Untraced)?))
    }
}

fn there(op: AccessOp, data: &Transfer<'_>, win: Win) -> Reach {
    let there = volume(data.origin_count(), data.origin_datatype());
    Reach { op, win, target: data.target_rank(), there, back: Bytes(0) }
}

fn back(data: &Transfer<'_>, win: Win) -> Reach {
    let back = volume(data.origin_count(), data.origin_datatype());
    Reach { op: AccessOp::Get, win, target: data.target_rank(), there: Bytes(0), back }
}

/// With `MPI_NO_OP` the origin's data does not count, and its count may be zero.
fn both(data: &Exchange<'_>, win: Win) -> Reach {
    let there = volume(data.origin_count(), data.origin_datatype());
    let back = volume(data.result_count(), data.result_datatype());
    Reach { op: AccessOp::GetAccumulate, win, target: data.target_rank(), there, back }
}
