//! Text for terminals, without control sequences.
//!
//! Names, comments and errors of traces, platforms and results, file names and command-line arguments may contain
//! anything: sequences that clear the screen or set its title, marks that reverse the text direction, characters
//! without a width. All output of titr goes through [`Escaped`] or [`say`], which show such characters as JSON escapes
//! (`\u001b`), so that JSON stays JSON. A byte that is not valid UTF-8 is shown as `\xff`.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd;
use std::{env, fmt};

use terminal_size::{Width, terminal_size_of};

/// Characters beyond ASCII that are not shown, or change how others are: the controls of ISO 6429, format characters
/// (category Cf), separators of lines and paragraphs, and others that Unicode calls ignorable by default.
const HIDDEN: [(char, char); 32] = [
    ('\u{80}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{fffe}', '\u{ffff}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1345f}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{1fffe}', '\u{1ffff}'),
    ('\u{2fffe}', '\u{2ffff}'),
    ('\u{3fffe}', '\u{dffff}'),
    ('\u{e0000}', '\u{10ffff}'),
];

/// A writer that escapes everything invisible except line ends and tabs. Texts must be written as a whole: a character
/// that is split between two writes is not recognised.
#[derive(Debug)]
pub struct Escaped<W> {
    out: W,
    /// The columns of the terminal; `None` if there is none.
    columns: Option<usize>,
    /// The line that is being written to a terminal.
    line: Vec<u8>,
    has_styles: bool,
}

/// The style of an answer (ECMA-48, SGR).
pub const BOLD: &str = "\x1b[1m";
/// The style of what went wrong.
pub const RED: &str = "\x1b[1;31m";
/// The style of advice.
pub const GREEN: &str = "\x1b[32m";
/// The style of a heading over what limits an answer.
pub const YELLOW: &str = "\x1b[33m";
/// The style of a heading.
pub const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

impl<W: Write> Escaped<W> {
    /// Escapes text on its way to `out`.
    pub fn new(out: W) -> Self {
        Self { out, columns: None, line: Vec::new(), has_styles: false }
    }

    /// Escapes text on its way to `out`, which is standard output. On a terminal, lines are broken between words, and text has
    /// styles unless the user has something against that (<https://no-color.org>).
    pub fn to_stdout(out: W) -> Self {
        let has_styles = io::stdout().is_terminal()
            && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && env::var_os("TERM").is_none_or(|value| value != "dumb");
        Self { columns: columns_of(io::stdout()), has_styles, ..Self::new(out) }
    }

    /// Writes text in a style.
    pub fn styled(&mut self, style: &'static str, text: &str) -> io::Result<()> {
        let shown = text.trim_start_matches('\n');
        self.write_all(&text.as_bytes()[..text.len() - shown.len()])?;
        if self.has_styles {
            self.pass(style.as_bytes())?;
        }
        self.write_all(shown.as_bytes())?;
        if self.has_styles { self.pass(PLAIN.as_bytes()) } else { Ok(()) }
    }

    fn pass(&mut self, text: &[u8]) -> io::Result<()> {
        let Some(columns) = self.columns else { return self.out.write_all(text) };
        for part in text.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                self.out.write_all(wrapped(&line, columns).as_bytes())?;
                self.line.clear();
            }
        }
        Ok(())
    }
}

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        match is_plain(text) {
            true => self.pass(text)?,
            false => self.pass(&escaped_bytes(text))?,
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&std::mem::take(&mut self.line))?;
        self.out.flush()
    }
}

/// The columns of the terminal that a file is; `None` if it is none.
pub fn columns_of(file: impl AsFd) -> Option<usize> {
    terminal_size_of(file).map(|(Width(columns), _)| usize::from(columns)).filter(|&columns| columns > 0)
}

/// A line that is broken between words where it is longer than `columns`, unless it is JSON. What follows is indented as the
/// text behind the label, or a bit.
pub(crate) fn wrapped(line: &str, columns: usize) -> String {
    let text = line.trim_start();
    let begin = line.len() - text.len();
    let label = text.find("  ").filter(|_| !text.is_empty());
    let behind =
        label.map(|at| begin + width(&text[..at]) + text[at..].chars().take_while(|&letter| letter == ' ').count());
    let indent = behind.filter(|&behind| behind <= columns / 3).unwrap_or(begin + 2);
    if text.starts_with('{') || width(line.trim_end()) <= columns {
        return line.to_owned();
    }
    let (mut shown, mut column) = (String::with_capacity(line.len() + 64), 0);
    for word in line.split_inclusive(' ') {
        let letters = width(word.trim_end());
        if letters > 0 && column > indent && column + letters > columns {
            shown.truncate(shown.trim_end().len());
            shown.push_str(&format!("\n{:indent$}", ""));
            column = indent;
        }
        shown.push_str(word);
        column += width(word);
    }
    shown
}

