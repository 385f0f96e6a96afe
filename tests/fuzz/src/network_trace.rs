//! Network traces, and rules for their triggers.

use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::Path;

use titr_common::time::Time;
use titr_simulation::network_traces::{
    Feedback, Label, NetworkTrace, NetworkTraceError, Rules, TriggerSource, find_triggers,
};

/// Picoseconds that every message takes.
const LATENCY: u64 = 10;

/// Reads a network trace, replays it, and finds triggers, with which it can be replayed again.
pub fn network_trace(data: &[u8]) {
    let open = || NetworkTrace::of(Path::new("trace"), Cursor::new(data.to_vec()));
    let read = || -> Result<u64, NetworkTraceError> {
        let (mut trace, mut messages) = (open()?, 0);
        while trace.next_message()?.is_some() {
            messages += 1;
        }
        Ok(messages)
    };
    for open_loop in [false, true] {
        let replayed = open().and_then(|trace| replay(trace, open_loop));
        match (read(), replayed) {
            (Ok(read), Ok(replayed)) => assert_eq!(read, replayed),
            (_, Err(error)) => assert!(!error.to_string().is_empty()),
            (Err(error), Ok(_)) => panic!("a trace was replayed that cannot be read: {error}"),
        }
    }
    let folder = super::folder();
    let [from, to] = ["trace", "triggered"].map(|name| folder.join(name));
    std::fs::write(&from, data).unwrap();
    let _ = find_triggers(&from, &to, &TriggerSource::Exact);
    match find_triggers(&from, &to, &TriggerSource::Rules(Rules::default())) {
        Ok(counts) => {
            let replayed = NetworkTrace::open(&to).and_then(|trace| replay(trace, false));
            assert_eq!(replayed.unwrap(), counts.messages);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Replays a trace on a network in which every message takes as long; the number of messages.
fn replay(trace: NetworkTrace, open_loop: bool) -> Result<u64, NetworkTraceError> {
    let mut feedback = Feedback::new(trace, open_loop)?;
    let mut under_way: BTreeSet<(Time, Label)> = BTreeSet::new();
    let mut messages = 0;
    loop {
        let arrival = under_way.first().map(|&(at, _)| at);
        let release = feedback.next_release(arrival)?;
        let Some(now) = [arrival, release].into_iter().flatten().min() else { break };
        while let Some((at, label)) = under_way.first().copied().filter(|&(at, _)| at <= now) {
            under_way.pop_first();
            feedback.arrived(label, at)?;
        }
        while let Some(released) = feedback.take_released(now) {
            messages += 1;
            under_way.insert((Time(now.0.saturating_add(LATENCY)), released.label));
        }
    }
    feedback.finish()?;
    Ok(messages)
}

/// Reads rules for triggers.
pub fn trigger_rules(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = Rules::parse(Path::new("rules.toml"), text.to_owned()) {
        assert!(!error.to_string().is_empty());
    }
}
