//! Waits and tests as text.
//!
//! | line, after the rank | completed requests |
//! | --- | --- |
//! | `wait S D TAG [REQ]`, also `waitall waitany waitsome` | one request, by source, destination and tag |
//! | `waitall [N]` | all outstanding requests |
//! | `wait_of REQS`, also `waitall_of waitany_of waitsome_of` | the listed requests |
//! | `test S D TAG REQ`, `test_of REQS`, also `testall testany testsome` | like waits |
//! | `test -`, `testall -` … | nothing |

use super::ParseError;
use super::fields::Fields;
use crate::event::{Completed, Event, Quantifier, RequestId, RequestKey};

/// The event that `word` names; `None` if it is no wait and no test.
pub(super) fn read(word: &[u8], f: &mut Fields) -> Result<Option<Event>, ParseError> {
    if let b"waitall" | b"waitAll" = word
        && f.count() <= 1
    {
        let count = if f.at_end() { None } else { Some(f.small("a number of requests")?) };
        return Ok(Some(Event::Wait(Quantifier::All, Completed::Outstanding(count))));
    }
    let (word, is_listed) = word.strip_suffix(b"_of").map_or((word, false), |word| (word, true));
    for quantifier in Quantifier::ALL {
        if word == quantifier.wait_word().as_bytes() {
            let completed = if is_listed { listed(f)? } else { one(f)? };
            return Ok(Some(Event::Wait(quantifier, completed)));
        }
        if word == quantifier.test_word().as_bytes() {
            let completed = if is_listed { Some(listed(f)?) } else { tested(f)? };
            return Ok(Some(Event::Test(quantifier, completed)));
        }
    }
    Ok(None)
}

fn listed(f: &mut Fields) -> Result<Completed, ParseError> {
    f.list("a list of requests", RequestId).map(Completed::These)
}

/// `SOURCE DESTINATION TAG [REQUEST]`.
fn one(f: &mut Fields) -> Result<Completed, ParseError> {
    let key = RequestKey { from: f.source()?, to: f.rank("a destination rank")?, tag: f.tag_or_any()? };
    Ok(Completed::One(key, f.optional_request()?))
}

/// Reads the outcome of a test. SimGrid's `test` does not record it; the request is kept for the wait after it.
fn tested(f: &mut Fields) -> Result<Option<Completed>, ParseError> {
    if f.accept("-") {
        return Ok(None);
    }
    Ok(match one(f)? {
        Completed::One(_, None) => None,
        completed => Some(completed),
    })
}
