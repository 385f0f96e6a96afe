//! The text of a network trace. It is gzipped, or plain.
//!
//! ```text
//! # titr network trace 1
//! nodes 3
//! ordered
//! 0 0 1 8 request 0 120000 triggers=1
//! 1 1 0 40 data 150000 310000 after=0+30000
//! end 2
//! ```
//!
//! | line | meaning |
//! | --- | --- |
//! | `# titr network trace 1` | the first line: the version of this grammar |
//! | `nodes N` | the second: nodes are numbers from 0 to N − 1 |
//! | `ordered` | the third, if labels rise and times of generation never fall from line to line, so that the trace can be read as it is replayed |
//! | `LABEL FROM TO BYTES KIND GENERATED ARRIVED WORD…` | a message: its label, the nodes that it goes from and to, its payload, its kind, and when it was generated and had arrived, in picoseconds; `-` if it did not arrive |
//! | `end MESSAGES` | the last: how many messages there are |
//!
//! Other lines that begin with `#` are comments. The words that may follow a message, in any order:
//!
//! | word | meaning |
//! | --- | --- |
//! | `after=LABEL+DELAY` | waits for the reception of that message, and then for so many picoseconds; if there are several, for all of them |
//! | `triggers=COUNT` | so many messages wait for this one (0 if the word is missing) |
//! | `cause=LABEL+DELAY` | the message whose reception released this one in the simulation that recorded it, so long before; there may be several |
//! | `address=HEX` | the address in memory that the message is about |

use std::collections::HashMap;
use std::io::{self, Write};

use titr_common::time::Time;
use titr_common::units::Bytes;

use crate::message::{Kind, Label, Node, TracedMessage, Trigger};

/// The first line: the version of the grammar.
pub const HEADER: &str = "# titr network trace 1";

/// A line of a trace, but for the first and for comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The number of nodes.
    Nodes(u32),
    /// Labels rise and times of generation never fall.
    Ordered,
    /// A message.
    Message(TracedMessage),
    /// The end, with the number of messages.
    End(u64),
}

/// Kinds seen before, so that their names are kept once.
#[derive(Debug, Default)]
pub struct Kinds(HashMap<String, Kind>);

impl Kinds {
    fn of(&mut self, name: &str) -> Result<Kind, String> {
        if let Some(kind) = self.0.get(name) {
            return Ok(kind.clone());
        }
        let kind = Kind::named(name).ok_or_else(|| {
            format!("'{name}' is no kind of messages: write one word of letters, digits, '-', '_' and '.'")
        })?;
        self.0.insert(name.to_owned(), kind.clone());
        Ok(kind)
    }
}

/// Reads a line; the error is a sentence that says what is wrong with it.
///
/// # Errors
/// If the line is not of the grammar.
pub fn parse(text: &str, kinds: &mut Kinds) -> Result<Line, String> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next().ok_or("an empty line")?;
    let line = match first {
        "nodes" => Line::Nodes(number(words.next(), "the number of nodes")?),
        "ordered" => Line::Ordered,
        "end" => Line::End(number(words.next(), "the number of messages")?),
        label => return message(number(Some(label), "a label")?, words, kinds).map(Line::Message),
    };
    match words.next() {
        None => Ok(line),
        Some(word) => Err(format!("'{word}' after the end of the line")),
    }
}

fn number<T: std::str::FromStr>(word: Option<&str>, what: &str) -> Result<T, String> {
    let word = word.ok_or_else(|| format!("{what} is missing"))?;
    word.parse().map_err(|_| format!("'{word}' is not {what}, which is a whole number"))
}

fn message<'a>(
    label: u64,
    mut words: impl Iterator<Item = &'a str>,
    kinds: &mut Kinds,
) -> Result<TracedMessage, String> {
    let mut message = TracedMessage {
        label: Label(label),
        from: Node(number(words.next(), "the node that sends")?),
        to: Node(number(words.next(), "the node that receives")?),
        bytes: Bytes(number(words.next(), "the size in bytes")?),
        kind: kinds.of(words.next().ok_or("the kind is missing")?)?,
        generated: Time(number(words.next(), "the time of generation in picoseconds")?),
        arrived: match words.next() {
            Some("-") => None,
            word => Some(Time(number(word, "the time of arrival in picoseconds")?)),
        },
        address: None,
        causes: Vec::new(),
        after: Vec::new(),
        triggers: 0,
    };
    for word in words {
        let (name, value) = word.split_once('=').ok_or_else(|| format!("'{word}' is no NAME=VALUE"))?;
        match name {
            "after" => message.after.push(trigger(word, value)?),
            "cause" => message.causes.push(trigger(word, value)?),
            "triggers" => message.triggers = number(Some(value), "the number of messages that wait for this one")?,
            "address" => {
                let address = u64::from_str_radix(value, 16);
                message.address = Some(address.map_err(|_| format!("'{value}' is no address in hexadecimal digits"))?);
            }
            _ => return Err(format!("'{name}' is not after, triggers, cause or address")),
        }
    }
    Ok(message)
}

