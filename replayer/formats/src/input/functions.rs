//! MPI's functions by their names, without `MPI_` and in capitals or not.

use titr_common::event::{CollectiveKind, Extent, Quantifier, SendMode};

/// The forms in which MPI has a function that sends or receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageForm {
    Blocking,
    Nonblocking,
    Persistent,
}

/// The mode and the form of a function that sends.
pub(crate) fn send(name: &str) -> Option<(SendMode, MessageForm)> {
    const MODES: [(&str, SendMode); 4] = [
        ("send", SendMode::Standard),
        ("bsend", SendMode::Buffered),
        ("ssend", SendMode::Synchronous),
        ("rsend", SendMode::Ready),
    ];
    let (name, form) = form(name);
    let mode = MODES.iter().find(|(word, _)| word.eq_ignore_ascii_case(name));
    mode.map(|&(_, mode)| (mode, form))
}

/// The form of a function that receives.
pub(crate) fn receive(name: &str) -> Option<MessageForm> {
    let (name, form) = form(name);
    name.eq_ignore_ascii_case("recv").then_some(form)
}

/// The blocking function that a function is a form of, and the form.
fn form(name: &str) -> (&str, MessageForm) {
    match (name.strip_suffix("_init"), name.strip_prefix(['I', 'i'])) {
        (Some(name), _) => (name, MessageForm::Persistent),
        (None, Some(name)) => (name, MessageForm::Nonblocking),
        (None, None) => (name, MessageForm::Blocking),
    }
}

/// The requests that a function completes, and whether it only tests them.
pub(crate) fn completion(name: &str) -> Option<(Quantifier, bool)> {
    let (verb, requests) = name.split_at_checked(4)?;
    let is_test = verb.eq_ignore_ascii_case("test");
    if !is_test && !verb.eq_ignore_ascii_case("wait") {
        return None;
    }
    let quantifier = match requests {
        "" => Quantifier::Single,
        _ if requests.eq_ignore_ascii_case("all") => Quantifier::All,
        _ if requests.eq_ignore_ascii_case("any") => Quantifier::Any,
        _ if requests.eq_ignore_ascii_case("some") => Quantifier::Some,
        _ => return None,
    };
    Some((quantifier, is_test))
}

/// The collective that blocks and has this name.
pub(crate) fn collective(name: &str) -> Option<CollectiveKind> {
    CollectiveKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
}

/// Whether members of the collective give or get different amounts.
pub(crate) fn has_lists(kind: CollectiveKind) -> bool {
    let signature = kind.signature();
    signature.send == Extent::PerMember || signature.recv == Extent::PerMember
}
