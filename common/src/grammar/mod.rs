//! The text of a trace: one event per line, `<rank> <word> <arguments>`, in the notation of Casanova et al. (Table I)
//! and SimGrid ≥ 3.32. titr adds words for events that SimGrid lacks; every word of SimGrid keeps its meaning.
//!
//! | line, after the rank | event |
//! | --- | --- |
//! | `init`, `finalize` | |
//! | `compute N`, `sleep S` | instructions; seconds |
//! | `send D TAG BYTES`, also `ssend bsend rsend` | blocking send to `D` |
//! | `recv S TAG BYTES [6 WILD]` | blocking receive from `S` |
//! | `isend D TAG BYTES [6 REQ]`, also `issend ibsend irsend` | non-blocking send |
//! | `irecv S TAG BYTES [6 REQ [WILD]]` | non-blocking receive; `*` for a source or tag that is not known yet |
//! | `sendrecv D TAG BYTES S TAG BYTES [WILD]` | `- - -` for a side that is `MPI_PROC_NULL` |
//! | `probe S TAG BYTES [WILD]`, `iprobe found S TAG BYTES [WILD]`, `iprobe none …` | |
//! | `send_init D TAG BYTES REQ` (`ssend_init` …), `recv_init S TAG BYTES REQ [WILD]` | persistent requests |
//! | `start REQS`, `request_free REQ` | |
//! | `cancel REQ` | the request was cancelled, and completes next |
//! | `matched REQ S TAG` | the source and tag that a wildcard receive was matched with |
//! | `wait S D TAG [REQ]` | one request, by source, destination and tag |
//! | `waitall [N]` | all outstanding requests |
//! | `wait_of REQS`, `waitall_of`, `waitany_of`, `waitsome_of` | the requests that the call completed |
//! | `test S D TAG REQ`, `test_of REQS`, `testall_of` …, `test -`, `testall -` … | as for waits; `-`: nothing |
//! | `barrier`, `bcast BYTES ROOT`, `reduce BYTES WORK ROOT` | collectives, see `collective` |
//! | `allreduce`, `scan`, `exscan`, `reducescatter_block BYTES WORK`; `reducescatter COUNTS… WORK` | |
//! | `gather`, `scatter SEND RECV ROOT`; `allgather`, `alltoall SEND RECV` | |
//! | `gatherv SEND RECVS… ROOT`; `scatterv SENDS… RECV ROOT`; `allgatherv SEND RECVS…` | |
//! | `alltoallv`, `alltoallw TOTAL SENDS… TOTAL RECVS…` | |
//! | `ibcast REQ BYTES ROOT`, … | non-blocking collectives: the request comes first |
//! | `on C LINE` | the line's communicator is `C`, not the world |
//! | `comm_dup ID PARENT MEMBERS [REMOTE] [tag TAG]`, `comm_split` …, `cart_create` … | `- PARENT` if this rank is not a member |
//! | `comm_spawn ID PARENT MEMBERS REMOTE`, `comm_parent`, `comm_accept`, `comm_connect`, `comm_join` | with processes that may be of another world, numbered from the world's size on in order of appearance |
//! | `comm_world ID 0 MEMBERS` | the rank's world, in a trace of several worlds |
//! | `comm_free ID` | |
//! | `called BEGIN END` | the start and end of the next event's call (extended traces) |
//! | `sent NUMBER D BYTES BEGIN END`, `received NUMBER S BYTES BEGIN END` | a message of the next event, a collective |
//! | `bcast_init REQ BYTES ROOT`, … | persistent collectives |
//! | `neighbor_alltoall DESTINATIONS SOURCES BYTES… BYTES…`, … | neighbourhood collectives, see `collective` |
//! | `psend_init D TAG BYTES REQ PARTS`, `precv_init S TAG BYTES REQ PARTS [WILD]`, `pready REQ PARTS`, `parrived REQ PART` | partitioned messages |
//! | `win_create WIN BYTES`, `win_fence WIN [ASSERTS]`, `put WIN TARGET THERE BACK [REQ]`, … | one-sided communication, see `one_sided` |
//! | `file_open FILE`, `file_write_at_all FILE BYTES`, … | input and output, see `file` |
//! | `task CORE DEPENDENTS ENDED [BEGUN]` | the place of the next event in the graph of its rank, see `task` |
//! | `region_begin NAME`, `region_end NAME`, `pcontrol LEVEL` | regions, see `mark` |
//! | `call MPI_FUNCTION SENT RECEIVED` | any other communication |
//! | `loop D N V1 V2*M …` | `N` events, each equal to the event `D` events before; those that followed a computation then get the next volume, see `repeat` |
//! | `again D V1 V2*M …` | an event for each volume, each equal to the event `D` events before |
//!
//! The rank is `R.T` for an event of its thread `T`, if that is not the thread that initialised MPI: `3.1 send …`. A
//! rank's lines are in the order in which its calls returned, for all threads; a `loop` counts the events of its
//! thread.
//!
//! `WILD` is `any_source`, `any_tag` or `any`. `REQS` and `MEMBERS` are lists such as `0-3,8,12-20/4` (from–to/step).
//! `6` is SimGrid's number for `MPI_BYTE`: it is necessary for SimGrid to ignore the fields behind it. A collective
//! whose element size is not 1 has the size after the datatypes. `#` starts a comment; titr's own traces start with `#
//! titr 1` and end with `# end EVENTS`.

mod collective;
mod completion;
mod fields;
mod file;
mod line;
mod list;
mod mark;
mod message;
mod one_sided;
mod parse;
mod plain;
mod repeat;
mod task;
mod words;
mod write;

use thiserror::Error;

use crate::format::counted;

pub use parse::Parser;
pub use repeat::{EventReader, EventWriter};
pub use write::write_event;

/// First line of a stream that titr writes: the grammar's version.
pub(crate) const HEADER: &str = "# titr 1";
/// The beginning of the last line of such a stream; the number of events follows.
pub(crate) const END: &str = "# end ";

/// A line that is not in the grammar.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("column {column}: {what}")]
pub struct ParseError {
    /// The column of the error, in bytes from 1.
    pub column: usize,
    /// The words that were found and that were expected.
    pub what: String,
}

/// A world as an error names it.
fn world_of(ranks: u32) -> String {
    format!("a world of {}", counted(ranks, "rank", "ranks"))
}
