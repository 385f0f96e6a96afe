//! The directory of a home: the copies of its lines, and one request at a time for each line.
//!
//! A request that conflicts with copies starts a **transaction**: the home requests the line from the owner, or
//! invalidates the copies, and answers when all have answered. Requests for the line that arrive in the meantime wait
//! in a queue. So does the answer to an owner that evicts the line in the meantime, because it could overtake the
//! home's question.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use titr_common::time::Time;

use crate::causes::Causes;
use crate::message::{Late, Line, Message, MessageKind, Trigger};

/// Picoseconds that a directory is busy with a message.
const OCCUPANCY: u64 = 20_000;

/// Picoseconds from then until a line has come out of the memory.
const MEMORY: u64 = 60_000;

/// Nodes that a directory can tell apart.
pub(crate) const MOST_NODES: u32 = 128;

/// A message that leaves this many picoseconds from now.
pub(crate) struct Outgoing {
    pub delay: u64,
    pub message: Message,
    pub causes: Causes,
}

/// The directory of a home.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    lines: FxHashMap<Line, LineEntry>,
    /// The time when it is done with its present messages.
    free: Time,
}

#[derive(Debug, Default)]
struct LineEntry {
    copies: Copies,
    transaction: Option<Transaction>,
    queue: VecDeque<(Message, Causes)>,
}

/// The caches that have a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Copies {
    #[default]
    Nowhere,
    /// The caches with these bits, and perhaps some of them have dropped it.
    Shared(u128),
    /// One, which may have written it.
    Owned(u32),
}

/// A request in progress.
#[derive(Debug)]
struct Transaction {
    request: Message,
    /// The owner that was asked.
    owner: Option<u32>,
    /// Acknowledgements that have not come.
    awaited: u32,
    /// Whether the copy of the requester is still good.
    granted: bool,
    /// The caches that the answer has to wait for; none if only the home's own cache is asked.
    late: Late,
    causes: Causes,
    /// Whether the owner has evicted the line in the meantime.
    written_back: Option<Causes>,
}

impl Directory {
    /// Accepts a message: returns the time of its handling, and the causes of that time. The messages before it are no
    /// cause, because they would be others on another network.
    pub(crate) fn admit(&mut self, now: Time, mut causes: Causes) -> (Time, Causes) {
        causes.work(self.free.0.saturating_sub(now.0));
        causes.work(OCCUPANCY);
        self.free = Time(self.free.max(now).0 + OCCUPANCY);
        (self.free, causes)
    }

    /// Handles a message, after it was admitted.
    pub(crate) fn handle(&mut self, message: Message, causes: Causes, out: &mut Vec<Outgoing>) {
        let entry = self.lines.entry(message.line).or_default();
        match message.kind {
            MessageKind::Acknowledge { .. } | MessageKind::OwnerData { .. } => entry.answered(message, &causes, out),
            MessageKind::WriteBack { .. } => entry.given_up(message, causes, out),
            MessageKind::Read
            | MessageKind::Write
            | MessageKind::Upgrade
            | MessageKind::Forward { .. }
            | MessageKind::Invalidate { .. }
            | MessageKind::Data { .. }
            | MessageKind::Grant { .. }
            | MessageKind::WrittenBack
            | MessageKind::Arrive
            | MessageKind::Release => {
                if entry.transaction.is_some() {
                    entry.queue.push_back((message, causes));
                } else {
                    entry.begin(message, causes, false, out);
                }
            }
        }
    }
}

/// The message of a home to a node about a line.
fn from_home(kind: MessageKind, to: u32, line: Line) -> Message {
    Message { kind, from: line.home(), to, line }
}

