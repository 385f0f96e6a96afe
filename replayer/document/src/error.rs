//! Mistakes in the syntax and types of values, in the words of the documentation.

use std::fmt::Display;

use thiserror::Error;

use crate::source::{Mistake, Place, Source};

/// A value that does not fit the schema, or a text that is not TOML.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct DocumentError {
    message: String,
    /// The innermost value or key that is known to be wrong.
    place: Option<Place>,
}

/// Words of serde and toml, each with the word of the documentation.
const IN_OUR_WORDS: [(&str, &str); 3] =
    [("unknown field", "unknown key"), ("missing field", "missing key"), ("unknown variant", "unknown choice")];

impl DocumentError {
    /// A mistake that the TOML reader found in a text whose first byte is at `start`.
    pub(crate) fn of_toml(error: &toml::de::Error, start: usize) -> Self {
        let place = error.span().map(|span| span.start + start..span.end + start);
        Self { message: error.message().to_owned(), place }
    }

    /// The mistake, which is at `place` if it is not known to be at a place within.
    pub(crate) fn or_at(mut self, place: Place) -> Self {
        self.place.get_or_insert(place);
        self
    }

    /// The mistake in the text.
    #[must_use]
    pub fn shown_in(self, source: &Source) -> Mistake {
        let (message, help) = match self.message.split_once(", expected ") {
            Some((message, expected)) => (message, Some(format!("expected {expected}"))),
            None => (self.message.as_str(), None),
        };
        let message = IN_OUR_WORDS.iter().fold(message.to_owned(), |said, (theirs, ours)| said.replace(theirs, ours));
        let mistake = source.mistake(self.place, message);
        match help {
            Some(help) => mistake.with_help(help),
            None => mistake,
        }
    }
}

impl serde::de::Error for DocumentError {
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), place: None }
    }
}
