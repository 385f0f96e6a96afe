//! Requests: starting them, asking after them, letting go of them.

use titr_common::event::{Ask, Event, Key, Rank, RequestId, Tag};
use titr_common::event::{Requests as Completed, Requests::These};
use titr_wrappers::argument::{Array, Comm, Message, Place, Request, Status};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::signature::WaitSome;

use super::requests::What;
use super::tally::Unrecorded;
use super::{Outcome, Recorder};

/// What a call overwrites, held from before it.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The requests that are asked after, in the order of the call.
    requests: Vec<HeldRequest>,
    /// Whether one of them will tell its match only in its status.
    open: bool,
    /// Whether an event may speak of one of them.
    visible: bool,
    /// The message that is received.
    pub(super) message: Message,
    /// The communicator that is freed.
    pub(super) comm: Comm,
}

#[derive(Clone, Copy, Debug)]
struct HeldRequest {
    /// None for a null handle, an inactive request, or one that was made by a call that is not recorded.
    id: Option<RequestId>,
    /// Set once it is done: which of the call's statuses is its own.
    status: Option<usize>,
}

/// Whether a call is about requests that were made before.
pub(super) fn takes_requests(call: &PointToPoint<'_>) -> bool {
    matches!(
        call,
        MPI_Start(_)
            | MPI_Startall(_)
            | MPI_Request_free(_)
            | MPI_Cancel(_)
            | MPI_Request_get_status(..)
            | MPI_Wait(..)
            | MPI_Waitall(_)
            | MPI_Waitany(..)
            | MPI_Waitsome(_)
            | MPI_Test(..)
            | MPI_Testall(_)
            | MPI_Testany(..)
            | MPI_Testsome(_)
    )
}

impl Held {
    fn done(&mut self, index: usize, status: usize) {
        if let Some(request) = self.requests.get_mut(index) {
            request.status = Some(status);
        }
    }

    fn all_done(&mut self) {
        self.requests.iter_mut().enumerate().for_each(|(index, request)| request.status = Some(index));
    }

    /// After an error those are done whose handles the library has taken away.
    fn gone_are_done(&mut self, null: Request, now: impl Iterator<Item = Request>) {
        for (index, (request, now)) in self.requests.iter_mut().zip(now).enumerate() {
            request.status = (now == null).then_some(index);
        }
    }

    /// `MPI_Waitsome` and its kin: as many as `outcount` says, `MPI_UNDEFINED` being none.
    fn some_done(&mut self, call: &WaitSome<'_>) {
        let count = usize::try_from(call.outcount().get()).unwrap_or(0);
        for (status, index) in call.array_of_indices().iter().take(count).enumerate() {
            if let Ok(index) = usize::try_from(index) {
                self.done(index, status);
            }
        }
    }
}

impl Recorder {
    /// Takes the requests of a call that may complete them out of the table.
    pub(super) fn hold_requests(&mut self, held: &mut Held, call: &PointToPoint<'_>) {
        held.requests.clear();
        (held.open, held.visible) = (false, false);
        match call {
            MPI_Wait(request, status) | MPI_Test(request, _, status) => {
                self.hold(held, request.get(), request.address());
                if held.open {
                    status.keep();
                }
            }
            MPI_Waitall(call) => {
                self.hold_all(held, &call.array_of_requests());
                if held.open {
                    call.array_of_statuses().keep();
                }
            }
            MPI_Testall(call) => {
                self.hold_all(held, &call.array_of_requests());
                if held.open {
                    call.array_of_statuses().keep();
                }
            }
            MPI_Waitany(requests, _, status) | MPI_Testany(requests, _, _, status) => {
                self.hold_all(held, &requests.array_of_requests());
                if held.open {
                    status.keep();
                }
            }
            MPI_Waitsome(call) | MPI_Testsome(call) => {
                self.hold_all(held, &call.array_of_requests());
                if held.open {
                    call.array_of_statuses().keep();
                }
            }
            MPI_Request_free(request) => {
                let id = self.requests.take_out(request.get(), request.address());
                held.requests.push(HeldRequest { id, status: None });
            }
            _ => {}
        }
    }

    fn hold_all(&mut self, held: &mut Held, requests: &Array<'_, Request>) {
        for (index, handle) in requests.iter().enumerate() {
            self.hold(held, handle, requests.address(index));
        }
    }

    fn hold(&mut self, held: &mut Held, handle: Request, place: usize) {
        let id = if handle == self.abi.request_null { None } else { self.requests.take_out(handle, place) };
        let active = id.filter(|&id| self.requests.get(id).is_some_and(|entry| entry.active));
        if let (Some(inactive), None) = (id, active) {
            self.requests.put_in(inactive);
        }
        if let Some(id) = active {
            held.visible |= self.requests.get(id).is_some_and(|entry| entry.is_visible());
            held.open |= self.is_open(id);
        }
        held.requests.push(HeldRequest { id: active, status: None });
    }

