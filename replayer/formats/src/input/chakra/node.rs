//! The nodes of a file: messages one after the other, each with its length before it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use titr_common::input;
use titr_common::trace::TraceError;

use super::protobuf::{ChakraFields, Value, varint};

/// A node of the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) id: u64,
    pub(super) kind: u64,
    /// The nodes that have to end before this one begins.
    pub(super) after: Vec<u64>,
    /// Microseconds.
    pub(super) duration: u64,
    /// Whether the node is of the host's processor, where the file says.
    pub(super) is_of_host: bool,
    pub(super) bytes: u64,
    pub(super) source: u64,
    pub(super) destination: u64,
    pub(super) tag: u64,
    pub(super) root: u64,
    /// The operation of a collective, which a wrapper of another node does not have.
    pub(super) collective: Option<u64>,
    /// The name of the process group of a collective; empty if there is none.
    pub(super) group: String,
}

/// The kinds of nodes.
pub(super) const SEND: u64 = 5;
pub(super) const RECEIVE: u64 = 6;
pub(super) const COLLECTIVE: u64 = 7;

/// The nodes of a file.
pub(super) struct Nodes {
    file: BufReader<File>,
    path: std::path::PathBuf,
    /// The place of the next message, in bytes.
    at: u64,
    message: Vec<u8>,
}

impl Nodes {
    /// Opens a file and reads its description, which precedes the nodes.
    pub(super) fn open(path: &Path) -> Result<Self, TraceError> {
        let file = BufReader::with_capacity(1 << 16, input::open(path).map_err(TraceError::io(path))?);
        let mut this = Self { file, path: path.to_owned(), at: 0, message: Vec::new() };
        if !this.message()? {
            return Err(this.error(0, "the file is empty"));
        }
        let is_description = ChakraFields(&this.message).all(|field| matches!(field, Some((1 | 2, Value::Bytes(_)))));
        if !is_description {
            return Err(this.error(0, "this is no description of a Chakra trace"));
        }
        Ok(this)
    }

    /// The next node, and its place; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(Node, u64)>, TraceError> {
        let at = self.at;
        if !self.message()? {
            return Ok(None);
        }
        match node(&self.message) {
            Some(node) => Ok(Some((node, at))),
            None => Err(self.error(at, "this is no node of a Chakra trace")),
        }
    }

    /// Reads a message; false at the end of the file.
    fn message(&mut self) -> Result<bool, TraceError> {
        let failed = TraceError::io(&self.path);
        let mut prefix = [0; 10];
        let mut length = 0;
        loop {
            let byte = match self.file.fill_buf() {
                Ok(&[byte, ..]) => byte,
                Ok([]) if length == 0 => return Ok(false),
                Ok([]) => return Err(self.error(self.at, "the file ends in the length of a message")),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(failed(error)),
            };
            self.file.consume(1);
            prefix[length] = byte;
            length += 1;
            if byte < 0x80 || length == prefix.len() {
                break;
            }
        }
        let Some(size) = varint(&mut &prefix[..length]) else {
            return Err(self.error(self.at, "the length of a message has too many bytes"));
        };
        self.message.clear();
        // Memory grows with the bytes that are there.
        let read = self.file.by_ref().take(size).read_to_end(&mut self.message).map_err(failed)? as u64;
        if read < size {
            return Err(self.error(self.at, format!("a message of {size} bytes; {read} bytes follow")));
        }
        self.at += length as u64 + size;
        Ok(true)
    }

    pub(super) fn error(&self, at: u64, what: impl Into<String>) -> TraceError {
        TraceError::Foreign { path: self.path.clone(), place: format!("byte {at}"), what: what.into() }
    }
}

/// Decodes a node; `None` if the message is torn.
fn node(message: &[u8]) -> Option<Node> {
    let mut node = Node::default();
    for field in ChakraFields(message) {
        let (number, value) = field?;
        match number {
            1 => node.id = value.number()?,
            3 => node.kind = value.number()?,
            4 | 5 => list(value, &mut node.after)?,
            7 => node.duration = value.number()?,
            10 => attribute(value.bytes()?, &mut node)?,
            _ => {}
        }
    }
    Some(node)
}

/// A list of numbers, packed or one by one.
fn list(value: Value, all: &mut Vec<u64>) -> Option<()> {
    match value {
        Value::Number(number) => all.push(number),
        Value::Bytes(mut rest) => {
            while !rest.is_empty() {
                all.push(varint(&mut rest)?);
            }
        }
    }
    Some(())
}

/// An attribute: a name, and a value in a field that depends on its type.
fn attribute(message: &[u8], node: &mut Node) -> Option<()> {
    let (mut name, mut number, mut text) = (&[][..], 0, &[][..]);
    for field in ChakraFields(message) {
        match field? {
            (1, value) => name = value.bytes()?,
            (2, _) => {}
            (_, Value::Number(value)) => number = value,
            (_, Value::Bytes(value)) => text = value,
        }
    }
    match name {
        b"is_cpu_op" => node.is_of_host = number != 0,
        b"comm_type" => node.collective = Some(number),
        b"comm_size" => node.bytes = number,
        b"comm_src" => node.source = number,
        b"comm_dst" => node.destination = number,
        b"comm_tag" => node.tag = number,
        b"root" | b"comm_root" => node.root = number,
        b"pg_name" => node.group = String::from_utf8_lossy(text).into_owned(),
        _ => {}
    }
    Some(())
}
