//! Tests of the facts that a window finds in later events.

use proptest::prelude::*;
use titr_common::event::{CommId, Completed, Completion, Incoming, Quantifier, Rank, RequestId, Span, Tag, Wildcard};
use titr_common::trace::{RankSources, RankStream, Trace};
use titr_common::units::{Bytes, Instructions};

use super::lookahead::REACH;
use super::*;

/// A message from anybody.
fn from_any() -> Incoming {
    let wildcard = Wildcard { source: true, tag: true };
    Incoming { comm: CommId::WORLD, from: None, tag: None, bytes: Bytes(1), wildcard }
}

fn irecv(request: u32) -> Event {
    Event::Recv(from_any(), Completion::Request(Some(RequestId(request))))
}

fn matched(request: u32, source: u32) -> Event {
    Event::Matched(RequestId(request), Rank(source), Tag(0))
}

fn wait(request: u32) -> Event {
    Event::Wait(Quantifier::Single, Completed::These(vec![RequestId(request)]))
}

fn compute() -> Event {
    Event::Compute(Instructions(1.0))
}

/// The answer of a window about a receive: the rank of its source, that it is cancelled, or nothing.
type Told = Option<Result<u32, &'static str>>;

fn window(events: &[Event], batch: usize) -> Window<std::vec::IntoIter<Event>> {
    let events = events.to_vec();
    Window::new(BatchReader::new(events.into_iter(), batch))
}

/// Gives out all events, asking at each receive; however large batches are.
fn sources(events: Vec<Event>) -> (Vec<Told>, Vec<Event>) {
    let told = |batch| {
        let mut window = window(&events, batch);
        let (mut sources, mut given) = (Vec::new(), Vec::new());
        while let Some(event) = window.front().unwrap().map(EventRef::to_event) {
            for &request in event.starts() {
                sources.push(window.matched(request).unwrap().map(|found| match found {
                    Match::With(source, _) => Ok(source.0),
                    Match::Cancelled => Err("cancelled"),
                }));
            }
            given.push(event);
            window.pass();
        }
        (sources, given)
    };
    let all = told(usize::MAX);
    assert_eq!(told(1), all);
    assert_eq!(told(1000), all);
    all
}

#[test]
fn each_receive_is_told_its_own_match() {
    let events = vec![
        irecv(0),
        irecv(1),
        compute(),
        matched(1, 5),
        wait(1),
        irecv(1),
        matched(0, 6),
        wait(0),
        matched(1, 7),
        wait(1),
    ];
    let (told, given) = sources(events);
    assert_eq!(told, [6, 5, 7].map(|source| Some(Ok(source))));
    assert_eq!(given, [irecv(0), irecv(1), compute(), wait(1), irecv(1), wait(0), wait(1)]);
}

#[test]
fn one_that_never_matched_is_not_told_another_ones() {
    let (told, _) = sources(vec![irecv(0), wait(0), irecv(0), matched(0, 5), wait(0)]);
    assert_eq!(told, [None, Some(Ok(5))]);
}

#[test]
fn a_cancel_counts_unless_the_message_was_faster() {
    let cancel = || Event::Cancel(RequestId(0));
    let (told, _) = sources(vec![irecv(0), cancel(), wait(0), irecv(0), cancel(), matched(0, 5), wait(0)]);
    assert_eq!(told, [Some(Err("cancelled")), Some(Ok(5))]);
    let (told, _) = sources(vec![irecv(0), cancel(), wait(0)]);
    assert_eq!(told, [Some(Err("cancelled"))]);
}

/// Four events each time, as in an extended trace.
#[test]
fn a_match_is_within_reach_however_long_the_program_polls() {
    let call = Event::Annotation(Annotation::Call(Span::default()));
    let poll = [compute(), call, Event::Test(Quantifier::Single, None), Event::Iprobe(from_any(), false)];
    let mut events = vec![irecv(0)];
    events.extend(std::iter::repeat_n(poll, REACH / 3).flatten());
    events.extend([matched(0, 5), wait(0), irecv(0), matched(0, 6), wait(0)]);
    let (told, _) = sources(events);
    assert_eq!(told, [5, 6].map(|source| Some(Ok(source))));
}

/// A trace of one rank.
struct OneRank(Vec<Event>);

impl RankSources for OneRank {
    fn source(&self, _: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        Ok(Box::new(self.0.clone().into_iter()))
    }
}

/// The window of a trace, whose events can be read again.
fn window_of_trace(events: Vec<Event>) -> Window<RankStream> {
    let trace = Trace::new(1, OneRank(events));
    Window::new(BatchReader::new(trace.stream(Rank(0)).unwrap(), 1000))
}

#[test]
fn what_never_completes_has_the_facts_that_it_has_however_far_away_they_are() {
    for gap in [0, 2 * REACH] {
        let mut events = vec![irecv(0)];
        events.extend(std::iter::repeat_n(Event::Init, gap));
        events.push(Event::Cancel(RequestId(0)));
        let mut window = window_of_trace(events);
        assert!(window.settle().unwrap());
        assert_eq!(window.matched(RequestId(0)).unwrap(), Some(Match::Cancelled), "{gap} events");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Receives that are matched or cancelled after a few events or after many more than a window keeps.
    #[test]
    fn a_fact_is_found_however_far_away_it_is(
        gaps in prop::collection::vec(prop_oneof![0..4_usize, REACH / 2 - 2..REACH / 2 + 2, REACH - 2..REACH + 3, Just(2 * REACH)], 4),
        is_polling in any::<bool>(),
    ) {
        let pass = if is_polling { Event::Test(Quantifier::Single, None) } else { Event::Init };
        let gap = |index: usize| std::iter::repeat_n(pass.clone(), gaps[index]);
        let mut events = vec![irecv(0), irecv(1)];
        events.extend(gap(0));
        events.extend([matched(0, 5), wait(0), irecv(0)]);
        events.extend(gap(1));
        events.extend([Event::Cancel(RequestId(1)), wait(1), irecv(1)]);
        events.extend(gap(2));
        events.extend([matched(0, 6), wait(0), matched(1, 9)]);
        events.extend(gap(3));
        events.push(wait(1));
        let mut window = window_of_trace(events);
        let mut receives = Vec::new();
        while let Some(event) = window.front().unwrap().map(EventRef::to_event) {
            if let Event::Recv(_, Completion::Request(Some(request))) = event {
                receives.push(window.matched(request).unwrap());
            }
            window.pass();
        }
        let with = |source| Some(Match::With(Rank(source), Tag(0)));
        prop_assert_eq!(receives, [with(5), Some(Match::Cancelled), with(6), with(9)]);
    }
}
