//! Expressions over the axes of a study and the size of a machine: constraints and prices.
//!
//! `evalexpr` reads and evaluates them. Before, each number, text and name becomes a variable, since a key has dashes and
//! a quantity a unit; `and` and `or` become its signs.
//! A name is the key of an axis or a [`Measure`]. The values of quantities are in SI units.

use evalexpr::{ContextWithMutableVariables, HashMapContext, Node, Operator, Value};

use crate::studies::magnitude::Magnitude;

/// The most characters of an expression: evaluation recurses into brackets.
const LONGEST: usize = 1000;

/// A number of the machine or the program that an expression may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Ranks,
    Hosts,
    Cores,
    Links,
    Cables,
    Switches,
    /// What the machine costs by the prices of the study.
    Cost,
}

impl Measure {
    const ALL: [(&'static str, Self); 7] = [
        ("ranks", Self::Ranks),
        ("hosts", Self::Hosts),
        ("cores", Self::Cores),
        ("links", Self::Links),
        ("cables", Self::Cables),
        ("switches", Self::Switches),
        ("cost", Self::Cost),
    ];
}

#[derive(Clone, Debug)]
pub(crate) struct Expression {
    tree: Node,
    /// What each variable of the tree stands for.
    operands: Vec<Operand>,
}

#[derive(Clone, Debug)]
enum Operand {
    Constant(Value),
    /// The value of the axis with this number.
    Axis(usize),
    Measure(Measure),
}

/// The values of the names in an expression.
pub(crate) trait Names {
    /// The value of the axis with a number: a number or a text.
    fn axis(&self, axis: usize) -> Value;

    /// The value of a measure.
    ///
    /// # Errors
    /// If the machine has no such number.
    fn measure(&self, measure: Measure) -> Result<f64, String>;
}

impl Expression {
    /// The expression in `text`, whose names are those of `axes`.
    pub(crate) fn parse(text: &str, axes: &[&str]) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("an expression has at most {LONGEST} characters"));
        }
        let (translated, operands) = translated(text, axes)?;
        let tree = evalexpr::build_operator_tree(&translated).map_err(|error| error.to_string())?;
        for node in std::iter::once(&tree).chain(tree.iter()) {
            let needed = match node.operator() {
                Operator::VariableIdentifierRead { .. } => 0,
                Operator::RootNode | Operator::Neg => 1,
                Operator::Add | Operator::Sub | Operator::Mul | Operator::Div | Operator::And | Operator::Or => 2,
                operator if is_ordering(operator).is_some() => 2,
                _ => return Err("this is no expression: it has + - * /, == != < <= > >=, and, or and brackets".into()),
            };
            if node.children().len() < needed {
                return Err("the expression ends too early".to_owned());
            }
        }
        Ok(Self { tree, operands })
    }

    /// Whether the expression names a measure.
    pub(crate) fn has_measure(&self) -> bool {
        self.operands.iter().any(|operand| matches!(operand, Operand::Measure(_)))
    }

    /// Whether the condition holds.
    ///
    /// # Errors
    /// If the expression is no condition, or a value in it is not what its place needs.
    pub(crate) fn holds(&self, names: &dyn Names) -> Result<bool, String> {
        self.value(names)?.as_boolean().map_err(|_| "this is no condition: compare it with something".to_owned())
    }

    /// The number that the expression stands for.
    ///
    /// # Errors
    /// If the expression is no finite number.
    pub(crate) fn number(&self, names: &dyn Names) -> Result<f64, String> {
        match self.value(names)? {
            Value::Float(number) if number.is_finite() => Ok(number),
            value => Err(format!("this is {value}, and no price")),
        }
    }

    fn value(&self, names: &dyn Names) -> Result<Value, String> {
        let mut context = HashMapContext::new();
        for (number, operand) in self.operands.iter().enumerate() {
            let value = match operand {
                Operand::Constant(value) => value.clone(),
                Operand::Axis(axis) => names.axis(*axis),
                Operand::Measure(measure) => Value::Float(names.measure(*measure)?),
            };
            context.set_value(variable(number), value).map_err(|error| error.to_string())?;
        }
        self.tree.iter().try_for_each(|node| check_comparison(node, &context))?;
        let unfit = |error| format!("the parts of the expression do not fit each other: {error}");
        self.tree.eval_with_context(&context).map_err(unfit)
    }
}

/// The value of a quoted text: the number of a quantity or, of anything else, the text.
fn value_of(text: &str) -> Value {
    Magnitude::of_text(text).map_or_else(|| Value::String(text.to_owned()), |found| Value::Float(found.number))
}

