//! Records the messages of a machine as a network trace, with their dependences.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use titr_common::output::OutputFile;
use titr_common::time::Time;
use titr_common::units::Bytes;
use titr_simulation::network_traces::{Kind, Label, NetworkTraceWriter, Node, TracedMessage};

use crate::causes::Causes;
use crate::message::Message;

/// Writes messages in the order in which they enter the network, each once it has arrived.
pub struct Recorder {
    writer: NetworkTraceWriter<OutputFile>,
    /// Messages that are not written, from this label on.
    first: u64,
    kept: VecDeque<TracedMessage>,
}

impl Recorder {
    /// Begins a file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, nodes: u32) -> io::Result<Self> {
        Ok(Self { writer: NetworkTraceWriter::create(path, nodes, true)?, first: 0, kept: VecDeque::new() })
    }

    /// A message enters the network.
    pub(crate) fn entered(&mut self, label: Label, message: Message, now: Time, causes: &Causes) {
        let Some(kind) = Kind::named(message.kind_name()) else { return };
        self.kept.push_back(TracedMessage {
            label,
            from: Node(message.from),
            to: Node(message.to),
            bytes: Bytes(message.bytes()),
            kind,
            generated: now,
            arrived: None,
            address: Some(message.line.address()),
            causes: causes.triggers(),
            after: Vec::new(),
            triggers: 0,
        });
    }

    /// A message has arrived.
    pub(crate) fn arrived(&mut self, label: Label, now: Time) -> io::Result<()> {
        if let Some(message) = self.kept.get_mut((label.0 - self.first) as usize) {
            message.arrived = Some(now);
        }
        while let Some(message) = self.kept.pop_front_if(|message| message.arrived.is_some()) {
            self.first += 1;
            self.writer.write(&message)?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        while let Some(message) = self.kept.pop_front() {
            self.writer.write(&message)?;
        }
        self.writer.finish()?.finish()
    }
}
