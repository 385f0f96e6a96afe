//! Accesses to the windows of other ranks: when they start, and when the origin may reuse its memory.
//!
//! A put or accumulate of fewer bytes than the eager threshold frees the origin's memory when it starts, like an eager
//! send; a larger one when it has arrived. All other accesses free it when their data has come back.

use titr_common::event::{Access, AccessOp, Rank, SendMode, Tag};
use titr_common::program::Fault;

use super::windows::{AccessMessage, Content, brings_data};
use crate::observe::Observer;
use crate::ranks::ids::WindowIndex;
use crate::ranks::library::Library;
use crate::ranks::one_sided::windows::window::{LockKind, LockState, QueuedAccess};
use crate::ranks::operation::OperationKind;
use crate::ranks::point_to_point::Envelope;
use crate::ranks::point_to_point::exchange::Outbound;
use crate::ranks::thread::Thread;

impl<O: Observer> Library<'_, O> {
    /// `MPI_Put` and related functions.
    pub(in crate::ranks) fn access(&mut self, thread: &mut Thread, access: Access) -> Result<(), Fault> {
        let origin = thread.actor.rank;
        let window = self.one_sided.windows.find(origin, access.win)?;
        self.member(window, access.target)?;
        if self.communicators.compares_amounts() {
            self.fits(window, access)?;
        }
        if !self.causality.has_receives() {
            return self.access_unordered(thread, window, access);
        }
        let request = match access.request {
            None => None,
            Some(id) => {
                let operation = self.exchange.operations.open(OperationKind::Access(access.target));
                self.requests(origin).add(id, Some(operation))?;
                Some(operation)
            }
        };
        let side = self.one_sided.windows.side(window, origin);
        let separated_by_fences = side.all.is_none() && !side.started.contains(&access.target);
        let fences = side.fences;
        let target = side.target(access.target);
        let epoch = (separated_by_fences && target.lock == LockState::None).then_some(fences);
        target.local += 1;
        target.remote += 1;
        target.accessed = true;
        let at_once = !target.held_back;
        let queued = QueuedAccess { access, request, epoch };
        if !at_once {
            target.queued.push(queued);
        }
        if let Some(epoch) = epoch {
            let side = self.one_sided.windows.side(window, access.target);
            *side.bound.entry(epoch).or_default() += 1;
        }
        if at_once {
            self.set_out(window, origin, queued);
        }
        Ok(())
    }

    /// Whether an access fits into the memory that its target exposes.
    #[cold]
    fn fits(&mut self, index: WindowIndex, access: Access) -> Result<(), Fault> {
        let Access { win: window, target, .. } = access;
        let bytes = if brings_data(access.op) { access.back } else { access.there };
        match self.one_sided.windows.side(index, target).lent {
            Some(lent) if bytes > lent => Err(Fault::BeyondWindow { window, target, bytes, lent }),
            Some(_) | None => Ok(()),
        }
    }

    /// Asks a target for its lock.
    pub(super) fn ask(&mut self, window: WindowIndex, origin: Rank, rank: Rank, kind: LockKind) {
        let target = self.one_sided.windows.side(window, origin).target(rank);
        (target.lock, target.held_back) = (LockState::Asked(kind), true);
        self.tell(window, origin, rank, Content::Ask(kind));
    }

    /// Lets all accesses to a target set out that were held back.
    pub(super) fn issue(&mut self, window: WindowIndex, origin: Rank, target: Rank) {
        let queued = std::mem::take(&mut self.one_sided.windows.side(window, origin).target(target).queued);
        queued.into_iter().for_each(|access| self.set_out(window, origin, access));
    }

    fn set_out(&mut self, window: WindowIndex, origin: Rank, queued: QueuedAccess) {
        let QueuedAccess { access, request, epoch } = queued;
        let eager = !brings_data(access.op) && self.exchange.protocol.is_eager(SendMode::Standard, access.there);
        let completes_on_arrival = !eager && !brings_data(access.op);
        let parameters = self.one_sided.parameters;
        let bytes = match access.op {
            AccessOp::Get => parameters.control,
            AccessOp::Put
            | AccessOp::Accumulate
            | AccessOp::GetAccumulate
            | AccessOp::FetchAndOp
            | AccessOp::CompareAndSwap => parameters.header + access.there,
        };
        self.one_sided.windows.side(window, access.target).origin(origin).incoming += 1;
        let message = AccessMessage { access, request, epoch, completes_on_arrival };
        self.launch(window, origin, access.target, bytes, Content::Access(message));
        if eager {
            self.done_locally(window, origin, access.target, request);
        }
    }

    /// An access where ranks wait for nothing: its data in each direction, as messages.
    fn access_unordered(&mut self, thread: &mut Thread, window: WindowIndex, access: Access) -> Result<(), Fault> {
        let (origin, context) = (thread.actor.rank, self.one_sided.windows.get(window).context);
        let brings_data = brings_data(access.op);
        if let Some(id) = access.request {
            self.requests(origin).add(id, None)?;
        }
        let there = (access.op != AccessOp::Get).then_some((origin, access.target, access.there));
        let back = brings_data.then_some((access.target, origin, access.back));
        for (source, to, bytes) in there.into_iter().chain(back) {
            let envelope = Envelope { context, source, tag: Tag(0) };
            let sent = self.exchange.send(
                Outbound { to, envelope, bytes, mode: SendMode::Standard },
                self.now,
                &mut self.observer,
            );
            self.wait_for(thread, sent);
        }
        Ok(())
    }
}
