//! The machine: nodes and directories, the network between them, and a program.

use std::io;

use serde::Serialize;
use thiserror::Error;
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::topology::HostId;
use titr_network::{Network, Transfer, TransferId, Unreachable};
use titr_platform::Platform;
use titr_simulation::network_traces::Label;

use crate::causes::Causes;
use crate::directory::{Directory, MOST_NODES, Outgoing};
use crate::event::{Event, Events};
use crate::message::{Line, Message, MessageKind};
use crate::node::{Node, Progress};
use crate::programs::{Program, Script};
use crate::recorder::Recorder;

/// The node that counts processors at barriers.
const BARRIER_HOME: u32 = 0;

/// An error that prevents a program from running to its end.
#[derive(Debug, Error)]
pub enum MachineError {
    /// The platform is too small, or the program too large.
    #[error(
        "the program has {nodes} nodes: the platform has {hosts} hosts, and a directory knows {MOST_NODES} nodes at most"
    )]
    Nodes {
        /// Nodes of the program.
        nodes: u32,
        /// Hosts of the platform.
        hosts: u32,
    },
    /// The network trace cannot be written.
    #[error("the network trace: {0}")]
    Trace(#[from] io::Error),
    /// A message never arrives.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// Processors wait forever.
    #[error("{waiting} processors wait and no message is under way: the protocol has a mistake")]
    Stuck {
        /// Processors that wait.
        waiting: usize,
    },
}

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct MachineResult {
    /// The arrival of the last message.
    pub simulated_time: Seconds,
    /// Messages that entered the network.
    pub messages: u64,
    /// Payload of these messages.
    pub bytes: Bytes,
    /// Time that they took, in the mean.
    pub latency: Seconds,
    /// Instructions executed.
    pub instructions: u64,
    /// Accesses that missed.
    pub misses: u64,
}

/// A machine that runs a program.
pub struct Machine {
    network: Box<dyn Network>,
    nodes: Vec<Node>,
    directories: Vec<Directory>,
    events: Events,
    program: Box<dyn Program>,
    scripts: Vec<Script>,
    under_way: slab::Slab<(Label, Message, Time)>,
    arrived_at_barrier: u32,
    barrier: Causes,
    recorder: Option<Recorder>,
    messages: u64,
    bytes: Bytes,
    latency: u128,
    end: Time,
}

impl Machine {
    /// A machine whose node *n* is host *n* of the platform.
    ///
    /// # Errors
    /// If there are not enough hosts.
    pub fn new(
        platform: &Platform,
        program: Box<dyn Program>,
        recorder: Option<Recorder>,
    ) -> Result<Self, MachineError> {
        let (nodes, hosts) = (program.nodes(), platform.topology.hosts());
        if nodes > hosts || nodes > MOST_NODES {
            return Err(MachineError::Nodes { nodes, hosts });
        }
        Ok(Self {
            network: platform.network(0),
            nodes: (0..nodes).map(Node::new).collect(),
            directories: (0..nodes).map(|_| Directory::default()).collect(),
            events: Events::default(),
            program,
            scripts: Vec::new(),
            under_way: slab::Slab::new(),
            arrived_at_barrier: 0,
            barrier: Causes::default(),
            recorder,
            messages: 0,
            bytes: Bytes(0),
            latency: 0,
            end: Time::ZERO,
        })
    }

