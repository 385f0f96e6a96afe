//! What becomes of each kind of event in a replay, in a few words: `docs/FUNCTIONS.md` is made of this.

use titr_common::event::{Completion, Event};

/// How `event` is replayed.
#[must_use]
pub fn fate(event: &Event) -> &'static str {
    match event {
        Event::Init | Event::Finalize => "takes no time",
        Event::Compute(_) | Event::Sleep(_) => "takes its time",
        Event::Send(_, _, completion) | Event::Recv(_, completion) => match completion {
            Completion::Blocking | Completion::Request(_) => "as a message",
            Completion::Persistent(_) => "as a message at each start",
        },
        Event::Sendrecv(..) => "as a message",
        Event::Probe(_) => "waits for the message",
        Event::Iprobe(..) => "waits for the message, if one was found",
        Event::Start(_) => "starts what was set up",
        Event::RequestFree(_) => "lets the request go",
        Event::Cancel(_) => "withdraws the receive",
        Event::Matched(..) => "tells the receive its message",
        Event::Annotation(_) => "tells what was seen of a call",
        Event::Wait(..) => "waits",
        Event::Test(..) => "waits for what was complete",
        Event::Collective(_, completion) => match completion {
            Completion::Blocking => "as the messages of its schedule",
            Completion::Request(_) => "as the messages of its schedule, in the background",
            Completion::Persistent(_) => "as the messages of its schedule at each start",
        },
        Event::Neighborhood(_, completion) => match completion {
            Completion::Blocking => "as a message to and from each neighbour",
            Completion::Request(_) => "as a message to and from each neighbour, in the background",
            Completion::Persistent(_) => "as a message to and from each neighbour at each start",
        },
        Event::CommCreate(..) => "as the agreement of its members",
        Event::CommFree(_) => "takes no time",
        Event::Partitioned(_) | Event::OneSided(_) | Event::File(_) | Event::Other(_) => {
            "not simulated, counted in a warning"
        }
    }
}
