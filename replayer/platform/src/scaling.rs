//! Values of platform files multiplied by a factor, in the unit in which they are written.

use titr_common::units::{Bytes, Written};
use titr_document::{Located, Value};

/// A value multiplied by `factor`: a quantity, a number, or a list of these. In steps, the first number of each step is a size and
/// stays. `None` if the value is of another kind.
pub(crate) fn scaled(value: &Value, factor: f64) -> Option<Value> {
    match value {
        Value::Text(text) => match Bytes::written(text) {
            Ok(Bytes(bytes)) => Some(Value::Text(format!("{} B", (bytes as f64 * factor).round()))),
            Err(_) => scaled_text(text, factor).map(Value::Text),
        },
        Value::Quantity(number) => Some(Value::Quantity(number * factor)),
        Value::Number(number) => Some(Value::Number(number * factor)),
        Value::List(items) => {
            let scaled_item = |item: &Located| match &item.value {
                Value::List(step) => scaled_step(step, factor),
                value => scaled(value, factor),
            };
            let at = |item: &Located| Some(Located::new(scaled_item(item)?, item.place.clone()));
            items.iter().map(at).collect::<Option<_>>().map(Value::List)
        }
        Value::Whole(_) | Value::Flag(_) | Value::Table(_) => None,
    }
}

/// A step, whose numbers after the first are multiplied.
fn scaled_step(step: &[Located], factor: f64) -> Option<Value> {
    let (size, numbers) = step.split_first()?;
    let at = |number: &Located| {
        let value = match number.value {
            Value::Whole(number) => Value::Number(number as f64 * factor),
            ref value => scaled(value, factor)?,
        };
        Some(Located::new(value, number.place.clone()))
    };
    let numbers: Option<Vec<Located>> = numbers.iter().map(at).collect();
    Some(Value::List([vec![size.clone()], numbers?].concat()))
}

/// The quantity in `text` multiplied by `factor`, in the same unit; `None` if `text` does not begin with a number, or has no unit.
pub(crate) fn scaled_text(text: &str, factor: f64) -> Option<String> {
    let text = text.trim();
    let ends = text.char_indices().map(|(at, _)| at);
    // The longest beginning that is a number: `1e3` of `1e3 s`, `2` of `2.5x`.
    let (number, unit) =
        ends.filter_map(|at| Some((text.get(..at)?.trim_end().parse::<f64>().ok()?, text.get(at..)?))).next_back()?;
    Some(format!("{} {}", number * factor, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(value: Value) -> Located {
        Located::new(value, 0..0)
    }

    fn text(written: &str) -> Value {
        Value::Text(written.to_owned())
    }

    #[test]
    fn quantities_keep_their_units() {
        let scaled = |written| match scaled(&text(written), 1.5) {
            Some(Value::Text(text)) => text,
            other => panic!("{other:?}"),
        };
        let found = ["10 Gbit/s", "1us", "1 x recorded", "64 KiB"].map(scaled);
        assert_eq!(found, ["15 Gbit/s", "1.5 us", "1.5 x recorded", "98304 B"]);
    }

    #[test]
    fn the_sizes_of_steps_stay() {
        let step = vec![at(Value::Whole(1024)), at(Value::Number(0.5)), at(Value::Whole(2))];
        let Some(Value::List(steps)) = scaled(&Value::List(vec![at(Value::List(step))]), 3.0) else { panic!() };
        let [Located { value: Value::List(step), .. }] = &steps[..] else { panic!("{steps:?}") };
        let [size, one, two] = [0, 1, 2].map(|at| &step[at].value);
        assert!(matches!(size, Value::Whole(1024)) && matches!(one, Value::Number(1.5)), "{step:?}");
        assert!(matches!(two, Value::Number(6.0)), "{step:?}");
    }

    #[test]
    fn names_and_counts_have_no_multiple() {
        for value in [text("mpich"), text("4"), Value::Whole(4), Value::Flag(true), Value::Table(Default::default())] {
            assert!(scaled(&value, 1.5).is_none(), "{value:?}");
        }
    }
}
