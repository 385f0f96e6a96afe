//! Windows, and one-sided communication on them.

use std::sync::Arc;

use titr_common::event::{Access, AccessOp, Asserts, Event, OneSided, Rank, Synchronisation, WinCall, WinId, WinSync};
use titr_common::trace::LocatedEvents;
use titr_common::units::Bytes;

use super::fields::Otf2Fields;
use super::functions::{OneSidedFunction, Otf2Function};
use super::local::Otf2Kind;
use super::translation::{Fault, Otf2Pending, Otf2Translation, Otf2Window};

/// A lock that others may hold as well.
const SHARED: u8 = 1;

impl Otf2Translation {
    /// Introduces the windows of the rank that no event creates.
    pub(super) fn introduce_windows(&mut self, events: &mut LocatedEvents) {
        let archive = Arc::clone(&self.archive);
        let without = archive.definitions.windows.iter().filter(|(_, (_, has_events))| !has_events);
        let mut windows: Vec<u32> = without.map(|(&id, _)| id).collect();
        windows.sort_unstable();
        for global in windows {
            // A window of others.
            if let Ok(Otf2Window { id, comm, .. }) = self.create(global, events) {
                self.order.push(Event::OneSided(OneSided::Create(WinCall::CreateDynamic, comm, id, Bytes(0))), events);
            }
        }
    }

    fn create(&mut self, global: u32, events: &mut LocatedEvents) -> Result<Otf2Window, Fault> {
        let archive = Arc::clone(&self.archive);
        let Some((comm, _)) = archive.definitions.windows.get(&global) else {
            return Err(Fault::new(format!("no definition of window {global}")));
        };
        let Some(comm) = self.introduce(comm.id, events) else {
            return Err(Fault::new(format!("rank {} is no member of window {global}", self.rank.0)));
        };
        if let Some(old) = self.windows.existing.remove(&global) {
            self.windows.numbers.remove(old.id.0 as usize);
        }
        let id = WinId(u32::try_from(self.windows.numbers.insert(global)).unwrap_or(u32::MAX));
        let window = Otf2Window { id, comm: comm.id, members: Arc::clone(&comm.mine) };
        self.windows.existing.insert(global, window.clone());
        Ok(window)
    }

    /// The window with this number in events; its creation is part of the call if there was none.
    fn window(&mut self, local: u32, events: &mut LocatedEvents) -> Result<Otf2Window, Fault> {
        let global = self.thread.local.global(Otf2Kind::Window, local);
        if let Some(window) = self.windows.existing.get(&global) {
            return Ok(window.clone());
        }
        self.make_window(global, events)
    }

    /// Makes a window. The archive does not have its size, which only a dynamic window does without.
    fn make_window(&mut self, global: u32, events: &mut LocatedEvents) -> Result<Otf2Window, Fault> {
        let window = self.create(global, events)?;
        let create = OneSided::Create(WinCall::CreateDynamic, window.comm, window.id, Bytes(0));
        self.thread.pending.push(Otf2Pending::Event(Event::OneSided(create)));
        Ok(window)
    }

    /// Translates a record of one-sided communication.
    pub(super) fn one_sided(
        &mut self,
        kind: u8,
        mut f: Otf2Fields<'_>,
        events: &mut LocatedEvents,
    ) -> Result<(), Fault> {
        let function = match self.thread.call.map(|call| call.function) {
            Some(Otf2Function::OneSided(function)) => Some(function),
            _ => None,
        };
        let translated = match kind {
            35 => {
                let win = f.u32().ok_or(Fault::Malformed)?;
                let global = self.thread.local.global(Otf2Kind::Window, win);
                self.make_window(global, events)?;
                return Ok(());
            }
            36 => {
                let win = f.u32().ok_or(Fault::Malformed)?;
                let global = self.thread.local.global(Otf2Kind::Window, win);
                let Some(window) = self.windows.existing.remove(&global) else { return Ok(()) };
                self.windows.numbers.remove(window.id.0 as usize);
                Some(OneSided::Free(window.id))
            }
            38 | 39 | 40..=43 | 49..=52 => self.synchronise(kind, function, f, events)?,
            _ => Some(self.access(kind, function, f, events)?),
        };
        if let Some(event) = translated {
            self.thread.pending.push(Otf2Pending::Event(Event::OneSided(event)));
        }
        Ok(())
    }

