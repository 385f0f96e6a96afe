//! Encounters of a rank with processes of other worlds: the entries of the manifest by which the trace of the other
//! world is found and its ranks are identified.
//!
//! Tracers of different worlds do not communicate, because the other world need not be traced. One member on each side
//! of an encounter knows its *link*, a name that the other side knows too: for a spawn, a name that the root's tracer
//! puts into the environment of the new processes; for a connection, the port; for a join, the addresses of the socket.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A call that made a communicator with processes that may be of another world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Encounter {
    /// The rank's side.
    pub side: Side,
    /// The member of this side that knows the link, as this rank numbers it.
    pub root: u32,
    /// The name of the encounter, the same on both sides; only the root's entry has it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The members of this side, as this rank numbers them.
    pub members: Runs,
    /// The members of the other side, as this rank numbers them.
    pub remote: Runs,
    /// The end of the call, in microseconds since 1970. It orders the encounters at one port.
    pub at: u64,
}

/// A side of an encounter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `MPI_Comm_spawn`, `MPI_Comm_spawn_multiple`.
    Spawn,
    /// The side of the spawned processes.
    Parent,
    /// `MPI_Comm_accept`.
    Accept,
    /// `MPI_Comm_connect`.
    Connect,
    /// `MPI_Comm_join`, on the end of the socket with the lower address.
    Lower,
    /// `MPI_Comm_join`, on the end of the socket with the higher address.
    Upper,
}

impl Side {
    /// The other side of an encounter.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Spawn => Self::Parent,
            Self::Parent => Self::Spawn,
            Self::Accept => Self::Connect,
            Self::Connect => Self::Accept,
            Self::Lower => Self::Upper,
            Self::Upper => Self::Lower,
        }
    }
}

/// The predicate of a sentence: *rank 0 has …*, followed by a number of processes.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spawn => "spawned",
            Self::Parent => "been spawned by",
            Self::Accept => "accepted a connection of",
            Self::Connect => "connected to",
            Self::Lower | Self::Upper => "joined",
        })
    }
}

/// A list of numbers, as runs of consecutive numbers: the first number of each run, and the length of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NumberRuns")]
pub struct Runs(Vec<(u32, u32)>);

impl Runs {
    /// The numbers in order. A damaged manifest may say anything: runs end with the last number that there is.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|&(first, count)| first..first.saturating_add(count))
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|&(_, count)| u64::from(count)).sum()
    }
}

impl FromIterator<u32> for Runs {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for number in numbers {
            match runs.last_mut() {
                Some((first, count)) if first.checked_add(*count) == Some(number) => *count += 1,
                _ => runs.push((number, 1)),
            }
        }
        Self(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_its_runs() {
        let numbers = [0, 1, 2, 7, 6, 5, 6];
        let runs: Runs = numbers.into_iter().collect();
        assert_eq!(runs.0, [(0, 3), (7, 1), (6, 1), (5, 2)]);
        assert_eq!((runs.iter().collect::<Vec<_>>(), runs.count()), (numbers.to_vec(), 7));
    }
}
