//! The name of the MPI function that an event is a call of.

use titr_common::event::Event;
use titr_common::event_buffer::EventRef;
use titr_common::timeline::State;

/// The name of the function, such as `MPI_Isend`; empty for an event that is no call.
pub(super) fn function_name(event: &Event) -> String {
    if let Event::Other(other) = event {
        return other.function.to_string();
    }
    State::of(EventRef::Event(event)).map_or_else(String::new, |state| state.name())
}
