//! Calls that are noted in the [lane](super::lane) of their thread and recorded later: messages and waits, which programs
//! with several threads make most of. Whoever makes any other call first records what was noted.
//!
//! To note a call takes longer than to record it at once, where nobody else does so. Hence it begins when a thread finds
//! another one recording, and ends when there are only one's notes for a while.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use spin::mutex::SpinMutexGuard;
use titr_common::event::{Quantifier, SendMode, ThreadId};
use titr_common::units::Instructions;
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::{Call, Function, Real};

use super::completion::Held;
use super::envelope::{Match, Named, Offered, Wanted};
use super::inquiry::Inquiry;
use super::lane::{Collected, Lane, Until};
use super::tally::Unrecorded;
use super::{Outcome, Recorder, Slot, Thread, other};

/// How many notes a thread makes before it records them, unless another one is about to. Also how many requests a wait has
/// that is noted.
const MANY: usize = 64;
/// How many it makes before it waits for that.
const FULL: usize = 4 * MANY;

/// How often a thread finds nobody else's notes until calls are recorded at once again.
const ALONE: u32 = 16;

/// A call of a thread, or a part of one.
pub(super) struct Noted {
    /// What the thread has computed since the last.
    computed: Instructions,
    function: &'static Function,
    part: Part,
}

enum Part {
    Send(SendMode, Offered),
    Isend(SendMode, Offered, Named),
    Recv(Wanted, Option<Match>),
    Irecv(Wanted, Named),
    /// The next two requests that are waited for.
    Requests([Option<Named>; 2]),
    /// What the next two of them were matched with, where statuses say so. The last ones end the wait.
    Matches([Option<Match>; 2], Option<Quantifier>),
}

/// A thread that notes its calls, as the recorder sees it.
pub(super) struct Noting {
    thread: ThreadId,
    /// What it waits for.
    held: Held,
    matches: Vec<Option<Match>>,
}

impl Part {
    /// Makes a call, if it is a message. None if it is not, or failed: then it is recorded at once.
    fn message(call: &PointToPoint<'_>, real: Real<'_>) -> Option<Self> {
        use SendMode::{Buffered, Ready, Standard, Synchronous};
        let send = |mode, send| real.run().then(|| Self::Send(mode, Offered::from(send)));
        let isend =
            |mode, send, request| real.run().then(|| Self::Isend(mode, Offered::from(send), Named::from(request)));
        match call {
            MPI_Send(call) => send(Standard, call),
            MPI_Bsend(call) => send(Buffered, call),
            MPI_Rsend(call) => send(Ready, call),
            MPI_Ssend(call) => send(Synchronous, call),
            MPI_Isend(call, request) => isend(Standard, call, request),
            MPI_Ibsend(call, request) => isend(Buffered, call, request),
            MPI_Irsend(call, request) => isend(Ready, call, request),
            MPI_Issend(call, request) => isend(Synchronous, call, request),
            MPI_Recv(call, status) => {
                status.keep();
                real.run().then(|| Self::Recv(Wanted::from(call), status.get().map(Match::from)))
            }
            MPI_Irecv(call, request) => real.run().then(|| Self::Irecv(Wanted::from(call), Named::from(request))),
            _ => None,
        }
    }

    fn volumes(&self) -> other::Volumes {
        match self {
            Self::Send(_, message) | Self::Isend(_, message, _) => other::offered(message),
            Self::Recv(message, _) | Self::Irecv(message, _) => other::wanted(message),
            Self::Requests(_) | Self::Matches(..) => other::NOTHING,
        }
    }
}

impl Recorder {
    /// Records what is noted.
    #[inline(never)]
    pub(super) fn collect(&mut self, until: Until) -> Collected {
        let mut lanes = std::mem::take(&mut self.lanes);
        let collected = lanes.collect(until, |noting, noted| self.record_noted(noting, noted));
        self.lanes = lanes;
        collected
    }

    fn record_noted(&mut self, noting: &mut Noting, Noted { computed, function, part }: Noted) {
        self.thread = noting.thread;
        if let Some(ledger) = self.ledgers.get_mut(noting.thread.0 as usize) {
            ledger.computed.0 += computed.0;
        }
        let outcome = match &part {
            Part::Send(mode, message) => self.send(*mode, message),
            Part::Isend(mode, message, request) => self.isend(*mode, message, *request),
            Part::Recv(message, matched) => self.recv(message, *matched),
            Part::Irecv(message, request) => self.irecv(message, *request),
            Part::Requests(pair) => {
                for Named { handle, place } in pair.iter().flatten() {
                    self.hold(&mut noting.held, *handle, *place);
                }
                Ok(())
            }
            Part::Matches(pair, end) => {
                noting.matches.extend(pair);
                end.map_or(Ok(()), |ask| self.waited(noting, ask))
            }
        };
        if let Err(why) = outcome {
            if why == Unrecorded::Untraced {
                self.emit_other(function, part.volumes());
            }
            self.tally.count(function, why);
        }
    }

    fn waited(&mut self, noting: &mut Noting, ask: Quantifier) -> Outcome {
        let outcome = self.all_done(&mut noting.held, ask, &noting.matches);
        noting.held.begin();
        noting.matches.clear();
        outcome
    }