/// The letters of a text that a terminal shows, without [styles](Escaped::styled).
fn width(text: &str) -> usize {
    let mut is_style = false;
    let shown = text.chars().filter(|&letter| {
        is_style |= letter == '\x1b';
        let is_shown = !is_style;
        is_style &= letter != 'm';
        is_shown
    });
    shown.count()
}

/// Prints a [`message`] on standard error, escaped. It goes out in a single `write`, so that the lines of processes that write at
/// once do not mix; a closed or broken standard error is of no concern.
pub fn say(text: fmt::Arguments<'_>) {
    let text = message(&text.to_string());
    let text = match columns_of(io::stderr()) {
        Some(columns) => text.lines().map(|line| wrapped(line, columns)).collect::<Vec<_>>().join("\n"),
        None => text,
    };
    let _ = io::stderr().write_all(&line_of(format_args!("{text}")));
}

/// Prints the error of a command line on standard error, escaped.
pub fn say_usage(text: &str) {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let _ = io::stderr().write_all(&line_of(format_args!("{}", usage(text, words).trim_end())));
}

/// The text of several lines of an error that may repeat the words of a command line, of which none begins a line.
#[must_use]
pub fn usage(text: &str, words: impl Iterator<Item = String>) -> String {
    let breaks = words.filter(|word| word.contains('\n')).flat_map(|word| [without_sequences(&word), word]);
    breaks.fold(text.to_owned(), |text, word| text.replace(&word, &word.replace('\n', "\\n")))
}

/// The text without what a terminal obeys, as the parser of options repeats words.
fn without_sequences(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.trim_start_matches(|letter| !('@'..='~').contains(&letter)));
    let rest = rest.flat_map(|part| part.chars().skip(1));
    first.chars().chain(rest).filter(|letter| !letter.is_control() || letter.is_ascii_whitespace()).collect()
}

/// The exit status of a command that has printed to standard output all it had to say, and says why that failed. Who
/// closes the pipe has seen enough.
pub fn status_of(name: &str, printed: io::Result<()>) -> u8 {
    match printed.and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            say(format_args!("{name}: cannot write to standard output: {error}"));
            1
        }
        _ => 0,
    }
}

/// Prints a line on standard output, escaped.
pub fn print(line: fmt::Arguments<'_>) {
    let _ = io::stdout().write_all(&line_of(line));
}

/// The bytes of a line for people, escaped.
#[must_use]
pub fn line_of(line: fmt::Arguments<'_>) -> Vec<u8> {
    let mut text = escaped(&line.to_string()).into_owned();
    text.push('\n');
    text.into_bytes()
}

/// The text with all escaped that is not to be seen, but the ends of lines and tabs.
#[must_use]
pub fn escaped(text: &str) -> Cow<'_, str> {
    if is_plain(text.as_bytes()) || !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    text.chars().for_each(|character| push(&mut shown, character));
    Cow::Owned(shown)
}

/// The text as by [`escaped`], on one line: a name cannot imitate a separate message.
#[must_use]
pub fn on_one_line(text: &str) -> Cow<'_, str> {
    match escaped(text) {
        shown if shown.contains('\n') => Cow::Owned(shown.replace('\n', "\\n")),
        shown => shown,
    }
}

/// A message, whose own further lines are indented: any other end of a line came with a name, and is shown as `\n`, so
/// that no name begins a line.
#[must_use]
pub fn message(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (at, line) in text.trim_end().split('\n').enumerate() {
        match at {
            0 => {}
            _ if shown.is_empty() && line.is_empty() => {}
            _ if line.is_empty() || line.starts_with(' ') => shown.push('\n'),
            _ => shown.push_str("\\n"),
        }
        shown.push_str(line);
    }
    shown
}

