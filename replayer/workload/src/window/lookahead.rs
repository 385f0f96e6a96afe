//! Looking ahead in a rank's events.

use titr_common::event::RequestId;
use titr_common::trace::{EventSource, TraceError};

use super::far::{FAR, FarFacts};
use super::{Match, Window};
use crate::prefetch::{Batch, BatchEnd};

/// Maximum number of events to keep in memory. What is further ahead is found by [reading the rank again](FarFacts).
pub(super) const REACH: usize = 2 * FAR;

/// The place of an event that was not examined yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unseen {
    /// The number of batches before it, from the next event on.
    pub(super) batch: usize,
    /// The index in its batch.
    pub(super) index: usize,
    /// The number of times that its batch comes again after this.
    pub(super) again: u64,
}

impl<S: EventSource> Window<S> {
    /// The outcome of `request`, which the next event starts; `None` if the trace does not have it.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub fn matched(&mut self, request: RequestId) -> Result<Option<Match>, TraceError> {
        self.look_from_here();
        loop {
            match self.facts.matched(request) {
                Ok(found) => return Ok(found),
                Err(found) if !self.look_further()? => {
                    let position = self.position;
                    return Ok(self.far().map_or(found, |far| far.matched(position, request)));
                }
                Err(_) => {}
            }
        }
    }

    /// As [`matched`](Self::matched), of a request whose match the event itself leaves open or tells: then only whether it was
    /// cancelled is still to be found.
    ///
    /// # Errors
    /// If the trace cannot be read.
    #[inline]
    pub fn outcome(&mut self, request: RequestId, is_open: bool) -> Result<Option<Match>, TraceError> {
        if is_open || self.may_cancel { self.matched(request) } else { Ok(None) }
    }

    /// Whether one of the next `among` events belongs to another thread than the next event.
    pub fn finds_other_thread(&mut self, among: usize) -> bool {
        let thread = self.thread();
        let mut distance = self.run_end - self.at;
        if self.run_end < self.batch.events.len() {
            return distance < among;
        }
        // A round is of one thread.
        distance = distance.saturating_add(self.batch.repeated());
        for next in 0.. {
            if distance >= among {
                return false;
            }
            if next == self.further.len() {
                if !matches!(self.further.back().unwrap_or(&self.batch).then, BatchEnd::More) {
                    return false;
                }
                self.further.push_back(self.reader.next());
            }
            let Some(batch @ Batch { events, .. }) = self.further.get(next) else { return false };
            if events.is_empty() {
                continue;
            }
            if events.thread(0) != thread {
                return true;
            }
            let end = events.end_of_run(0);
            distance += end;
            if end < events.len() {
                return distance < among;
            }
            distance = distance.saturating_add(batch.repeated());
        }
        false
    }

    /// Examines events from here on, unless they were already examined.
    fn look_from_here(&mut self) {
        if self.seen == 0 {
            self.seen = 1;
            self.unseen = Unseen { batch: 0, index: self.at + 1, again: self.batch.again };
        }
    }

    /// The facts that are out of reach of the event that they belong to; `None` if everything up to the end was examined.
    fn far(&mut self) -> Option<&mut FarFacts> {
        if self.seen <= REACH {
            return None;
        }
        let origin = self.reader.origin.as_ref()?;
        Some(self.far.get_or_insert_with(|| Box::new(FarFacts::read(&**origin))))
    }

    /// Looks at one more event; false if there is none within reach.
    fn look_further(&mut self) -> Result<bool, TraceError> {
        if self.seen > REACH && self.reader.origin.is_some() {
            return Ok(false);
        }
        let moment = loop {
            let further = self.further.len();
            let Unseen { batch: at, index, again } = &mut self.unseen;
            let batch = match at.checked_sub(1) {
                Some(at) => &mut self.further[at],
                None => &mut self.batch,
            };
            if *index < batch.events.len() || batch.begin_round(index, again) {
                break batch.events.get(*index);
            }
            if *at < further {
                self.unseen = Unseen { batch: *at + 1, index: 0, again: self.further[*at].again };
                continue;
            }
            match std::mem::take(&mut batch.then) {
                BatchEnd::More => self.further.push_back(self.reader.next()),
                BatchEnd::Fault(error) => return Err(*error),
                end @ BatchEnd::End(_) => {
                    batch.then = end;
                    return Ok(false);
                }
            }
        };
        self.seen += 1;
        self.unseen.index += 1;
        moment.into_iter().for_each(|event| self.facts.see(event));
        Ok(true)
    }
}
