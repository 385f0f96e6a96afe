//! The requests of a rank: where they are made, and the calls that complete them.

use titr_common::event::{Completed, Event, Quantifier, RequestId, RequestKey};

use super::{LiballprofSink, LiballprofTranslation};
use crate::input::liballprof::calls::Complete;
use crate::input::requests::Named;

/// The sizes of a request in MPI libraries: an array of requests has one after another.
const REQUEST_SIZES: [u64; 2] = [8, 4];
/// The most requests of a call that are searched for: a number that lies must not take forever.
const MOST_REQUESTS: u64 = 1 << 20;

impl LiballprofTranslation {
    /// Makes a request at an address; `None` if no event has it.
    pub(super) fn start(
        &mut self,
        address: u64,
        key: Option<RequestKey>,
        is_persistent: bool,
        sink: &mut LiballprofSink<'_, '_>,
    ) -> Option<RequestId> {
        match self.requests.named(address) {
            Named::Unknown => {}
            // A request that a test has completed, or an array of which some were waited for.
            Named::Active => self.wait_for(address, sink),
            Named::Nothing => _ = self.requests.free(address),
        }
        match key {
            Some(_) => self.requests.make(address, (), key, is_persistent),
            None => {
                self.requests.make_for_nobody(address, is_persistent);
                None
            }
        }
    }

    /// Waits for a request whose completion the trace does not show.
    pub(super) fn wait_for(&mut self, address: u64, sink: &mut LiballprofSink<'_, '_>) {
        self.requests.begin();
        self.requests.complete(address, None, false, |_| {});
        if let Some(completed) = self.requests.tested() {
            self.notes.add("requests were completed by a test, or by a wait for some of several: they are waited for where their memory is used again");
            sink.events.push(Event::Wait(Quantifier::Single, completed), sink.location);
        }
    }

    /// Waits for all requests that are active when the program ends.
    pub(super) fn wait_for_the_rest(&mut self, sink: &mut LiballprofSink<'_, '_>) {
        for address in self.requests.active() {
            self.wait_for(address, sink);
        }
    }

    /// The addresses of requests in an array, by the size of a request with which most of them are in this state.
    pub(super) fn addresses(&self, address: u64, number: u64, state: Named) -> impl Iterator<Item = u64> + use<> {
        let number = number.min(MOST_REQUESTS);
        let at = move |size: u64| (0..number).map(move |index| address.wrapping_add(index.wrapping_mul(size)));
        let found = |size: u64| at(size).filter(|&address| self.requests.named(address) == state).count();
        let size = if number > 1 && found(REQUEST_SIZES[1]) > found(REQUEST_SIZES[0]) {
            REQUEST_SIZES[1]
        } else {
            REQUEST_SIZES[0]
        };
        at(size)
    }

    pub(super) fn complete(
        &mut self,
        complete: Complete,
        address: u64,
        number: u64,
        sink: &mut LiballprofSink<'_, '_>,
    ) {
        let active: Vec<u64> = self
            .addresses(address, number, Named::Active)
            .filter(|&address| self.requests.named(address) == Named::Active)
            .collect();
        let null: Vec<u64> = self
            .addresses(address, number, Named::Active)
            .filter(|&address| self.requests.named(address) == Named::Nothing)
            .collect();
        let (quantifier, completes) = match complete {
            Complete::Wait => (Quantifier::Single, &active[..]),
            Complete::Waitall => (Quantifier::All, &active[..]),
            Complete::Waitany => (Quantifier::Any, &active[..active.len().min(1)]),
            Complete::Waitsome => (Quantifier::Some, &active[..active.len().min(1)]),
            Complete::Test => (Quantifier::Single, &active[..0]),
            Complete::Testall => (Quantifier::All, &active[..0]),
            Complete::Testany => (Quantifier::Any, &active[..0]),
            Complete::Testsome => (Quantifier::Some, &active[..0]),
        };
        if completes.len() < active.len() && !completes.is_empty() {
            self.notes.add("calls of MPI_Waitany or MPI_Waitsome: the trace does not say what they completed, and the first active request is taken");
        }
        self.requests.begin();
        for &address in completes {
            self.requests.complete(address, None, false, |_| {});
        }
        if matches!(complete, Complete::Wait | Complete::Waitall) {
            for &address in &null {
                self.requests.complete(address, None, false, |_| {});
            }
        }
        let completed: Option<Completed> = self.requests.waited_for(quantifier);
        match completed {
            Some(completed) => self.push(sink, Event::Wait(quantifier, completed)),
            None if !active.is_empty() => self.push(sink, Event::Test(quantifier, None)),
            None => {}
        }
    }
}
