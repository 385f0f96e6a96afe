//! One-sided communication.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{
    Access, AccessOp, Assert, Asserts, Event, OneSided, Rank, Synchronisation, WinCall, WinId, WinSync,
};
use titr_common::units::Bytes;

use super::messages::peer;
use super::{DumpiSink, DumpiTranslation, NoEvent, Numbers, Translated, argument};
use crate::input::dumpi::bytes::Cursor;
use crate::input::dumpi::functions::DumpiFunction;
use crate::input::dumpi::records::DumpiRecord;

const LOCK_SHARED: u8 = 1;

/// The windows of a rank, by their numbers in the file, with their members.
#[derive(Default)]
pub(super) struct DumpiWindows {
    known: FxHashMap<u16, (WinId, Arc<[Rank]>)>,
    numbers: Numbers,
}

impl DumpiWindows {
    fn get(&self, window: u16) -> Translated<(WinId, &[Rank])> {
        let known = self.known.get(&window).ok_or_else(|| format!("window {window}, which no call before has made"))?;
        Ok((known.0, &known.1))
    }
}

impl DumpiTranslation {
    pub(super) fn one_sided(
        &mut self,
        record: &DumpiRecord<'_>,
        bytes: &mut Cursor<'_>,
        sink: &mut DumpiSink<'_>,
    ) -> Translated {
        let event = match record.function {
            DumpiFunction::WIN_CREATE => {
                let (size, _unit, _info) = (argument(bytes.i32())?, argument(bytes.i32())?, argument(bytes.u16())?);
                let (comm, window) = (argument(bytes.u16())?, argument(bytes.u16())?);
                let (comm, sides) = self.sides(comm)?;
                let members = Arc::clone(&sides.members);
                let id = WinId(self.windows.numbers.take());
                self.windows.known.insert(window, (id, members));
                OneSided::Create(WinCall::Create, comm, id, Bytes(u64::try_from(size).unwrap_or(0)))
            }
            DumpiFunction::WIN_FREE => {
                let window = argument(bytes.u16())?;
                let (id, _) = self.windows.get(window)?;
                self.windows.known.remove(&window);
                self.windows.numbers.free(id.0);
                OneSided::Free(id)
            }
            DumpiFunction::PUT | DumpiFunction::GET | DumpiFunction::ACCUMULATE => {
                OneSided::Access(self.access(record.function, bytes)?)
            }
            DumpiFunction::WIN_FENCE => {
                let asserts = asserts(argument(bytes.u8())?);
                self.sync(WinSync::Fence, asserts, Vec::new(), argument(bytes.u16())?)?
            }
            DumpiFunction::WIN_POST | DumpiFunction::WIN_START => {
                let (group, asserted) = (argument(bytes.u16())?, argument(bytes.u8())?);
                let call = if record.function == DumpiFunction::WIN_POST { WinSync::Post } else { WinSync::Start };
                self.sync(call, asserts(asserted), self.group(group)?, argument(bytes.u16())?)?
            }
            DumpiFunction::WIN_LOCK => {
                let (kind, target) = (argument(bytes.u8())?, argument(bytes.i32())?);
                let (asserted, window) = (argument(bytes.u8())?, argument(bytes.u16())?);
                let call = if kind == LOCK_SHARED { WinSync::LockShared } else { WinSync::Lock };
                self.sync(call, asserts(asserted), vec![self.target(target, window)?], window)?
            }
            DumpiFunction::WIN_UNLOCK => {
                let (target, window) = (argument(bytes.i32())?, argument(bytes.u16())?);
                self.sync(WinSync::Unlock, Asserts::default(), vec![self.target(target, window)?], window)?
            }
            DumpiFunction::WIN_TEST => {
                let window = argument(bytes.u16())?;
                if argument(bytes.i32())? == 0 {
                    return Ok(());
                }
                self.sync(WinSync::Test, Asserts::default(), Vec::new(), window)?
            }
            DumpiFunction::WIN_COMPLETE => {
                self.sync(WinSync::Complete, Asserts::default(), Vec::new(), argument(bytes.u16())?)?
            }
            DumpiFunction::WIN_WAIT => {
                self.sync(WinSync::Wait, Asserts::default(), Vec::new(), argument(bytes.u16())?)?
            }
            _ => return Err(NoEvent::Needless),
        };
        self.push(sink, Event::OneSided(event));
        Ok(())
    }

    fn access(&self, function: DumpiFunction, bytes: &mut Cursor<'_>) -> Translated<Access> {
        let (count, datatype) = (argument(bytes.i32())?, argument(bytes.u16())?);
        let (target, _place) = (argument(bytes.i32())?, argument(bytes.i32())?);
        let (_count, _datatype) = (argument(bytes.i32())?, argument(bytes.u16())?);
        if function == DumpiFunction::ACCUMULATE {
            argument(bytes.u8())?;
        }
        let window = argument(bytes.u16())?;
        let target = self.target(target, window)?;
        let (win, _) = self.windows.get(window)?;
        let volume = Bytes(self.datatypes.volume(count, datatype)?);
        let (op, there, back) = match function {
            DumpiFunction::GET => (AccessOp::Get, Bytes(0), volume),
            DumpiFunction::PUT => (AccessOp::Put, volume, Bytes(0)),
            _ => (AccessOp::Accumulate, volume, Bytes(0)),
        };
        Ok(Access { op, win, target, there, back, request: None })
    }

    fn target(&self, rank: i32, window: u16) -> Translated<Rank> {
        peer(self.windows.get(window)?.1, rank)
    }

    fn sync(&self, call: WinSync, asserts: Asserts, ranks: Vec<Rank>, window: u16) -> Translated<OneSided> {
        let (win, _) = self.windows.get(window)?;
        Ok(OneSided::Sync(Synchronisation { call, win, ranks, asserts }))
    }
}

/// The promises of a call, which are bits.
fn asserts(bits: u8) -> Asserts {
    let promises = [Assert::NoCheck, Assert::NoStore, Assert::NoPut, Assert::NoPrecede, Assert::NoSucceed];
    promises.into_iter().zip(0..).filter(|&(_, bit)| bits >> bit & 1 != 0).map(|(promise, _)| promise).collect()
}
