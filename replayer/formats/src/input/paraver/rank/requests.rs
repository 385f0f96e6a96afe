//! Messages of a rank, and the requests of those that do not block.

use titr_common::event::{Completion, Event, Quantifier, RequestKey, SendMode};

use super::{IsTest, PrvIsBlocking, PrvSink, PrvTranslation};
use crate::input::paraver::line::Message;

impl PrvTranslation {
    pub(super) fn send(
        &mut self,
        message: Message,
        mode: SendMode,
        PrvIsBlocking(blocking): PrvIsBlocking,
        sink: &mut PrvSink<'_>,
    ) {
        let outgoing = message.outgoing();
        let key = RequestKey { from: Some(self.me), to: outgoing.to, tag: Some(outgoing.tag) };
        let completion = if blocking {
            Completion::Blocking
        } else {
            self.made += 1;
            self.sending.push_back(self.made);
            Completion::Request(self.requests.make(self.made, (), Some(key), false))
        };
        self.push(sink, Event::Send(mode, outgoing, completion));
    }

    pub(super) fn receive(&mut self, message: Message, PrvIsBlocking(blocking): PrvIsBlocking, sink: &mut PrvSink<'_>) {
        let incoming = message.incoming();
        let key = RequestKey { from: incoming.from, to: self.me, tag: incoming.tag };
        let completion = if blocking {
            Completion::Blocking
        } else {
            self.made += 1;
            self.receiving.entry(message.completed).or_default().push(self.made);
            Completion::Request(self.requests.make(self.made, (), Some(key), false))
        };
        self.push(sink, Event::Recv(incoming, completion));
    }

    /// Completes the receives whose messages came in a call. The trace does not say which sends a call completes: one for all
    /// requests completes all, and another one the oldest, if no receive completes in it.
    pub(super) fn complete(&mut self, ask: Quantifier, IsTest(is_test): IsTest, sink: &mut PrvSink<'_>) {
        let later = self.receiving.split_off(&sink.end.saturating_add(1));
        let mut done: Vec<u64> = std::mem::replace(&mut self.receiving, later).into_values().flatten().collect();
        if ask == Quantifier::All {
            done.extend(self.sending.drain(..));
        } else if done.is_empty() {
            done.extend(self.sending.pop_front());
        }
        self.requests.begin();
        for name in done {
            self.requests.complete(name, None, false, |_| {});
        }
        let event = if is_test {
            self.requests.tested().map(|completed| Event::Test(ask, Some(completed)))
        } else {
            self.requests.waited_for(ask).map(|completed| Event::Wait(ask, completed))
        };
        match event {
            // A wait for one request may be the last of several that came together.
            Some(Event::Wait(Quantifier::Single | Quantifier::Any, completed)) => {
                let ask =
                    if matches!(completed, titr_common::event::Completed::One(..)) { ask } else { Quantifier::Some };
                self.push(sink, Event::Wait(ask, completed));
            }
            Some(event) => self.push(sink, event),
            None => {}
        }
    }

    /// Waits for all requests that no call has completed.
    pub(super) fn complete_all(&mut self, sink: &mut PrvSink<'_>) {
        self.requests.begin();
        for name in self.requests.active() {
            self.requests.complete(name, None, false, |_| {});
        }
        if let Some(completed) = self.requests.waited_for(Quantifier::All) {
            self.notes
                .add("ranks complete requests without a call that the trace has: they wait for them in MPI_Finalize");
            sink.events.push(Event::Wait(Quantifier::All, completed), sink.location);
        }
    }
}
