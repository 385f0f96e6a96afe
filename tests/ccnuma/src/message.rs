//! Messages of the coherence protocol.

/// A line of the memory, by its number. The upper half of the number says who is its home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Line(pub u64);

/// Bytes of a line.
pub(crate) const LINE_BYTES: u64 = 32;

/// Bytes of a message without data.
const REQUEST_BYTES: u64 = 8;

/// Bytes of a message with a line in it.
const DATA_BYTES: u64 = REQUEST_BYTES + LINE_BYTES;

/// A message between nodes, or within one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub kind: MessageKind,
    pub from: u32,
    pub to: u32,
    /// The line that it is about. A barrier is at the first line of its home.
    pub line: Line,
}

/// The meaning of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// A cache requests a line for reading.
    Read,
    /// A cache requests a line for writing.
    Write,
    /// A cache that has a copy asks to write it.
    Upgrade,
    /// The home asks the owner for the line, which loses it (`exclusive`) or keeps a copy.
    Forward { exclusive: bool, because: Trigger },
    /// The home has a copy deleted.
    Invalidate { because: Trigger },
    /// A copy has been deleted, perhaps for the home's `own` processor.
    Acknowledge { own: bool },
    /// The owner gives the home the line, perhaps for its `own` processor.
    OwnerData { own: bool },
    /// The home gives a line: to be written, too, if `exclusive`.
    Data { exclusive: bool, late: Late },
    /// The home permits a copy to be written.
    Grant { late: Late },
    /// An owner gives up a line.
    WriteBack { dirty: bool },
    /// The home has seen that.
    WrittenBack,
    /// A processor has reached a barrier.
    Arrive,
    /// All processors have.
    Release,
}

/// The reason for a request of a home to other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A request has come.
    Request,
    /// Its own processor has asked.
    Own,
    /// The transaction before is over, for which the request has waited.
    Next,
}

/// The caches that an answer of the home had to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// None.
    No,
    /// The end of the transaction before.
    Next,
    /// The owner.
    Owner,
    /// The caches that had copies.
    Copies,
}

impl Line {
    /// The line of an address in the memory of a home.
    pub(crate) fn of(address: u64) -> Self {
        Self(address / LINE_BYTES)
    }

    /// The first address in it.
    pub(crate) fn address(self) -> u64 {
        self.0 * LINE_BYTES
    }

    /// The node whose memory it is in.
    pub(crate) fn home(self) -> u32 {
        (self.address() >> 32) as u32
    }
}

impl Message {
    /// The payload, in bytes.
    pub(crate) fn bytes(self) -> u64 {
        match self.kind {
            MessageKind::OwnerData { .. } | MessageKind::Data { .. } | MessageKind::WriteBack { dirty: true } => {
                DATA_BYTES
            }
            MessageKind::Read
            | MessageKind::Write
            | MessageKind::Upgrade
            | MessageKind::Forward { .. }
            | MessageKind::Invalidate { .. }
            | MessageKind::Acknowledge { .. }
            | MessageKind::Grant { .. }
            | MessageKind::WriteBack { dirty: false }
            | MessageKind::WrittenBack
            | MessageKind::Arrive
            | MessageKind::Release => REQUEST_BYTES,
        }
    }

    /// The name of the kind in a network trace.
    pub(crate) fn kind_name(self) -> &'static str {
        match self.kind {
            MessageKind::Read => "read",
            MessageKind::Write => "write",
            MessageKind::Upgrade => "upgrade",
            MessageKind::Forward { because: Trigger::Request, .. } => "forward",
            MessageKind::Forward { because: Trigger::Own, .. } => "own-forward",
            MessageKind::Forward { because: Trigger::Next, .. } => "next-forward",
            MessageKind::Invalidate { because: Trigger::Request } => "invalidate",
            MessageKind::Invalidate { because: Trigger::Own } => "own-invalidate",
            MessageKind::Invalidate { because: Trigger::Next } => "next-invalidate",
            MessageKind::Acknowledge { own: false } => "acknowledge",
            MessageKind::Acknowledge { own: true } => "own-acknowledge",
            MessageKind::OwnerData { own: false } => "owner-data",
            MessageKind::OwnerData { own: true } => "own-data",
            MessageKind::Data { late: Late::No, .. } => "data",
            MessageKind::Data { late: Late::Owner, .. } => "forwarded-data",
            MessageKind::Data { late: Late::Copies, .. } => "acknowledged-data",
            MessageKind::Grant { late: Late::Copies } => "acknowledged-grant",
            MessageKind::Data { late: Late::Next, .. } => "next-data",
            MessageKind::Grant { late: Late::Next } => "next-grant",
            MessageKind::Grant { late: Late::No | Late::Owner } => "grant",
            MessageKind::WriteBack { .. } => "write-back",
            MessageKind::WrittenBack => "written-back",
            MessageKind::Arrive => "arrive",
            MessageKind::Release => "release",
        }
    }
}
