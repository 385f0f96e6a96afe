//! A statement of a GOAL text.

use super::super::{ANY, GoalKind, GoalOperation};

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement<'t> {
    Blank,
    /// `num_ranks N`
    Ranks(u64),
    /// `rank R {`
    Rank(u64),
    /// `}`
    End,
    /// `[LABEL:] send …`, `recv …`, `calc …`; the label is empty if there is none.
    Operation(&'t [u8], GoalOperation),
    /// `LABEL requires LABEL`, `LABEL irequires LABEL`
    Requires(Requires<'t>),
}

/// An operation depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Requires<'t> {
    pub(super) dependent: &'t [u8],
    pub(super) on: &'t [u8],
    /// Whether the other one has to begin only.
    pub(super) is_begun: bool,
}

/// Parses a line without comments and blanks around it; an error is a reason in words.
pub(super) fn parse(line: &[u8]) -> Result<Statement<'_>, String> {
    let mut words = GoalWords { rest: line };
    let first = match words.identifier() {
        [] => {
            return match line {
                [] => Ok(Statement::Blank),
                b"}" => Ok(Statement::End),
                _ => Err(format!("'{}' where a statement is expected", shown(line))),
            };
        }
        first => first,
    };
    if words.accept(b':') {
        let Some(kind) = kind(words.identifier()) else {
            return Err(format!("send, recv or calc is expected after the label '{}'", shown(first)));
        };
        return Ok(Statement::Operation(first, operation(kind, &mut words)?));
    }
    if let Some(kind) = kind(first) {
        return Ok(Statement::Operation(&[], operation(kind, &mut words)?));
    }
    let statement = match (first, words.rest.first()) {
        (b"num_ranks", Some(b'0'..=b'9')) => Statement::Ranks(words.number("the number of ranks")?),
        (b"rank", Some(b'0'..=b'9')) => {
            let rank = words.number("the number of a rank")?;
            if !words.accept(b'{') {
                return Err(format!("'{{' is expected after 'rank {rank}'"));
            }
            Statement::Rank(rank)
        }
        _ => {
            let is_begun = match words.identifier() {
                b"requires" => false,
                b"irequires" => true,
                _ => return Err(format!("'{}' is no statement", shown(line))),
            };
            let on = words.identifier();
            if on.is_empty() {
                return Err("a label is expected after requires".to_owned());
            }
            Statement::Requires(Requires { dependent: first, on, is_begun })
        }
    };
    words.end()?;
    Ok(statement)
}

fn kind(word: &[u8]) -> Option<GoalKind> {
    match word {
        b"send" => Some(GoalKind::Send),
        b"recv" => Some(GoalKind::Receive),
        b"calc" => Some(GoalKind::Compute),
        _ => None,
    }
}

/// What follows the word of an operation.
fn operation(kind: GoalKind, words: &mut GoalWords) -> Result<GoalOperation, String> {
    let mut operation = GoalOperation::new(kind, 0);
    if kind == GoalKind::Compute {
        operation.size = words.number("a number of nanoseconds")?;
    } else {
        operation.size = words.number("a number of bytes")?;
        if words.identifier() != b"b" {
            return Err("'b' is expected after the number of bytes".to_owned());
        }
        let preposition: &[u8] = if kind == GoalKind::Send { b"to" } else { b"from" };
        if words.identifier() != preposition {
            return Err(format!("'{}' and a rank are expected after the number of bytes", shown(preposition)));
        }
        let any = kind == GoalKind::Receive && words.accept_any();
        let peer = if any { u64::from(ANY) } else { words.number("a rank")? };
        operation.peer = u32::try_from(peer).map_err(|_| format!("rank {peer} is too large"))?;
    }
    // The options have this order.
    let mut word = words.identifier();
    if word == b"tag" && kind != GoalKind::Compute {
        // LogGOPSim takes the low 32 bits: some writers write a negative tag as a number of 64 bits.
        operation.tag = if words.accept_any() { ANY } else { words.number("a tag")? as u32 };
        word = words.identifier();
    }
    if word == b"cpu" {
        operation.core = words.small("a cpu")?;
        word = words.identifier();
    }
    if word == b"nic" {
        operation.interface = words.small("a nic")?;
        word = words.identifier();
    }
    if !word.is_empty() {
        return Err(format!(
            "'{}' after the operation, where 'tag', 'cpu' and 'nic' may stand, in this order",
            shown(word)
        ));
    }
    words.end()?;
    Ok(operation)
}

