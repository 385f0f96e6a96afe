//! The text of a profile: a quantity by time, as SimGrid writes it (`ProfileBuilder.cpp`).
//!
//! A line is a date in seconds and a value from then on, a comment, `PERIODICITY` and the time after which the profile
//! repeats, or `LOOPAFTER` and the time from the last date to the first one of the next period. Profiles that draw
//! dates or values at random are refused.

use std::ops::Range;
use std::path::Path;

use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_common::step_function::{NoStepFunction, StepFunction};
use titr_common::time::Time;
use titr_common::units::Seconds;
use titr_document::{Checked, Mistake, Place, Source};

use super::super::Reading;
use super::super::element::{Attribute, Element};

/// A profile, which can be connected to several elements.
pub(super) struct Profile<'a> {
    origin: Origin<'a>,
    /// Each with its line.
    steps: Vec<(Time, f64, Place)>,
    period: Option<Time>,
}

/// The place where a profile is written.
enum Origin<'a> {
    /// In a file of its own.
    File(Source),
    /// In the platform.
    Element(Element<'a>),
}

/// The time after which the dates of a profile come again.
#[derive(Clone, Copy)]
enum Repetition {
    /// From the first date.
    Period(f64),
    /// From the last date to the first of the next period, but for the time before that.
    Pause(f64),
}

/// A line of a profile.
enum Line {
    Step(f64, f64),
    Repetition(Repetition),
}

/// Names of distributions that dates and values are drawn from.
const DISTRIBUTIONS: [&str; 10] =
    ["STOCHASTIC", "NORM", "NORMAL", "GAUSS", "GAUSSIAN", "EXP", "EXPONENTIAL", "UNIF", "UNIFORM", "RANDOM"];

impl<'a> Profile<'a> {
    /// The profile of a file that an attribute names. As in SimGrid, a file is looked for in the working directory first, and
    /// then beside the platform.
    pub(crate) fn of_file(name: &Attribute, reading: &mut Reading) -> Checked<Self> {
        let beside = reading.path.parent().unwrap_or(Path::new("")).join(name.value);
        let here = Path::new(name.value);
        let path = if here.exists() { here } else { &beside };
        let text = input::read_text(path, WRITTEN_BY_PROGRAM).map_err(|error| {
            let mistake = name.wrong(format!("cannot read the profile `{}`: {error}", name.value));
            mistake.with_help("a profile is a file in the working directory or beside the platform")
        })?;
        reading.profiles.push(path.to_owned());
        Self::read(Origin::File(Source::new(&path.display().to_string(), text, [])), None)
    }

    /// The profile that a `<trace>` is or names.
    pub(crate) fn of_trace(trace: &Element<'a>, reading: &mut Reading) -> Checked<Self> {
        if let Some(file) = trace.attribute("file") {
            return Self::of_file(&file, reading);
        }
        let period = match trace.attribute("periodicity") {
            Some(written) => Some(written.value.trim().parse().map_err(|_| written.wrong("a period is a number"))?),
            None => None,
        };
        Self::read(Origin::Element(*trace), period.filter(|&period: &f64| period > 0.0))
    }

    fn read(origin: Origin<'a>, period: Option<f64>) -> Checked<Self> {
        let mut steps: Vec<(Time, f64, Place)> = Vec::new();
        let mut last = 0.0;
        let mut repetition = period.map(|period| (Repetition::Period(period), origin.whole()));
        let mut is_written = false;
        for (text, place) in lines(origin.text()) {
            let line = match understood(text) {
                Ok(None) => continue,
                Ok(Some(line)) => line,
                Err((message, help)) => {
                    let mistake = origin.wrong(&place, message);
                    return Err(if help.is_empty() { mistake } else { mistake.with_help(help) });
                }
            };
            match line {
                Line::Step(date, _) if date < last => {
                    let message = format!("dates are in order, and {date} is before {last}");
                    return Err(origin.wrong(&place, message));
                }
                Line::Step(date, value) => {
                    last = date;
                    steps.push((Time::from_seconds(Seconds(date)), value, place));
                }
                Line::Repetition(_) if is_written => {
                    return Err(origin.wrong(&place, "a profile says once when its dates come again"));
                }
                Line::Repetition(written) => {
                    is_written = true;
                    repetition = Some((written, place));
                }
            }
        }
        let period = repetition.as_ref().map(|&(repetition, _)| {
            Time::from_seconds(Seconds(match repetition {
                Repetition::Period(period) if period > 0.0 => period,
                // SimGrid reads a period of 0 as no pause.
                Repetition::Period(_) => last,
                Repetition::Pause(pause) => last + pause,
            }))
        });
        let this = Self { origin, steps, period };
        match (this.function(0.0), repetition) {
            (Err(error), Some((_, place))) => Err(this.origin.wrong(&place, error.to_string())),
            (Err(error), None) => Err(this.origin.wrong(&this.origin.whole(), error.to_string())),
            (Ok(_), _) => Ok(this),
        }
    }

