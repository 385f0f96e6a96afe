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
    /// The name or the number of the process group of a collective; empty if there is none.
    pub(super) group: String,
    /// Attributes of communication that titr does not know.
    pub(super) unknown: Vec<String>,
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
        match node(&self.message).ok_or_else(|| "this is no node of a Chakra trace".to_owned()).flatten() {
            Ok(node) => Ok(Some((node, at))),
            Err(what) => Err(self.error(at, what)),
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

/// Decodes a node: `None` if the message is torn, and a reason in words if an attribute has a value that it cannot have.
fn node(message: &[u8]) -> Option<Result<Node, String>> {
    let mut node = Node::default();
    let mut wrong = None;
    for field in ChakraFields(message) {
        let (number, value) = field?;
        match number {
            1 => node.id = value.number()?,
            3 => node.kind = value.number()?,
            4 | 5 => list(value, &mut node.after)?,
            7 => node.duration = value.number()?,
            10 => wrong = wrong.or(attribute(value.bytes()?, &mut node)?.err()),
            2 | 6 | 8 | 9 => {}
            number => node.unknown.push(format!("field {number}")),
        }
    }
    let id = node.id;
    Some(wrong.map_or(Ok(node), |what| Err(format!("node {id}: {what}"))))
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

/// An attribute: a name, and a value in a field that depends on its type. `None` if the message is torn.
fn attribute(message: &[u8], node: &mut Node) -> Option<Result<(), String>> {
    let (mut name, mut value) = (&[][..], Some(AttributeValue::Number(0)));
    for field in ChakraFields(message) {
        match field? {
            (1, field) => name = field.bytes()?,
            (2, _) => {}
            (kind, field) => value = AttributeValue::of(kind, field),
        }
    }
    Some(known_attribute(name, value.as_ref(), node).map_err(|expected| {
        format!("the attribute {} has a value that is no {expected}", String::from_utf8_lossy(name))
    }))
}

/// Takes note of an attribute. An error says what its value has to be.
fn known_attribute(name: &[u8], value: Option<&AttributeValue<'_>>, node: &mut Node) -> Result<(), &'static str> {
    let whole = || value.and_then(AttributeValue::whole).ok_or("whole number");
    let count = || whole().ok().and_then(|number| u64::try_from(number).ok()).ok_or("whole number from 0");
    match name {
        b"is_cpu_op" => node.is_of_host = whole()? != 0,
        b"comm_type" => node.collective = Some(count()?),
        b"comm_size" => node.bytes = count()?,
        b"comm_src" => node.source = count()?,
        b"comm_dst" => node.destination = count()?,
        b"comm_tag" => node.tag = whole()? as u64,
        b"root" | b"comm_root" => node.root = count()?,
        b"pg_name" | b"comm_group" => {
            node.group = match value {
                Some(AttributeValue::Text(text)) => String::from_utf8_lossy(text).into_owned(),
                _ => whole().map_err(|_| "name or whole number")?.to_string(),
            }
        }
        // The dimensions of a topology that the trace does not have: all of them are all members.
        b"involved_dim" if matches!(value, Some(AttributeValue::Booleans { all: true })) => {}
        _ if name.starts_with(b"comm_") || name == b"involved_dim" => {
            node.unknown.push(String::from_utf8_lossy(name).into_owned());
        }
        _ => {}
    }
    Ok(())
}

enum AttributeValue<'b> {
    Number(i128),
    Fraction(f64),
    Text(&'b [u8]),
    /// A list of truth values, and whether all are true.
    Booleans {
        all: bool,
    },
}

impl<'b> AttributeValue<'b> {
    /// The value in a field of an `AttributeProto`; `None` for a type that titr does not read.
    fn of(kind: u64, value: Value<'b>) -> Option<Self> {
        let zigzag = |number: u64| i128::from((number >> 1).cast_signed() ^ -((number & 1).cast_signed()));
        Some(match (kind, value) {
            (3, Value::Number(bits)) => Self::Fraction(f64::from_bits(bits)),
            (5, Value::Number(bits)) => Self::Fraction(f32::from_bits(bits as u32).into()),
            (7 | 9 | 25, Value::Number(number)) => Self::Number(number.cast_signed().into()),
            (11 | 13 | 19 | 21 | 27, Value::Number(number)) => Self::Number(number.into()),
            (15 | 17, Value::Number(number)) => Self::Number(zigzag(number)),
            (23, Value::Number(number)) => Self::Number((number as u32).cast_signed().into()),
            (28, Value::Bytes(list)) => {
                let mut flags = Vec::new();
                for field in ChakraFields(list) {
                    self::list(field?.1, &mut flags)?;
                }
                Self::Booleans { all: flags.iter().all(|&flag| flag != 0) }
            }
            (29 | 31, Value::Bytes(text)) => Self::Text(text),
            _ => return None,
        })
    }

    /// The number that the value is; a text may be one, too.
    fn whole(&self) -> Option<i128> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Fraction(number) if number.fract() == 0.0 && number.abs() < 2_f64.powi(64) => Some(*number as i128),
            Self::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok(),
            Self::Fraction(_) | Self::Booleans { .. } => None,
        }
    }
}
