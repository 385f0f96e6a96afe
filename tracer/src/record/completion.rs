//! Requests: starting them, asking after them, letting go of them.

use titr_common::event::Completed::{self, These};
use titr_common::event::{Event, Quantifier, Rank, RequestId, RequestKey, Tag};
use titr_wrappers::argument::{Comm, File, Message, Place, Request, Win};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};

use super::background::Started;
use super::communicators::Ranks;
use super::envelope::Match;
use super::inquiry::{Inquiry, Kind};
use super::requests::{Entry, What};
use super::tally::Unrecorded;
use super::{Outcome, Recorder};
use crate::extended::Done;

/// What a call overwrites, held from before it.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The requests that are asked after, in the order of the call. None for a null handle, an inactive request, or one
    /// that was made by a call that is not recorded.
    requests: Vec<Option<RequestId>>,
    /// Those of them that are done where not all are: the index, the request, and the index of its status.
    done: Vec<(usize, RequestId, usize)>,
    /// Whether one of them will tell its match only in its status.
    open: bool,
    /// Whether an event may speak of one of them.
    visible: bool,
    /// The message that is received.
    pub(super) message: Message,
    /// The communicator that is freed.
    pub(super) comm: Comm,
    /// The collective that was carried out in the library's place.
    pub(super) carried_out: Option<Done>,
    /// The one that was started so.
    pub(super) started: Option<Started>,
    /// The communicator for messages that goes with the one that was made.
    pub(super) private: Option<Comm>,
    /// The window that is.
    pub(super) win: Win,
    /// The file that is closed.
    pub(super) file: File,
}

impl Held {
    /// Of each request that is asked after, whether it is under way.
    pub(super) fn are_active(&self) -> impl Iterator<Item = bool> {
        self.requests.iter().map(Option::is_some)
    }

    /// No request is asked after so far.
    pub(super) fn begin(&mut self) {
        self.requests.clear();
        (self.open, self.visible) = (false, false);
    }

    /// The request at `index` is done.
    fn done(&mut self, index: usize, status: usize) {
        if let Some(id) = self.requests.get_mut(index).and_then(Option::take) {
            self.done.push((index, id, status));
        }
    }
}

impl Recorder {
    /// Takes the requests of a call that may complete them out of the table.
    pub(super) fn hold_requests(&mut self, held: &mut Held, inquiry: &Inquiry<'_>) {
        held.begin();
        inquiry.each_request(|handle, place| self.hold(held, handle, place));
        if held.open {
            inquiry.keep_statuses();
        }
    }

    /// The same for the request of a call that frees it.
    pub(super) fn hold_request(&mut self, held: &mut Held, request: &Place<'_, Request>) {
        held.requests.clear();
        let id = self.requests.take_out(request.get(), request.address());
        held.requests.push(id);
    }

    /// Takes one more request of a call out of the table.
    #[inline]
    pub(super) fn hold(&mut self, held: &mut Held, handle: Request, place: usize) {
        let mut id = if handle == self.abi.request_null { None } else { self.requests.take_out(handle, place) };
        match id.and_then(|id| self.requests.get(id)) {
            Some(entry) if entry.active => {
                held.visible |= entry.is_visible();
                held.open |= entry.is_open() || entry.companion.is_some_and(|id| self.is_open(id));
            }
            _ => {
                if let Some(inactive) = id.take() {
                    self.requests.put_in(inactive);
                }
            }
        }
        held.requests.push(id);
    }

    fn is_open(&self, id: RequestId) -> bool {
        self.requests.get(id).is_some_and(Entry::is_open)
    }

    /// A call about requests that were made before, and that is no [`Inquiry`].
    #[inline(never)]
    pub(super) fn completion(&mut self, held: &mut Held, call: &PointToPoint<'_>) -> Outcome {
        match call {
            MPI_Request_free(_) => self.free(held),
            MPI_Cancel(request) => self.cancel(request),
            MPI_Start(request) => self.start([(request.get(), request.address())].into_iter()),
            MPI_Startall(requests) => {
                let requests = requests.array_of_requests();
                self.start(requests.iter().enumerate().map(|(index, handle)| (handle, requests.address(index))))
            }
            MPI_Request_get_status(request, flag, _) => self.get_status(*request, flag.get() != 0),
            _ => Err(Unrecorded::Untraced),
        }
    }

    pub(super) fn inquiry(&mut self, held: &mut Held, inquiry: &Inquiry<'_>, success: bool) -> Outcome {
        let answered = success && inquiry.has_answer();
        let outstanding = self.requests.outstanding();
        let visible = held.visible;
        self.numbers.clear();
        let key = if answered && inquiry.names_all() {
            self.settle_all(held, &Answers::Of(inquiry))
        } else {
            self.settle_some(held, inquiry, success, answered)
        };
        let event = match (&inquiry.kind, self.numbers.as_slice()) {
            (Kind::Test(_), []) if visible && !answered => Event::Test(inquiry.ask, None),
            (_, []) => return Err(Unrecorded::NullPeer),
            (Kind::Wait, _) => self.waited_for(inquiry.ask, outstanding, key),
            (Kind::Test(_), _) => Event::Test(inquiry.ask, Some(self.completed(key))),
        };
        self.emit_inquiry(event);
        Ok(())
    }

    /// A wait for all requests that are held.
    pub(super) fn all_done(&mut self, held: &mut Held, ask: Quantifier, matches: &[Option<Match>]) -> Outcome {
        let outstanding = self.requests.outstanding();
        self.numbers.clear();
        let key = self.settle_all(held, &Answers::Kept(matches));
        if self.numbers.is_empty() {
            return Err(Unrecorded::NullPeer);
        }
        let event = self.waited_for(ask, outstanding, key);
        self.emit_inquiry(event);
        Ok(())
    }

