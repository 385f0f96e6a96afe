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
use titr_document::{Checked, Source, Spanned};

use super::NetworkTraceError;

/// The kinds of messages that trigger each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The kinds whose reception allows a node to continue; `None`: all.
    data: Option<BTreeSet<String>>,
    /// The kinds of the requests that a kind answers.
    #[serde(default)]
    replies: BTreeMap<Spanned<String>, BTreeSet<String>>,
    /// The kinds whose reception triggers a kind.
    #[serde(default)]
    protocol: BTreeMap<Spanned<String>, BTreeSet<String>>,
}

impl Rules {
    /// Reads the rules in the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML, or contradicts itself.
    pub fn load(path: &Path) -> Result<Self, NetworkTraceError> {
        let text = input::read_text(path, WRITTEN_BY_HAND).map_err(NetworkTraceError::io(path))?;
        Ok(Self::parse(path, text)?)
    }

    /// Reads the rules in a text, which messages call `path`.
    ///
    /// # Errors
    /// If the text is not TOML, or contradicts itself.
    pub fn parse(path: &Path, text: String) -> Checked<Self> {
        let source = Source::new(&path.display().to_string(), text, []);
        let rules: Self = source.read()?;
        rules.check(&source)?;
        Ok(rules)
    }

    /// Finds fault with rules that contradict each other.
    fn check(&self, source: &Source) -> Checked<()> {
        if let Some((kind, _)) = self.protocol.iter().find(|(kind, _)| self.replies.contains_key(*kind)) {
            let message = format!("'{}' stands under [replies] and under [protocol]", kind.get_ref());
            return Err(source.wrong(kind, message).with_help("only one of them can trigger it"));
        }
        if let Some((kind, _)) = self.replies.iter().find(|(kind, requests)| requests.contains(kind.get_ref())) {
            return Err(source.wrong(kind, format!("'{}' answers itself", kind.get_ref())));
        }
        if let Some((kind, _)) = self.replies.iter().chain(&self.protocol).find(|(_, triggers)| triggers.is_empty()) {
            let mistake = source.wrong(kind, format!("nothing triggers '{}'", kind.get_ref()));
            return Err(mistake.with_help("name a kind, or delete the line, and data triggers it"));
        }
        Ok(())
    }

    /// Whether the reception of this kind allows a node to continue.
    pub(crate) fn is_data(&self, kind: &str) -> bool {
        self.data.as_ref().is_none_or(|data| data.contains(kind))
    }

    /// The kinds of requests that a kind answers.
    pub(crate) fn answers(&self, kind: &str) -> Option<&BTreeSet<String>> {
        self.replies.get(kind)
    }

    pub(crate) fn is_answered(&self, kind: &str) -> bool {
        self.replies.values().any(|requests| requests.contains(kind))
    }

    /// The kinds whose reception triggers a kind.
    pub(crate) fn triggers_of(&self, kind: &str) -> Option<&BTreeSet<String>> {
        self.protocol.get(kind)
    }

    pub(crate) fn is_protocol_trigger(&self, kind: &str) -> bool {
        self.protocol.values().any(|triggers| triggers.contains(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_contradict_themselves_are_refused() {
        for (text, message, place) in [
            (
                "[replies]\na = [\"b\"]\n[protocol]\na = [\"c\"]\n",
                "'a' stands under [replies] and under [protocol]",
                "[r.toml:4:1]",
            ),
            ("[replies]\na = [\"b\", \"a\"]\n", "'a' answers itself", "[r.toml:2:1]"),
            ("[protocol]\na = []\n", "nothing triggers 'a'", "[r.toml:2:1]"),
            ("data = [\"a\"]\n[answers]\n", "unknown key `answers`", "[r.toml:2:2]"),
            ("data = [\"a\"]\n[replies]\na = 3\n", "invalid type", "[r.toml:3:5]"),
            ("data = \n", "string values must be quoted", "[r.toml:1:8]"),
        ] {
            let found = Rules::parse("r.toml".as_ref(), text.to_owned()).unwrap_err().to_string();
            assert!(found.starts_with(&format!("× {message}")) && found.contains(place), "{text}: {found}");
        }
    }
}