    fn is_open(&self, id: RequestId) -> bool {
        self.requests.get(id).is_some_and(|entry| {
            matches!(entry.what, What::Message { open: Some(_), .. })
                || entry.companion.is_some_and(|id| self.is_open(id))
        })
    }

    pub(super) fn completion(&mut self, held: &mut Held, call: &PointToPoint<'_>, success: bool) -> Outcome {
        let null = self.abi.request_null;
        match call {
            MPI_Wait(request, status) => {
                if success {
                    held.all_done();
                } else {
                    held.gone_are_done(null, std::iter::once(request.get()));
                }
                self.waited(Ask::Single, held, |_| status.get())
            }
            MPI_Waitall(call) => {
                if success {
                    held.all_done();
                } else {
                    held.gone_are_done(null, call.array_of_requests().iter());
                }
                self.waited(Ask::All, held, |index| call.array_of_statuses().get(index))
            }
            MPI_Waitany(requests, index, status) => {
                if success {
                    // MPI_UNDEFINED is negative: none was active.
                    usize::try_from(index.get()).into_iter().for_each(|index| held.done(index, 0));
                } else {
                    held.gone_are_done(null, requests.array_of_requests().iter());
                }
                self.waited(Ask::Any, held, |_| status.get())
            }
            MPI_Waitsome(call) => {
                if success {
                    held.some_done(call);
                } else {
                    held.gone_are_done(null, call.array_of_requests().iter());
                }
                self.waited(Ask::Some, held, |index| call.array_of_statuses().get(index))
            }
            MPI_Test(request, flag, status) => {
                if !success {
                    held.gone_are_done(null, std::iter::once(request.get()));
                } else if flag.get() != 0 {
                    held.all_done();
                }
                self.tested(Ask::Single, held, success && flag.get() != 0, |_| status.get())
            }
            MPI_Testall(call) => {
                let all = success && call.flag().get() != 0;
                if all {
                    held.all_done();
                } else if !success {
                    held.gone_are_done(null, call.array_of_requests().iter());
                }
                self.tested(Ask::All, held, all, |index| call.array_of_statuses().get(index))
            }
            MPI_Testany(requests, index, flag, status) => {
                let any = success && flag.get() != 0;
                if any {
                    usize::try_from(index.get()).into_iter().for_each(|index| held.done(index, 0));
                } else if !success {
                    held.gone_are_done(null, requests.array_of_requests().iter());
                }
                self.tested(Ask::Any, held, any, |_| status.get())
            }
            MPI_Testsome(call) => {
                let some = success && call.outcount().get() != 0;
                if some {
                    held.some_done(call);
                } else if !success {
                    held.gone_are_done(null, call.array_of_requests().iter());
                }
                self.tested(Ask::Some, held, some, |index| call.array_of_statuses().get(index))
            }
            MPI_Request_free(_) => self.free(held, success),
            MPI_Cancel(request) if success => self.cancel(request),
            MPI_Start(request) if success => self.start([(request.get(), request.address())].into_iter()),
            MPI_Startall(requests) if success => {
                let requests = requests.array_of_requests();
                self.start(requests.iter().enumerate().map(|(index, handle)| (handle, requests.address(index))))
            }
            MPI_Request_get_status(request, flag, _) if success => self.get_status(*request, flag.get() != 0),
            _ => Err(Unrecorded::Untraced),
        }
    }

