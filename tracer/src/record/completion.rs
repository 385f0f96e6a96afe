//! Requests: starting them, asking after them, letting go of them.

use titr_common::event::{Ask, Event, Key, RequestId, Tag};
use titr_common::event::{Requests as Completed, Requests::These};
use titr_wrappers::argument::{Comm, Message, Place, Request, Status};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};

use super::inquiry::{Inquiry, Kind};
use super::requests::What;
use super::tally::Unrecorded;
use super::{Outcome, Recorder};
use crate::extended::Done;

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
    /// The collective that was carried out in the library's place.
    pub(super) done: Option<Done>,
}

#[derive(Clone, Copy, Debug)]
struct HeldRequest {
    /// None for a null handle, an inactive request, or one that was made by a call that is not recorded.
    id: Option<RequestId>,
    /// Set once it is done: which of the call's statuses is its own.
    status: Option<usize>,
}

/// Whether a call is about requests that were made before, without being an [`Inquiry`].
pub(super) fn takes_requests(call: &PointToPoint<'_>) -> bool {
    matches!(call, MPI_Start(_) | MPI_Startall(_) | MPI_Request_free(_) | MPI_Cancel(_) | MPI_Request_get_status(..))
}

impl Held {
    fn done(&mut self, index: usize, status: usize) {
        if let Some(request) = self.requests.get_mut(index) {
            request.status = Some(status);
        }
    }
}

impl Recorder {
    /// Takes the requests of a call that may complete them out of the table.
    pub(super) fn hold_requests(&mut self, held: &mut Held, inquiry: &Inquiry<'_>) {
        held.requests.clear();
        (held.open, held.visible) = (false, false);
        for (handle, place) in inquiry.requests() {
            self.hold(held, handle, place);
        }
        if held.open {
            inquiry.keep_statuses();
        }
    }

    /// The same for the request of a call that frees it.
    pub(super) fn hold_request(&mut self, held: &mut Held, request: &Place<'_, Request>) {
        held.requests.clear();
        let id = self.requests.take_out(request.get(), request.address());
        held.requests.push(HeldRequest { id, status: None });
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
        match call {
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

    pub(super) fn inquiry(&mut self, held: &mut Held, inquiry: &Inquiry<'_>, success: bool) -> Outcome {
        let answered = success && inquiry.has_answer();
        if answered {
            inquiry.each_done(held.requests.len(), |index, status| held.done(index, status));
        } else if !success {
            // After an error those are done whose handles the library has taken away.
            for (index, (handle, _)) in inquiry.requests().enumerate() {
                if handle == self.abi.request_null {
                    held.done(index, index);
                }
            }
        }
        let outstanding = self.requests.outstanding();
        let visible = held.visible;
        let key = self.settle(held, |index| inquiry.status(index));
        let event = match (&inquiry.kind, self.numbers.as_slice(), key) {
            (Kind::Test(_), [], _) if visible && !answered => Event::Test(inquiry.ask, None),
            (_, [], _) => return Err(Unrecorded::NullPeer),
            // The number of requests fits, as their ids do.
            (Kind::Wait, all, _) if inquiry.ask == Ask::All && all.len() as u32 == outstanding => {
                Event::Wait(inquiry.ask, Completed::Outstanding(Some(outstanding)))
            }
            (Kind::Wait, ..) => Event::Wait(inquiry.ask, self.completed(key)),
            (Kind::Test(_), ..) => Event::Test(inquiry.ask, Some(self.completed(key))),
        };
        self.emit(&event);
        if let Event::Wait(_, These(numbers)) | Event::Test(_, Some(These(numbers))) = event {
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
                key = self.complete(id, status(index)).or(key);
                if let Some(companion) = companion {
                    key = self.complete(companion, status(index)).or(key);
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
                let (source, tag_of_match) = matched.unzip();
                let (from, tag) = (from.or(source), tag.or(tag_of_match));
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
