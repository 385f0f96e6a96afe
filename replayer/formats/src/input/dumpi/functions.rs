//! The functions of MPI in a DUMPI trace: their numbers, their names, and the arguments that a record has.
//!
//! A record does not say how long it is, so the arguments of every function are needed to find the next record. A
//! letter stands for an argument:
//!
//! | letter | argument |
//! | --- | --- |
//! | `i` | an integer, a rank, a tag or a request: four bytes |
//! | `h` | a handle (communicator, datatype, group, window, file, …): two bytes |
//! | `b` | an operation or a flag: one byte |
//! | `q` | an offset: eight bytes |
//! | `t` | statuses: none where the library was to keep none |
//! | `I` `H` `B` | a list of integers, handles, bytes, with its length before it; a text is a list of bytes |
//! | `J` `S` `T` | a list of lists of integers; of texts; of lists of texts |
//! | `r` `o` `(…)` | the own rank and the root, and the arguments that only the root has |

use std::sync::LazyLock;

use super::bytes::Cursor;
use crate::input::rank_events::is_local;

/// The name, without `MPI_`, and the arguments of each function, by number: a line for each.
static ARGUMENTS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let lines = include_str!("functions.txt").lines();
    lines.map(|line| line.split_once(' ').unwrap_or((line, ""))).collect()
});

/// A function by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DumpiFunction(pub u16);

/// Writes the functions that readers know by name, and their numbers.
macro_rules! known {
    ($($name:ident = $number:literal,)+) => {
        #[allow(missing_docs)] // Named as MPI names them.
        impl DumpiFunction {
            $(pub(super) const $name: Self = Self($number);)+
        }
    };
}

known! {
    RECV = 1, BUFFER_DETACH = 7, IRECV = 12,
    REQUEST_FREE = 15, IPROBE = 22, PROBE = 23, CANCEL = 24,
    RECV_INIT = 30, START = 31, STARTALL = 32,
    SENDRECV = 33, SENDRECV_REPLACE = 34,
    TYPE_CONTIGUOUS = 35, TYPE_VECTOR = 36, TYPE_HVECTOR = 37, TYPE_INDEXED = 38, TYPE_HINDEXED = 39, TYPE_STRUCT = 40,
    BARRIER = 52, BCAST = 53, GATHER = 54, GATHERV = 55, SCATTER = 56, SCATTERV = 57, ALLGATHER = 58, ALLGATHERV = 59,
    ALLTOALL = 60, ALLTOALLV = 61, REDUCE = 62, OP_CREATE = 63, ALLREDUCE = 65, REDUCE_SCATTER = 66, SCAN = 67,
    COMM_GROUP = 72, GROUP_UNION = 73, GROUP_INTERSECTION = 74, GROUP_DIFFERENCE = 75, GROUP_INCL = 76, GROUP_EXCL = 77,
    GROUP_RANGE_INCL = 78, GROUP_RANGE_EXCL = 79, GROUP_FREE = 80, COMM_RANK = 82,
    COMM_DUP = 84, COMM_CREATE = 85, COMM_SPLIT = 86, COMM_FREE = 87, COMM_REMOTE_GROUP = 90, INTERCOMM_CREATE = 91,
    INTERCOMM_MERGE = 92, CART_CREATE = 99, GRAPH_CREATE = 101, CART_SUB = 111,
    INIT = 124, FINALIZE = 125,
    COMM_ACCEPT = 130, COMM_CONNECT = 131, COMM_DISCONNECT = 132, COMM_GET_PARENT = 133, COMM_JOIN = 134,
    COMM_SPAWN = 135, COMM_SPAWN_MULTIPLE = 136,
    ACCUMULATE = 141, GET = 142, PUT = 143, WIN_COMPLETE = 144, WIN_CREATE = 145, WIN_FENCE = 146, WIN_FREE = 147,
    WIN_LOCK = 149, WIN_POST = 150, WIN_START = 151, WIN_TEST = 152, WIN_UNLOCK = 153, WIN_WAIT = 154,
    ALLTOALLW = 155, EXSCAN = 156, INIT_THREAD = 171, TYPE_DUP = 178,
    TYPE_CREATE_HINDEXED = 218, TYPE_CREATE_HVECTOR = 219, TYPE_CREATE_INDEXED_BLOCK = 220, TYPE_CREATE_RESIZED = 221,
    TYPE_CREATE_STRUCT = 222, TYPE_CREATE_SUBARRAY = 223,
}

impl DumpiFunction {
    /// The number of functions that a footer counts, which are those of MPI and one that stands for all.
    pub(super) const COUNTED: u16 = 291;
    /// The entry of a footer that stands for all functions.
    pub(super) const ALL: Self = Self(290);
    /// The mark after the last record.
    pub(super) const END: Self = Self(293);

    /// Whether the function is of MPI. The others mark where a function of the program begins and ends.
    pub(super) fn is_of_mpi(self) -> bool {
        self.0 < Self::ALL.0
    }