    fn waited<'c>(&mut self, ask: Ask, held: &mut Held, status: impl Fn(usize) -> Option<Status<'c>>) -> Outcome {
        let outstanding = self.requests.outstanding();
        let key = self.settle(held, status);
        // The number of requests fits, as their ids do.
        let completed = match (self.numbers.as_slice(), key) {
            ([], _) => return Err(Unrecorded::NullPeer),
            (all, _) if ask == Ask::All && all.len() as u32 == outstanding => Completed::Outstanding(Some(outstanding)),
            (_, key) => self.completed(key),
        };
        let event = Event::Wait(ask, completed);
        self.emit(&event);
        if let Event::Wait(_, These(numbers)) = event {
            self.numbers = numbers;
        }
        Ok(())
    }

    fn tested<'c>(
        &mut self,
        ask: Ask,
        held: &mut Held,
        success: bool,
        status: impl Fn(usize) -> Option<Status<'c>>,
    ) -> Outcome {
        let visible = held.visible;
        let key = self.settle(held, status);
        let completed = match self.numbers.as_slice() {
            [] if visible && !success => None,
            [] => return Err(Unrecorded::NullPeer),
            _ => Some(self.completed(key)),
        };
        let event = Event::Test(ask, completed);
        self.emit(&event);
        if let Event::Test(_, Some(These(numbers))) = event {
            self.numbers = numbers;
        }
        Ok(())
    }

    /// What `numbers` are to be called: a single message by what it moves.
    fn completed(&mut self, key: Option<Key>) -> Completed {
        match (self.numbers.as_slice(), key) {
            (&[id], Some(key)) => Completed::One(key, Some(id)),
            _ => These(std::mem::take(&mut self.numbers)),
        }
    }

    /// Completes the requests that are done, says what wildcards matched, and puts the others back. Leaves the numbers
    /// of those an event speaks of in `numbers`, and gives the last message among them.
    fn settle<'c>(&mut self, held: &mut Held, status: impl Fn(usize) -> Option<Status<'c>>) -> Option<Key> {
        self.numbers.clear();
        for request in held.requests.iter().rev() {
            if let HeldRequest { id: Some(id), status: None } = *request {
                self.requests.put_in(id);
            }
        }
        let mut key = None;
        for request in held.requests.drain(..) {
            if let HeldRequest { id: Some(id), status: Some(index) } = request {
                let companion = self.requests.get(id).and_then(|entry| entry.companion);
                key = self.complete(id, status(index));
                if let Some(companion) = companion {
                    key = self.complete(companion, status(index));
                }
            }
        }
        key
    }

    fn complete(&mut self, id: RequestId, status: Option<Status<'_>>) -> Option<Key> {
        let entry = self.requests.get(id)?;
        let cancelled = entry.cancelled && status.is_some_and(|status| status.is_cancelled());
        let key = match &entry.what {
            What::Nothing => None,
            What::Duplicate(comm, place) => {
                self.communicators.bind(place.get(), *comm);
                None
            }
            What::Collective => {
                self.numbers.push(id);
                None
            }
            &What::Message { from, to, tag, ref open } => {
                self.numbers.push(id);
                let matched = match (open, status) {
                    (Some(ranks), Some(status)) if !cancelled => {
                        ranks.get(status.source()).map(|source| (source, Tag(status.tag())))
                    }
                    _ => None,
                };
                if let Some((source, tag)) = matched {
                    self.emit(&Event::Matched(id, source, tag));
                }
                let or_matched = |from: Option<Rank>, tag: Option<Tag>| {
                    (from.or(matched.map(|matched| matched.0)), tag.or(matched.map(|matched| matched.1)))
                };
                let (from, tag) = or_matched(from, tag);
                Some(Key { from, to, tag })
            }
        };
        self.requests.complete(id);
        key
    }

    fn free(&mut self, held: &mut Held, success: bool) -> Outcome {
        let Some(id) = held.requests.pop().and_then(|request| request.id) else { return Err(Unrecorded::Untraced) };
        if !success {
            self.requests.put_in(id);
            return Err(Unrecorded::Untraced);
        }
        let entry = self.requests.get(id);
        let visible = entry.is_some_and(|entry| entry.is_visible());
        let companion = entry.and_then(|entry| entry.companion);
        for id in [Some(id), companion].into_iter().flatten() {
            self.requests.remove(id);
            if visible {
                self.emit(&Event::RequestFree(id));
            }
        }
        if visible { Ok(()) } else { Err(Unrecorded::NullPeer) }
    }

    fn cancel(&mut self, request: &Place<'_, Request>) -> Outcome {
        let id = self.requests.find(request.get(), request.address()).ok_or(Unrecorded::Untraced)?;
        let companion = self.requests.get(id).and_then(|entry| entry.companion);
        let mut outcome = Err(Unrecorded::NullPeer);
        for id in [Some(id), companion].into_iter().flatten() {
            if let Some(entry) = self.requests.get_mut(id)
                && entry.is_visible()
            {
                entry.cancelled = true;
                self.emit(&Event::Cancel(id));
                outcome = Ok(());
            }
        }
        outcome
    }

    /// Starts persistent requests: handles, and where they are kept.
    fn start(&mut self, requests: impl Iterator<Item = (Request, usize)>) -> Outcome {
        self.numbers.clear();
        let mut outcome = Ok(());
        for (handle, place) in requests {
            match self.requests.find(handle, place) {
                Some(id) => {
                    self.requests.start(id);
                    if self.requests.get(id).is_some_and(|entry| entry.is_visible()) {
                        self.numbers.push(id);
                    }
                }
                None => outcome = Err(Unrecorded::Untraced),
            }
        }
        if self.numbers.is_empty() {
            return outcome.and(Err(Unrecorded::NullPeer));
        }
        let event = Event::Start(std::mem::take(&mut self.numbers));
        self.emit(&event);
        if let Event::Start(numbers) = event {
            self.numbers = numbers;
        }
        outcome
    }

    /// Asks and completes nothing: what it finds done is yet to be waited for. Only a failure is a test like others.
    fn get_status(&mut self, request: Request, done: bool) -> Outcome {
        let id = self.requests.find(request, 0).ok_or(Unrecorded::NullPeer)?;
        let waiting = self.requests.get(id).is_some_and(|entry| entry.active && entry.is_visible());
        if done || !waiting {
            return Err(Unrecorded::Local);
        }
        self.emit(&Event::Test(Ask::Single, None));
        Ok(())
    }
}
