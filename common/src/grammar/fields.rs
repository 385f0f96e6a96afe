//! The blank-separated fields of one line, read from left to right, with errors that have a column.

use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::combinator::value;
use nom::number::complete::double;
use nom::{IResult, Parser};

use super::ParseError;
use super::list;
use super::world_of;
use crate::event::{Actor, CommId, Rank, RequestId, SeekDistance, Span, Tag, ThreadId, Wildcard};
use crate::units::{Bytes, Nanoseconds};

/// Maximum number of threads of a rank: some state of each is kept while the rank's events are read.
const MOST_THREADS: u32 = 1 << 16;

/// A cursor over the fields of a line.
pub(super) struct Fields<'a> {
    line: &'a [u8],
    /// The fields that are not read yet; never starts with a blank.
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(line: &'a [u8]) -> Self {
        Self { line, rest: skip_blanks(line) }
    }

    /// Whether no field is left.
    #[inline]
    pub(super) fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The number of fields that are left.
    pub(super) fn count(&self) -> usize {
        self.rest.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).count()
    }

    /// The column of the next field, in bytes from 1. If a field turns out to be wrong after it was read, the error is
    /// made then: making an error for every line in advance would take longer than reading it.
    pub(super) fn column(&self) -> usize {
        self.line.len() - self.rest.len() + 1
    }

    /// An error at the next field.
    pub(super) fn error(&self, what: impl Into<String>) -> ParseError {
        ParseError { column: self.column(), what: what.into() }
    }

    #[cold]
    fn expected(&self, what: &str) -> ParseError {
        let field = self.rest.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        if field.is_empty() {
            return self.error(format!("the line ends where {what} is expected"));
        }
        let shown = String::from_utf8_lossy(&field[..field.len().min(40)]);
        self.error(format!("'{shown}' where {what} is expected"))
    }

    /// The next field by `parser`, which has to take the whole of it.
    fn field<T>(
        &mut self,
        what: &str,
        mut parser: impl FnMut(&'a [u8]) -> IResult<&'a [u8], T>,
    ) -> Result<T, ParseError> {
        match parser(self.rest) {
            Ok((rest, value)) if rest.first().is_none_or(u8::is_ascii_whitespace) => {
                self.rest = skip_blanks(rest);
                Ok(value)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The next field, unparsed.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a [u8], ParseError> {
        let length = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        if word.is_empty() {
            return Err(self.expected(what));
        }
        self.rest = skip_blanks(rest);
        Ok(word)
    }

    /// What `read` reads; `None`: the next field is not what is expected.
    #[inline]
    fn expect<T>(&mut self, what: &str, read: impl FnOnce(&mut Self) -> Option<T>) -> Result<T, ParseError> {
        let at = self.rest;
        read(self).ok_or_else(|| {
            self.rest = at;
            self.expected(what)
        })
    }

    /// A name in the letters of C.
    pub(super) fn name(&mut self, what: &str) -> Result<&'a str, ParseError> {
        let is_name = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        self.expect(what, |f| f.text(what).ok().filter(is_name))
    }

    /// A name of the program's own.
    pub(super) fn text(&mut self, what: &str) -> Result<&'a str, ParseError> {
        self.expect(what, |f| str::from_utf8(f.word(what).ok()?).ok())
    }

    /// A whole number that may be negative.
    pub(super) fn signed(&mut self, what: &str) -> Result<i32, ParseError> {
        self.field(what, nom::character::complete::i32)
    }

    /// Takes the next field if it is `word`.
    #[inline]
    pub(super) fn accept(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word.as_bytes()) {
            Some(rest) if rest.first().is_none_or(u8::is_ascii_whitespace) => {
                self.rest = skip_blanks(rest);
                true
            }
            _ => false,
        }
    }

    /// Takes the next field if `known` knows it.
    pub(super) fn accept_known<T>(&mut self, known: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        let length = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let found = known(&self.rest[..length])?;
        self.rest = skip_blanks(&self.rest[length..]);
        Some(found)
    }

    /// The first column: `RANK` or `RANK.THREAD`.
    pub(super) fn actor(&mut self) -> Result<Actor, ParseError> {
        let length = self.rest.iter().position(u8::is_ascii_whitespace).unwrap_or(self.rest.len());
        let Some(dot) = self.rest[..length].iter().position(|&byte| byte == b'.') else {
            return self.rank("a rank").map(Actor::from);
        };
        let (rank, thread) = (number(&self.rest[..dot]), number(&self.rest[dot + 1..length]));
        let (Some(rank), Some(thread)) = (rank, thread.filter(|&thread| thread < MOST_THREADS)) else {
            return Err(self.expected("a rank, or a rank and its thread"));
        };
        self.rest = skip_blanks(&self.rest[length..]);
        Ok(Actor { rank: Rank(rank), thread: ThreadId(thread) })
    }

    /// A finite number, in any spelling of a float.
    pub(super) fn float(&mut self, what: &str) -> Result<f64, ParseError> {
        self.expect(what, |f| match f.whole() {
            Some(whole) => Some(whole as f64),
            None => f.field(what, double).ok().filter(|value| value.is_finite()),
        })
    }

    /// A number that is not negative.
    pub(super) fn volume(&mut self, what: &str) -> Result<f64, ParseError> {
        self.expect(what, |f| f.float(what).ok().filter(|&value| value >= 0.0))
    }

    /// A count of elements of `size` bytes. SimGrid reads counts as floats (`1e6`) and cuts the fraction off.
    pub(super) fn bytes(&mut self, what: &str, size: Bytes) -> Result<Bytes, ParseError> {
        match self.whole() {
            Some(count) => Ok(size.times(count)),
            None => Ok(size.times(self.volume(what)? as u64)),
        }
    }

    /// The next field if it is a whole number, which nearly all fields are.
    #[inline]
    fn whole(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        let mut digits = 0;
        let rest = loop {
            match self.rest.get(digits) {
                Some(digit @ b'0'..=b'9') => {
                    value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
                    digits += 1;
                }
                Some(byte) if !byte.is_ascii_whitespace() => return None,
                _ => break self.rest.get(digits..)?,
            }
        };
        if digits == 0 {
            return None;
        }
        self.rest = skip_blanks(rest);
        Some(value)
    }

    /// A whole number.
    pub(super) fn number(&mut self, what: &str) -> Result<u64, ParseError> {
        self.whole().ok_or_else(|| self.expected(what))
    }

    /// Two moments, the later one second.
    pub(super) fn span(&mut self) -> Result<Span, ParseError> {
        let begin = Nanoseconds(self.number("a time in nanoseconds")?);
        let at = self.rest;
        let end = Nanoseconds(self.number("a time in nanoseconds")?);
        if end < begin {
            self.rest = at;
            return Err(self.expected("a time that is no earlier"));
        }
        Ok(Span { begin, end })
    }

    pub(super) fn small(&mut self, what: &str) -> Result<u32, ParseError> {
        self.expect(what, |f| u32::try_from(f.whole()?).ok())
    }

    pub(super) fn rank(&mut self, what: &str) -> Result<Rank, ParseError> {
        self.small(what).map(Rank)
    }

    /// A rank of a world of `world`.
    pub(super) fn rank_of(&mut self, what: &str, world: u32) -> Result<Rank, ParseError> {
        let column = self.column();
        let rank = self.rank(what)?;
        let stranger = || ParseError { column, what: format!("rank {} is not in {}", rank.0, world_of(world)) };
        if rank.0 < world { Ok(rank) } else { Err(stranger()) }
    }

    pub(super) fn comm(&mut self) -> Result<CommId, ParseError> {
        self.small("the number of a communicator").map(CommId)
    }

    pub(super) fn request(&mut self) -> Result<RequestId, ParseError> {
        self.small("the number of a request").map(RequestId)
    }

    /// A request, unless the line ends.
    pub(super) fn optional_request(&mut self) -> Result<Option<RequestId>, ParseError> {
        if self.at_end() { Ok(None) } else { self.request().map(Some) }
    }

    pub(super) fn tag(&mut self) -> Result<Tag, ParseError> {
        let at = self.rest;
        if let Some(tag) = self.whole().and_then(|whole| i32::try_from(whole).ok()) {
            return Ok(Tag(tag));
        }
        self.rest = at;
        self.field("a tag", nom::character::complete::i32).map(Tag)
    }

    /// A distance in a file, with its sign.
    pub(super) fn skip(&mut self) -> Result<SeekDistance, ParseError> {
        let what = "a distance in the file, as +4096 or -4096,";
        let has_sign = matches!(self.rest.first(), Some(b'+' | b'-'));
        if has_sign {
            self.field(what, nom::character::complete::i64).map(SeekDistance)
        } else {
            Err(self.expected(what))
        }
    }

    /// The size of an element of the datatype in the next field; `None` at the end of the line.
    pub(super) fn datatype(&mut self) -> Result<Option<Bytes>, ParseError> {
        if self.at_end() {
            return Ok(None);
        }
        let column = self.column();
        let number = match self.whole() {
            Some(number) => number.cast_signed(),
            None => self.field("the number of a datatype", nom::character::complete::i64)?,
        };
        let unknown = || ParseError { column, what: "SimGrid has no datatype of this number".into() };
        size_of_datatype(number).map(Some).ok_or_else(unknown)
    }

    /// A source or a tag that may be `*`; SimGrid writes any negative number for it.
    fn any<T>(&mut self, what: &str, make: impl Fn(u32) -> T) -> Result<Option<T>, ParseError> {
        if self.accept("*") {
            return Ok(None);
        }
        self.expect(what, |f| match f.whole() {
            Some(number) => Some(Some(make(u32::try_from(number).ok()?))),
            None => (f.field(what, nom::character::complete::i64).ok()? < 0).then_some(None),
        })
    }

    pub(super) fn source(&mut self) -> Result<Option<Rank>, ParseError> {
        self.any("a source rank", Rank)
    }

    pub(super) fn tag_or_any(&mut self) -> Result<Option<Tag>, ParseError> {
        if self.rest.first() == Some(&b'-') || self.rest.first() == Some(&b'*') {
            return self.any("a tag", |_| Tag(0));
        }
        self.tag().map(Some)
    }

    /// The wildcards of a receive: the last field, if there is one.
    pub(super) fn wildcard(&mut self) -> Result<Wildcard, ParseError> {
        if self.at_end() {
            return Ok(Wildcard::NONE);
        }
        self.field("'any_source', 'any_tag' or 'any'", |field| {
            let any_source = value(Wildcard { source: true, tag: false }, tag("any_source"));
            let any_tag = value(Wildcard { source: false, tag: true }, tag("any_tag"));
            let any = value(Wildcard { source: true, tag: true }, tag("any"));
            alt((any_source, any_tag, any)).parse(field)
        })
    }

    pub(super) fn list<T>(&mut self, what: &str, make: impl Fn(u32) -> T) -> Result<Vec<T>, ParseError> {
        Ok(self.field(what, list::list)?.into_iter().map(make).collect())
    }

    /// Passes over the fields that are left.
    pub(super) fn skip_all(&mut self) {
        self.rest = &[];
    }

    /// Fails where a field is left.
    pub(super) fn end(&self) -> Result<(), ParseError> {
        if self.at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }
}

