//! Reads the traces of netrace: J. Hestness, B. Grot, S. W. Keckler, "Netrace: dependency-driven trace-based network-on-chip
//! simulation", NoCArc 2010. They hold the packets of cache-coherent processors, by cycle, and which packets depend on which.
//!
//! # Format
//! Numbers are little-endian and unpadded, except where padding is listed (`netrace.h` and `netrace.c`, version 1.0).
//! The file is compressed with bzip2 or gzip, or uncompressed.
//!
//! | part | bytes |
//! | --- | --- |
//! | header | magic number 0x484a5455 (4), version 1.0 (4, a float), name of the benchmark (30), nodes (1), padding (1), cycles (8), packets (8), length of the notes (4), number of regions (4), padding (8) |
//! | notes | as many as the header says, fewer than 8192 |
//! | regions | 24 each: where the region begins, its cycles, its packets (8 each) |
//! | packet | cycle (8), id (4), address (4), type (1), source (1), destination (1), types of both nodes (1), number of packets that depend on it (1), and their ids (4 each) |
//!
//! # Meaning
//! A packet becomes a message. The packets that depend on it wait for its reception. Cycles are the times of injection;
//! the recorded network's latencies are not known. The trigger delay is the difference of both cycles, less a latency
//! given by the user.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use rustc_hash::FxHashMap;
use titr_common::input;
use titr_common::time::Time;
use titr_common::units::Bytes;

use crate::error::NetworkTraceError;
use crate::message::{Kind, Label, Node, TracedMessage, Trigger};

/// The first bytes of a trace.
const MAGIC: u32 = 0x484a_5455;
/// Bytes of the header before the notes.
const HEADER: usize = 72;
/// Bytes of a packet without those that depend on it.
const PACKET: usize = 21;
/// Notes are shorter than this, and there are no more regions than that.
const MOST_NOTES: u32 = 8192;
const MOST_REGIONS: u32 = 100;

/// The types of packets: their numbers, names and sizes in bytes (`nt_packet_types` and `nt_packet_sizes` of `netrace.c`).
const TYPES: [(u8, &str, u64); 15] = [
    (1, "ReadReq", 8),
    (2, "ReadResp", 72),
    (3, "ReadRespWithInvalidate", 72),
    (4, "WriteReq", 72),
    (5, "WriteResp", 8),
    (6, "Writeback", 72),
    (13, "UpgradeReq", 8),
    (14, "UpgradeResp", 8),
    (15, "ReadExReq", 8),
    (16, "ReadExResp", 72),
    (25, "BadAddressError", 8),
    (27, "InvalidateReq", 8),
    (28, "InvalidateResp", 8),
    (29, "DowngradeReq", 8),
    (30, "DowngradeResp", 72),
];

/// The meaning of the cycles of a netrace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// The length of a cycle.
    pub length: Time,
    /// Cycles that packets took in the recorded network, which trigger delays are without.
    pub latency: u64,
}

/// A netrace file that is being read.
pub struct Netrace {
    path: PathBuf,
    input: Box<dyn Read>,
    /// Bytes read so far.
    offset: u64,
    cycles: Cycles,
    nodes: u32,
    /// Packets that the header says there are.
    expected: u64,
    /// Packets read.
    packets: u64,
    /// The cycle of the packet read last.
    last: u64,
    /// The packets read that packets wait for which were not read, by the ids of the latter.
    upstream: FxHashMap<u32, Vec<(Label, u64)>>,
    /// The kinds, as in [`TYPES`].
    kinds: Vec<(u8, Kind, Bytes)>,
}

impl Netrace {
    /// Opens the file at `path`, compressed or not.
    ///
    /// # Errors
    /// If the file cannot be read, or is no netrace file.
    pub(crate) fn open(path: &Path, cycles: Cycles) -> Result<Self, NetworkTraceError> {
        let file = input::open(path).map_err(NetworkTraceError::io(path))?;
        Self::of(path, BufReader::with_capacity(1 << 16, file), cycles)
    }

