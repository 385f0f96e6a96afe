//! Reads a list of volumes.

use super::{LETTERS, Scale, WIDEST};
use crate::grammar::ParseError;
use crate::grammar::repeat::EVENTS;

/// The value of each byte as a digit; no digit has this value.
const NO_DIGIT: u8 = u8::MAX;
static DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < LETTERS.len() {
        digits[LETTERS[value] as usize] = value as u8;
        value += 1;
    }
    digits
};

/// A position in a list of volumes that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::grammar::repeat) struct VolumeReader {
    /// The index in the line where the list begins.
    start: usize,
    /// The index in the line of the next unread byte.
    at: usize,
    /// The number that was read last, and how many more times it comes.
    volume: u64,
    times: u64,
    /// The values of letters; without a base until a list defines its letters.
    scale: Scale,
    /// Whether `at` is among letters.
    lettered: bool,
}

impl VolumeReader {
    /// The list that begins at an index of the line, with the blank before its first word.
    pub(in crate::grammar::repeat) fn at(start: usize) -> Self {
        Self { start, at: start, volume: 0, times: 0, scale: Scale::default(), lettered: false }
    }

    /// Whether all volumes of the list were given.
    pub(in crate::grammar::repeat) fn is_at_end(&self, line: &[u8]) -> bool {
        self.times == 0 && self.at == line.len()
    }

    /// Begins with the first volume again.
    pub(in crate::grammar::repeat) fn rewind(&mut self) {
        *self = Self::at(self.start);
    }

    /// Whether the list, which begins again at its end, is in the same place after each `period` volumes, all of which are
    /// computations.
    pub(in crate::grammar::repeat) fn is_periodic(&self, line: &[u8], period: usize) -> bool {
        let mut ahead = *self;
        for _ in 0..period {
            if ahead.is_at_end(line) {
                ahead.rewind();
            }
            if !ahead.next(line).is_ok_and(|volume| volume > 0) {
                return false;
            }
        }
        ahead.place(line) == self.place(line)
    }

    /// The list where it is, its end being its beginning.
    fn place(&self, line: &[u8]) -> Self {
        if self.is_at_end(line) { Self::at(self.start) } else { *self }
    }

    /// The error of a list that is wrong where it was read up to.
    pub(in crate::grammar::repeat) fn refusal(&self, what: &str) -> ParseError {
        ParseError { column: self.at + 1, what: what.into() }
    }

    /// The next volume. The list [is not at its end](Self::is_at_end).
    #[inline]
    pub(in crate::grammar::repeat) fn next(&mut self, line: &[u8]) -> Result<u64, ParseError> {
        if self.times > 0 {
            self.times -= 1;
            return Ok(self.volume);
        }
        if self.lettered
            && let Some(volume) = self.letters(line)
        {
            return Ok(volume);
        }
        self.next_word(line)
    }

    /// The volume of the next letters, if they are letters of the base.
    #[inline]
    fn letters(&mut self, line: &[u8]) -> Option<u64> {
        let Scale { from, step, base, width } = self.scale;
        let digit = |letter: u8| Some(u32::from(DIGITS[letter as usize])).filter(|&digit| digit < base);
        let number = match *line.get(self.at..self.at + width)? {
            [letter] => digit(letter)?,
            [high, low] => digit(high)? * base + digit(low)?,
            ref letters => letters.iter().try_fold(0, |number, &letter| Some(number * base + digit(letter)?))?,
        };
        self.at += width;
        Some(from + step * u64::from(number))
    }

    /// The next volume, unless it is among the following letters.
    #[inline(never)]
    fn next_word(&mut self, line: &[u8]) -> Result<u64, ParseError> {
        if !self.lettered || line.get(self.at).is_none_or(|&byte| byte == b' ') {
            self.word(line)?;
            if !self.lettered {
                self.times -= 1;
                return Ok(self.volume);
            }
        }
        self.letters(line).ok_or_else(|| self.no_letters(line))
    }

