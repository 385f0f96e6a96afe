//! The text of an expression: words, and the rules that join them.

use titr_common::format::counted;

use super::{Comparison, Expression, Measure, Operand, Operator};

/// The most expressions within each other.
const DEEPEST: usize = 100;

/// A word of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Word<'t> {
    Number(f64),
    Quoted(&'t str),
    Name(&'t str),
    Sign(&'t str),
}

/// Signs of an expression; a sign that begins another one comes after that other.
const SIGNS: [&str; 12] = ["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")"];

/// The expression in `text`.
pub(super) fn parse(text: &str, axes: &[&str]) -> Result<Expression, String> {
    let mut parser = Parser { words: words(text)?, next: 0, depth: 0, axes };
    let expression = parser.condition()?;
    match parser.words.get(parser.next) {
        None => Ok(expression),
        Some(word) => Err(format!("{} is not expected here", word.shown())),
    }
}

fn words(text: &str) -> Result<Vec<Word<'_>>, String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, length) = if first == '\'' {
            let end = rest[1..].find('\'').ok_or("a quote has no end")?;
            (Word::Quoted(&rest[1..=end]), end + 2)
        } else if first.is_ascii_digit() {
            let length = number_length(rest);
            let number = rest[..length].parse().map_err(|_| format!("`{}` is no number", &rest[..length]))?;
            (Word::Number(number), length)
        } else if first.is_alphabetic() || first == '_' {
            let is_of_name = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
            let length = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
            (Word::Name(&rest[..length]), length)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("`{first}` has no meaning here"))?;
            (Word::Sign(sign), sign.len())
        };
        words.push(word);
        rest = rest[length..].trim_start();
    }
    Ok(words)
}

/// The length of the number that a text begins with: digits, a fraction, an exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let from = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(from.min(bytes.len())) > from {
            end = digits(from);
        }
    }
    end
}

impl Word<'_> {
    fn shown(&self) -> String {
        match self {
            Self::Number(number) => format!("`{number}`"),
            Self::Quoted(text) => format!("'{text}'"),
            Self::Name(name) | Self::Sign(name) => format!("`{name}`"),
        }
    }
}

/// The words of an expression that are still to be read.
struct Parser<'t, 'a> {
    words: Vec<Word<'t>>,
    next: usize,
    depth: usize,
    axes: &'a [&'a str],
}

impl<'t> Parser<'t, '_> {
    fn take(&mut self) -> Option<Word<'t>> {
        let word = self.words.get(self.next).cloned();
        self.next += 1;
        word
    }

    /// Takes the next word if it is one of these, and returns what this one stands for.
    fn take_any<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        let (Word::Sign(word) | Word::Name(word)) = self.words.get(self.next)? else { return None };
        let (_, meaning) = choices.iter().find(|(choice, _)| choice == word)?;
        self.next += 1;
        Some(*meaning)
    }

    /// Operands of one level, joined from the left.
    fn joined(
        &mut self,
        operators: &[(&str, Operator)],
        operand: fn(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        let mut left = operand(self)?;
        let mut operands = 1;
        while let Some(operator) = self.take_any(operators) {
            operands += 1;
            if operands > DEEPEST {
                return Err(format!("an expression joins at most {}", counted(DEEPEST, "part", "parts")));
            }
            left = Expression::Binary(operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn condition(&mut self) -> Result<Expression, String> {
        self.joined(&[("or", Operator::Or)], Self::all)
    }

    fn all(&mut self) -> Result<Expression, String> {
        self.joined(&[("and", Operator::And)], Self::comparison)
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        const COMPARISONS: [(&str, Comparison); 6] = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        let left = self.sum()?;
        let Some(comparison) = self.take_any(&COMPARISONS) else { return Ok(left) };
        Ok(Expression::Binary(Operator::Compare(comparison), Box::new(left), Box::new(self.sum()?)))
    }

    fn sum(&mut self) -> Result<Expression, String> {
        self.joined(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Expression, String> {
        self.joined(&[("*", Operator::Multiply), ("/", Operator::Divide)], Self::factor)
    }

    fn factor(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("an expression has at most {DEEPEST} levels"));
        }
        let factor = match self.take() {
            Some(Word::Number(number)) => Expression::Constant(Operand::Number(number)),
            Some(Word::Quoted(text)) => Expression::Constant(Operand::of_text(text)),
            Some(Word::Name(name)) => self.named(name)?,
            Some(Word::Sign("-")) => Expression::Negative(Box::new(self.factor()?)),
            Some(Word::Sign("(")) => {
                let inner = self.condition()?;
                self.take_any(&[(")", ())]).ok_or("a bracket has no end")?;
                inner
            }
            Some(word) => return Err(format!("{} is not expected here", word.shown())),
            None => return Err("the expression ends too early".to_owned()),
        };
        self.depth -= 1;
        Ok(factor)
    }

    fn named(&self, name: &str) -> Result<Expression, String> {
        if let Some(axis) = self.axes.iter().position(|axis| *axis == name) {
            return Ok(Expression::Axis(axis));
        }
        Measure::named(name).map(Expression::Measure).ok_or_else(|| {
            let names = self.axes.iter().copied().chain(Measure::ALL.map(|(name, _)| name));
            format!("`{name}` is no axis of the study: there are {}", names.collect::<Vec<_>>().join(", "))
        })
    }
}
