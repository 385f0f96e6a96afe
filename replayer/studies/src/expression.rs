//! Expressions over the axes of a study and the size of a machine: constraints and prices.
//!
//! ```text
//! condition  = all { "or" all }
//! all        = comparison { "and" comparison }
//! comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = factor { ( "*" | "/" ) factor }
//! factor     = number | 'text or quantity' | name | "-" factor | "(" condition ")"
//! ```
//!
//! A name is the key of an axis or a [`Measure`]. The values of quantities are in SI units.

mod parser;

use std::cmp::Ordering;

use crate::magnitude::Magnitude;

/// A number of the machine or the program that an expression may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Ranks,
    Hosts,
    Cores,
    Links,
    Switches,
}

impl Measure {
    const ALL: [(&'static str, Self); 5] = [
        ("ranks", Self::Ranks),
        ("hosts", Self::Hosts),
        ("cores", Self::Cores),
        ("links", Self::Links),
        ("switches", Self::Switches),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, measure)| *measure)
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Constant(Operand),
    /// The value of the axis with this number.
    Axis(usize),
    Measure(Measure),
    Negative(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Compare(Comparison),
    Add,
    Subtract,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    Number(f64),
    Text(String),
    Truth(bool),
}

/// The values of the names in an expression.
pub(crate) trait Names {
    /// The value of the axis with a number.
    fn axis(&self, axis: usize) -> Operand;

    /// The value of a measure.
    ///
    /// # Errors
    /// If the machine has no such number.
    fn measure(&self, measure: Measure) -> Result<f64, String>;
}

impl Operand {
    /// The number of a quantity or, of anything else, the text.
    pub(crate) fn of_text(text: &str) -> Self {
        Magnitude::of_text(text).map_or_else(|| Self::Text(text.to_owned()), |magnitude| Self::Number(magnitude.number))
    }

    fn number(self) -> Result<f64, String> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Text(text) => Err(format!("'{text}' is no number")),
            Self::Truth(_) => Err("a comparison is no number".to_owned()),
        }
    }

    fn truth(self) -> Result<bool, String> {
        match self {
            Self::Truth(truth) => Ok(truth),
            Self::Number(_) | Self::Text(_) => Err("this is no condition: compare it with something".to_owned()),
        }
    }
}

impl Expression {
    /// The expression in `text`, whose names are those of `axes`.
    ///
    /// # Errors
    /// If the text is no expression.
    pub(crate) fn parse(text: &str, axes: &[&str]) -> Result<Self, String> {
        parser::parse(text, axes)
    }

    /// Whether the expression names a measure.
    pub(crate) fn has_measure(&self) -> bool {
        match self {
            Self::Constant(_) | Self::Axis(_) => false,
            Self::Measure(_) => true,
            Self::Negative(inner) => inner.has_measure(),
            Self::Binary(_, left, right) => left.has_measure() || right.has_measure(),
        }
    }

    /// Whether the condition holds.
    ///
    /// # Errors
    /// If the expression is no condition, or a value in it is not what its place needs.
    pub(crate) fn holds(&self, names: &dyn Names) -> Result<bool, String> {
        self.value(names)?.truth()
    }

    /// The number that the expression stands for.
    ///
    /// # Errors
    /// If the expression is no finite number.
    pub(crate) fn number(&self, names: &dyn Names) -> Result<f64, String> {
        match self.value(names)?.number()? {
            number if number.is_finite() => Ok(number),
            number => Err(format!("this is {number}, and no price")),
        }
    }

