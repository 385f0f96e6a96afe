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
//! | `LABEL FROM TO BYTES KIND GENERATED ARRIVED WORD…` | a message: its label, its source and destination node, its payload, its kind, and the times of its generation and arrival, in picoseconds; `-` if it did not arrive |
//! | `end MESSAGES` | the last: the number of messages |
//!
//! Other lines that begin with `#` are comments. The words that may follow a message, in any order:
//!
//! | word | meaning |
//! | --- | --- |
//! | `after=LABEL+DELAY` | waits for the reception of that message, and then for this many picoseconds; if there are several, for all of them |
//! | `triggers=COUNT` | this many messages wait for this one (0 if the word is missing) |
//! | `cause=LABEL+DELAY` | the message whose reception released this one in the simulation that recorded it, this many picoseconds before; there may be several |
//! | `address=HEX` | the memory address that the message concerns |

use std::collections::HashMap;
use std::io::{self, Write};

use titr_common::time::Time;
use titr_common::units::Bytes;

use super::{Kind, Label, Node, TracedMessage, Trigger};

/// The first line: the version of the grammar.
pub(crate) const HEADER: &str = "# titr network trace 1";

/// A line of a trace, except for the first and for comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Nodes(u32),
    /// Labels rise and times of generation never fall.
    Ordered,
    Message,
    /// The end, with the number of messages.
    End(u64),
}

/// Kinds seen before, so that their names are kept once.
#[derive(Debug, Default)]
pub(crate) struct Kinds(HashMap<String, Kind>);

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

/// Reads a line; a message is stored in `message`, which is undefined if the line is not a message. The error is a
/// sentence that describes the mistake.
pub(crate) fn parse(text: &str, kinds: &mut Kinds, message: &mut TracedMessage) -> Result<Line, String> {
    let mut words = Words { rest: text };
    let line = match words.peek().ok_or("an empty line")? {
        "nodes" => Line::Nodes(words.after_keyword("the number of nodes")?),
        "ordered" => {
            words.next();
            Line::Ordered
        }
        "end" => Line::End(words.after_keyword("the number of messages")?),
        _ => {
            parse_message(words, kinds, message)?;
            return Ok(Line::Message);
        }
    };
    match words.next() {
        None => Ok(line),
        Some(word) => Err(format!("'{word}' after the end of the line")),
    }
}

fn parse_message(mut words: Words, kinds: &mut Kinds, message: &mut TracedMessage) -> Result<(), String> {
    message.label = Label(words.number("a label")?);
    message.from = Node(words.number("the node that sends")?);
    message.to = Node(words.number("the node that receives")?);
    message.bytes = Bytes(words.number("the size in bytes")?);
    let kind = words.next().ok_or("the kind is missing")?;
    if message.kind.name() != kind {
        message.kind = kinds.of(kind)?;
    }
    message.generated = Time(words.number("the time of generation in picoseconds")?);
    message.arrived =
        if words.take("-") { None } else { Some(Time(words.number("the time of arrival in picoseconds")?)) };
    message.address = None;
    message.triggers = 0;
    message.causes.clear();
    message.after.clear();
    while !words.is_over() {
        if words.take_name("after=") {
            message.after.push(words.trigger("after")?);
        } else if words.take_name("triggers=") {
            message.triggers = words.number("the number of messages that wait for this one")?;
        } else if words.take_name("address=") {
            let value = words.next().unwrap_or_default();
            let address = u64::from_str_radix(value, 16);
            message.address = Some(address.map_err(|_| format!("'{value}' is no address in hexadecimal digits"))?);
        } else if words.take_name("cause=") {
            message.causes.push(words.trigger("cause")?);
        } else {
            let word = words.next().unwrap_or_default();
            let (name, _) = word.split_once('=').ok_or_else(|| format!("'{word}' is no NAME=VALUE"))?;
            return Err(format!("'{name}' is not after, triggers, cause or address"));
        }
    }
    Ok(())
}

/// The rest of a line: words between blanks.
struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    /// Passes the blanks before the next word; whether there is none.
    #[inline]
    fn is_over(&mut self) -> bool {
        // Nearly always there is one blank.
        self.rest = self.rest.strip_prefix(' ').unwrap_or(self.rest);
        if self.rest.bytes().next().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.rest = self.rest.trim_ascii_start();
        }
        self.rest.is_empty()
    }

    /// The next word, which stays.
    #[inline]
    fn peek(&mut self) -> Option<&'a str> {
        if self.is_over() {
            return None;
        }
        let end = self.rest.bytes().position(|byte| byte.is_ascii_whitespace());
        Some(&self.rest[..end.unwrap_or(self.rest.len())])
    }

    #[inline]
    fn next(&mut self) -> Option<&'a str> {
        let word = self.peek()?;
        self.rest = &self.rest[word.len()..];
        Some(word)
    }

    /// Passes the next word if it is this one.
    #[inline]
    fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        if is_next {
            self.rest = &self.rest[word.len()..];
        }
        is_next
    }

    /// Passes the beginning of the next word, which begins here, if it is this one.
    #[inline]
    fn take_name(&mut self, name: &str) -> bool {
        let rest = self.rest.strip_prefix(name);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn after_keyword<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, String> {
        self.next();
        self.number(what)
    }

    /// The number that the next word is.
    #[inline]
    fn number<T: TryFrom<u64>>(&mut self, what: &str) -> Result<T, String> {
        self.is_over();
        let (number, length) = digits(self.rest);
        let is_word = self.rest.as_bytes().get(length).is_none_or(u8::is_ascii_whitespace);
        match number.filter(|_| is_word).and_then(|number| T::try_from(number).ok()) {
            Some(number) => {
                self.rest = &self.rest[length..];
                Ok(number)
            }
            None => Err(self.no_number(what)),
        }
    }

    #[cold]
    fn no_number(&mut self, what: &str) -> String {
        match self.next() {
            None => format!("{what} is missing"),
            Some(word) => format!("'{word}' is not {what}, which is a whole number"),
        }
    }

    /// `LABEL+DELAY`, the value of a word of this name.
    #[inline]
    fn trigger(&mut self, name: &str) -> Result<Trigger, String> {
        let (label, length) = digits(self.rest);
        if let Some((label, delay)) = label.zip(self.rest[length..].strip_prefix('+')) {
            self.rest = delay;
            return Ok(Trigger { label: Label(label), delay: Time(self.number("a delay in picoseconds")?) });
        }
        let word = self.next().unwrap_or_default();
        Err(format!("'{name}={word}' is not of the form NAME=LABEL+DELAY, where the label is a whole number"))
    }
}

/// The number that a text begins with, and how many digits it has; `None` if it has none or is too large.
#[inline]
fn digits(text: &str) -> (Option<u64>, usize) {
    let (mut number, mut length) = (0_u64, 0);
    while let Some(digit) = text.as_bytes().get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
    {
        // Nineteen digits always fit.
        let next = if length < 19 {
            Some(number * 10 + u64::from(digit))
        } else {
            number.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit)))
        };
        let Some(next) = next else { return (None, length) };
        number = next;
        length += 1;
    }
    ((length > 0).then_some(number), length)
}

pub(crate) fn write_message(out: &mut impl Write, message: &TracedMessage) -> io::Result<()> {
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
            let mut read = TracedMessage::default();
            prop_assert_eq!(parse(text.trim_end(), &mut Kinds::default(), &mut read), Ok(Line::Message));
            prop_assert_eq!(read, message);
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
            let found = parse(line, &mut Kinds::default(), &mut TracedMessage::default()).unwrap_err();
            assert!(found.starts_with(reason), "{line}: {found}");
        }
    }
}
