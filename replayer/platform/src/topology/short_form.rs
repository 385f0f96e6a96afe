//! The short form of a topology, in platforms of one line: `torus:4x4x4`.
//!
//! After the topology's name follow values, separated by commas: with keys (`g=9,a=4`), or in the order of the keys.

use titr_document::{Located, Place, Value};

/// The short form of a topology.
pub(crate) struct ShortForm {
    /// A topology in its short form, for messages.
    pub(crate) example: &'static str,
    /// The keys of the topology in order, or of another table. `groups=g` has a symbol in publications, `dims*` a list of numbers, and `routing?` a word.
    keys: &'static str,
}

const fn form(example: &'static str, keys: &'static str) -> ShortForm {
    ShortForm { example, keys }
}

/// The topologies that have a short form.
pub(crate) const SHORT_FORMS: [ShortForm; 11] = [
    form("star:16", "hosts.count"),
    form("torus:4x4x4", "dims*"),
    form("mesh:8x8", "dims*"),
    form("twisted-torus:8x4", "dims*"),
    form("fat-tree:8x8,1x8", "down* up* count* routing? ascent? seed"),
    form("xgft:8x8,1x8", "m* w* ascent? seed"),
    form(
        "dragonfly:g=9,a=4,h=2,p=2",
        "groups=g routers=a global_links=h hosts=p chassis blades nodes blue black green routing?",
    ),
    form("dragonfly-plus:g=5,leaves=4,spines=4,h=2,p=4", "groups=g leaves spines global_links=h hosts=p"),
    form("hyperx:4x4,p=4", "dims* hosts=p cables*"),
    form("slim-fly:q=5", "q hosts=p"),
    form("jellyfish:20,degree=4,p=4", "routers degree hosts=p seed"),
];

impl ShortForm {
    /// The name of the topology.
    pub(crate) fn name(&self) -> &'static str {
        self.example.split(':').next().unwrap_or(self.example)
    }

    /// The keys. A value without a key has the key at its own place.
    pub(crate) fn keys(&self) -> impl Iterator<Item = ShortKey> {
        self.keys.split(' ').map(|key| {
            let (key, symbol) = key.split_once('=').unwrap_or((key, ""));
            let place = key.trim_end_matches(['*', '?']);
            let (path, name) = match place.split_once('.') {
                Some((_, name)) => (place.to_owned(), name),
                None => (format!("topology.{}.{place}", self.name()), place),
            };
            ShortKey { path, name, symbol, kind: key.chars().next_back() }
        })
    }
}

pub(crate) struct ShortKey {
    /// The key of platform files that it sets.
    pub(crate) path: String,
    /// The last part of that key.
    pub(crate) name: &'static str,
    /// Its symbol in publications, if there is one.
    pub(crate) symbol: &'static str,
    /// The last letter of the key as it is written in [`ShortForm::keys`].
    kind: Option<char>,
}

impl ShortKey {
    /// The key with its symbol, for messages.
    pub(crate) fn shown(&self) -> String {
        match self.symbol {
            "" => self.name.to_owned(),
            symbol => format!("{symbol} ({})", self.name),
        }
    }

    /// The value of a text at a place, or the kind of value that is needed.
    pub(crate) fn value(&self, text: &str, place: &Place) -> Result<Value, &'static str> {
        let number = |text: &str| text.parse::<u32>().map(Value::from);
        match self.kind {
            Some('*') => {
                let located = |text| number(text).map(|value| Located { value, place: place.clone() });
                let items: Result<Vec<Located>, _> = text.split('x').map(located).collect();
                items.map(Value::from).map_err(|_| "whole numbers with x between them, such as 4x4")
            }
            Some('?') if text.is_empty() => Err("a word"),
            Some('?') => Ok(text.into()),
            _ => number(text).map_err(|_| "a whole number"),
        }
    }
}
