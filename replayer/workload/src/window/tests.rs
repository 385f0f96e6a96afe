//! Tests of the facts that a window finds in later events.

use proptest::prelude::*;
use titr_common::event::{
    Collective, CommCall, CommId, Completed, Completion, Group, Incoming, MessageEnd, Quantifier, Rank, RequestId,
    Span, Tag, Wildcard,
};
use titr_common::trace::{LocatedEvents, Location, RankSources, RankStream, Trace};
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
        let mut events = vec![irecv(0), ibarrier(1)];
        events.extend(std::iter::repeat_n(Event::Init, gap));
        events.extend([Event::Cancel(RequestId(0)), seen(0, 7)]);
        let mut window = window_of_trace(events);
        window.want_messages_of_nonblocking();
        assert!(window.settle().unwrap());
        assert_eq!(window.matched(RequestId(0)).unwrap(), Some(Match::Cancelled), "{gap} events");
        window.pass();
        assert_eq!(window.take_messages().unwrap().unwrap().len(), 1, "{gap} events");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Receives, cancels and collectives that are open for a few events or for many more than a window keeps.
    #[test]
    fn a_fact_is_found_however_far_away_it_is(
        gaps in prop::collection::vec(prop_oneof![0..4_usize, REACH / 2 - 2..REACH / 2 + 2, REACH - 2..REACH + 3, Just(2 * REACH)], 4),
        is_polling in any::<bool>(),
    ) {
        let pass = if is_polling { Event::Test(Quantifier::Single, None) } else { Event::Init };
        let gap = |index: usize| std::iter::repeat_n(pass.clone(), gaps[index]);
        let call = Event::Annotation(Annotation::Call(Span::default()));
        let mut events = vec![irecv(0), irecv(1)];
        events.extend(gap(0));
        events.extend([matched(0, 5), wait(0), irecv(0), call.clone(), ibarrier(2)]);
        events.extend(gap(1));
        events.extend([seen(0, 7), Event::Cancel(RequestId(1)), wait(1), irecv(1)]);
        events.extend(gap(2));
        events.extend([seen(0, 8), wait(2), matched(0, 6), wait(0), call, ibarrier(0), matched(1, 9)]);
        events.extend(gap(3));
        events.extend([wait(1), seen(1, 3), wait(0)]);
        let mut window = window_of_trace(events);
        window.want_messages_of_nonblocking();
        let (mut receives, mut collectives) = (Vec::new(), Vec::new());
        while let Some(event) = window.front().unwrap().map(EventRef::to_event) {
            match event {
                Event::Recv(_, Completion::Request(Some(request))) => receives.push(window.matched(request).unwrap()),
                Event::Collective(..) => {
                    let messages = window.take_messages().unwrap().unwrap_or_default();
                    collectives.push(messages.iter().map(|message| message.peer.0).collect::<Vec<_>>());
                }
                _ => {}
            }
            window.pass();
        }
        let with = |source| Some(Match::With(Rank(source), Tag(0)));
        prop_assert_eq!(receives, [with(5), Some(Match::Cancelled), with(6), with(9)]);
        prop_assert_eq!(collectives, [vec![7, 8], vec![3]]);
    }
}

fn ibarrier(request: u32) -> Event {
    Event::Collective(Collective::barrier(CommId::WORLD), Completion::Request(RequestId(request)))
}

fn seen(number: u64, peer: u32) -> Event {
    let (end, peer, span) = (MessageEnd::Sent, Rank(peer), Span::default());
    Event::Annotation(Annotation::Message(Message { comm: CommId::WORLD, number, end, peer, bytes: Bytes(8), span }))
}

/// Their messages are recorded before the waits, in any order.
#[test]
fn a_non_blocking_collective_is_told_its_messages_when_it_starts() {
    let call = Event::Annotation(Annotation::Call(Span::default()));
    let events = [call.clone(), ibarrier(0), call.clone(), ibarrier(1), compute(), seen(1, 5), seen(0, 6), wait(1)];
    let events = [&events[..], &[seen(0, 7), wait(0), call, ibarrier(0), wait(0)]].concat();
    assert_eq!(messages(&events), [vec![6, 7], vec![5], vec![]]);
}

/// Communicators take turns with an id. However far a receive has looked ahead, the messages belong to the collective
/// of their own communicator, where numbers begin again.
#[test]
fn messages_belong_to_a_collective_of_one_communicator() {
    let group = Group { id: CommId::WORLD, members: vec![Rank(0)], remote: Vec::new(), tag: None };
    let made = Event::CommCreate(CommCall::Dup, CommId::WORLD, Some(group));
    let blocking = Event::Collective(Collective::barrier(CommId::WORLD), Completion::Blocking);
    let call = Event::Annotation(Annotation::Call(Span::default()));
    let first = [irecv(9), seen(0, 1), blocking, ibarrier(0), ibarrier(1), seen(2, 3), seen(1, 2), wait(0), wait(1)];
    let second = [call.clone(), made.clone(), ibarrier(0), seen(0, 4), wait(0)];
    let third = [call, made, ibarrier(0), seen(0, 5), seen(0, 6), wait(0), wait(9)];
    let all = [&first[..], &second, &third].concat();
    assert_eq!(messages(&all), [vec![1], vec![2], vec![3], vec![4], vec![5, 6]]);
    // Without the receive, each collective looks ahead in its turn.
    assert_eq!(messages(&all[1..]), messages(&all));
}

