//! Accesses to the windows of other ranks: when they start, and when the origin may reuse its memory.
//!
//! A put or accumulate of fewer bytes than the eager threshold frees the origin's memory when it starts, like an eager
//! send; a larger one when it has arrived. All other accesses free it when their data has come back.

use titr_common::event::{Access, AccessOp, SendMode, Tag};
use titr_common::program::Fault;

use super::OneSided;
use super::active_message::{Content, brings_data};
use super::window::{AccessMessage, LockKind, LockState, Pair};
use crate::observe::Observer;
use crate::ranks::ids::WindowIndex;
use crate::ranks::mpi::Mpi;
use crate::ranks::operation::OperationKind;
use crate::ranks::point_to_point::Envelope;
use crate::ranks::point_to_point::exchange::Outbound;
use crate::ranks::thread::Thread;

impl OneSided<'_> {
    /// `MPI_Put` and related functions.
    pub(super) fn access(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        thread: &mut Thread,
        access: Access,
    ) -> Result<(), Fault> {
        let origin = thread.actor.rank;
        let window = self.windows.find(origin, access.win)?;
        self.member(window, access.target)?;
        if mpi.communicators.compares_amounts {
            self.fits(window, access)?;
        }
        if !mpi.causality().has_receives() {
            return self.access_unordered(mpi, thread, window, access);
        }
        let request = match access.request {
            None => None,
            Some(id) => {
                let operation = mpi.open(OperationKind::Access(access.target));
                mpi.requests(origin).add(id, Some(operation))?;
                Some(operation)
            }
        };
        let side = self.windows.side(window, origin);
        let separated_by_fences = side.all.is_none() && !side.started.contains(&access.target);
        let fences = side.fences;
        let target = side.target(access.target);
        let epoch = (separated_by_fences && target.lock == LockState::None).then_some(fences);
        target.local += 1;
        target.remote += 1;
        target.accessed = true;
        let at_once = !target.held_back;
        let is_eager = !brings_data(access.op) && mpi.exchange.protocol.is_eager(SendMode::Standard, access.there);
        let message = AccessMessage { access, request, epoch, is_eager };
        if !at_once {
            target.queued.push(message);
        }
        if let Some(epoch) = epoch {
            let side = self.windows.side(window, access.target);
            *side.bound.entry(epoch).or_default() += 1;
        }
        if at_once {
            self.set_out(mpi, Pair { window, from: origin, to: access.target }, message);
        }
        Ok(())
    }

    /// Whether an access fits into the memory that its target exposes.
    #[cold]
    fn fits(&mut self, index: WindowIndex, access: Access) -> Result<(), Fault> {
        let Access { win: window, target, .. } = access;
        let bytes = if brings_data(access.op) { access.back } else { access.there };
        match self.windows.side(index, target).lent {
            Some(lent) if bytes > lent => Err(Fault::BeyondWindow { window, target, bytes, lent }),
            Some(_) | None => Ok(()),
        }
    }

    /// Asks a target for its lock.
    pub(super) fn ask(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair, kind: LockKind) {
        let target = self.windows.side(pair.window, pair.from).target(pair.to);
        (target.lock, target.held_back) = (LockState::Asked(kind), true);
        self.tell(mpi, pair, Content::Ask(kind));
    }

    /// Lets all accesses to a target set out that were held back.
    pub(super) fn issue(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair) {
        let queued = std::mem::take(&mut self.windows.side(pair.window, pair.from).target(pair.to).queued);
        queued.into_iter().for_each(|access| self.set_out(mpi, pair, access));
    }

    fn set_out(&mut self, mpi: &mut Mpi<impl Observer>, pair: Pair, message: AccessMessage) {
        let AccessMessage { access, request, is_eager, .. } = message;
        let parameters = self.parameters;
        let bytes = match access.op {
            AccessOp::Get => parameters.control,
            AccessOp::Put
            | AccessOp::Accumulate
            | AccessOp::GetAccumulate
            | AccessOp::FetchAndOp
            | AccessOp::CompareAndSwap => parameters.header + access.there,
        };
        self.windows.side(pair.window, pair.to).origin(pair.from).incoming += 1;
        self.launch(mpi, pair, bytes, Content::Access(message));
        if is_eager {
            self.done_locally(mpi, pair, request);
        }
    }

    /// An access where ranks wait for nothing: its data in each direction, as messages.
    fn access_unordered(
        &mut self,
        mpi: &mut Mpi<impl Observer>,
        thread: &mut Thread,
        window: WindowIndex,
        access: Access,
    ) -> Result<(), Fault> {
        let (origin, context) = (thread.actor.rank, self.windows.get(window).context);
        let brings_data = brings_data(access.op);
        if let Some(id) = access.request {
            mpi.requests(origin).add(id, None)?;
        }
        let there = (access.op != AccessOp::Get).then_some((origin, access.target, access.there));
        let back = brings_data.then_some((access.target, origin, access.back));
        for (source, to, bytes) in there.into_iter().chain(back) {
            let envelope = Envelope { context, source, tag: Tag(0) };
            let sent = mpi.send_message(Outbound::new(to, envelope, bytes, SendMode::Standard));
            mpi.wait_for(thread, sent);
        }
        Ok(())
    }
}