fn variable(number: usize) -> String {
    format!("v{number}")
}

/// An expression in the words of `evalexpr`, and what its variables stand for.
fn translated(text: &str, axes: &[&str]) -> Result<(String, Vec<Operand>), String> {
    let mut translated = String::new();
    let mut operands = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (word, after) = rest.split_at(word_length(rest)?);
        let operand = match word {
            "and" | "or" => {
                translated += if word == "and" { " && " } else { " || " };
                None
            }
            _ if first == '\'' => Some(Operand::Constant(value_of(word.trim_matches('\'')))),
            _ if first.is_ascii_digit() => {
                let number = word.parse().map_err(|_| format!("`{word}` is no number"))?;
                Some(Operand::Constant(Value::Float(number)))
            }
            _ if first.is_alphabetic() || first == '_' => Some(named(word, axes)?),
            _ if first.is_whitespace() || "+-*/=!<>()".contains(first) => {
                translated += word;
                None
            }
            _ => return Err(format!("`{word}` has no meaning here")),
        };
        if let Some(operand) = operand {
            translated = translated + " " + &variable(operands.len()) + " ";
            operands.push(operand);
        }
        rest = after;
    }
    Ok((translated, operands))
}

/// The length of the word that a text begins with: a quoted text, a number, a name, or one character.
fn word_length(text: &str) -> Result<usize, String> {
    let until = |is_within: fn(char) -> bool| text.find(|letter| !is_within(letter)).unwrap_or(text.len());
    Ok(match text.chars().next() {
        Some('\'') => text[1..].find('\'').ok_or("a quote has no end")? + 2,
        Some('0'..='9') => {
            let end = until(|letter| letter.is_ascii_alphanumeric() || letter == '.');
            if text[..end].ends_with(['e', 'E']) && text[end..].starts_with(['+', '-']) {
                let digits = &text[end + 1..];
                end + 1 + digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len())
            } else {
                end
            }
        }
        Some(first) if first.is_alphabetic() || first == '_' => {
            until(|letter| letter.is_alphanumeric() || "._-".contains(letter))
        }
        first => first.map_or(0, char::len_utf8),
    })
}

fn named(name: &str, axes: &[&str]) -> Result<Operand, String> {
    if let Some(axis) = axes.iter().position(|axis| *axis == name) {
        return Ok(Operand::Axis(axis));
    }
    let measure = Measure::ALL.iter().find(|(known, _)| *known == name);
    measure.map(|(_, measure)| Operand::Measure(*measure)).ok_or_else(|| {
        let names = axes.iter().copied().chain(Measure::ALL.map(|(name, _)| name));
        format!("`{name}` is no axis of the study: there are {}", names.collect::<Vec<_>>().join(", "))
    })
}

/// Whether a comparison asks for the order, which texts have not; `None` if the operator is no comparison.
fn is_ordering(operator: &Operator) -> Option<bool> {
    match operator {
        Operator::Eq | Operator::Neq => Some(false),
        Operator::Lt | Operator::Leq | Operator::Gt | Operator::Geq => Some(true),
        _ => None,
    }
}

/// Finds fault with a comparison of a text and a number, which for `evalexpr` are unequal.
fn check_comparison(node: &Node, context: &HashMapContext) -> Result<(), String> {
    let (Some(is_ordering), [left, right]) = (is_ordering(node.operator()), node.children()) else { return Ok(()) };
    match (left.eval_with_context(context), right.eval_with_context(context)) {
        (Ok(Value::Float(_)), Ok(Value::Float(_))) => Ok(()),
        (Ok(Value::String(left)), Ok(Value::String(right))) if is_ordering => {
            Err(format!("'{left}' and '{right}' are texts, which are equal or not"))
        }
        (Ok(Value::String(_)), Ok(Value::String(_))) => Ok(()),
        (Ok(Value::String(text)), Ok(_)) | (Ok(_), Ok(Value::String(text))) => Err(format!("'{text}' is no number")),
        (Ok(_), Ok(_)) => Err("a comparison is no number".to_owned()),
        // Evaluation says why.
        (Err(_), _) | (_, Err(_)) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Some64;

    impl Names for Some64 {
        fn axis(&self, axis: usize) -> Value {
            [Value::Float(4.0), Value::Float(1.25e9), Value::String("torus.toml".into())][axis].clone()
        }

        fn measure(&self, measure: Measure) -> Result<f64, String> {
            match measure {
                Measure::Ranks => Ok(64.0),
                Measure::Hosts | Measure::Cores | Measure::Links | Measure::Cables => Ok(16.0),
                Measure::Switches | Measure::Cost => Err("there are no switches".into()),
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
