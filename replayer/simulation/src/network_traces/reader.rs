//! Reads a network trace, message by message.

use std::io;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use titr_common::format::counted;
use titr_common::input;
use titr_common::input::{BYTE_ORDER_MARK, other_encoding};
use titr_common::output::OutputFile;
use titr_common::time::Time;

use super::grammar::{HEADER, Kinds, Line, parse, write_message};
use super::{Label, NetworkTraceError, TracedMessage, Trigger};

/// A network trace that is being read.
pub struct NetworkTrace {
    lines: Lines,
    kinds: Kinds,
    /// The number of nodes.
    pub(crate) nodes: u32,
    /// Whether labels rise and times of generation never fall in the part that was read. The trace declares this before its
    /// first message, so it is known once one was read.
    pub(crate) ordered: bool,
    /// The label and the time of the message before the one that was read last.
    before: Option<(Label, Time)>,
    /// The message that was read last; its memory is used again.
    pub(crate) message: TracedMessage,
    messages: u64,
    ended: bool,
}

impl NetworkTrace {
    /// Opens the file at `path`, gzipped or not.
    ///
    /// # Errors
    /// If the file cannot be read, or is no network trace.
    pub fn open(path: &Path) -> Result<Self, NetworkTraceError> {
        let file = input::open(path).map_err(NetworkTraceError::io(path))?;
        Self::of(path, BufReader::with_capacity(1 << 16, file))
    }

    /// Reads a trace from `input`, which messages call `path`.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn of(path: &Path, input: impl BufRead + Send + 'static) -> Result<Self, NetworkTraceError> {
        let mut lines = Lines::of(path, input)?;
        match lines.next()?.map(|header| header == HEADER) {
            Some(true) => {}
            Some(false) => {
                return Err(lines.wrong(format!("this is no network trace: the first line of one is '{HEADER}'")));
            }
            None => {
                let what = "the file is empty: nothing was recorded, or this is another file".to_owned();
                return Err(NetworkTraceError::Messages { path: lines.path, what });
            }
        }
        let mut this = Self {
            lines,
            kinds: Kinds::default(),
            nodes: 0,
            ordered: false,
            before: None,
            message: TracedMessage::default(),
            messages: 0,
            ended: false,
        };
        this.nodes = match this.line()? {
            Line::Nodes(0) => return Err(this.wrong("a network has nodes: write how many, `nodes 64`".to_owned())),
            Line::Nodes(nodes) => nodes,
            Line::Ordered | Line::Message | Line::End(_) => {
                return Err(this.wrong("the second line says how many nodes there are: `nodes 64`".to_owned()));
            }
        };
        Ok(this)
    }

    /// The next message; `None` at the end, and from then on.
    ///
    /// # Errors
    /// If the trace cannot be read, or a line of it is wrong.
    pub fn next_message(&mut self) -> Result<Option<TracedMessage>, NetworkTraceError> {
        Ok(self.read_message()?.cloned())
    }

    /// The `first` message and all that are left, by their labels.
    pub(crate) fn by_label(&mut self, first: Option<TracedMessage>) -> Result<Vec<TracedMessage>, NetworkTraceError> {
        let mut messages = Vec::from_iter(first);
        while let Some(message) = self.next_message()? {
            messages.push(message);
        }
        messages.sort_by_key(|message| message.label);
        match messages.windows(2).find(|pair| pair[0].label == pair[1].label) {
            Some(twice) => Err(self.unfit(format!("there are two messages {}", twice[0].label))),
            None => Ok(messages),
        }
    }

    /// Reads the [next message](Self::next_message) into memory that is used again.
    pub(crate) fn read_message(&mut self) -> Result<Option<&TracedMessage>, NetworkTraceError> {
        if self.ended {
            return Ok(None);
        }
        self.before = (self.messages > 0).then_some((self.message.label, self.message.generated));
        loop {
            match self.line()? {
                Line::Message => {
                    self.check().map_err(|what| self.wrong(what))?;
                    self.messages += 1;
                    return Ok(Some(&self.message));
                }
                Line::Ordered if self.messages == 0 && !self.ordered => self.ordered = true,
                Line::End(messages) if messages == self.messages => {
                    self.ended = true;
                    return self.after_the_end();
                }
                Line::End(messages) => {
                    let found = counted(self.messages, "message", "messages");
                    let what = format!("{found} where the end says {messages}: lines are missing or were added");
                    return Err(self.wrong(what));
                }
                Line::Ordered | Line::Nodes(_) => {
                    return Err(self.wrong("this line stands before the first message, once".to_owned()));
                }
            }
        }
    }

    /// Makes sure that nothing follows the end.
    fn after_the_end(&mut self) -> Result<Option<&TracedMessage>, NetworkTraceError> {
        while let Some(text) = self.lines.next()? {
            if !text.starts_with('#') {
                return Err(self.wrong("a line after the end".to_owned()));
            }
        }
        Ok(None)
    }

    /// The next line that is not a comment.
    fn line(&mut self) -> Result<Line, NetworkTraceError> {
        let parsed = loop {
            match self.lines.next()? {
                None => break None,
                Some(text) if text.starts_with('#') => {}
                Some(text) => break Some(parse(text, &mut self.kinds, &mut self.message)),
            }
        };
        match parsed {
            Some(Ok(line)) => Ok(line),
            Some(Err(what)) => Err(self.wrong(what)),
            None => Err(self.lines.torn("there is no `end`")),
        }
    }

    /// The error that the line read last is wrong.
    pub(crate) fn wrong(&self, what: String) -> NetworkTraceError {
        self.lines.wrong(what)
    }

    /// The error that messages of the trace do not fit together.
    pub(crate) fn unfit(&self, what: String) -> NetworkTraceError {
        NetworkTraceError::Messages { path: self.lines.path.clone(), what }
    }

    /// Describes the mistake in the last message read, as far as its line and the line before show it.
    fn check(&self) -> Result<(), String> {
        let &TracedMessage { label, from, to, generated, arrived, ref after, .. } = &self.message;
        if let Some(node) = [from, to].into_iter().find(|node| node.0 >= self.nodes) {
            return Err(format!("node {} of the {} that there are, from 0", node.0, self.nodes));
        }
        if arrived.is_some_and(|arrived| arrived < generated) {
            return Err(format!("message {label} arrives before it is generated"));
        }
        if after.iter().any(|trigger| trigger.label == label) {
            return Err(format!("message {label} waits for itself"));
        }
        if let Some(twice) = twice(after) {
            return Err(format!("message {label} waits for {twice} twice"));
        }
        if !self.ordered {
            return Ok(());
        }
        if let Some(later) = after.iter().find(|trigger| trigger.label > label) {
            return Err(format!("message {label} waits for {}, which comes later", later.label));
        }
        let Some((last, earlier)) = self.before else { return Ok(()) };
        if label == last {
            return Err(format!("there are two messages {label}"));
        }
        if label < last || generated < earlier {
            return Err(format!(
                "message {label} belongs before message {last}, and the trace says `ordered`: sort it, or delete that line"
            ));
        }
        Ok(())
    }
}