    fn access(
        &mut self,
        kind: u8,
        function: Option<OneSidedFunction>,
        mut f: Otf2Fields<'_>,
        events: &mut LocatedEvents,
    ) -> Result<OneSided, Fault> {
        let mut number = || f.u32().ok_or(Fault::Malformed);
        let (win, remote) = (number()?, number()?);
        let mut bytes = || f.u64().map(Bytes).ok_or(Fault::Malformed);
        let (op, there, back) = match kind {
            46 => (AccessOp::Put, bytes()?, Bytes(0)),
            47 => (AccessOp::Get, Bytes(0), bytes()?),
            _ => {
                f.byte().ok_or(Fault::Malformed)?;
                let mut bytes = || f.u64().map(Bytes).ok_or(Fault::Malformed);
                let (there, back) = (bytes()?, bytes()?);
                let op = match function {
                    Some(OneSidedFunction::GetAccumulate) => AccessOp::GetAccumulate,
                    Some(OneSidedFunction::FetchAndOp) => AccessOp::FetchAndOp,
                    Some(OneSidedFunction::CompareAndSwap) => AccessOp::CompareAndSwap,
                    _ if back.0 > 0 => AccessOp::GetAccumulate,
                    _ => AccessOp::Accumulate,
                };
                (op, there, back)
            }
        };
        let window = self.window(win, events)?;
        let target = target(&window, remote)?;
        Ok(OneSided::Access(Access { op, win: window.id, target, there, back, request: None }))
    }

    /// The synchronisation that a record stands for: the function says which it is, and the record its window and ranks.
    fn synchronise(
        &mut self,
        kind: u8,
        function: Option<OneSidedFunction>,
        mut f: Otf2Fields<'_>,
        events: &mut LocatedEvents,
    ) -> Result<Option<OneSided>, Fault> {
        // The numbers of a window and of a rank or a group; a lock has a number and a type after them.
        match kind {
            38 => f.byte().and_then(|_operation| f.u32()).map(|_level| ()),
            39 => f.u32().map(|_level| ()),
            _ => Some(()),
        }
        .ok_or(Fault::Malformed)?;
        let win = f.u32().ok_or(Fault::Malformed)?;
        let other = f.u32().unwrap_or(u32::MAX);
        let is_shared = matches!(kind, 40..=42) && f.u64().and_then(|_lock| f.byte()) == Some(SHARED);
        use OneSidedFunction as F;
        let call = match (kind, function) {
            (38, Some(F::Fence)) => WinSync::Fence,
            (39, Some(F::Post)) => WinSync::Post,
            (39, Some(F::Start)) => WinSync::Start,
            (39, Some(F::Complete)) => WinSync::Complete,
            (39, Some(F::Wait | F::Test)) => WinSync::Wait,
            (40..=42, Some(F::Lock)) if is_shared => WinSync::LockShared,
            (40..=42, Some(F::Lock)) => WinSync::Lock,
            (40..=42, Some(F::LockAll)) => WinSync::LockAll,
            (43, Some(F::Unlock)) => WinSync::Unlock,
            (43, Some(F::UnlockAll)) => WinSync::UnlockAll,
            (49..=52, Some(F::Flush)) => WinSync::FlushAll,
            (49..=52, Some(F::FlushLocal)) => WinSync::FlushLocalAll,
            _ => return Ok(None),
        };
        // Several records of one call, such as a lock that is requested and acquired.
        let is_said = self.thread.pending.iter().any(
            |pending| matches!(pending, Otf2Pending::Event(Event::OneSided(OneSided::Sync(said))) if said.call == call),
        );
        if is_said {
            return Ok(None);
        }
        let window = self.window(win, events)?;
        let ranks = match call {
            WinSync::Lock | WinSync::LockShared | WinSync::Unlock => vec![target(&window, other)?],
            WinSync::Post | WinSync::Start => {
                let group = self.thread.local.global(Otf2Kind::Group, other);
                let members = self.archive.definitions.communicators.group(group);
                members.ok_or_else(|| Fault::new("no definition of the group of a synchronisation"))?.to_vec()
            }
            WinSync::Fence
            | WinSync::Complete
            | WinSync::Wait
            | WinSync::Test
            | WinSync::LockAll
            | WinSync::UnlockAll
            | WinSync::Flush
            | WinSync::FlushAll
            | WinSync::FlushLocal
            | WinSync::FlushLocalAll => Vec::new(),
        };
        Ok(Some(OneSided::Sync(Synchronisation { call, win: window.id, ranks, asserts: Asserts::default() })))
    }
}

fn target(window: &Otf2Window, place: u32) -> Result<Rank, Fault> {
    let target = window.members.get(place as usize).copied();
    target.ok_or_else(|| Fault::new(format!("rank {place} of a window of {}", window.members.len())))
}
