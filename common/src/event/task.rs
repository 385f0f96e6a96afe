//! Tasks: the events of a rank whose program is a graph, not a list of calls.
//!
//! A trace of a graph (GOAL, Chakra) says which operations of a rank depend on each other, and leaves the rest free. A
//! [`Task`] precedes an event of such a rank. The event begins as soon as the tasks that it depends on have ended or
//! begun, independent of its place among the rank's events. An event without a task, such as the last one,
//! `MPI_Finalize`, comes after all events before it and before all events after it. A task that another task follows at
//! once has no event, and takes no time.

/// The place of the next event in the graph of its rank.
///
/// The tasks of a rank are numbered in the order of the trace. A task depends on earlier ones, and names each by the
/// difference of the two numbers: 1 is the task before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Task {
    /// The core that the event's computation and software overhead take. The tasks of a core take it in turns, in the
    /// order in which they become ready.
    pub core: u32,
    /// The number of dependences of later tasks on this one: a reader that has met them all need not look further.
    pub dependents: u32,
    /// The tasks that have to end before this one begins.
    pub ended: Box<[u32]>,
    /// The tasks that have to begin before this one begins.
    pub begun: Box<[u32]>,
}

impl Task {}
