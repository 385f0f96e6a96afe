//! Requests: starting them, completing them, freeing them.

use titr_common::event::Completed::{self, These};
use titr_common::event::{Event, Quantifier, Rank, RequestId, RequestKey, Tag};
use titr_wrappers::Abi;
use titr_wrappers::argument::{Place, Request};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};

use super::completion_call::{CompletionCall, CompletionKind, HeldRequests, KeptStatus, Matches, note_cancellation};
use super::message_args::{Match, RequestRef};
use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::request_table::{Entry, RequestKind, RequestTable};
use super::{Outcome, RankTrace};
use crate::pmpi;
use crate::ranks::Ranks;

pub(super) struct Requests {
    abi: &'static Abi,
    /// A list that events are made of, kept for its memory.
    pub(super) completed_ids: Vec<RequestId>,
}

impl Requests {
    pub(super) fn new(abi: &'static Abi) -> Self {
        Self { abi, completed_ids: Vec::new() }
    }

    /// Takes the requests of a completion call out of the table.
    pub(super) fn hold_all(&self, held: &mut HeldRequests, call: &CompletionCall<'_>, table: &mut RequestTable) {
        held.clear();
        call.each_request(|handle, place| self.hold(held, RequestRef { handle, place }, table));
        if held.is_open {
            call.keep_statuses();
        }
    }

    /// Puts the requests back of a completion call that the program has left.
    pub(super) fn release(held: &mut HeldRequests, table: &mut RequestTable) {
        held.ids.drain(..).flatten().for_each(|id| table.put_in(id));
        held.clear();
    }

    /// Removes the request of a call that frees it from the table. Only the library will know whether it was cancelled.
    pub(super) fn hold_freed(request: &Place<'_, Request>, table: &mut RequestTable) -> Overwritten {
        let id = table.take_out(request.get(), request.address());
        if let Some(entry) = id.and_then(|id| table.get_mut(id))
            && entry.cancelled
        {
            // Incomplete requests are in progress: a library completes at once what it cancels here.
            entry.cancelled = pmpi::completes_cancelled(request.get()) == Some(true);
        }
        Overwritten::Request(id)
    }

    /// Takes one more request of a completion call out of the table.
    #[inline]
    pub(super) fn hold(
        &self,
        held: &mut HeldRequests,
        RequestRef { handle, place }: RequestRef,
        table: &mut RequestTable,
    ) {
        let mut id = if handle == self.abi.request_null { None } else { table.take_out(handle, place) };
        match id.and_then(|id| table.get(id)) {
            Some(entry) if entry.active => {
                held.is_visible |= entry.is_visible();
                held.is_open |= entry.is_open()
                    || entry.cancelled
                    || entry.companion.is_some_and(|id| table.get(id).is_some_and(Entry::is_open));
            }
            _ => {
                if let Some(inactive) = id.take() {
                    table.put_in(inactive);
                }
            }
        }
        held.ids.push(id);
    }

    /// A call about requests that were made before, and that is no completion call.
    #[inline(never)]
    pub(super) fn call(&mut self, call: &PointToPoint<'_>, overwritten: Overwritten, trace: &mut RankTrace) -> Outcome {
        match call {
            MPI_Request_free(_) => Self::free(overwritten, trace),
            MPI_Cancel(request) => Self::cancel(request, trace),
            MPI_Start(request) => self.start(overwritten, [(request.get(), request.address())].into_iter(), trace),
            MPI_Startall(requests) => {
                let requests = requests.array_of_requests();
                let requests = requests.iter().enumerate().map(|(index, it)| (it, requests.address(index)));
                self.start(overwritten, requests, trace)
            }
            _ => match CompletionCall::of_status_query(call) {
                Some(query) => self.status_query(&query, trace),
                None => Err(Omission::Untraced),
            },
        }
    }

