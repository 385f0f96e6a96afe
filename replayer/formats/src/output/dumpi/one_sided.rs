//! The records of one-sided communication. DUMPI has the functions of MPI-2.

use std::rc::Rc;

use titr_common::event::{Access, AccessOp, Assert, Asserts, OneSided, Rank, Synchronisation, WinCall, WinId, WinSync};
use titr_common::program::{Fault, Members};

use super::NotWritten;
use super::communicators::GROUP;
use super::file::DumpiBytes;
use super::rank::{DumpiRank, handle};
use crate::input::dumpi::communicators::COMM_WORLD;
use crate::input::dumpi::functions::DumpiFunction;
use crate::input::notes::Notes;

/// The kinds of locks.
const SHARED: u8 = 1;
const EXCLUSIVE: u8 = 2;
/// `MPI_INFO_NULL`.
const INFO_NULL: u16 = 1;
/// The operation of an accumulation.
const SUM: u8 = 3;

impl DumpiRank<'_> {
    pub(super) fn one_sided(&mut self, event: &OneSided, notes: &mut Notes) -> Result<(), NotWritten> {
        match event {
            OneSided::Create(call, comm, id, bytes) => {
                match call {
                    WinCall::Create => {}
                    WinCall::Allocate | WinCall::AllocateShared | WinCall::CreateDynamic => {
                        notes.add("calls that make a window of their own memory are those of MPI_Win_create");
                    }
                }
                let (comm, members) = self.comm(*comm)?;
                self.windows.insert(*id, members);
                let size = i32::try_from(bytes.0).unwrap_or(i32::MAX);
                let arguments = DumpiBytes::default().int(size).int(1).handle(INFO_NULL).handle(comm);
                self.record(DumpiFunction::WIN_CREATE, &arguments.handle(handle(id.0)?))
            }
            OneSided::Free(id) => {
                self.windows.remove(id);
                self.record(DumpiFunction::WIN_FREE, &DumpiBytes::default().handle(handle(id.0)?))
            }
            OneSided::Sync(call) => self.synchronise(call, notes),
            OneSided::Access(access) => self.access(access, notes),
        }
    }

    /// The number of a window in records, and its members.
    fn window(&self, id: WinId) -> Result<(u16, Rc<Members>), NotWritten> {
        let members = self.windows.get(&id).ok_or(Fault::NoSuchWindow(id))?;
        Ok((handle(id.0)?, Rc::clone(members)))
    }

    fn access(&mut self, access: &Access, notes: &mut Notes) -> Result<(), NotWritten> {
        let (function, bytes) = match access.op {
            AccessOp::Put => (DumpiFunction::PUT, access.there),
            AccessOp::Get => (DumpiFunction::GET, access.back),
            AccessOp::Accumulate => (DumpiFunction::ACCUMULATE, access.there),
            AccessOp::GetAccumulate | AccessOp::FetchAndOp | AccessOp::CompareAndSwap => {
                notes.add("accesses that fetch and change are left out, for which DUMPI has no function");
                return Ok(());
            }
        };
        if access.request.is_some() {
            notes.add("accesses with a request are those without one");
        }
        let (window, members) = self.window(access.win)?;
        let target = self.place(&members, access.target)?;
        let (count, datatype) = self.types.of_bytes(bytes, &mut self.file, self.span)?;
        let block = |bytes: DumpiBytes| bytes.int(count).handle(datatype);
        let arguments = block(block(DumpiBytes::default()).int(target).int(0));
        let arguments = if access.op == AccessOp::Accumulate { arguments.byte(SUM) } else { arguments };
        self.record(function, &arguments.handle(window))
    }

    fn synchronise(&mut self, call: &Synchronisation, notes: &mut Notes) -> Result<(), NotWritten> {
        let Synchronisation { call, win, ranks, asserts } = call;
        let (window, members) = self.window(*win)?;
        let asserts = bits(*asserts);
        let start = DumpiBytes::default();
        match call {
            WinSync::Fence => self.record(DumpiFunction::WIN_FENCE, &start.byte(asserts).handle(window)),
            WinSync::Post | WinSync::Start => {
                let function = if *call == WinSync::Post { DumpiFunction::WIN_POST } else { DumpiFunction::WIN_START };
                let places: Vec<i32> = ranks.iter().map(|rank| rank.0.cast_signed()).collect();
                self.make_group(COMM_WORLD, &places)?;
                self.record(function, &start.handle(GROUP).byte(asserts).handle(window))?;
                self.free_group()
            }
            WinSync::Complete => self.record(DumpiFunction::WIN_COMPLETE, &start.handle(window)),
            WinSync::Wait => self.record(DumpiFunction::WIN_WAIT, &start.handle(window)),
            WinSync::Test => self.record(DumpiFunction::WIN_TEST, &start.handle(window).int(1)),
            WinSync::Lock | WinSync::LockShared => {
                let kind = if *call == WinSync::Lock { EXCLUSIVE } else { SHARED };
                let target = self.target(&members, ranks)?;
                self.record(DumpiFunction::WIN_LOCK, &start.byte(kind).int(target).byte(asserts).handle(window))
            }
            WinSync::Unlock => {
                let target = self.target(&members, ranks)?;
                self.record(DumpiFunction::WIN_UNLOCK, &start.int(target).handle(window))
            }
            WinSync::LockAll | WinSync::UnlockAll | WinSync::Flush | WinSync::FlushAll => {
                notes.add("locks of all ranks and flushes are left out, for which DUMPI has no function");
                Ok(())
            }
            WinSync::FlushLocal | WinSync::FlushLocalAll => {
                notes.add("locks of all ranks and flushes are left out, for which DUMPI has no function");
                Ok(())
            }
        }
    }

    fn target(&self, members: &Members, ranks: &[Rank]) -> Result<i32, NotWritten> {
        ranks.first().map_or(Ok(0), |&rank| self.place(members, rank))
    }
}

/// The promises of a call as bits.
fn bits(asserts: Asserts) -> u8 {
    let promises = [Assert::NoCheck, Assert::NoStore, Assert::NoPut, Assert::NoPrecede, Assert::NoSucceed];
    promises.into_iter().zip(0..).filter(|&(promise, _)| asserts.has(promise)).map(|(_, bit)| 1 << bit).sum()
}