fn twice(triggers: &[Trigger]) -> Option<Label> {
    if triggers.len() <= 8 {
        let mut rest = triggers.iter().enumerate();
        return rest
            .find(|&(index, one)| triggers[..index].iter().any(|other| other.label == one.label))
            .map(|(_, one)| one.label);
    }
    let mut labels: Vec<Label> = triggers.iter().map(|trigger| trigger.label).collect();
    labels.sort_unstable();
    labels.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Lines longer than this are no trace: a message that waits for a thousand others takes 40 kB.
const LONGEST_LINE: u64 = 1 << 20;

/// The lines of a file, one after another.
pub(crate) struct Lines {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    text: Vec<u8>,
    /// Number of the line given out last.
    line: u64,
}

impl Lines {
    fn of(path: &Path, mut input: impl BufRead + Send + 'static) -> Result<Self, NetworkTraceError> {
        // No text starts with gzip's first byte (RFC 1952 §2.3.1).
        let is_gzip = input.fill_buf().map_err(NetworkTraceError::io(path))?.first() == Some(&0x1f);
        let input: Box<dyn BufRead + Send> = if is_gzip {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(input)))
        } else {
            Box::new(input)
        };
        Ok(Self { path: path.into(), input, text: Vec::new(), line: 0 })
    }

    /// The next line without its newline; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<&str>, NetworkTraceError> {
        self.text.clear();
        let read = (&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut self.text);
        match read {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(self.torn("the file ends within a gzip member"));
            }
            Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData) => {
                return Err(self.torn(&format!("the gzip member that follows is damaged ({error})")));
            }
            Err(error) => return Err(NetworkTraceError::Io { path: self.path.clone(), error }),
        }
        self.line += 1;
        if self.line == 1 {
            if let Some(encoding) = other_encoding(&self.text) {
                return Err(self.wrong(encoding.to_owned()));
            }
            if self.text.starts_with(BYTE_ORDER_MARK) {
                self.text.drain(..BYTE_ORDER_MARK.len());
            }
        }
        if self.text.last() == Some(&b'\n') {
            self.text.pop();
        } else if self.text.len() as u64 == LONGEST_LINE {
            return Err(self.wrong(format!("the line is longer than {LONGEST_LINE} bytes: this is no network trace")));
        }
        match std::str::from_utf8(&self.text) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(self.wrong("the line is no text: this is no network trace".to_owned())),
        }
    }

    /// The error that the line given out last is wrong.
    pub(crate) fn wrong(&self, what: String) -> NetworkTraceError {
        NetworkTraceError::Line { path: self.path.clone(), line: self.line, what }
    }

    /// The error that the file ends too early.
    pub(crate) fn torn(&self, reason: &str) -> NetworkTraceError {
        NetworkTraceError::Torn { path: self.path.clone(), line: self.line, reason: reason.to_owned() }
    }
}