    /// Records a completion call. A wait may fail and have completed requests.
    pub(super) fn completion(
        &mut self,
        held: &mut HeldRequests,
        call: &CompletionCall<'_>,
        success: bool,
        trace: &mut RankTrace,
    ) -> Outcome {
        let completed_any = success && call.has_completed();
        let outstanding = trace.requests.outstanding();
        let visible = held.is_visible;
        self.completed_ids.clear();
        let key = if completed_any && call.names_all() {
            self.settle_all(held, &Matches::Of(call), trace)
        } else {
            self.settle_some(held, call, success, completed_any, trace)
        };
        match (&call.kind, self.completed_ids.as_slice()) {
            (CompletionKind::Test(_), []) if visible && !completed_any => {
                trace.stream.write(&Event::Test(call.ask, None))
            }
            (_, []) => return Err(Omission::NullPeer),
            (CompletionKind::Wait, _) => self.waited_for(call.ask, outstanding, key, trace),
            (CompletionKind::Test(_), _) => {
                let completed = self.completed(key);
                self.write_completion(Event::Test(call.ask, Some(completed)), trace);
            }
        }
        Ok(())
    }

    /// Records a wait for all held requests.
    pub(super) fn all_done(
        &mut self,
        held: &mut HeldRequests,
        ask: Quantifier,
        statuses: &[KeptStatus],
        trace: &mut RankTrace,
    ) -> Outcome {
        let outstanding = trace.requests.outstanding();
        self.completed_ids.clear();
        let key = self.settle_all(held, &Matches::Kept(statuses), trace);
        if self.completed_ids.is_empty() {
            return Err(Omission::NullPeer);
        }
        self.waited_for(ask, outstanding, key, trace);
        Ok(())
    }

    /// Records a wait for `completed_ids`, when this many requests were `outstanding`.
    #[inline]
    fn waited_for(&mut self, ask: Quantifier, outstanding: u32, key: Option<RequestKey>, trace: &mut RankTrace) {
        // The number of requests fits, as their ids do.
        if ask == Quantifier::All && self.completed_ids.len() as u32 == outstanding {
            trace.stream.write_unowning(Event::Wait(ask, Completed::Outstanding(Some(outstanding))));
        } else {
            let completed = self.completed(key);
            self.write_completion(Event::Wait(ask, completed), trace);
        }
    }

    /// Writes an event that may own `completed_ids`, and takes them back.
    pub(super) fn write_completion(&mut self, event: Event, trace: &mut RankTrace) {
        trace.stream.write(&event);
        if let Event::Wait(_, These(numbers)) | Event::Test(_, Some(These(numbers))) = event {
            self.completed_ids = numbers;
        }
    }

    /// The name of `completed_ids` in an event: a single message is named by its key.
    pub(super) fn completed(&mut self, key: Option<RequestKey>) -> Completed {
        match (self.completed_ids.as_slice(), key) {
            (&[id], Some(key)) => Completed::One(key, Some(id)),
            _ => These(std::mem::take(&mut self.completed_ids)),
        }
    }

    /// Completes all held requests, and writes the matches of wildcards. Leaves the ids of those that an event refers
    /// to in `completed_ids`, and returns the key of the last message among them.
    fn settle_all(
        &mut self,
        held: &mut HeldRequests,
        matches_of: &Matches<'_, '_>,
        trace: &mut RankTrace,
    ) -> Option<RequestKey> {
        let mut key = None;
        for (index, request) in held.ids.drain(..).enumerate() {
            if let Some(id) = request {
                key = self.complete(id, matches_of, index, trace).or(key);
            }
        }
        key
    }