/// The peers in the messages of each collective, when a receive looks ahead and when a collective starts.
fn messages(events: &[Event]) -> Vec<Vec<u32>> {
    let told = |batch| {
        let mut window = window(events, batch);
        window.want_messages_of_nonblocking();
        let mut peers = Vec::new();
        while let Some(event) = window.front().unwrap().map(EventRef::to_event) {
            if let &Event::Recv(_, Completion::Request(Some(request))) = &event {
                window.matched(request).unwrap();
            }
            if let Event::Collective(..) = event {
                let messages = window.take_messages().unwrap().unwrap_or_default();
                peers.push(messages.iter().map(|message| message.peer.0).collect::<Vec<_>>());
            }
            window.pass();
        }
        peers
    };
    let all = told(1000);
    assert_eq!(told(1), all);
    all
}

/// Loops: the events of a round, and the number of rounds.
#[derive(Clone, Debug)]
struct Loops(VecDeque<(Vec<Event>, u64)>);

impl Loops {
    fn spelled(&self) -> Vec<Event> {
        self.0.iter().flat_map(|(round, rounds)| vec![round.clone(); *rounds as usize].concat()).collect()
    }

    /// Appends the round that comes next.
    fn append(&self, events: &mut LocatedEvents) -> Option<u64> {
        let (round, rounds) = self.0.front()?;
        round.iter().for_each(|event| events.push(event.clone(), Location::default()));
        Some(*rounds)
    }
}

impl EventSource for Loops {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let Some(rounds) = self.append(events) else { return Ok(false) };
        self.0[0].1 -= 1;
        if rounds == 1 {
            self.0.pop_front();
        }
        Ok(true)
    }

    fn goes_round(&mut self, most: usize) -> bool {
        self.0.front().is_some_and(|(round, rounds)| *rounds > 1 && round.len() <= most)
    }

    fn read_round(&mut self, events: &mut LocatedEvents, most: usize) -> Result<u64, TraceError> {
        if !self.goes_round(most) {
            return Ok(0);
        }
        let rounds = self.append(events).unwrap_or_default();
        self.0.pop_front();
        Ok(rounds - 1)
    }
}

/// What a window gives: each event, the outcome of each request that it starts, and whether another thread comes.
fn given<S: EventSource>(mut window: Window<S>) -> Vec<(Event, Vec<Option<Match>>, bool)> {
    let mut given = Vec::new();
    while let Some(event) = window.front().unwrap().map(EventRef::to_event) {
        let told = event.starts().iter().map(|&request| window.matched(request).unwrap()).collect();
        let upcoming: Vec<Event> = window.upcoming().take(3).map(EventRef::to_event).collect();
        assert_eq!(upcoming.first(), Some(&event));
        let is_other = window.finds_other_thread(5);
        window.pass();
        given.push((event, told, is_other));
    }
    given
}

proptest! {
    #[test]
    fn rounds_that_are_not_stored_are_as_if_they_were_spelled(
        loops in prop::collection::vec((prop::collection::vec(0..5_u32, 1..6), 1..5_u64), 1..8),
        batch in 1..600_usize,
    ) {
        let event = |&kind: &u32| match kind {
            0 => compute(),
            1 | 2 => irecv(kind),
            3 => matched(1, 5),
            _ => wait(2),
        };
        let loops = Loops(loops.iter().map(|(round, rounds)| (round.iter().map(event).collect(), *rounds)).collect());
        let spelled = given(window(&loops.spelled(), usize::MAX));
        let jobs = crate::prefetch::spawn(1).unwrap();
        prop_assert_eq!(&given(Window::new(BatchReader::new(loops.clone(), batch).ahead(&jobs))), &spelled);
        prop_assert_eq!(given(Window::new(BatchReader::new(loops, batch))), spelled);
    }
}

/// Two events of thread 0, three of thread 1, two of thread 0.
#[test]
fn where_the_events_of_another_thread_begin_does_not_depend_on_batches() {
    struct Threads(u32);
    impl EventSource for Threads {
        fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
            self.0 += 1;
            let thread = ThreadId(u32::from((3..=5).contains(&self.0)));
            if self.0 <= 7 {
                events.push(compute(), Location { thread, line: Some(self.0.into()) });
            }
            Ok(self.0 <= 7)
        }
    }
    for batch in [1, 40, 70, 100, 1000] {
        let mut window = Window::new(BatchReader::new(Threads(0), batch));
        assert!(window.settle().unwrap());
        assert_eq!([2, 3].map(|among| window.finds_other_thread(among)), [false, true]);
        let mut changes = Vec::new();
        while window.front().unwrap().is_some() {
            changes.push(window.pass());
        }
        assert_eq!(changes, [false, true, false, false, true, false, false]);
    }
}