impl LineEntry {
    /// Begins with a request, which may have waited for another, and answers it if nothing is in the way.
    fn begin(&mut self, request: Message, causes: Causes, waited: bool, out: &mut Vec<Outgoing>) {
        let Message { kind, from, line, .. } = request;
        let reads = kind == MessageKind::Read;
        let bit = 1 << from;
        let (late, because) = match waited {
            true => (Late::Next, Trigger::Next),
            false if from == line.home() => (Late::No, Trigger::Own),
            false => (Late::No, Trigger::Request),
        };
        let (mut owner, mut others, mut granted) = (None, 0, false);
        match self.copies {
            Copies::Shared(copies) if reads => {
                self.copies = Copies::Shared(copies | bit);
                let answer = from_home(MessageKind::Data { exclusive: false, late }, from, line);
                out.push(Outgoing { delay: MEMORY, message: answer, causes: causes.after(MEMORY) });
                return;
            }
            Copies::Shared(copies) => {
                others = copies & !bit;
                granted = kind == MessageKind::Upgrade && copies & bit != 0;
            }
            Copies::Owned(node) if node != from => owner = Some(node),
            Copies::Owned(_) | Copies::Nowhere => {}
        }
        if owner.is_none() && others == 0 {
            self.copies = Copies::Owned(from);
            let (kind, delay) = match granted {
                true => (MessageKind::Grant { late }, 0),
                false => (MessageKind::Data { exclusive: true, late }, MEMORY),
            };
            out.push(Outgoing { delay, message: from_home(kind, from, line), causes: causes.after(delay) });
            return;
        }
        let mut ask = |kind, to| {
            out.push(Outgoing { delay: 0, message: from_home(kind, to, line), causes: causes.clone() });
        };
        if let Some(owner) = owner {
            ask(MessageKind::Forward { exclusive: !reads, because }, owner);
        }
        for node in (0..MOST_NODES).filter(|node| others >> node & 1 == 1) {
            ask(MessageKind::Invalidate { because }, node);
        }
        let awaited = others.count_ones();
        let late = match owner {
            Some(owner) if owner != line.home() => Late::Owner,
            None if others & !(1 << line.home()) != 0 => Late::Copies,
            Some(_) | None => late,
        };
        // The home answers because the others have: they do so after the request.
        self.transaction =
            Some(Transaction { request, owner, awaited, granted, late, causes: Causes::default(), written_back: None });
    }

    /// An owner or a copy has answered.
    fn answered(&mut self, message: Message, causes: &Causes, out: &mut Vec<Outgoing>) {
        let Some(mut transaction) = self.transaction.take() else { return };
        transaction.causes.join_all(causes);
        transaction.awaited -= u32::from(matches!(message.kind, MessageKind::Acknowledge { .. }));
        if transaction.awaited > 0 {
            self.transaction = Some(transaction);
            return;
        }
        let Transaction {
            request: Message { kind, from, line, .. }, owner, granted, late, causes, written_back, ..
        } = transaction;
        let exclusive = kind != MessageKind::Read;
        let answer = match owner {
            None if granted => MessageKind::Grant { late },
            Some(_) | None => MessageKind::Data { exclusive, late },
        };
        self.copies = match owner {
            Some(owner) if !exclusive => Copies::Shared(1 << owner | 1 << from),
            Some(_) | None => Copies::Owned(from),
        };
        out.push(Outgoing { delay: 0, message: from_home(answer, from, line), causes: causes.clone() });
        if let (Some(owner), Some(mut given_up)) = (owner, written_back) {
            given_up.join(&causes);
            out.push(Outgoing {
                delay: 0,
                message: from_home(MessageKind::WrittenBack, owner, line),
                causes: given_up,
            });
        }
        while self.transaction.is_none()
            && let Some((request, mut waited)) = self.queue.pop_front()
        {
            waited.join(&causes);
            self.begin(request, waited, true, out);
        }
    }

    /// An owner gives up the line.
    fn given_up(&mut self, message: Message, causes: Causes, out: &mut Vec<Outgoing>) {
        if let Some(transaction) = self.transaction.as_mut().filter(|other| other.owner == Some(message.from)) {
            transaction.written_back = Some(causes);
            return;
        }
        if self.copies == Copies::Owned(message.from) {
            self.copies = Copies::Nowhere;
        }
        out.push(Outgoing {
            delay: 0,
            message: from_home(MessageKind::WrittenBack, message.from, message.line),
            causes,
        });
    }
}