    /// What says that `numbers` were waited for, of so many `outstanding`.
    #[inline]
    fn waited_for(&mut self, ask: Quantifier, outstanding: u32, key: Option<RequestKey>) -> Event {
        // The number of requests fits, as their ids do.
        if ask == Quantifier::All && self.numbers.len() as u32 == outstanding {
            Event::Wait(ask, Completed::Outstanding(Some(outstanding)))
        } else {
            Event::Wait(ask, self.completed(key))
        }
    }

    #[inline]
    fn emit_inquiry(&mut self, event: Event) {
        self.emit(&event);
        if let Event::Wait(_, These(numbers)) | Event::Test(_, Some(These(numbers))) = event {
            self.numbers = numbers;
        }
    }

    /// What `numbers` are to be called: a single message by what it moves.
    fn completed(&mut self, key: Option<RequestKey>) -> Completed {
        match (self.numbers.as_slice(), key) {
            (&[id], Some(key)) => Completed::One(key, Some(id)),
            _ => These(std::mem::take(&mut self.numbers)),
        }
    }

    /// Completes the requests, all of which are done, and says what wildcards matched. Leaves the numbers of those an
    /// event speaks of in `numbers`, and gives the last message among them.
    fn settle_all(&mut self, held: &mut Held, answers: &Answers<'_, '_>) -> Option<RequestKey> {
        let mut key = None;
        for (index, request) in held.requests.drain(..).enumerate() {
            if let Some(id) = request {
                key = self.complete(id, answers, index).or(key);
            }
        }
        key
    }

    /// The same where some are done, or none, and puts the others back.
    #[cold]
    fn settle_some(
        &mut self,
        held: &mut Held,
        inquiry: &Inquiry<'_>,
        success: bool,
        answered: bool,
    ) -> Option<RequestKey> {
        held.done.clear();
        if answered {
            inquiry.each_done(|index, status| held.done(index, status));
        } else if !success {
            // After an error those are done whose handles the library has taken away.
            let mut index = 0;
            inquiry.each_request(|handle, _| {
                if handle == self.abi.request_null {
                    held.done(index, index);
                }
                index += 1;
            });
        }
        for id in held.requests.drain(..).rev().flatten() {
            self.requests.put_in(id);
        }
        held.done.sort_unstable_by_key(|&(index, ..)| index);
        let mut key = None;
        for (_, id, status) in held.done.drain(..) {
            key = self.complete(id, &Answers::Of(inquiry), status).or(key);
        }
        key
    }

    fn complete(&mut self, id: RequestId, answers: &Answers<'_, '_>, status: usize) -> Option<RequestKey> {
        let entry = self.requests.get(id)?;
        let companion = entry.companion;
        let key = match entry.what {
            What::Message { from, to, tag, open: None } => {
                self.numbers.push(id);
                Some(RequestKey { from, to, tag })
            }
            _ => self.disclose(id, answers, status),
        };
        self.requests.complete(id);
        match companion {
            // It has none itself.
            Some(companion) => self.complete(companion, answers, status).or(key),
            None => key,
        }
    }

    /// Says what only the completion of a request tells.
    #[cold]
    fn disclose(&mut self, id: RequestId, answers: &Answers<'_, '_>, status: usize) -> Option<RequestKey> {
        let entry = self.requests.get(id)?;
        match &entry.what {
            What::Nothing => None,
            What::Duplicate(comm, place) => {
                self.communicators.bind(place.get(), *comm);
                None
            }
            What::Collective => {
                self.numbers.push(id);
                self.seen.extend(self.background.take(id).into_iter().flatten());
                None
            }
            &What::Message { from, to, tag, ref open } => {
                self.numbers.push(id);
                let matched = open.as_ref().and_then(|ranks| matched(ranks, answers.get(status, entry.cancelled)?));
                if let Some((source, tag)) = matched {
                    self.emit(&Event::Matched(id, source, tag));
                }
                let (source, tag_of_match) = matched.unzip();
                Some(RequestKey { from: from.or(source), to, tag: tag.or(tag_of_match) })
            }
        }
    }

    /// A request that the library would not free is where it was.
    #[cold]
    pub(super) fn not_freed(&mut self, held: &mut Held) -> Outcome {
        if let Some(id) = held.requests.pop().flatten() {
            self.requests.put_in(id);
        }
        Err(Unrecorded::Untraced)
    }

    fn free(&mut self, held: &mut Held) -> Outcome {
        let Some(id) = held.requests.pop().flatten() else { return Err(Unrecorded::Untraced) };
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
        self.emit(&Event::Test(Quantifier::Single, None));
        Ok(())
    }
}

/// Who answers what a receive was matched with.
enum Answers<'a, 'c> {
    /// The statuses of a call.
    Of(&'a Inquiry<'c>),
    /// What was kept of them.
    Kept(&'a [Option<Match>]),
}

impl Answers<'_, '_> {
    /// Nothing if the receive was cancelled, if it was `to_be_cancelled`: who keeps matches does not cancel.
    fn get(&self, index: usize, to_be_cancelled: bool) -> Option<Match> {
        match self {
            Self::Of(inquiry) => {
                inquiry.status(index).filter(|status| !(to_be_cancelled && status.is_cancelled())).map(Match::from)
            }
            Self::Kept(matches) => matches.get(index).copied().flatten(),
        }
    }
}

fn matched(ranks: &Ranks, matched: Match) -> Option<(Rank, Tag)> {
    Some((ranks.get(matched.source)?, Tag(matched.tag)))
}