    /// The quantity by time, where it is `initial` before the first date.
    pub(crate) fn function(&self, initial: f64) -> Result<StepFunction, NoStepFunction> {
        let steps: Vec<_> = self.steps.iter().map(|&(at, value, _)| (at, value)).collect();
        StepFunction::new(initial, &steps, self.period)
    }

    /// A mistake in the last line that is for an instant.
    pub(crate) fn wrong_at(&self, at: Time, message: impl Into<String>) -> Mistake {
        let line = self.steps.iter().rfind(|(time, ..)| *time == at);
        self.origin.wrong(&line.map_or_else(|| self.origin.whole(), |(.., place)| place.clone()), message)
    }

    /// A mistake in the first line with a value.
    pub(crate) fn wrong_value(&self, value: f64, message: impl Into<String>) -> Mistake {
        let line = self.steps.iter().find(|&&(_, other, _)| other == value);
        self.origin.wrong(&line.map_or_else(|| self.origin.whole(), |(.., place)| place.clone()), message)
    }

    /// Whether some line has this value.
    pub(crate) fn has(&self, value: f64) -> bool {
        self.steps.iter().any(|&(_, other, _)| other == value)
    }
}

impl Origin<'_> {
    fn text(&self) -> &str {
        match self {
            Self::File(source) => source.text(),
            Self::Element(element) => element.text(),
        }
    }

    /// The place of the text as a whole, from its start.
    fn whole(&self) -> Place {
        0..0
    }

    /// A mistake at a place in the text.
    fn wrong(&self, place: &Place, message: impl Into<String>) -> Mistake {
        match self {
            Self::File(source) => source.mistake(Some(place.clone()), message),
            Self::Element(element) if place.is_empty() => element.wrong(message),
            Self::Element(element) => match element.place_in_text(place) {
                Some(place) => element.wrong_at(&place, message),
                None => element.wrong(message),
            },
        }
    }
}

/// The lines of a text without the blanks round them, each with its place.
fn lines(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    text.split(['\n', '\r']).map(move |line| {
        let trimmed = line.trim();
        let start = trimmed.as_ptr() as usize - text.as_ptr() as usize;
        (trimmed, start..start + trimmed.len())
    })
}

/// The meaning of a line, if it has any; or what is wrong with it, and what to do.
fn understood(line: &str) -> Result<Option<Line>, (&'static str, &'static str)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |word: &str| {
        word.parse::<f64>().ok().filter(|number| number.is_finite()).ok_or((
            "a line of a profile is a date and a value, which are numbers",
            "dates are in seconds, and values in bytes per second, in seconds, or a part of a host's speed; write no units",
        ))
    };
    let positive = |number: f64, message| if number >= 0.0 { Ok(number) } else { Err((message, "")) };
    let words = match words[..] {
        [] => return Ok(None),
        [first, ..] if first.starts_with(['#', '%']) => return Ok(None),
        ["PERIODICITY", period] => {
            let period = positive(number(period)?, "a period is not negative")?;
            return Ok(Some(Line::Repetition(Repetition::Period(period))));
        }
        ["LOOPAFTER", pause] => {
            let pause = positive(number(pause)?, "the pause after the last date is not negative")?;
            return Ok(Some(Line::Repetition(Repetition::Pause(pause))));
        }
        ["WAITFOR", ..] => return Err(("SimGrid has no WAITFOR any more", "write LOOPAFTER")),
        _ => words,
    };
    if words.iter().any(|word| DISTRIBUTIONS.contains(word)) {
        return Err(("titr does not simulate profiles that are drawn at random", "write dates and values"));
    }
    // SimGrid reads DET before a number that is not drawn at random.
    let mut numbers = words.into_iter().filter(|word| *word != "DET");
    let (date, value) = (number(numbers.next().unwrap_or_default())?, number(numbers.next().unwrap_or_default())?);
    let date = positive(date, "a date is not negative")?;
    Ok(Some(Line::Step(date, positive(value, "a value is not negative")?)))
}