    /// Completes some of the held requests, or none, and puts the others back. Returns as [`settle_all`](Self::settle_all).
    #[cold]
    fn settle_some(
        &mut self,
        held: &mut HeldRequests,
        call: &CompletionCall<'_>,
        success: bool,
        completed_any: bool,
        trace: &mut RankTrace,
    ) -> Option<RequestKey> {
        held.done.clear();
        if completed_any {
            call.each_done(|index, status| held.done(index, status));
        } else if !success {
            // After an error those requests are done whose handles the library has taken away.
            let mut index = 0;
            call.each_request(|handle, _| {
                if handle == self.abi.request_null {
                    held.done(index, index);
                }
                index += 1;
            });
        }
        for id in held.ids.drain(..).rev().flatten() {
            trace.requests.put_in(id);
        }
        held.done.sort_unstable_by_key(|&(index, ..)| index);
        let mut key = None;
        for (_, id, status) in held.done.drain(..) {
            key = self.complete(id, &Matches::Of(call), status, trace).or(key);
        }
        key
    }

    pub(super) fn complete(
        &mut self,
        id: RequestId,
        matches_of: &Matches<'_, '_>,
        status: usize,
        trace: &mut RankTrace,
    ) -> Option<RequestKey> {
        let entry = trace.requests.get(id)?;
        let companion = entry.companion;
        let key = match entry.what {
            RequestKind::Message { from, to, tag, open: None } if !entry.cancelled => {
                self.completed_ids.push(id);
                Some(RequestKey { from, to, tag })
            }
            _ => self.disclose(id, matches_of, status, trace),
        };
        trace.requests.complete(id);
        match companion {
            // A companion has none itself.
            Some(companion) => self.complete(companion, matches_of, status, trace).or(key),
            None => key,
        }
    }

    /// Writes facts that are known only at the completion of a request.
    #[cold]
    fn disclose(
        &mut self,
        id: RequestId,
        matches_of: &Matches<'_, '_>,
        status: usize,
        trace: &mut RankTrace,
    ) -> Option<RequestKey> {
        let entry = trace.requests.get(id)?;
        match &entry.what {
            RequestKind::Nothing => None,
            RequestKind::Duplicate(comm, place) => {
                trace.communicators.bind(place.get(), *comm);
                self.completed_ids.push(id);
                None
            }
            RequestKind::Collective => {
                self.completed_ids.push(id);
                None
            }
            &RequestKind::Message { from, to, tag, ref open } => {
                self.completed_ids.push(id);
                if entry.cancelled && matches_of.is_cancelled(status) {
                    trace.stream.write(&Event::Cancel(id));
                    return Some(RequestKey { from, to, tag });
                }
                let matched = open.as_ref().and_then(|ranks| matched(ranks, matches_of.get(status)?));
                if let Some((source, tag)) = matched {
                    trace.stream.write(&Event::Matched(id, source, tag));
                }
                let (source, tag_of_match) = matched.unzip();
                Some(RequestKey { from: from.or(source), to, tag: tag.or(tag_of_match) })
            }
        }
    }

    /// Puts a request back that the library would not free.
    #[cold]
    pub(super) fn not_freed(overwritten: Overwritten, trace: &mut RankTrace) -> Outcome {
        if let Overwritten::Request(Some(id)) = overwritten {
            trace.requests.put_in(id);
        }
        Err(Omission::Untraced)
    }

    fn free(overwritten: Overwritten, trace: &mut RankTrace) -> Outcome {
        let Overwritten::Request(Some(id)) = overwritten else { return Err(Omission::Untraced) };
        let entry = trace.requests.get(id);
        let visible = entry.is_some_and(|entry| entry.is_visible());
        let companion = entry.and_then(|entry| entry.companion);
        for id in [Some(id), companion].into_iter().flatten() {
            let cancelled = trace.requests.get(id).is_some_and(|entry| entry.cancelled);
            trace.requests.remove(id);
            if cancelled {
                trace.stream.write(&Event::Cancel(id));
            }
            if visible {
                trace.stream.write(&Event::RequestFree(id));
            }
        }
        if visible { Ok(()) } else { Err(Omission::NullPeer) }
    }