/// Reads `LABEL+DELAY`, the value in `word`.
fn trigger(word: &str, value: &str) -> Result<Trigger, String> {
    let (label, delay) =
        value.split_once('+').ok_or_else(|| format!("'{word}' is not of the form NAME=LABEL+DELAY"))?;
    let label = Label(number(Some(label), "a label")?);
    Ok(Trigger { label, delay: Time(number(Some(delay), "a delay in picoseconds")?) })
}

/// Writes the line of a message.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write_message(out: &mut impl Write, message: &TracedMessage) -> io::Result<()> {
    let TracedMessage { label, from, to, bytes, kind, generated, arrived, address, causes, after, triggers } = message;
    write!(out, "{label} {} {} {} {kind} {}", from.0, to.0, bytes.0, generated.0)?;
    match arrived {
        Some(at) => write!(out, " {}", at.0)?,
        None => out.write_all(b" -")?,
    }
    if let Some(address) = address {
        write!(out, " address={address:x}")?;
    }
    for Trigger { label, delay } in causes {
        write!(out, " cause={label}+{}", delay.0)?;
    }
    for Trigger { label, delay } in after {
        write!(out, " after={label}+{}", delay.0)?;
    }
    if *triggers > 0 {
        write!(out, " triggers={triggers}")?;
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages() -> impl Strategy<Value = TracedMessage> {
        let trigger = (any::<u64>(), any::<u64>());
        let numbers = (any::<[u64; 3]>(), any::<[u32; 3]>(), any::<Option<u64>>());
        let words =
            (any::<Option<u64>>(), proptest::collection::vec(trigger, 0..3), proptest::collection::vec(trigger, 0..3));
        (numbers, "[a-zA-Z0-9._-]{1,9}", words).prop_map(|(numbers, kind, (address, causes, after))| {
            let ([label, bytes, generated], [from, to, triggers], arrived) = numbers;
            let trigger = |(label, delay)| Trigger { label: Label(label), delay: Time(delay) };
            TracedMessage {
                label: Label(label),
                from: Node(from),
                to: Node(to),
                bytes: Bytes(bytes),
                kind: Kind::named(&kind).unwrap(),
                generated: Time(generated),
                arrived: arrived.map(Time),
                address,
                causes: causes.into_iter().map(trigger).collect(),
                after: after.into_iter().map(trigger).collect(),
                triggers,
            }
        })
    }

    proptest! {
        #[test]
        fn a_message_that_is_written_is_read_again(message in messages()) {
            let mut text = Vec::new();
            write_message(&mut text, &message).unwrap();
            let text = String::from_utf8(text).unwrap();
            prop_assert_eq!(parse(text.trim_end(), &mut Kinds::default()), Ok(Line::Message(message)));
        }
    }

    #[test]
    fn a_line_that_is_wrong_is_refused_with_a_reason() {
        for (line, reason) in [
            ("0 1", "the node that receives is missing"),
            ("x 0 1 8 data 0 1", "'x' is not a label, which is a whole number"),
            ("0 -1 1 8 data 0 1", "'-1' is not the node that sends, which is a whole number"),
            ("0 0 1 8 d/t 0 1", "'d/t' is no kind"),
            ("0 0 1 8 data 0 1 after=3", "'after=3' is not of the form NAME=LABEL+DELAY"),
            ("0 0 1 8 data 0 1 later=3", "'later' is not after"),
            ("0 0 1 8 data 0 1 late", "'late' is no NAME=VALUE"),
            ("0 0 1 8 data 0 1 address=xyz", "'xyz' is no address"),
            ("nodes", "the number of nodes is missing"),
            ("end 3 4", "'4' after the end of the line"),
        ] {
            let found = parse(line, &mut Kinds::default()).unwrap_err();
            assert!(found.starts_with(reason), "{line}: {found}");
        }
    }
}
