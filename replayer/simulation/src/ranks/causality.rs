//! How much of what orders a program's messages a replay keeps.
//!
//! These are the three ways in which J. Miguel-Alonso, J. Navaridas and F. J. Ridruejo feed a network with a trace
//! ("Interconnection network simulation using traces of MPI applications", International Journal of Parallel
//! Programming 37(2), 2009, §4): from the worst that an application could do to a network to what it does.

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
    #[must_use]
    pub fn is_timed(self) -> bool {
        self == Self::Timed
    }

    /// Whether a rank waits for what others send to it.
    #[must_use]
    pub fn has_receives(self) -> bool {
        self != Self::None
    }
}

/// Messages that a rank which waits for nothing has given to the network and that have not arrived.
///
/// There is an end to how many that may be, so that memory does not grow with the trace: one more has to wait for the
/// oldest. So many messages of one host fill what lies ahead of it, and the network takes no more anyway.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog(VecDeque<OperationId>);

impl Backlog {
    /// Messages of a rank that may be under way.
    const MOST: usize = 256;

    /// Another sets out; the one that has to arrive before its sender goes on, if any has.
    pub(super) fn push(&mut self, sent: OperationId) -> Option<OperationId> {
        self.0.push_back(sent);
        if self.0.len() > Self::MOST { self.0.pop_front() } else { None }
    }

    /// The oldest: at its end, a rank waits for them all.
    pub(super) fn pop(&mut self) -> Option<OperationId> {
        self.0.pop_front()
    }
}
