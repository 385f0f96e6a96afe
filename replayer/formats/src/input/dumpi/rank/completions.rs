//! Calls that wait for requests, test, start, cancel or free them.

use titr_common::event::{Event, Quantifier, Tag};

use super::messages::{STATUS_IGNORED, kept, peer};
use super::{DumpiSink, DumpiTranslation, Translated, argument};
use crate::input::dumpi::bytes::{Cursor, integers_in};
use crate::input::dumpi::functions::{DumpiFunction, Status};
use crate::input::dumpi::records::DumpiRecord;
use crate::input::functions;
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
        if let Some((ask, is_test)) = record.function.bare_name().and_then(functions::completion) {
            return self.wait_or_test(ask, !is_test, record, bytes, sink);
        }
        match record.function {
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

    fn wait_or_test(
        &mut self,
        ask: Quantifier,
        is_wait: bool,
        record: &DumpiRecord<'_>,
        bytes: &mut Cursor<'_>,
        sink: &mut DumpiSink<'_>,
    ) -> Translated {
        let requests = if ask == Quantifier::Single { bytes.take(4) } else { bytes.i32().and(bytes.list(4)) };
        let requests = integers_in(argument(requests)?);
        // The place of the request that has completed, or the number of those that have and their places.
        let outcome = if matches!(ask, Quantifier::Any | Quantifier::Some) { argument(bytes.i32())? } else { 0 };
        let indices = if ask == Quantifier::Some { Some(argument(bytes.integers())?) } else { None };
        let has_flag = !is_wait && ask != Quantifier::Some;
        let mut is_done = !has_flag || argument(bytes.i32())? != 0;
        let statuses = kept(record, bytes)?;
        self.time_of_completion(requests.clone(), sink);
        self.requests.begin();
        let mut complete = |index: usize, status| match requests.clone().nth(index) {
            Some(request) => self.complete(request, status, sink),
            None => Ok(()),
        };
        match indices {
            Some(indices) => {
                let mut done: Vec<(usize, usize)> = indices
                    .take(usize::try_from(outcome).unwrap_or(0))
                    .enumerate()
                    .filter_map(|(at, index)| Some((usize::try_from(index).ok()?, at)))
                    .collect();
                done.sort_unstable();
                is_done = is_wait || !done.is_empty();
                done.into_iter().try_for_each(|(index, at)| complete(index, statuses.get(at)))?;
            }
            // MPI_UNDEFINED, where no request was active, is negative.
            None if is_done && ask == Quantifier::Any => {
                usize::try_from(outcome).map_or(Ok(()), |index| complete(index, statuses.get(0)))?;
            }
            None if is_done => {
                for (index, request) in requests.enumerate() {
                    self.complete(request, statuses.get(index), sink)?;
                }
            }
            None => {}
        }
        self.event(ask, is_wait, is_done, sink);
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
