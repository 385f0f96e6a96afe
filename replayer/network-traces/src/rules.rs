//! Rules for triggers: the kinds of messages that trigger each kind.
//!
//! A file of rules is TOML:
//!
//! ```toml
//! data = ["data"]                        # kinds whose reception lets a node go on; if missing, all are
//!
//! [replies]                              # a message of this kind answers a request of one of those
//! data = ["read", "write"]
//!
//! [protocol]                             # a message of this kind is sent when one of those is received
//! invalidate = ["write"]
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use titr_common::input::{self, WRITTEN_BY_HAND};

use crate::error::NetworkTraceError;

/// The kinds of messages that trigger each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The kinds whose reception allows a node to continue; `None`: all.
    data: Option<BTreeSet<String>>,
    /// The kinds of the requests that a kind answers.
    #[serde(default)]
    replies: BTreeMap<String, BTreeSet<String>>,
    /// The kinds whose reception triggers a kind.
    #[serde(default)]
    protocol: BTreeMap<String, BTreeSet<String>>,
}

impl Rules {
    /// Reads the rules in the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML, or contradicts itself.
    pub fn load(path: &Path) -> Result<Self, NetworkTraceError> {
        let text = input::read_text(path, WRITTEN_BY_HAND).map_err(NetworkTraceError::io(path))?;
        Self::parse(path, &text)
    }

    /// Reads the rules in a text, which messages call `path`.
    ///
    /// # Errors
    /// If the text is not TOML, or contradicts itself.
    pub fn parse(path: &Path, text: &str) -> Result<Self, NetworkTraceError> {
        let rules: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or_default());
            let (path, line) = (path.to_owned(), 1 + before.matches('\n').count() as u64);
            NetworkTraceError::Line { path, line, what: error.message().to_owned() }
        })?;
        match rules.contradiction() {
            Some(what) => Err(NetworkTraceError::Messages { path: path.into(), what }),
            None => Ok(rules),
        }
    }

    /// A sentence on how the rules contradict each other.
    fn contradiction(&self) -> Option<String> {
        let both = self.replies.keys().find(|kind| self.protocol.contains_key(*kind));
        if let Some(kind) = both {
            return Some(format!(
                "'{kind}' stands under [replies] and under [protocol]: only one of them can trigger it"
            ));
        }
        let (mut itself, all) = (self.replies.iter(), self.replies.iter().chain(&self.protocol));
        if let Some((kind, _)) = itself.find(|(kind, requests)| requests.contains(*kind)) {
            return Some(format!("'{kind}' answers itself"));
        }
        let (kind, _) = all.into_iter().find(|(_, triggers)| triggers.is_empty())?;
        Some(format!("nothing triggers '{kind}': name a kind, or delete the line, and data triggers it"))
    }

    /// Whether the reception of this kind allows a node to continue.
    pub(crate) fn is_data(&self, kind: &str) -> bool {
        self.data.as_ref().is_none_or(|data| data.contains(kind))
    }

    /// The kinds of requests that a kind answers.
    pub(crate) fn answers(&self, kind: &str) -> Option<&BTreeSet<String>> {
        self.replies.get(kind)
    }

    /// Whether some kind answers this one.
    pub(crate) fn is_answered(&self, kind: &str) -> bool {
        self.replies.values().any(|requests| requests.contains(kind))
    }

    /// The kinds whose reception triggers a kind.
    pub(crate) fn triggers_of(&self, kind: &str) -> Option<&BTreeSet<String>> {
        self.protocol.get(kind)
    }

    /// Whether this kind triggers some kind of the protocol.
    pub(crate) fn is_protocol_trigger(&self, kind: &str) -> bool {
        self.protocol.values().any(|triggers| triggers.contains(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_contradict_themselves_are_refused() {
        for (text, message) in [
            (
                "[replies]\na = [\"b\"]\n[protocol]\na = [\"c\"]\n",
                "r.toml: 'a' stands under [replies] and under [protocol]",
            ),
            ("[replies]\na = [\"b\", \"a\"]\n", "r.toml: 'a' answers itself"),
            ("[protocol]\na = []\n", "r.toml: nothing triggers 'a'"),
            ("data = [\"a\"]\n[answers]\n", "r.toml:2: unknown field `answers`"),
            ("data = [\"a\"]\n[replies]\na = 3\n", "r.toml:3: "),
            ("data = \n", "r.toml:1: "),
        ] {
            let found = Rules::parse("r.toml".as_ref(), text).unwrap_err().to_string();
            assert!(found.starts_with(message), "{text}: {found}");
        }
    }
}