/// The words of a line from left to right.
struct GoalWords<'t> {
    rest: &'t [u8],
}

impl<'t> GoalWords<'t> {
    /// The next identifier; empty if there is something else.
    #[inline]
    fn identifier(&mut self) -> &'t [u8] {
        if !self.rest.first().is_some_and(u8::is_ascii_alphabetic) {
            return &[];
        }
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = self.rest.iter().position(|byte| !is_part(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = skip_blanks(rest);
        word
    }

    /// The next number, of which the low 64 bits count.
    #[inline]
    fn number(&mut self, what: &str) -> Result<u64, String> {
        let mut number = 0_u64;
        let mut length = 0;
        for byte in self.rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number
                .checked_mul(10)
                .and_then(|number| number.checked_add(u64::from(digit)))
                .ok_or_else(|| format!("'{}' is too large for {what}", shown(self.rest)))?;
            length += 1;
        }
        if length == 0 {
            return Err(format!("'{}' where {what} is expected", shown(self.rest)));
        }
        self.rest = skip_blanks(&self.rest[length..]);
        Ok(number)
    }

    /// The number of a core or an interface, which LogGOPSim keeps in a byte.
    fn small(&mut self, what: &str) -> Result<u32, String> {
        let number = self.number(what)?;
        u8::try_from(number).map(u32::from).map_err(|_| format!("{what} of {number}, where 255 is the largest"))
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = skip_blanks(&self.rest[1..]);
        }
        found
    }

    /// Takes `-1`, which means any.
    fn accept_any(&mut self) -> bool {
        let rest = self.rest.strip_prefix(b"-1");
        self.rest = rest.map_or(self.rest, skip_blanks);
        rest.is_some()
    }

    fn end(&self) -> Result<(), String> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(format!("'{}' after the end of the statement", shown(self.rest)))
        }
    }
}

#[inline]
fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    &text[blanks..]
}

/// The beginning of a text, for a message.
pub(super) fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(40)]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_labels_options_and_blanks() {
        let send = GoalOperation { kind: GoalKind::Send, size: 70_000, peer: 2, tag: 8, core: 1, interface: 2 };
        assert_eq!(parse(b"s2 :send  70000b to 2 tag 8 cpu 1 nic 2"), Ok(Statement::Operation(b"s2", send)));
        let any = GoalOperation { kind: GoalKind::Receive, size: 8, peer: ANY, tag: ANY, core: 0, interface: 0 };
        assert_eq!(parse(b"recv 8b from -1 tag -1"), Ok(Statement::Operation(b"", any)));
        let wrapped = GoalOperation { kind: GoalKind::Send, size: 8, peer: 0, tag: 0x8000_0064, core: 0, interface: 0 };
        assert_eq!(parse(b"send 8b to 0 tag 18446744071562068068"), Ok(Statement::Operation(b"", wrapped)));
        let requires = Requires { dependent: b"rank", on: b"calc", is_begun: true };
        assert_eq!(parse(b"rank irequires calc"), Ok(Statement::Requires(requires)));
        assert_eq!(
            [parse(b"rank 3 {"), parse(b"}"), parse(b"")].map(Result::unwrap),
            [Statement::Rank(3), Statement::End, Statement::Blank,]
        );
    }

    #[test]
    fn what_is_no_statement_is_refused_in_words() {
        for line in [
            "a: send",
            "send 8b",
            "send 8 to 1",
            "a: calc 5b",
            "calc 1 nic 1 cpu 1",
            "recv 8b to 1",
            "a requires",
            "a requires b c",
            "rank 1",
            "x",
            "send 8b to -1",
            "calc 99999999999999999999999",
            "calc 1 cpu 256",
            "-1",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