/// A network trace that is being written, gzipped.
pub struct NetworkTraceWriter<W: Write> {
    out: BufWriter<GzEncoder<W>>,
    messages: u64,
}

impl NetworkTraceWriter<OutputFile> {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path, nodes: u32, ordered: bool) -> io::Result<Self> {
        Self::new(OutputFile::create(path)?, nodes, ordered)
    }
}

impl<W: Write> NetworkTraceWriter<W> {
    /// Begins a trace of this many nodes. If it is `ordered`, the labels of the messages rise, and their times of
    /// generation never fall.
    pub(crate) fn new(out: W, nodes: u32, ordered: bool) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 16, GzEncoder::new(out, Compression::new(3)));
        writeln!(out, "{HEADER}\nnodes {nodes}")?;
        if ordered {
            writeln!(out, "ordered")?;
        }
        Ok(Self { out, messages: 0 })
    }

    /// Writes the next message.
    ///
    /// # Errors
    /// If the trace cannot be written.
    pub fn write(&mut self, message: &TracedMessage) -> io::Result<()> {
        self.messages += 1;
        write_message(&mut self.out, message)
    }

    /// Ends the trace, and returns the writer below it.
    ///
    /// # Errors
    /// If the trace cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        writeln!(self.out, "end {}", self.messages)?;
        self.out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn read(text: &'static str) -> Result<Vec<TracedMessage>, String> {
        let text = Cursor::new(text.as_bytes());
        let mut trace = NetworkTrace::of("t".as_ref(), text).map_err(|error| error.to_string())?;
        let mut messages = Vec::new();
        while let Some(message) = trace.next_message().map_err(|error| error.to_string())? {
            messages.push(message);
        }
        Ok(messages)
    }

    #[test]
    fn a_trace_has_an_end_after_its_messages() {
        let text = "# titr network trace 1\nnodes 3\nordered\n0 0 1 8 a 0 5\n# why\n4 1 2 8 a 0 -\nend 2\n# more\n";
        let labels: Vec<u64> = read(text).unwrap().iter().map(|message| message.label.0).collect();
        assert_eq!(labels, [0, 4]);
    }

    #[test]
    fn bad_input_is_named_with_its_line() {
        for (text, message) in [
            ("", "t: the file is empty: nothing was recorded, or this is another file"),
            ("0 init\n", "t:1: this is no network trace"),
            ("# titr network trace 1\n0 0 1 8 a 0 5\n", "t:2: the second line says how many nodes there are"),
            ("# titr network trace 1\nnodes 0\n", "t:2: a network has nodes"),
            ("# titr network trace 1\nnodes 2\n", "t: torn after line 2: there is no `end`"),
            ("# titr network trace 1\nnodes 2\n0 0 2 8 a 0 5\n", "t:3: node 2 of the 2 that there are"),
            ("# titr network trace 1\nnodes 2\n0 0 1 8 a 5 0\n", "t:3: message 0 arrives before it is generated"),
            ("# titr network trace 1\nnodes 2\n0 0 1 8 a 0 5 after=0+1\n", "t:3: message 0 waits for itself"),
            (
                "# titr network trace 1\nnodes 2\n3 0 1 8 a 0 5 after=0+1 after=0+2\n",
                "t:3: message 3 waits for 0 twice",
            ),
            (
                "# titr network trace 1\nnodes 2\nordered\n1 0 1 8 a 0 5\n1 0 1 8 a 0 5\n",
                "t:5: there are two messages 1",
            ),
            (
                "# titr network trace 1\nnodes 2\nordered\n1 0 1 8 a 0 5\n0 0 1 8 a 0 5\n",
                "t:5: message 0 belongs before",
            ),
            (
                "# titr network trace 1\nnodes 2\nordered\n1 0 1 8 a 0 5 after=2+0\n",
                "t:4: message 1 waits for 2, which",
            ),
            ("# titr network trace 1\nnodes 2\n1 0 1 8 a 0 5\nend 2\n", "t:4: 1 message where the end says 2"),
            ("# titr network trace 1\nnodes 2\nend 0\nend 0\n", "t:4: a line after the end"),
            ("# titr network trace 1\nnodes 2\n1 0 1 8 a 0 5\nordered\n", "t:4: this line stands before the first"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.starts_with(message), "{text}{found}");
        }
    }
}