    /// Marks a request as to be cancelled. Only its completion says whether the message was faster, and writes the event.
    fn cancel(request: &Place<'_, Request>, trace: &mut RankTrace) -> Outcome {
        note_cancellation();
        let id = trace.requests.find(request.get(), request.address()).ok_or(Omission::Untraced)?;
        for id in [Some(id), trace.requests.get(id).and_then(|entry| entry.companion)].into_iter().flatten() {
            if let Some(entry) = trace.requests.get_mut(id) {
                entry.cancelled = entry.is_visible();
            }
        }
        Err(Omission::Local)
    }

    /// Writes which requests were to be cancelled and never completed: their receives must take no message in a replay.
    pub(super) fn abandon_cancelled(trace: &mut RankTrace) {
        for id in trace.requests.cancelled().collect::<Vec<_>>() {
            trace.stream.write(&Event::Cancel(id));
        }
    }

    /// Starts persistent requests, given their handles after the start and their addresses. Open MPI gives a new handle
    /// to a request that it has not yet released, such as that of a buffered send.
    fn start(
        &mut self,
        overwritten: Overwritten,
        requests: impl Iterator<Item = (Request, usize)>,
        trace: &mut RankTrace,
    ) -> Outcome {
        let Overwritten::Started(handles) = overwritten else { return Err(Omission::Untraced) };
        self.completed_ids.clear();
        let mut outcome = Ok(());
        for (before, (handle, place)) in handles.into_iter().zip(requests) {
            match trace.requests.find(before, place) {
                Some(id) => {
                    if handle != before {
                        trace.requests.rename(before, handle, place);
                    }
                    trace.requests.start(id);
                    if trace.requests.get(id).is_some_and(|entry| entry.is_visible()) {
                        self.completed_ids.push(id);
                    }
                }
                None => outcome = Err(Omission::Untraced),
            }
        }
        if self.completed_ids.is_empty() {
            return outcome.and(Err(Omission::NullPeer));
        }
        let event = Event::Start(std::mem::take(&mut self.completed_ids));
        trace.stream.write(&event);
        if let Event::Start(numbers) = event {
            self.completed_ids = numbers;
        }
        outcome
    }
}

fn matched(ranks: &Ranks, matched: Match) -> Option<(Rank, Tag)> {
    Some((ranks.get(matched.source)?, Tag(matched.tag)))
}

impl Requests {
    /// Records a question for requests, as a test: what it finds done is completed in the trace, and only the handles are yet
    /// to be waited for.
    pub(super) fn status_query(&mut self, query: &CompletionCall<'_>, trace: &mut RankTrace) -> Outcome {
        let mut is_visible = false;
        query.each_request(|handle, place| is_visible |= in_progress(RequestRef { handle, place }, trace));
        if !is_visible {
            return Err(Omission::NullPeer);
        }
        if !query.has_completed() {
            trace.stream.write(&Event::Test(query.ask, None));
            return Ok(());
        }
        let mut done = Vec::new();
        if query.names_all() {
            done.extend((0..query.len()).map(|index| (index, index)));
        } else {
            query.each_done(|index, status| done.push((index, status)));
        }
        self.completed_ids.clear();
        let mut key = None;
        for (index, status) in done {
            let Some(request) = query.request(index).filter(|request| in_progress(*request, trace)) else {
                continue;
            };
            let Some(id) = trace.requests.take_out(request.handle, request.place) else { continue };
            let left = trace.requests.get(id).filter(|entry| !entry.persistent).map(Entry::handle);
            key = self.complete(id, &Matches::Of(query), status, trace).or(key);
            if let Some((handle, place)) = left {
                trace.requests.add(handle, place, RequestKind::Nothing, false);
            }
        }
        if self.completed_ids.is_empty() {
            return Err(Omission::NullPeer);
        }
        let completed = self.completed(key);
        self.write_completion(Event::Test(query.ask, Some(completed)), trace);
        Ok(())
    }
}

/// Whether the trace has the request in progress.
fn in_progress(RequestRef { handle, place }: RequestRef, trace: &mut RankTrace) -> bool {
    let id = trace.requests.find(handle, place);
    id.and_then(|id| trace.requests.get(id)).is_some_and(|entry| entry.active && entry.is_visible())
}
