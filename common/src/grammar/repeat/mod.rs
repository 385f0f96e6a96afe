//! Repetition: events that come again are written as references.
//!
//! Programs run in loops, and a loop asks for the same things in every round; what differs is how much was computed in
//! between, and where that is measured in time it differs in every round. So a stream does not spell a loop out again:
//!
//! ```text
//! 5 recv 1 11 640                      spelled
//! 5 send 6 11 640
//! 5 compute 1410
//! 5 recv 1 11 640
//! 5 again 2 0 1390 0 1420 20 1400      send, recv, send, recv, send, recv, with what was computed before each
//! ```
//!
//! `again D V1 V2 …` stands for as many events as there are volumes: each is the one *D* events before it — which may
//! itself stand on the same line — after computing so many instructions, where 0 is none; `V*N` is `V` so many times. This is Ziv and Lempel's sliding
//! window (IEEE Trans. Inf. Theory 23(3), 1977) with events for letters, and computation left out of the comparison.
//! Computation does not count as an event here, nor do times and what is seen at them, the stack of a call site, which is said once, nor one whose line is longer than
//! [`LONGEST`] or whose list holds more numbers than that; *D* is at most [`WINDOW`].
//!
//! * Lossless: a volume that is not a whole number is spelled, as are computations with no event after them.
//! * Streaming, in bounded memory: a reader keeps the last [`WINDOW`] events and a few more, a writer these and their texts.
//! * Cheap: in a loop, a writer compares each event with one other and writes a few digits; a reader parses no fields.
//! * Safe to cut: a line refers to what is before it, never to what follows.
//!
//! The events of different threads of a rank have windows of their own, as each goes round a loop of its own.
//!
//! Only [`EventWriter`] and [`EventReader`] know of this. Whoever asks for events gets them all.

mod history;
mod reader;
mod writer;

pub use reader::EventReader;
pub use writer::EventWriter;

use crate::event::{Event, Mark};

/// How far back an event may be that comes again.
const WINDOW: usize = 1024;

/// The longest line, in bytes, and the longest list of an event that may come again: what a rank's reader keeps is bounded.
const LONGEST: usize = 1 << 10;

/// The word of a repetition, between blanks.
const REPEAT: &[u8] = b" again ";