#[inline]
fn skip_blanks(mut input: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = input {
        input = rest;
    }
    input
}

/// The number that digits alone spell; `None` if there is anything else, or no room for it.
fn number(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok()
}

/// The size of one element of datatype `id`, as SimGrid 3.32 numbers them (`smpi_datatype.cpp`); `None` for an unknown
/// number. Derived types are all −1 there, so their size is lost: SimGrid replays them as size zero.
pub(super) fn size_of_datatype(id: i64) -> Option<Bytes> {
    Some(Bytes(match id {
        -1 => 0,
        2 | 6 | 8 | 9 | 16 | 17 | 21 | 45 | 51 | 55 | 56 | 57 => 1,
        3 | 10 | 18 | 22 | 46 => 2,
        1 | 5 | 11 | 15 | 19 | 23 | 38 | 39 | 47 => 4,
        0 | 4 | 7 | 12 | 13 | 20 | 24 | 25 | 28 | 29 | 40 | 42 | 48 | 52 | 58 | 59 => 8,
        // Pairs for MAXLOC and MINLOC, as C lays them out.
        30 | 33 | 34 | 35 => 8,
        31 | 32 | 36 | 37 => 16,
        14 | 26 | 41 | 43 | 49 | 53 => 16,
        27 | 44 | 50 | 54 => 32,
        _ => return None,
    }))
}
