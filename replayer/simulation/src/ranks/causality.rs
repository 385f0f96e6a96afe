//! How much of the order of a program's messages a replay keeps.
//!
//! These are the three ways in which J. Miguel-Alonso, J. Navaridas and F. J. Ridruejo feed a network with a trace
//! ("Interconnection network simulation using traces of MPI applications", International Journal of Parallel
//! Programming 37(2), 2009, §4), from the highest load that an application could impose on a network to its actual
//! load.

use std::collections::VecDeque;

use crate::observe::OperationId;

/// The dependencies that a replay keeps: the earlier events of its rank that a send waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Causality {
    /// A send waits for nothing: each rank sends all its messages in order, as fast as the network takes them (§4.1).
    None,
    /// A send waits for the receives before it; computation and MPI itself take no time (§4.2).
    Causal,
    /// A send waits for the receives and the computation before it (§4.3).
    #[default]
    Timed,
}

impl Causality {
    /// Whether ranks take time of their own.
    pub(crate) fn is_timed(self) -> bool {
        self == Self::Timed
    }

    /// Whether a rank waits for what others send to it.
    pub(crate) fn has_receives(self) -> bool {
        self != Self::None
    }
}

/// Messages of a rank that never waits which are in the network and have not arrived.
///
/// Their number is limited, so that memory does not grow with the trace: a further message waits for the oldest one.
/// This many messages of one host fill its injection path anyway, so the network would accept no more.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog(VecDeque<OperationId>);

impl Backlog {
    /// Maximum number of messages of a rank in transit.
    const MOST: usize = 256;

    /// Adds a message. Returns the operation that has to arrive before the sender continues, if there is one.
    pub(super) fn push(&mut self, sent: OperationId) -> Option<OperationId> {
        self.0.push_back(sent);
        if self.0.len() > Self::MOST { self.0.pop_front() } else { None }
    }

    /// The oldest: at its end, a rank waits for them all.
    pub(super) fn pop(&mut self) -> Option<OperationId> {
        self.0.pop_front()
    }
}
