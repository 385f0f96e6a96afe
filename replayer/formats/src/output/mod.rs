//! Traces in the formats of other tools, and in titr's own.
//!
//! To add a format, write it in a module of this folder and name it in [`FORMATS`]. Formats of timelines are added in
//! [`timeline`](crate::timeline).

mod goal;
mod message_pairs;
mod otf2;
mod paraver;
mod rank_files;
pub mod simgrid;
mod ti;
mod timed_calls;

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use thiserror::Error;
use titr_common::collectives::Selection;
use titr_common::event::{Completion, Event, Rank, RequestId, RequestKey};
use titr_common::event_buffer::EventRef;
use titr_common::program::{Communicators, Fault, Place, RequestTable, Template};
use titr_common::timeline::State;
use titr_common::trace::{EventSource, RankStream, Trace, TraceError};
use titr_common::units::Bytes;

pub(crate) use message_pairs::{Channel, MessagePairs};

/// A format that traces are converted to.
pub struct OutputFormat {
    /// The name of the format.
    pub name: &'static str,
    /// The use of the format, in a few words.
    pub about: &'static str,
    /// The files that are written for a place; none for a directory, which has to be new or empty.
    pub files: fn(&Path) -> Vec<PathBuf>,
    /// Writes a trace to a place: a directory that is new or empty, or a file.
    pub convert: fn(&Trace, &Rules, &Path) -> Result<ConversionNotes, ConvertError>,
}

/// All formats except timelines.
pub static FORMATS: &[OutputFormat] =
    &[simgrid::SIMGRID, ti::TI, goal::GOAL, goal::GOAL_BINARY, otf2::OTF2, paraver::PARAVER];

/// The translation of calls that a format cannot express.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The algorithms of collectives.
    pub collectives: Selection,
    /// Sends of fewer bytes complete at once.
    pub eager_threshold: Bytes,
    /// The host of each rank; none if they are unknown.
    pub hosts: Vec<u32>,
}

/// The outcome of a conversion, for the user.
#[derive(Clone, Debug)]
pub struct ConversionNotes {
    /// A sentence on the written files.
    pub written: String,
    /// A sentence for each kind of difference from the trace.
    pub differences: Vec<String>,
}

/// A conversion that could not be finished.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum ConvertError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("{place}: {fault}")]
    Event { place: Box<Place>, fault: Box<Fault> },
    #[error(
        "the trace says nothing of time: record an extended one (TITRACE_MODE=extended), or draw simulated time with \
         titr replay --platform FILE --paje FILE (or --perfetto FILE)"
    )]
    NoTimes,
    /// Names the file.
    #[error("{0}")]
    Output(#[from] io::Error),
}

impl ConvertError {
    /// A fault in the event of `rank` that was read last from its stream.
    pub(crate) fn at(rank: Rank, stream: &RankStream, fault: Fault) -> Self {
        let location = stream.location();
        let line = stream.path().zip(location.line);
        let place = Place { rank, thread: location.thread, event: stream.events(), line };
        Self::Event { place: Box::new(place), fault: Box::new(fault) }
    }
}

/// The persistent request that an event sets up, and the operation that each start of it starts.
pub(crate) fn set_up(
    rank: Rank,
    event: &Event,
    communicators: &mut Communicators,
) -> Result<Option<(RequestId, Template)>, Fault> {
    Ok(if let Event::Send(mode, message, Completion::Persistent(id)) = event {
        Some((*id, Template::Send(*mode, *message)))
    } else if let Event::Recv(message, Completion::Persistent(id)) = event {
        Some((*id, Template::Receive(*message)))
    } else if let Event::Collective(call, Completion::Persistent(id)) = event {
        let index = communicators.find(rank, call.comm)?;
        let part = communicators.begin(index, rank, call)?;
        Some((*id, Template::Collective(Rc::new(call.clone()), part)))
    } else if let Event::Neighborhood(call, Completion::Persistent(id)) = event {
        let index = communicators.find(rank, call.comm)?;
        let part = communicators.begin_neighborhood(index, rank)?;
        Some((*id, Template::Neighbor(Rc::new(call.clone()), part)))
    } else if let Event::Partitioned(call) = event {
        call.sets_up().map(|(id, bytes)| (id, Template::Partitioned(bytes)))
    } else {
        None
    })
}

/// Enters the request of a message, which has a number or is known by its ends.
pub(crate) fn add_request<O: Copy>(
    requests: &mut RequestTable<O>,
    request: Option<RequestId>,
    key: RequestKey,
    operation: Option<O>,
) -> Result<(), Fault> {
    match request {
        Some(id) => requests.add(id, operation),
        None => {
            requests.add_keyed(key, operation);
            Ok(())
        }
    }
}

/// The name of the function, such as `MPI_Isend`; empty for an event that is no call.
fn function_name(event: &Event) -> String {
    if let Event::Other(other) = event {
        return other.function.to_string();
    }
    State::of(EventRef::Event(event)).map_or_else(String::new, |state| state.name())
}
