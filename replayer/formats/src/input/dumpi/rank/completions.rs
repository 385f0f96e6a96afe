//! Calls that wait for requests, test, start, cancel or free them.

use titr_common::event::{Event, Quantifier, Tag};

use super::messages::{STATUS_IGNORED, kept, peer};
use super::{DumpiSink, DumpiTranslation, Translated, argument};
use crate::input::dumpi::bytes::Cursor;
use crate::input::dumpi::functions::{DumpiFunction, Status};
use crate::input::dumpi::records::DumpiRecord;
use crate::input::requests::{Match, Named};

/// The request that stands for none, and that which stands for an error.
const REQUEST_NULL: i32 = 1;

fn name(request: i32) -> u64 {
    u64::from(request.cast_unsigned())
}

impl DumpiTranslation {
    pub(super) fn completion(
        &mut self,
        record: &DumpiRecord<'_>,
        bytes: &mut Cursor<'_>,
        sink: &mut DumpiSink<'_>,
    ) -> Translated {
        match record.function {
            DumpiFunction::WAIT | DumpiFunction::TEST => self.single(record, bytes, sink),
            DumpiFunction::WAITALL | DumpiFunction::TESTALL => self.all(record, bytes, sink),
            DumpiFunction::WAITANY | DumpiFunction::TESTANY => self.any(record, bytes, sink),
            DumpiFunction::WAITSOME | DumpiFunction::TESTSOME => self.some(record, bytes, sink),
            DumpiFunction::REQUEST_FREE => {
                if let Some(id) = self.requests.free(name(argument(bytes.i32())?)) {
                    self.push(sink, Event::RequestFree(id));
                }
                Ok(())
            }
            DumpiFunction::CANCEL => {
                self.requests.cancel(name(argument(bytes.i32())?));
                Ok(())
            }
            DumpiFunction::START => {
                let request = argument(bytes.i32())?;
                self.start_all(std::iter::once(request), sink)
            }
            DumpiFunction::STARTALL => {
                let _count = argument(bytes.i32())?;
                let requests = argument(bytes.integers())?;
                self.start_all(requests, sink)
            }
            _ => Ok(()),
        }
    }

    fn start_all(&mut self, requests: impl Iterator<Item = i32>, sink: &mut DumpiSink<'_>) -> Translated {
        let ids: Vec<_> = requests.filter_map(|request| self.requests.start(name(request))).collect();
        if !ids.is_empty() {
            self.push(sink, Event::Start(ids));
        }
        Ok(())
    }

    fn single(&mut self, record: &DumpiRecord<'_>, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let request = argument(bytes.i32())?;
        let is_done = record.function == DumpiFunction::WAIT || argument(bytes.i32())? != 0;
        let status = kept(record, bytes)?.get(0);
        self.time_of_completion(std::iter::once(request), sink);
        self.requests.begin();
        if is_done {
            self.complete(request, status, sink)?;
        }
        self.event(Quantifier::Single, record.function == DumpiFunction::WAIT, is_done, sink);
        Ok(())
    }

    fn all(&mut self, record: &DumpiRecord<'_>, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let _count = argument(bytes.i32())?;
        let requests = argument(bytes.integers())?;
        let is_wait = record.function == DumpiFunction::WAITALL;
        let is_done = is_wait || argument(bytes.i32())? != 0;
        let statuses = kept(record, bytes)?;
        self.time_of_completion(requests.clone(), sink);
        self.requests.begin();
        if is_done {
            for (index, request) in requests.enumerate() {
                self.complete(request, statuses.get(index), sink)?;
            }
        }
        self.event(Quantifier::All, is_wait, is_done, sink);
        Ok(())
    }

    fn any(&mut self, record: &DumpiRecord<'_>, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let _count = argument(bytes.i32())?;
        let mut requests = argument(bytes.integers())?;
        let index = argument(bytes.i32())?;
        let is_wait = record.function == DumpiFunction::WAITANY;
        let is_done = is_wait || argument(bytes.i32())? != 0;
        let status = kept(record, bytes)?.get(0);
        self.time_of_completion(requests.clone(), sink);
        self.requests.begin();
        // MPI_UNDEFINED, where no request was active, is negative.
        if is_done
            && let Ok(index) = usize::try_from(index)
            && let Some(request) = requests.nth(index)
        {
            self.complete(request, status, sink)?;
        }
        self.event(Quantifier::Any, is_wait, is_done, sink);
        Ok(())
    }

    fn some(&mut self, record: &DumpiRecord<'_>, bytes: &mut Cursor<'_>, sink: &mut DumpiSink<'_>) -> Translated {
        let _count = argument(bytes.i32())?;
        let requests = argument(bytes.integers())?;
        let number = argument(bytes.i32())?;
        let indices = argument(bytes.integers())?;
        let statuses = kept(record, bytes)?;
        let is_wait = record.function == DumpiFunction::WAITSOME;
        self.time_of_completion(requests.clone(), sink);
        self.requests.begin();
        let mut done: Vec<(usize, usize)> = indices
            .take(usize::try_from(number).unwrap_or(0))
            .enumerate()
            .filter_map(|(at, index)| Some((usize::try_from(index).ok()?, at)))
            .collect();
        done.sort_unstable();
        let is_done = !done.is_empty();
        for (index, at) in done {
            if let Some(request) = requests.clone().nth(index) {
                self.complete(request, statuses.get(at), sink)?;
            }
        }
        self.event(Quantifier::Some, is_wait, is_done || is_wait, sink);
        Ok(())
    }

    /// Appends the time of a call, if an event will follow: if a request is active.
    fn time_of_completion(&mut self, mut requests: impl Iterator<Item = i32>, sink: &mut DumpiSink<'_>) {
        if requests.any(|request| self.requests.named(name(request)) == Named::Active) {
            self.time(sink);
        }
    }

    /// Completes a request, and appends the match of a receive that named none.
    fn complete(&mut self, request: i32, status: Option<Status>, sink: &mut DumpiSink<'_>) -> Translated {
        if (0..=REQUEST_NULL).contains(&request) {
            return Ok(());
        }
        let is_cancelled = match status {
            Some(status) => status.is_cancelled,
            None => self.requests.is_cancelled(name(request)),
        };
        let matched = match (status, self.requests.open(name(request))) {
            (Some(status), Some(comm)) if status.source >= 0 && !status.is_cancelled => {
                let (_, peers) = self.peers(comm)?;
                Some(Match { source: peer(peers, status.source)?, tag: Tag(status.tag) })
            }
            (None, Some(_)) if !is_cancelled => {
                self.notes.add(STATUS_IGNORED);
                None
            }
            _ => None,
        };
        let push = |event| sink.events.push(event, sink.location);
        match self.requests.complete(name(request), matched, is_cancelled, push) {
            Named::Unknown => {
                self.notes.add("requests are waited for that no recorded call has made");
            }
            Named::Nothing | Named::Active => {}
        }
        Ok(())
    }

    /// Appends the event of the call that completes requests, if there is one.
    fn event(&mut self, ask: Quantifier, is_wait: bool, is_done: bool, sink: &mut DumpiSink<'_>) {
        let event = if is_wait {
            self.requests.waited_for(ask).map(|completed| Event::Wait(ask, completed))
        } else {
            match self.requests.tested() {
                None if is_done || sink.span.is_some() => None,
                completed => Some(Event::Test(ask, completed)),
            }
        };
        if let Some(event) = event {
            sink.events.push(event, sink.location);
        }
    }
}
