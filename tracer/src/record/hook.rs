//! What is done around the real call: a hook.
//!
//! ```text
//!   counter stops ─► hold what will be gone ─► the real call ─► event(s) ─► counter starts
//! ```
//!
//! Between the two the recorder is not locked, as the call may wait for another thread's.

use std::ptr;

use titr_common::event::{Event, Span};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_wrappers::functions::communicator::Communicator::{MPI_Comm_idup, MPI_Comm_idup_with_info};
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::point_to_point::PointToPoint::{MPI_Cancel, MPI_Request_free};
use titr_wrappers::{Call, Function, Real, pmpi};

use super::completion::Held;
use super::inquiry::Inquiry;
use super::lane::Until;
use super::tally::Unrecorded;
use super::{Outcome, Recorder, Slot, Thread, creation, files, message, one_sided};
use crate::extended::Clock;

impl Slot<Recorder> {
    /// Begins to record, with the thread that has initialised MPI.
    pub fn fill(&self, mut recorder: Recorder, thread: &mut Thread) {
        recorder.turn_to(thread);
        recorder.emit(&Event::Init);
        *self.hold() = Some(recorder);
    }

    /// Records no more, and completes the trace; `thread` is the one that ends it. The entry that was
    /// written; `None` if nothing was recorded, or if another thread is in the middle of it and may never come out, as in
    /// a signal handler.
    pub fn end(&self, thread: Option<&mut Thread>, ended: Ended) -> Option<RankEntry> {
        let mut recorder = self.hold_soon()?.take()?;
        recorder.collect(Until::End);
        if let Some(thread) = thread {
            thread.stop();
            recorder.turn_to(thread);
            if let Some(now) = thread.begin() {
                recorder.see(Span { begin: now, end: now });
            }
        }
        recorder.end(ended)
    }

    /// A thread ends, and its number is free for another one. The main thread does so in `exit`, before the trace is ended.
    pub fn leave(&self, thread: &mut Thread) {
        thread.stop();
        // Where somebody holds the recorder and may never let go, as in a signal handler, the number is lost.
        if let (Some(number), Some(mut slot)) = (thread.number, self.hold_soon())
            && let Some(recorder) = &mut *slot
        {
            self.catch_up(recorder);
            recorder.turn_to(thread);
            recorder.rest();
            recorder.close_lane(number);
            recorder.threads.give(number.0);
        }
    }

    /// Runs a call and records it, or notes it to be recorded later.
    pub fn record(&self, thread: &mut Thread, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        thread.stop();
        let takes_notes = self.notice.is_taken();
        match Inquiry::of(call) {
            Some(inquiry) => {
                let noted = takes_notes && self.note_begin(thread, function, &inquiry);
                if noted {
                    inquiry.keep_statuses();
                } else if let Some(recorder) = &mut *self.up_to_date() {
                    // What it computed is known even if it never comes back.
                    recorder.turn_to(thread);
                    recorder.hold_requests(&mut thread.held, &inquiry);
                }
                let begin = thread.begin();
                if begin.is_some() {
                    self.wait_patiently(&thread.held, &inquiry);
                }
                let success = real.run();
                thread.end(begin);
                if !(noted && self.note_end(thread, function, &inquiry, success)) {
                    // A wait may fail and have completed requests.
                    self.then(thread, function, |recorder, held| recorder.inquiry(held, &inquiry, success));
                }
            }
            None if takes_notes && self.note_message(thread, function, call, real) => {}
            None => {
                self.before(&mut thread.held, function, call);
                let begin = thread.begin();
                let success = match thread.clock {
                    Some(clock) => self.run_extended(&mut thread.held, function, call, real, clock),
                    None => real.run(),
                };
                thread.end(begin);
                self.then(thread, function, |recorder, held| match recorder.after(held, function, call, success) {
                    // What failed did not take place as the arguments say.
                    Err(Unrecorded::Untraced) if success => {
                        recorder.other(function, call);
                        recorder.opaque_if_collective(call)
                    }
                    outcome => outcome,
                });
            }
        }
        thread.start();
    }

    /// Makes the call of an extended trace.
    #[cold]
    fn run_extended(
        &self,
        held: &mut Held,
        function: &Function,
        call: &Call<'_>,
        real: Real<'_>,
        clock: Clock,
    ) -> bool {
        if let Call::Collective(call) = call {
            return self.carry_out(held, call, real, clock);
        }
        let success = self.run_patiently(function, call, real);
        // Here, as all its members are, while no collective of it is to be carried out yet.
        held.private = creation::made_by(call).filter(|_| success).and_then(pmpi::split_large);
        success
    }

    /// Lets the recorder do what is to be done after a call.
    #[inline]
    fn then(
        &self,
        thread: &mut Thread,
        function: &'static Function,
        record: impl FnOnce(&mut Recorder, &mut Held) -> Outcome,
    ) {
        if let Some(recorder) = &mut *self.up_to_date() {
            recorder.turn_to(thread);
            if let Some(span) = thread.called.take() {
                recorder.see(span);
            }
            if let Err(why) = record(recorder, &mut thread.held) {
                recorder.tally.count(function, why);
            }
        }
    }

    /// Holds what the call overwrites, and sees to it that there is a status where one is needed.
    fn before(&self, held: &mut Held, function: &Function, call: &Call<'_>) {
        match call {
            Call::PointToPoint(MPI_Request_free(request)) => {
                if let Some(recorder) = &mut *self.up_to_date() {
                    recorder.hold_request(held, request);
                }
            }
            // Only its status says whether it was, and only the library where the communicator is.
            Call::PointToPoint(MPI_Cancel(_)) | Call::Communicator(MPI_Comm_idup(..) | MPI_Comm_idup_with_info(..)) => {
                self.notice.refuse();
            }
            Call::PointToPoint(call) => message::before(held, call),
            Call::Communicator(call) => creation::before(held, call),
            Call::OneSided(call) => one_sided::before(held, call),
            Call::Io(call) => files::before(held, call),
            Call::Other if ptr::eq(function, &MPI_Type_free) => {
                if let Some(recorder) = &mut *self.up_to_date() {
                    recorder.sizes.forget();
                }
            }
            Call::Collective(_) | Call::Topology(_) | Call::Process(_) | Call::Other => {}
        }
    }
}