fn escaped_bytes(text: &[u8]) -> Vec<u8> {
    let mut shown = String::with_capacity(text.len() + 16);
    for chunk in text.utf8_chunks() {
        chunk.valid().chars().for_each(|character| push(&mut shown, character));
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown.into_bytes()
}

fn push(shown: &mut String, character: char) {
    if is_hidden(character) {
        let mut units = [0; 2];
        for unit in character.encode_utf16(&mut units) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    } else {
        shown.push(character);
    }
}

/// Whether the text has only visible ASCII characters, spaces, tabs and line ends. Checks every byte, because this
/// takes less time than to stop early.
fn is_plain(text: &[u8]) -> bool {
    text.iter().fold(true, |plain, &byte| plain & (matches!(byte, b' '..=b'~') | matches!(byte, b'\n' | b'\t')))
}

fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\0'..='\x7f' => true,
        _ => {
            let place = HIDDEN.partition_point(|&(_, last)| last < character);
            HIDDEN.get(place).is_some_and(|&(first, _)| first <= character)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn through(text: &[u8]) -> String {
        let mut out = Vec::new();
        Escaped::new(&mut out).write_all(text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(through(b"\x1b]0;title\x07\r\x7f"), "\\u001b]0;title\\u0007\\u000d\\u007f");
        assert_eq!(
            through("a\u{9b}2J\u{202e}b\u{2028}\u{200b}\u{feff}".as_bytes()),
            "a\\u009b2J\\u202eb\\u2028\\u200b\\ufeff"
        );
        assert_eq!(through("\u{e0001}".as_bytes()), "\\udb40\\udc01");
        assert_eq!(through(b"a\x9b2J\xff"), "a\\x9b2J\\xff");
        assert_eq!(on_one_line("x\ny\u{1b}"), "x\\ny\\u001b");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let line = "Program         lu 4 with a long command line of words\n";
        assert_eq!(wrapped(line, 54), line);
        let broken = "Program         lu 4 with a long command line of\n                words\n";
        assert_eq!(wrapped(line, 48), broken);
        assert_eq!(wrapped("  a sentence of words", 14), "  a sentence\n    of words");
        assert_eq!(wrapped("{\"a\": \"b c d e f\"}", 4), "{\"a\": \"b c d e f\"}");
        assert_eq!(wrapped("/a/path/without/blanks", 8), "/a/path/without/blanks");
    }

    #[test]
    fn styles_take_no_room() {
        let shown = |text: &str, columns: usize| {
            let mut out = Vec::new();
            let mut escaped = Escaped { columns: Some(columns), has_styles: true, ..Escaped::new(&mut out) };
            escaped.styled(BOLD, text).unwrap();
            escaped.write_all(b" and\x1b more\n").unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown("\nbold", 40), "\n\x1b[1mbold\x1b[0m and\\u001b more\n");
        assert_eq!(shown("bold", 20), "\x1b[1mbold\x1b[0m and\\u001b more\n", "19 columns");
        assert_eq!(shown("bold", 18), "\x1b[1mbold\x1b[0m and\\u001b\n  more\n");
    }

    #[test]
    fn a_name_begins_no_line_of_a_message() {
        assert_eq!(message("no file\n  help: x"), "no file\n  help: x");
        assert_eq!(message("a\nPredicted time 1 us\n"), "a\\nPredicted time 1 us");
        assert_eq!(message("\n\nSound"), "\\nSound");
    }

    #[test]
    fn a_word_of_the_command_line_begins_no_line_of_an_error() {
        let words = ["titr", "no\nfile"].map(str::to_owned).into_iter();
        assert_eq!(usage("error: 'no\nfile'\n\nUsage: titr", words), "error: 'no\\nfile'\n\nUsage: titr");
        let words = ["a\u{1b}[31;1mb\u{7}\nred\u{1b}[m"].map(str::to_owned).into_iter();
        assert_eq!(usage("error: 'ab\nred'", words), "error: 'ab\\nred'");
    }

    #[test]
    fn letters_of_all_kinds_stay() {
        let text = "tab\tline\n \"\\ µs × … ± é e\u{301} 漢字 Ελλάδα עברית 🚀\u{a0}\u{202f}";
        assert_eq!(through(text.as_bytes()), text);
        assert!(matches!(escaped(text), Cow::Borrowed(_)));
    }

    #[test]
    fn ranges_are_in_order() {
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert!(HIDDEN.iter().all(|(first, last)| first <= last));
    }

    proptest! {
        /// JSON that was escaped is JSON of the same value.
        #[test]
        fn json_stays_json(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let shown = through(json.as_bytes());
            prop_assert!(!shown.chars().any(|character| character.is_control()));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }

        /// No output is hidden, and plain text is unchanged.
        #[test]
        fn nothing_hidden_comes_out(text in any::<Vec<u8>>()) {
            let shown = through(&text);
            prop_assert!(!shown.chars().any(is_hidden));
            prop_assert_eq!(through(shown.as_bytes()), shown);
        }
    }
}
