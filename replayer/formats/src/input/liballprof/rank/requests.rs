//! The requests of a rank: where they are made, and the calls that complete them.

use titr_common::event::{Completion, Event, MessageCompletion, Quantifier, RequestKey};

use super::{LiballprofSink, LiballprofTranslation};
use crate::input::liballprof::calls::RequestMade;
use crate::input::requests::Named;

/// The sizes of a request in MPI libraries: an array of requests has one after another.
const REQUEST_SIZES: [u64; 2] = [8, 4];
/// The most requests of a call that are searched for: a number that lies must not take forever.
const MOST_REQUESTS: u64 = 1 << 20;

impl LiballprofTranslation {
    /// The completion of a message with this key, whose request is made if it has one; `None` if no event has that.
    pub(super) fn completion(
        &mut self,
        request: Option<RequestMade>,
        key: Option<RequestKey>,
        sink: &mut LiballprofSink<'_, '_>,
    ) -> Option<MessageCompletion> {
        let Some(RequestMade { address, is_persistent }) = request else { return Some(Completion::Blocking) };
        match self.requests.named(address) {
            Named::Unknown => {}
            // A request that a test has completed, or an array of which some were waited for.
            Named::Active => self.wait_for(address, sink),
            Named::Nothing => _ = self.requests.free(address),
        }
        if key.is_none() {
            self.requests.make_for_nobody(address, is_persistent);
            return None;
        }
        self.requests.make_message(address, (), key, is_persistent)
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
        quantifier: Quantifier,
        is_test: bool,
        address: u64,
        number: u64,
        sink: &mut LiballprofSink<'_, '_>,
    ) {
        let all: Vec<u64> = self.addresses(address, number, Named::Active).collect();
        let [active, null] = [Named::Active, Named::Nothing].map(|state| {
            let are_so = all.iter().copied().filter(|&address| self.requests.named(address) == state);
            are_so.collect::<Vec<_>>()
        });
        let completes = match quantifier {
            _ if is_test => &active[..0],
            Quantifier::Single | Quantifier::All => &active[..],
            Quantifier::Any | Quantifier::Some => &active[..active.len().min(1)],
        };
        if completes.len() < active.len() && !completes.is_empty() {
            self.notes.add("calls of MPI_Waitany or MPI_Waitsome: the trace does not say what they completed, and the first active request is taken");
        }
        self.requests.begin();
        for &address in completes {
            self.requests.complete(address, None, false, |_| {});
        }
        if !is_test && matches!(quantifier, Quantifier::Single | Quantifier::All) {
            for &address in &null {
                self.requests.complete(address, None, false, |_| {});
            }
        }
        match self.requests.waited_for(quantifier) {
            Some(completed) => self.push(sink, Event::Wait(quantifier, completed)),
            None if !active.is_empty() => self.push(sink, Event::Test(quantifier, None)),
            None => {}
        }
    }
}