    fn value(&self, names: &dyn Names) -> Result<Operand, String> {
        Ok(match self {
            Self::Constant(operand) => operand.clone(),
            Self::Axis(axis) => names.axis(*axis),
            Self::Measure(measure) => Operand::Number(names.measure(*measure)?),
            Self::Negative(inner) => Operand::Number(-inner.value(names)?.number()?),
            Self::Binary(operator, left, right) => {
                let left = left.value(names)?;
                match operator {
                    Operator::Or => Operand::Truth(left.truth()? || right.holds(names)?),
                    Operator::And => Operand::Truth(left.truth()? && right.holds(names)?),
                    Operator::Compare(comparison) => Operand::Truth(comparison.holds(left, right.value(names)?)?),
                    Operator::Add => Operand::Number(left.number()? + right.value(names)?.number()?),
                    Operator::Subtract => Operand::Number(left.number()? - right.value(names)?.number()?),
                    Operator::Multiply => Operand::Number(left.number()? * right.value(names)?.number()?),
                    Operator::Divide => Operand::Number(left.number()? / right.value(names)?.number()?),
                }
            }
        })
    }
}

impl Comparison {
    fn holds(self, left: Operand, right: Operand) -> Result<bool, String> {
        let order = match (left, right) {
            (Operand::Text(left), Operand::Text(right)) => match self {
                Self::Equal | Self::Unequal => left.cmp(&right),
                Self::Less | Self::AtMost | Self::More | Self::AtLeast => {
                    return Err(format!("'{left}' and '{right}' are texts, which are equal or not"));
                }
            },
            (left, right) => left.number()?.total_cmp(&right.number()?),
        };
        Ok(match self {
            Self::Equal => order == Ordering::Equal,
            Self::Unequal => order != Ordering::Equal,
            Self::Less => order == Ordering::Less,
            Self::AtMost => order != Ordering::Greater,
            Self::More => order == Ordering::Greater,
            Self::AtLeast => order != Ordering::Less,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Some64;

    impl Names for Some64 {
        fn axis(&self, axis: usize) -> Operand {
            [Operand::Number(4.0), Operand::Number(1.25e9), Operand::Text("torus.toml".into())][axis].clone()
        }

        fn measure(&self, measure: Measure) -> Result<f64, String> {
            match measure {
                Measure::Ranks => Ok(64.0),
                Measure::Hosts | Measure::Cores | Measure::Links => Ok(16.0),
                Measure::Switches => Err("there are no switches".into()),
            }
        }
    }

    const AXES: [&str; 3] = ["hosts.cores", "network.bandwidth", "platform"];

    fn holds(text: &str) -> Result<bool, String> {
        Expression::parse(text, &AXES)?.holds(&Some64)
    }

    #[test]
    fn conditions_compare_axes_and_measures() {
        for (text, expected) in [
            ("hosts * hosts.cores >= ranks", true),
            ("hosts*hosts.cores>ranks", false),
            ("network.bandwidth == '10 Gbit/s'", true),
            ("platform != 'torus.toml' or hosts.cores < 2 + 3", true),
            ("platform == 'torus.toml' and (hosts.cores > 4 or 2 * -1 < 0)", true),
            ("1 + 2 * 3 == 7 and 8 / 2 / 2 == 2 and 5 - 2 - 1 == 2", true),
            ("1 == 2 or 1 == 1 and 1 == 2", false),
            // What decides already is enough.
            ("1 == 1 or switches > 1", true),
        ] {
            assert_eq!(holds(text), Ok(expected), "{text}");
        }
        assert_eq!(Expression::parse("100 + network.bandwidth / 1e9", &AXES).unwrap().number(&Some64), Ok(101.25));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in [
            "",
            "1 +",
            "(1 == 1",
            "1 == 1)",
            "hosts.colour == 1",
            "hosts.cores",
            "'a' < 'b'",
            "platform == 1",
            "'a' + 1 == 2",
            "switches == 1",
            "1 = 1",
            "1 < 2 < 3",
            "'open",
            "1 == 1 and 3",
            "(1 == 1) + 1 == 2",
            "#",
        ] {
            assert!(holds(text).is_err(), "{text}");
        }
        assert!(Expression::parse("1 / 0", &AXES).unwrap().number(&Some64).is_err());
        assert!(holds(&("(".repeat(100_000) + "1")).is_err(), "too deep");
    }
}