    /// The requests of a wait that was noted when it began, and then failed: some of them may be done.
    fn give_back(&mut self, thread: &mut Thread) {
        let mut threads = self.lanes.threads();
        if let Some(noting) = threads.find(|noting| Some(noting.thread) == thread.number) {
            std::mem::swap(&mut noting.held, &mut thread.held);
            noting.held.begin();
        }
    }

    fn open_lane(&mut self, thread: &mut Thread) -> Option<Arc<Lane<Noted>>> {
        self.turn_to(thread);
        let noting = Noting { thread: thread.number?, held: Held::default(), matches: Vec::new() };
        Some(self.lanes.open(noting))
    }

    pub(super) fn close_lane(&mut self, thread: ThreadId) {
        self.lanes.close(|noting| noting.thread == thread);
    }
}

impl Slot<Recorder> {
    /// The recorder, which knows of everything that came before.
    #[inline]
    pub(super) fn up_to_date(&self) -> SpinMutexGuard<'_, Option<Recorder>> {
        let mut slot = self.hold();
        if let Some(recorder) = &mut *slot {
            self.catch_up(recorder);
        }
        slot
    }

    /// Lets the recorder record what is noted.
    #[inline]
    pub(super) fn catch_up(&self, recorder: &mut Recorder) {
        if self.notice.noted.load(Ordering::Relaxed) {
            self.collect(recorder);
        }
    }

    #[cold]
    fn collect(&self, recorder: &mut Recorder) {
        self.notice.noted.store(false, Ordering::Relaxed);
        let Collected { threads, is_all } = recorder.collect(Until::Moment(Instant::now()));
        if !is_all {
            self.notice.noted.store(true, Ordering::Relaxed);
        }
        recorder.alone = if threads > 1 { 0 } else { recorder.alone + 1 };
        if recorder.alone > ALONE {
            // Until they meet again.
            recorder.alone = 0;
            self.notice.wanted.store(false, Ordering::Relaxed);
        }
    }

    /// Makes a call and notes it, if it is a message. False if it is to be recorded at once, made or not.
    #[cold]
    pub(super) fn note_message(
        &self,
        thread: &mut Thread,
        function: &'static Function,
        call: &Call<'_>,
        real: Real<'_>,
    ) -> bool {
        let Call::PointToPoint(call) = call else { return false };
        if !self.has_lane(thread) {
            return false;
        }
        let Some(part) = Part::message(call, real) else { return false };
        let computed = std::mem::take(&mut thread.computed);
        self.note(thread, [Noted { computed, function, part }])
    }

    /// Notes that a wait begins, and for what. False if it is to be recorded at once.
    #[cold]
    pub(super) fn note_begin(&self, thread: &mut Thread, function: &'static Function, inquiry: &Inquiry<'_>) -> bool {
        if !inquiry.waits_for_all() || inquiry.len() > MANY || !self.has_lane(thread) {
            return false;
        }
        let mut computed = std::mem::take(&mut thread.computed);
        let requests = |pair| Part::Requests([2 * pair, 2 * pair + 1].map(|index| inquiry.request(index)));
        // One at the least, which says what was computed.
        let pairs = 0..inquiry.len().div_ceil(2).max(1);
        self.note(
            thread,
            pairs.map(|pair| Noted { computed: std::mem::take(&mut computed), function, part: requests(pair) }),
        )
    }

    /// Notes that it has ended. If it failed it is to be recorded at once, with the requests that the thread holds then.
    #[cold]
    pub(super) fn note_end(
        &self,
        thread: &mut Thread,
        function: &'static Function,
        inquiry: &Inquiry<'_>,
        success: bool,
    ) -> bool {
        if !success {
            if let Some(recorder) = &mut *self.up_to_date() {
                recorder.give_back(thread);
            }
            return false;
        }
        let last = inquiry.len().div_ceil(2).saturating_sub(1);
        let matches = |pair| {
            let matches = [2 * pair, 2 * pair + 1].map(|index| inquiry.status(index).map(Match::from));
            Part::Matches(matches, (pair == last).then_some(inquiry.ask))
        };
        let computed = Instructions(0.0);
        self.note(thread, (0..=last).map(|pair| Noted { computed, function, part: matches(pair) }))
    }

    /// Whether there is a lane for the thread. Not in extended traces, which say when calls were made.
    fn has_lane(&self, thread: &mut Thread) -> bool {
        if thread.lane.is_none() && thread.clock.is_none() {
            thread.lane = self.up_to_date().as_mut().and_then(|recorder| recorder.open_lane(thread));
        }
        thread.lane.is_some()
    }

    /// Puts something into a thread's lane, and sees to it that not too much is there.
    fn note(&self, thread: &Thread, what: impl IntoIterator<Item = Noted>) -> bool {
        let Some(lane) = &thread.lane else { return false };
        match lane.note(what, || self.notice.has_noted()) {
            FULL.. => drop(self.up_to_date()),
            MANY.. => {
                if let Some(recorder) = self.try_hold().as_deref_mut().and_then(Option::as_mut) {
                    self.catch_up(recorder);
                }
            }
            _ => {}
        }
        true
    }
}