    /// The name of the function without `MPI_`.
    pub(super) fn bare_name(self) -> Option<&'static str> {
        ARGUMENTS.get(usize::from(self.0)).map(|&(name, _)| name)
    }

    /// The name of the function; the number where it has none.
    pub(super) fn name(self) -> String {
        self.bare_name().map_or_else(|| format!("function {}", self.0), |name| format!("MPI_{name}"))
    }

    /// The letters of the arguments; `None` for a function that no version has.
    pub(super) fn arguments(self) -> Option<&'static str> {
        ARGUMENTS.get(usize::from(self.0)).map(|&(_, letters)| letters)
    }

    /// Whether the function makes or changes something that the numbers in later records depend on: communicators and
    /// groups.
    pub(super) fn changes_communicators(self) -> bool {
        matches!(self.0, 72..=80 | 84..=87 | 90..=92 | 99 | 101 | 111 | 130..=136 | 148 | 236)
    }

    pub(super) fn makes_communicator(self) -> bool {
        matches!(self.0, 84..=86 | 91 | 92 | 99 | 101 | 111 | 130 | 131 | 133..=136)
    }

    /// Whether calls of the function become events.
    pub(super) fn has_event(self) -> bool {
        matches!(
            self.0,
            0 | 1 | 3..=5 | 7..=24 | 26..=34 | 52..=62 | 65..=67 | 84..=87 | 91 | 92 | 99 | 101 | 111 | 124 | 125 | 132
                | 141..=147 | 149..=156 | 171
        )
    }

    /// Whether the function does its work alone, and has no event.
    pub(super) fn is_local(self) -> bool {
        /// By number. A trace has many calls of few functions.
        static LOCAL: LazyLock<Vec<bool>> =
            LazyLock::new(|| ARGUMENTS.iter().map(|&(name, _)| is_local(name)).collect());
        !self.has_event() && LOCAL.get(usize::from(self.0)).is_some_and(|&is_local| is_local)
    }

    /// Whether the function communicates, waits or moves data, so that a trace without its calls is not whole. A test or a
    /// probe does not count.
    pub(super) fn communicates(self) -> bool {
        match self.0 {
            0 | 1 | 3..=5 | 8..=13 | 16 | 18 | 20 | 26..=34 | 52..=62 | 65..=67 => true,
            _ if self.makes_communicator() => true,
            141..=147 | 149..=151 | 153..=156 | 169 | 170 => true,
            230..=234 | 240 | 242..=253 | 257..=263 | 265..=276 | 281 | 283 | 285 | 287 | 288 => true,
            _ => false,
        }
    }
}

/// Passes over the arguments that `letters` stand for; `None` where the bytes end before. `keeps_statuses` is whether
/// the record has statuses.
pub(super) fn pass(letters: &str, keeps_statuses: bool, bytes: &mut Cursor<'_>) -> Option<()> {
    let (mut own, mut root, mut is_passing) = (0, 0, true);
    for letter in letters.bytes() {
        match letter {
            b'(' => is_passing = own == root,
            b')' => is_passing = true,
            _ if !is_passing => {}
            b'r' => own = bytes.i32()?,
            b'o' => root = bytes.i32()?,
            b'b' => _ = bytes.u8()?,
            b'h' => _ = bytes.take(2)?,
            b'q' => _ = bytes.take(8)?,
            b't' => {
                if keeps_statuses {
                    statuses(bytes)?;
                }
            }
            b'I' => _ = bytes.integers()?,
            b'H' => _ = bytes.handles()?,
            b'B' => _ = bytes.list_of_bytes()?,
            b'J' => repeat(bytes, |bytes| bytes.integers().map(drop))?,
            b'S' => repeat(bytes, |bytes| bytes.list_of_bytes().map(drop))?,
            b'T' => repeat(bytes, |bytes| repeat(bytes, |bytes| bytes.list_of_bytes().map(drop)))?,
            _ => _ = bytes.take(4)?,
        }
    }
    Some(())
}

fn repeat<'b>(bytes: &mut Cursor<'b>, pass: impl Fn(&mut Cursor<'b>) -> Option<()>) -> Option<()> {
    // Each item takes four bytes at least, so a length that lies ends with the bytes.
    (0..bytes.i32()?).try_for_each(|_| pass(bytes))
}

/// The bytes that a status takes.
const STATUS: usize = 14;

/// The status of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    pub bytes: i32,
    pub source: i32,
    pub is_cancelled: bool,
    pub tag: i32,
}

/// The statuses of a call; none where the program ignored them.
pub(super) fn statuses<'b>(bytes: &mut Cursor<'b>) -> Option<Statuses<'b>> {
    let number = usize::try_from(bytes.i32()?).unwrap_or(0);
    Some(Statuses(bytes.take(number.checked_mul(STATUS)?)?))
}

/// The statuses of a call.
#[derive(Clone, Copy, Default)]
pub(super) struct Statuses<'b>(&'b [u8]);

impl Statuses<'_> {
    /// The status at `index`, if there is one.
    pub(super) fn get(&self, index: usize) -> Option<Status> {
        let mut bytes = Cursor::new(self.0.get(index.checked_mul(STATUS)?..)?);
        let (length, source, cancelled, _error) = (bytes.i32()?, bytes.i32()?, bytes.u8()?, bytes.u8()?);
        Some(Status { bytes: length, source, is_cancelled: cancelled != 0, tag: bytes.i32()? })
    }
}