    /// Reads a trace from `input`, which messages call `path`.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn of(path: &Path, mut input: impl BufRead + 'static, cycles: Cycles) -> Result<Self, NetworkTraceError> {
        // The uncompressed format begins with 0x55.
        let input: Box<dyn Read> = match input.fill_buf().map_err(NetworkTraceError::io(path))?.first() {
            Some(b'B') => Box::new(BufReader::new(MultiBzDecoder::new(input))),
            Some(0x1f) => Box::new(BufReader::new(MultiGzDecoder::new(input))),
            Some(_) | None => Box::new(input),
        };
        let kind = |&(number, name, bytes): &(u8, &str, u64)| Some((number, Kind::named(name)?, Bytes(bytes)));
        let mut this = Self {
            path: path.into(),
            input,
            offset: 0,
            cycles,
            nodes: 0,
            expected: 0,
            packets: 0,
            last: 0,
            upstream: FxHashMap::default(),
            kinds: TYPES.iter().filter_map(kind).collect(),
        };
        this.header()?;
        Ok(this)
    }

    /// Whether the file at `path` may be a netrace file: it is neither plain nor gzipped text.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn recognises(path: &Path) -> Result<bool, NetworkTraceError> {
        let mut first = [0; 4];
        let mut file = input::open(path).map_err(NetworkTraceError::io(path))?;
        let read = file.read(&mut first).map_err(NetworkTraceError::io(path))?;
        Ok(read == first.len() && (first.starts_with(b"BZh") || first == MAGIC.to_le_bytes()))
    }

    /// The number of nodes.
    #[must_use]
    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    fn header(&mut self) -> Result<(), NetworkTraceError> {
        let mut header = [0; HEADER];
        if !self.read(&mut header)? {
            return Err(self.wrong("the file is empty".to_owned()));
        }
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        if word(0) != MAGIC {
            return Err(self.wrong(format!("this is no netrace file: it does not begin with {MAGIC:#x}")));
        }
        let version = f32::from_bits(word(4));
        if version != 1.0 {
            return Err(self.wrong(format!("version {version} of the format, and this titr reads 1")));
        }
        self.nodes = header[38].into();
        self.expected = u64::from(word(48)) | u64::from(word(52)) << 32;
        let (notes, regions) = (word(56), word(60));
        if self.nodes == 0 {
            return Err(self.wrong("the header says that there are no nodes".to_owned()));
        }
        if notes >= MOST_NOTES {
            return Err(self.wrong(format!("the header says that there are notes of {notes} bytes, which is too long")));
        }
        if regions > MOST_REGIONS {
            return Err(
                self.wrong(format!("the header says that there are {regions} regions, more than {MOST_REGIONS}"))
            );
        }
        let mut rest = vec![0; notes as usize + 24 * regions as usize];
        if !rest.is_empty() && !self.read(&mut rest)? {
            return Err(self.wrong("the file ends before the notes and regions that the header says".to_owned()));
        }
        Ok(())
    }

    /// Fills `bytes`; false if the file ends before their first.
    fn read(&mut self, bytes: &mut [u8]) -> Result<bool, NetworkTraceError> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.input.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => {
                    return Err(
                        self.wrong("the file ends in the middle: it is torn, or its header is wrong".to_owned())
                    );
                }
                Ok(read) => {
                    filled += read;
                    self.offset += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.wrong(format!("the compressed file is torn or damaged ({error})"))),
            }
        }
        Ok(true)
    }

    fn wrong(&self, what: String) -> NetworkTraceError {
        NetworkTraceError::Messages { path: self.path.clone(), what: format!("at byte {}: {what}", self.offset) }
    }

    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// If the file cannot be read, or a packet is invalid.
    pub fn next_message(&mut self) -> Result<Option<TracedMessage>, NetworkTraceError> {
        let mut packet = [0; PACKET];
        if !self.read(&mut packet)? {
            return self.end();
        }
        let [c0, c1, c2, c3, c4, c5, c6, c7, i0, i1, i2, i3, a0, a1, a2, a3, number, from, to, _, count] = packet;
        let cycle = u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, c7]);
        let (id, address) = (u32::from_le_bytes([i0, i1, i2, i3]), u32::from_le_bytes([a0, a1, a2, a3]));
        let found = self.kinds.iter().find(|(known, ..)| *known == number);
        let Some((_, kind, bytes)) = found.cloned() else {
            return Err(self.wrong(format!("packet {id} has the type {number}, which does not exist")));
        };
        if let Some(node) = [from, to].into_iter().find(|&node| u32::from(node) >= self.nodes) {
            return Err(self.wrong(format!("packet {id} is of node {node}, and the header says {} nodes", self.nodes)));
        }
        if cycle < self.last {
            return Err(self.wrong(format!("packet {id} is of cycle {cycle}, after one of cycle {}", self.last)));
        }
        self.last = cycle;
        let label = Label(self.packets);
        self.packets += 1;
        let upstream = self.upstream.remove(&id).unwrap_or_default();
        for _ in 0..count {
            let mut waiting = [0; 4];
            if !self.read(&mut waiting)? {
                return Err(self.wrong(format!("the file ends within packet {id}")));
            }
            let waiting = u32::from_le_bytes(waiting);
            if waiting == id {
                return Err(self.wrong(format!("packet {id} waits for itself")));
            }
            let triggers = self.upstream.entry(waiting).or_default();
            if triggers.last().is_some_and(|(last, _)| *last == label) {
                return Err(self.wrong(format!("packet {waiting} waits for packet {id} twice")));
            }
            triggers.push((label, cycle));
        }
        let delay = |then: u64| self.time((cycle - then).saturating_sub(self.cycles.latency));
        let after = upstream.into_iter().map(|(label, then)| Trigger { label, delay: delay(then) });
        Ok(Some(TracedMessage {
            label,
            from: Node(from.into()),
            to: Node(to.into()),
            bytes,
            kind,
            generated: self.time(cycle),
            arrived: None,
            address: Some(address.into()),
            causes: Vec::new(),
            after: after.collect(),
            triggers: count.into(),
        }))
    }

    fn time(&self, cycles: u64) -> Time {
        Time(cycles.saturating_mul(self.cycles.length.0))
    }

    /// Makes sure that all is there.
    fn end(&mut self) -> Result<Option<TracedMessage>, NetworkTraceError> {
        if self.packets != self.expected {
            let (packets, expected) = (self.packets, self.expected);
            return Err(self.wrong(format!("{packets} packets, and the header says {expected}: the file is torn")));
        }
        match self.upstream.keys().min() {
            None => Ok(None),
            Some(id) => Err(self.wrong(format!("packet {id} should wait for an earlier one, and does not follow"))),
        }
    }
}

#[cfg(test)]
mod tests;