    /// Runs the program.
    ///
    /// # Errors
    /// If the network trace cannot be written, or the program does not terminate.
    pub fn run(mut self) -> Result<MachineResult, MachineError> {
        self.scripts = self.program.phase();
        for node in 0..self.nodes.len() as u32 {
            self.release(node, Time::ZERO, &Causes::start());
        }
        let mut delivered = Vec::new();
        while let Some(now) = [self.network.next_event(), self.events.next()].into_iter().flatten().min() {
            if now == Time::NEVER {
                return Err(self.network.first_unreachable().into());
            }
            self.network.advance(now, &mut delivered);
            for TransferId(id) in delivered.drain(..) {
                let Some((label, message, since)) = self.under_way.try_remove(id as usize) else { continue };
                self.end = now;
                self.latency += u128::from(now.0 - since.0);
                if let Some(recorder) = &mut self.recorder {
                    recorder.arrived(label, now)?;
                }
                self.deliver(message, now, Causes::reception(label, now));
            }
            while let Some(event) = self.events.take(now) {
                match event {
                    Event::Resume { node } => self.go_on(node, now),
                    Event::Send { message, causes } if message.from == message.to => self.deliver(message, now, causes),
                    Event::Send { message, causes } => self.inject(message, now, &causes),
                    Event::Handle { message, causes } => {
                        let mut out = Vec::new();
                        self.directories[message.to as usize].handle(message, causes, &mut out);
                        self.plan(now, out);
                    }
                }
            }
        }
        let waiting = self.nodes.iter().filter(|node| !node.is_at_barrier()).count();
        if waiting > 0 || !self.scripts.is_empty() {
            return Err(MachineError::Stuck { waiting });
        }
        if let Some(recorder) = self.recorder {
            recorder.finish()?;
        }
        Ok(MachineResult {
            simulated_time: self.end.seconds(),
            messages: self.messages,
            bytes: self.bytes,
            latency: Time((self.latency / u128::from(self.messages.max(1))) as u64).seconds(),
            instructions: self.nodes.iter().map(|node| node.processor.instructions()).sum(),
            misses: self.nodes.iter().map(|node| node.missed).sum(),
        })
    }

    /// Plans the messages that leave from now on.
    fn plan(&mut self, now: Time, out: Vec<Outgoing>) {
        for Outgoing { delay, message, causes } in out {
            self.events.plan(Time(now.0 + delay), Event::Send { message, causes });
        }
    }

    fn inject(&mut self, message: Message, now: Time, causes: &Causes) {
        let label = Label(self.messages);
        self.messages += 1;
        let bytes = Bytes(message.bytes());
        self.bytes += bytes;
        if let Some(recorder) = &mut self.recorder {
            recorder.entered(label, message, now, causes);
        }
        let id = TransferId(self.under_way.insert((label, message, now)) as u32);
        let (from, to) = (HostId(message.from), HostId(message.to));
        self.network.inject(now, Transfer::new(id, from, to, bytes));
    }

    /// Handles the arrival of a message at its node.
    fn deliver(&mut self, message: Message, now: Time, causes: Causes) {
        match message.kind {
            MessageKind::Read
            | MessageKind::Write
            | MessageKind::Upgrade
            | MessageKind::Acknowledge { .. }
            | MessageKind::OwnerData { .. }
            | MessageKind::WriteBack { .. } => {
                let (at, causes) = self.directories[message.to as usize].admit(now, causes);
                self.events.plan(at, Event::Handle { message, causes });
            }
            MessageKind::Forward { .. }
            | MessageKind::Invalidate { .. }
            | MessageKind::Data { .. }
            | MessageKind::Grant { .. }
            | MessageKind::WrittenBack => {
                let mut out = Vec::new();
                let turn_began = self.nodes[message.to as usize].receive(message, now, causes, &mut out);
                self.plan(now, out);
                if turn_began {
                    self.go_on(message.to, now);
                }
            }
            MessageKind::Arrive => self.come_to_barrier(now, &causes),
            MessageKind::Release => self.release(message.to, now, &causes),
        }
    }

    fn come_to_barrier(&mut self, now: Time, causes: &Causes) {
        self.arrived_at_barrier += 1;
        self.barrier.join_all(causes);
        if self.arrived_at_barrier < self.nodes.len() as u32 {
            return;
        }
        self.arrived_at_barrier = 0;
        let causes = std::mem::take(&mut self.barrier);
        self.scripts = self.program.phase();
        for to in 0..self.scripts.len() as u32 {
            let message = Message { kind: MessageKind::Release, from: BARRIER_HOME, to, line: Line(0) };
            self.events.plan(now, Event::Send { message, causes: causes.clone() });
        }
    }

    /// A processor may leave the barrier.
    fn release(&mut self, node: u32, now: Time, causes: &Causes) {
        let script = std::mem::take(&mut self.scripts[node as usize]);
        self.nodes[node as usize].release(script, now, causes);
        self.events.plan(now, Event::Resume { node });
    }

    fn go_on(&mut self, node: u32, now: Time) {
        let mut out = Vec::new();
        let progress = self.nodes[node as usize].run(now, &mut out);
        self.plan(now, out);
        match progress {
            Progress::Waits => {}
            Progress::Until(at) => self.events.plan(at, Event::Resume { node }),
        }
    }
}