    /// The error of letters that are none of the base, or too few.
    fn no_letters(&self, line: &[u8]) -> ParseError {
        let Scale { base, width, .. } = self.scale;
        let is_letter = |&&letter: &&u8| u32::from(DIGITS[letter as usize]) < base;
        let letters = line[self.at.min(line.len())..].iter().take(width).take_while(is_letter).count();
        let what = format!("{width} letters of base {base} are expected");
        ParseError { column: self.at + letters + 1, what }
    }

    /// Reads up to the first volume of the next word.
    fn word(&mut self, line: &[u8]) -> Result<(), ParseError> {
        if line.get(self.at) != Some(&b' ') {
            let what = "a blank and a number of instructions are expected".into();
            return Err(ParseError { column: self.at + 1, what });
        }
        let mut numbers = Numbers { line, at: self.at + 1 };
        self.lettered = numbers.accept(b':');
        if self.lettered && self.scale.base == 0 {
            let what = "letters are expected after what they mean, as in 19500,100,62,1:".into();
            return Err(ParseError { column: numbers.at, what });
        }
        if !self.lettered {
            let number = numbers.next("a number of instructions", u64::MAX)?;
            if numbers.accept(b',') {
                self.scale = Scale::read(number, &mut numbers)?;
                self.lettered = true;
            } else {
                let counted = numbers.accept(b'*');
                let times =
                    if counted { numbers.next("how often it comes, at least once,", EVENTS as u64)? } else { 1 };
                if times == 0 {
                    return Err(ParseError { column: numbers.at, what: "at least once is expected".into() });
                }
                (self.volume, self.times) = (number, times);
            }
        }
        self.at = numbers.at;
        Ok(())
    }
}

impl Scale {
    /// The scale from a number on, whose remaining fields are read.
    fn read(from: u64, numbers: &mut Numbers) -> Result<Self, ParseError> {
        let step = numbers.next("how many instructions a step is", u64::MAX)?;
        numbers.expect(b',')?;
        let base = numbers.next("a base of at most 62", LETTERS.len() as u64)? as u32;
        numbers.expect(b',')?;
        let width = numbers.next("how many letters a volume has, at most 4,", WIDEST as u64)? as usize;
        numbers.expect(b':')?;
        let scale = Self { from, step, base, width };
        if scale.is_bounded() {
            return Ok(scale);
        }
        Err(ParseError { column: numbers.at, what: "letters for volumes below 2^64 are expected".into() })
    }
}

/// Whole numbers in a line.
pub(in crate::grammar::repeat) struct Numbers<'l> {
    pub(in crate::grammar::repeat) line: &'l [u8],
    /// The index in the line where the next number starts.
    pub(in crate::grammar::repeat) at: usize,
}

impl Numbers<'_> {
    /// The next number, at most `largest`.
    #[inline]
    pub(in crate::grammar::repeat) fn next(&mut self, what: &str, largest: u64) -> Result<u64, ParseError> {
        let start = self.at;
        let (mut number, mut overflow) = (0_u64, false);
        while let Some(digit) = self.line.get(self.at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
            // Fewer digits than this fit, so nearly always there is nothing to check.
            overflow |=
                self.at >= start + 19 && number.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit))).is_none();
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
        if self.at == start || overflow || number > largest {
            return Err(ParseError { column: start + 1, what: format!("{what} is expected") });
        }
        Ok(number)
    }

    /// Passes over a byte if it is the next one.
    fn accept(&mut self, byte: u8) -> bool {
        let is_next = self.line.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    pub(in crate::grammar::repeat) fn expect(&mut self, byte: u8) -> Result<(), ParseError> {
        if self.accept(byte) {
            return Ok(());
        }
        Err(ParseError { column: self.at + 1, what: format!("'{}' is expected", char::from(byte)) })
    }
}
