//! The requests that ranks never complete, by the calls that made them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use titr_common::event::{CallSiteId, Completed, Event, Mark, Rank, RequestId, RequestUse};
use titr_common::format::{counted, plural, ranges};
use titr_common::trace::{Trace, TraceError, Transformation};

use crate::call_sites::CallSiteNames;

/// The most calls that are named.
const SHOWN: usize = 8;

/// Follows the requests of one rank.
#[derive(Default)]
struct OpenRequests {
    /// The call that made each request, and whether the request is persistent and whether it is active.
    calls: FxHashMap<RequestId, (String, bool, bool)>,
    sites: FxHashMap<CallSiteId, String>,
    site: Option<CallSiteId>,
}

impl OpenRequests {
    fn pass(&mut self, event: &mut Event) {
        let Self { calls, sites, site } = self;
        if let Event::Mark(Mark::CallStack(id, stack)) = event {
            sites.insert(*id, stack.first().map(ToString::to_string).unwrap_or_default());
        } else if let Event::Mark(Mark::CallSite(id)) = event {
            *site = Some(*id);
        } else if let Event::Wait(_, Completed::Outstanding(_)) | Event::Test(_, Some(Completed::Outstanding(_))) =
            event
        {
            calls.retain(|_, (_, is_persistent, is_active)| {
                *is_active = false;
                *is_persistent
            });
        }
        let word = event.word();
        event.requests(|id, use_| match use_ {
            RequestUse::Makes { persistent } => {
                let at = site.and_then(|site| sites.get(&site)).map(|site| format!(" at {site}"));
                calls.insert(*id, (format!("{word}{}", at.unwrap_or_default()), persistent, !persistent));
            }
            RequestUse::Starts => _ = calls.entry(*id).and_modify(|(_, _, is_active)| *is_active = true),
            RequestUse::Completes if calls.get(id).is_some_and(|(_, is_persistent, _)| *is_persistent) => {
                calls.entry(*id).and_modify(|(_, _, is_active)| *is_active = false);
            }
            RequestUse::Completes | RequestUse::Frees => _ = calls.remove(id),
            RequestUse::Uses => {}
        });
    }
}

/// A line for each call that made requests which were never completed, with their ranks.
pub(super) fn by_call(trace: &Trace) -> Result<Vec<String>, TraceError> {
    let trace = CallSiteNames::default().apply(trace.clone())?;
    let mut made = BTreeMap::<String, (u64, Vec<u32>)>::new();
    for rank in 0..trace.ranks() {
        let (mut stream, mut open) = (trace.stream(Rank(rank))?, OpenRequests::default());
        while let Some(mut event) = stream.next_event()? {
            open.pass(&mut event);
        }
        for (call, ..) in open.calls.into_values().filter(|(.., active)| *active) {
            let (requests, ranks) = made.entry(call).or_default();
            *requests += 1;
            if ranks.last() != Some(&rank) {
                ranks.push(rank);
            }
        }
    }
    let line = |(call, (requests, ranks)): (String, (u64, Vec<u32>))| {
        let noun = plural(ranks.len() as u64, "rank", "ranks");
        format!("{call}: {} of {noun} {}", counted(requests, "request", "requests"), ranges(&ranks))
    };
    let all = made.len();
    let mut lines: Vec<String> = made.into_iter().take(SHOWN).map(line).collect();
    if all > SHOWN {
        lines.push(format!("and {} more", counted(all - SHOWN, "call", "calls")));
    }
    Ok(lines)
}