/// Whether an event whose line takes `length` bytes may be repeated. A line of a few bytes may list millions: `start
/// 0-9999999`.
fn is_repeatable(event: &Event, length: usize) -> bool {
    if let Event::Compute(_) | Event::Annotation(_) | Event::Mark(Mark::CallStack(..)) = event {
        return false;
    }
    length.max(event.list_size().entries) <= LONGEST
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::event::{CommCall, CommId, Completion, Group, Outgoing, Rank, RequestId, SendMode, Tag, ThreadId};
    use crate::event_buffer::{EventBuffer, EventRef};
    use crate::units::{Bytes, Instructions};

    const WORLD: u32 = 100;

    fn send(to: u32) -> Event {
        let message = Outgoing { comm: CommId::WORLD, to: Rank(to), tag: Tag(7), bytes: Bytes(8) };
        Event::Send(SendMode::Standard, message, Completion::Blocking)
    }

    fn compute(work: f64) -> Event {
        Event::Compute(Instructions(work))
    }

    /// The text of `events`, cut into buffers after those that `ends` names.
    fn write(events: &[Event], ends: &[usize]) -> String {
        let mut writer = EventWriter::new(Rank(5));
        let mut text = Vec::new();
        for (index, event) in events.iter().enumerate() {
            writer.write(&mut text, event);
            if ends.contains(&index) {
                writer.end_line(&mut text);
            }
        }
        writer.end_line(&mut text);
        String::from_utf8(text).unwrap()
    }

    fn read(text: &str) -> Vec<Event> {
        let mut reader = EventReader::new(WORLD);
        reader.remember();
        let mut events = EventBuffer::default();
        for line in text.lines() {
            reader.line(line.as_bytes(), &mut events).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
        events.iter().map(EventRef::to_event).collect()
    }

    #[test]
    fn a_loop_is_spelled_once() {
        let round = |work: f64| [compute(work), send(1), send(2)];
        let events: Vec<Event> = (0..100).flat_map(|i| round(1000.0 + f64::from(i % 7))).collect();
        let text = write(&events, &[]);
        assert!(
            text.starts_with("5 compute 1000\n5 send 1 7 8\n5 send 2 7 8\n5 again 2 1001 0 1002 0 1003 0"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 3 + 198_usize.div_ceil(64));
        assert_eq!(read(&text), events);
    }

    #[test]
    fn a_line_holds_whole_rounds() {
        let events: Vec<Event> = (0..300).flat_map(|i| [compute(f64::from(i)), send(i % 5)]).collect();
        let text = write(&events, &[]);
        let volumes: Vec<usize> = text.lines().skip(10).map(|line| line.split(' ').count() - 3).collect();
        assert_eq!(volumes, [60, 60, 60, 60, 55]);
    }

    #[test]
    fn equal_volumes_in_a_row_are_counted() {
        let works = [7, 7, 0, 0, 0, 9, 9, 9, 9, 7, 7];
        let round = |work: u32| std::iter::repeat_n(compute(f64::from(work)), usize::from(work > 0)).chain([send(1)]);
        let events: Vec<Event> = works.into_iter().flat_map(round).collect();
        let text = write(&events, &[]);
        assert_eq!(text, "5 compute 7\n5 send 1 7 8\n5 again 1 7 0*3 9*4 7 7\n");
        assert_eq!(read(&text), events);
    }

    #[test]
    fn what_cannot_stand_in_a_list_is_spelled() {
        let events = [send(1), compute(0.5), send(1), compute(3.0), compute(4.0), send(1), send(1), compute(2.0)];
        let text = write(&events, &[]);
        assert_eq!(text, "5 send 1 7 8\n5 compute 0.5\n5 again 1 0\n5 compute 3\n5 again 1 4 0\n5 compute 2\n");
        assert_eq!(read(&text), events);
    }

    #[test]
    fn nothing_comes_again_from_beyond_the_window() {
        let far = WINDOW as u32 + 1;
        let events: Vec<Event> = (0..far).chain(0..far).map(send).collect();
        let mut reader = EventReader::new(far);
        reader.remember();
        for line in write(&events, &[]).lines() {
            let mut read = EventBuffer::default();
            reader.line(line.as_bytes(), &mut read).unwrap();
            assert_eq!(read.len(), 1, "{line}");
        }
    }

    #[test]
    fn a_long_event_is_spelled_and_interrupts_no_loop() {
        let long = Event::Start((0..1000).map(|i| RequestId(i * i)).collect());
        let events: Vec<Event> = (0..20).flat_map(|i| [send(i % 2), long.clone()]).collect();
        let text = write(&events, &[]);
        assert_eq!(text.lines().filter(|&line| line == "5 again 2 0").count(), 18);
        assert_eq!(read(&text), events);
    }

    #[test]
    fn each_thread_goes_round_its_own_loop() {
        let mut writer = EventWriter::new(Rank(5));
        let mut text = Vec::new();
        for round in 0..3 {
            for thread in [0, 1] {
                writer.switch(&mut text, ThreadId(thread));
                writer.write_after(&mut text, Some(Instructions(f64::from(round))), &send(thread));
                writer.write_after(&mut text, None, &send(7));
            }
        }
        writer.end_line(&mut text);
        insta::assert_snapshot!(String::from_utf8(text).unwrap(), @r"
        5 compute 0
        5 send 0 7 8
        5 send 7 7 8
        5.1 compute 0
        5.1 send 1 7 8
        5.1 send 7 7 8
        5 again 2 1 0
        5.1 again 2 1 0
        5 again 2 2 0
        5.1 again 2 2 0
        ");
    }

    #[test]
    fn a_communicator_that_comes_again_has_its_members_again() {
        let split = |members: &[u32]| {
            let members = members.iter().copied().map(Rank).collect();
            Event::CommCreate(
                CommCall::Split,
                CommId::WORLD,
                Some(Group { id: CommId(2), members, remote: vec![], tag: None }),
            )
        };
        let events = [split(&[0, 1]), split(&[0, 1, 2]), split(&[0, 1])];
        let mut text = write(&events, &[]);
        assert!(text.ends_with("5 again 2 0\n"), "{text}");
        text += "5 on 2 allgatherv 8 8 8\n";
        assert_eq!(read(&text).len(), 4);
    }

    #[test]
    fn an_event_that_lists_many_is_not_remembered() {
        let start = |last: u32| Event::Start((0..=last).map(RequestId).collect());
        let loops = |last| [start(last), send(1), start(last), send(1), start(last), send(1)];
        assert_eq!(write(&loops(9), &[]), "5 start 0-9\n5 send 1 7 8\n5 again 2 0*4\n");
        let text = write(&loops(5000), &[]);
        assert_eq!(text.matches("start 0-5000").count(), 3, "{text}");
        assert_eq!(read(&text), loops(5000));
    }

    #[test]
    fn a_wrong_line_is_refused_where_it_is_wrong() {
        let lines = [
            "5 again 0 0",
            "5 again 2 0",
            "5 again 1",
            "5 again 1 7 -3",
            "5 again 1 0.5",
            "5 again 1x 0",
            "5 again 1 0*",
            "5 again 1 0*0",
            "5 again 1 0*2000",
            "5 again 1 0*1000 0 7*24",
            "5.1 again 1 0",
            "5.x again 1 0",
            "5.70000 again 1 0",
            "x again 1 0",
        ];
        let refusals: Vec<String> = lines
            .iter()
            .map(|line| {
                let mut reader = EventReader::new(WORLD);
                reader.remember();
                let mut events = EventBuffer::default();
                reader.line(b"5 send 1 7 8", &mut events).unwrap();
                let error = reader.line(line.as_bytes(), &mut events).unwrap_err();
                assert_eq!(events.len(), 1, "{line}");
                format!("{line}\n    {error}")
            })
            .collect();
        insta::assert_snapshot!(refusals.join("\n"));
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            6 => (0..4_u32).prop_map(send),
            1 => (0..100_u32).prop_map(send),
            3 => (0..2000_u32).prop_map(|work| compute(f64::from(work))),
            1 => (0.0..10.0_f64).prop_map(compute),
            1 => Just(Event::Init),
        ]
    }

    /// Loops in loops, as programs have them.
    fn program() -> impl Strategy<Value = Vec<Event>> {
        let body = prop::collection::vec(event(), 1..12);
        let inner = (body, 1..20_usize).prop_map(|(body, rounds)| vec![body; rounds].concat());
        let outer = (prop::collection::vec(inner, 1..4), 1..5_usize)
            .prop_map(|(parts, rounds)| vec![parts.concat(); rounds].concat());
        prop::collection::vec(outer, 1..4).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(events in program(), ends in prop::collection::vec(0..2000_usize, 0..4)) {
            let text = write(&events, &ends);
            prop_assert_eq!(read(&text), events, "{}", text);
        }

        #[test]
        fn of_a_text_that_is_cut_all_whole_lines_are_read(events in program(), lines in 0..200_usize) {
            let text: String = write(&events, &[]).lines().take(lines).flat_map(|line| [line, "\n"]).collect();
            prop_assert!(events.starts_with(&read(&text)));
        }
    }
}
