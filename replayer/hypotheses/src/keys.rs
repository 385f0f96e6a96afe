//! Access to the keys of a change, for the kinds of changes.

use std::sync::Arc;

use titr_common::event::RankSet;
use titr_common::units::{Bytes, Written};
use titr_document::{Located, Mistake, Place, Source, Spanned, Table, Value};

use crate::selection::{CommunicatorName, Selection};

/// The keys of one `[[change]]` that no one has taken yet. Each kind takes those that it knows; any other is a mistake.
pub(crate) struct Keys {
    /// The file, for mistakes that show only later.
    pub source: Arc<Source>,
    table: Table,
    /// The place of the kind's name.
    place: Place,
    /// The names of the keys that were requested.
    known: Vec<&'static str>,
}

impl Keys {
    /// The keys of a change and the name of its kind.
    pub(crate) fn of(table: Spanned<Table>, source: &Arc<Source>) -> Result<(Spanned<String>, Self), Mistake> {
        let whole = table.span();
        let mut keys = Self { source: Arc::clone(source), table: table.into_inner(), place: whole, known: vec![] };
        let kind = keys.text("kind")?.ok_or_else(|| keys.mistake("a change needs a kind"))?;
        keys.place = kind.span();
        Ok((kind, keys))
    }

    /// A mistake of the change as a whole.
    pub(crate) fn mistake(&self, message: impl Into<String>) -> Mistake {
        self.source.mistake(self.place.clone(), message)
    }

    pub(crate) fn wrong<T>(&self, value: &Spanned<T>, message: impl Into<String>) -> Mistake {
        self.source.wrong(value, message)
    }

    /// The value of a key, if it is written; `read` makes sense of it, or says what it should be.
    fn value<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Value) -> Result<T, String>,
    ) -> Result<Option<Spanned<T>>, Mistake> {
        self.known.push(key);
        let Some(Located { value, place }) = self.table.remove(key) else { return Ok(None) };
        let read = read(value).map_err(|why| self.source.mistake(place.clone(), why))?;
        Ok(Some(Spanned::new(place, read)))
    }

    /// A mandatory key, which `read` reads.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        read: fn(&mut Self, &'static str) -> Result<Option<T>, Mistake>,
    ) -> Result<T, Mistake> {
        read(self, key)?.ok_or_else(|| self.mistake(format!("this kind of change needs the key '{key}'")))
    }

    /// A text.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<Spanned<String>>, Mistake> {
        self.value(key, |value| match value {
            Value::Text(text) => Ok(text),
            _ => Err(format!("'{key}' is a text in quotes")),
        })
    }

    /// A choice among words, each with its value.
    pub(crate) fn choice<T: Copy>(&mut self, key: &'static str, words: &[(&str, T)]) -> Result<Option<T>, Mistake> {
        let Some(word) = self.text(key)? else { return Ok(None) };
        let found = words.iter().find(|(name, _)| name == word.get_ref());
        let names = || words.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(" or ");
        found.map(|&(_, meaning)| Some(meaning)).ok_or_else(|| self.wrong(&word, format!("'{key}' is {}", names())))
    }

    /// A factor from 0 on.
    pub(crate) fn factor(&mut self, key: &'static str) -> Result<Option<f64>, Mistake> {
        let factor = self.value(key, |value| match value {
            Value::Whole(number) if number >= 0 => Ok(number as f64),
            Value::Number(number) if (0.0..f64::INFINITY).contains(&number) => Ok(number),
            _ => Err(format!("'{key}' is a number from 0 on, such as 0.5")),
        })?;
        Ok(factor.map(Spanned::into_inner))
    }

    /// A whole number.
    pub(crate) fn whole(&mut self, key: &'static str) -> Result<Option<Spanned<i32>>, Mistake> {
        self.value(key, |value| {
            match value {
                Value::Whole(number) => i32::try_from(number).ok(),
                _ => None,
            }
            .ok_or_else(|| format!("'{key}' is a whole number from {} on", i32::MIN))
        })
    }

    /// A number of bytes: a whole number, or a text with a unit.
    pub(crate) fn bytes(&mut self, key: &'static str) -> Result<Option<Bytes>, Mistake> {
        let expected = || format!("'{key}' is a number of bytes, such as 1000 or \"64 KiB\"");
        let bytes = self.value(key, |value| match value {
            Value::Whole(number) => u64::try_from(number).map(Bytes).map_err(|_| expected()),
            Value::Text(text) => Bytes::written(&text).map_err(|error| error.to_string()),
            _ => Err(expected()),
        })?;
        Ok(bytes.map(Spanned::into_inner))
    }

    /// A set of ranks, written as `"0-31,40"` or as one number.
    pub(crate) fn rank_set(&mut self, key: &'static str) -> Result<Option<Spanned<RankSet>>, Mistake> {
        self.value(key, |value| {
            let text = match value {
                Value::Text(text) => text,
                Value::Whole(number) => number.to_string(),
                _ => String::new(),
            };
            RankSet::written(&text).ok_or_else(|| format!("'{key}' is a list of ranks, such as \"0-31,40\""))
        })
    }

    /// The parts of the program that the change is about: its ranks, its region and its call site.
    pub(crate) fn selection(&mut self) -> Result<Selection, Mistake> {
        Ok(Selection {
            ranks: self.rank_set("ranks")?,
            region: self.text("region")?,
            call_site: self.text("call_site")?,
            communicator: None,
            source: Arc::clone(&self.source),
            place: self.place.clone(),
        })
    }

    /// The parts of the program that the change is about: its ranks, its region, its call site and the communicator.
    pub(crate) fn selection_of_messages(&mut self) -> Result<Selection, Mistake> {
        let selection = self.selection()?;
        let Some(written) = self.text("communicator")? else { return Ok(selection) };
        let name = CommunicatorName::written(written.get_ref()).ok_or_else(|| {
            self.wrong(
                &written,
                "'communicator' is \"world\", or all its members in the order of ranks, such as \"0-31,40\"",
            )
        })?;
        Ok(Selection { communicator: Some(Spanned::new(written.span(), name)), ..selection })
    }

    /// Checks that there are no unknown keys.
    pub(crate) fn finish(self) -> Result<(), Mistake> {
        let Some((key, _)) = self.table.into_entries().next() else { return Ok(()) };
        let known = self.known.iter().filter(|name| **name != "kind").copied().collect::<Vec<_>>().join(", ");
        let help = if known.is_empty() { "it has none".to_owned() } else { format!("it has {known}") };
        Err(self.source.wrong(&key, format!("this kind of change has no key '{}'", key.get_ref())).with_help(help))
    }
}
