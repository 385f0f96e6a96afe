//! Round trips through writer and reader, and the spelling of repetitions.

use proptest::prelude::*;

use super::reach::Lookback;
use super::*;
use crate::event::{CommCall, CommId, Completion, Group, Outgoing, Rank, RequestId, SendMode, Tag, ThreadId};
use crate::event_buffer::{EventBuffer, EventRef};
use crate::units::{Bytes, Instructions};

mod long_loops;

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

/// The events of a text whose loops are read as rounds of at most `most` events, and the number of those that were not
/// read because they are in further rounds.
fn read_in_rounds(text: &str, most: usize) -> (Vec<Event>, usize) {
    let mut reader = EventReader::new(WORLD);
    reader.remember();
    let (mut events, mut passed) = (Vec::new(), 0);
    for line in text.lines() {
        let mut is_begun = false;
        while !std::mem::replace(&mut is_begun, true) || reader.is_unfinished() {
            let mut read = EventBuffer::default();
            reader.some_of_line(line.as_bytes(), &mut read, 3).unwrap();
            let first = read.len();
            let further = reader.round(line.as_bytes(), &mut read, most).unwrap();
            assert!(read.len() - first <= most);
            events.extend(read.iter().map(EventRef::to_event));
            for _ in 0..further {
                events.extend(read.iter().skip(first).map(EventRef::to_event));
            }
            passed += (read.len() - first) * further as usize;
        }
    }
    (events, passed)
}

#[test]
fn a_loop_is_spelled_once() {
    let round = |work: f64| [compute(work), send(1), send(2)];
    let events: Vec<Event> = (0..100).flat_map(|i| round(1000.0 + f64::from(i % 7))).collect();
    let text = write(&events, &[]);
    assert!(
        text.starts_with("5 compute 1000\n5 send 1 7 8\n5 send 2 7 8\n5 loop 2 198 1000,1,62,1:1234560123456012"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 4);
    assert_eq!(read(&text), events);
}

#[test]
fn a_loop_that_varies_by_nothing_is_a_line_however_often_it_goes_round() {
    let inner = |work: u32| vec![[compute(f64::from(work)), send(1), send(2)]; 5].concat();
    let outer = [inner(1000), inner(70), vec![compute(9.0), send(3)]].concat();
    let events = vec![outer; 200].concat();
    let text = write(&events, &[]);
    insta::assert_snapshot!(text, @r"
    5 compute 1000
    5 send 1 7 8
    5 send 2 7 8
    5 loop 2 8 1000
    5 loop 2 10 70
    5 compute 9
    5 send 3 7 8
    5 loop 21 4179 1000*5 70*5 9
    ");
    assert_eq!(read(&text), events);
    // The last line has 199 rounds of 32 events. One round is read, and before and after it a few events.
    assert_eq!(read_in_rounds(&text, 32), (events.clone(), 197 * 32));
    assert_eq!(read_in_rounds(&text, 31).0, events);
}

#[test]
fn rounds_that_are_alike_are_one_and_the_one_that_is_not_begins_a_line() {
    let round = |work: u32| [compute(7.0), send(1), compute(f64::from(work)), send(2), send(3)];
    let works = [[20; 9].as_slice(), &[21; 2], &[22, 23, 23, 23]].concat();
    let events: Vec<Event> = works.into_iter().flat_map(round).collect();
    let text = write(&events, &[]);
    insta::assert_snapshot!(text, @r"
    5 compute 7
    5 send 1 7 8
    5 compute 20
    5 send 2 7 8
    5 send 3 7 8
    5 loop 3 24 7 20
    5 loop 3 6 7 21
    5 loop 3 12 7 22 7 23 7 23 7 23
    ");
    assert_eq!(read(&text), events);
}

#[test]
fn a_line_holds_so_many_volumes_and_events() {
    let events: Vec<Event> = (0..1300).flat_map(|i| [compute(f64::from(1 + i * i % 1009)), send(i % 5)]).collect();
    let held = |text: &str| {
        let events = text.lines().filter_map(|line| line.strip_prefix("5 loop 5 "));
        events.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect::<Vec<usize>>()
    };
    assert_eq!(held(&write(&events, &[])), [512, 512, 271]);
    let events: Vec<Event> = (0..40_000).map(|i| send(i % 5)).collect();
    let text = write(&events, &[]);
    assert_eq!(held(&text), [16_380, 16_380, 7235]);
    assert_eq!(read(&text), events);
}

#[test]
fn an_event_after_computation_takes_a_volume_when_it_comes_again() {
    let works = [7, 0, 0, 9, 9, 0];
    let round = |work: u32| std::iter::repeat_n(compute(f64::from(work)), usize::from(work > 0)).chain([send(1)]);
    let events: Vec<Event> = works
        .into_iter()
        .flat_map(round)
        .chain([0, 8, 0].into_iter().flat_map(|work| std::iter::once(send(2)).chain(round(work))))
        .collect();
    let text = write(&events, &[]);
    insta::assert_snapshot!(text, @r"
    5 compute 7
    5 send 1 7 8
    5 loop 1 2 0
    5 loop 1 2 9
    5 again 1 0
    5 send 2 7 8
    5 again 7 0
    5 loop 2 4 8 0
    ");
    assert_eq!(read(&text), events);
}

#[test]
fn what_cannot_stand_in_a_list_is_spelled() {
    let events = [send(1), compute(0.5), send(1), compute(3.0), compute(4.0), send(1), send(1), compute(2.0)];
    let text = write(&events, &[]);
    insta::assert_snapshot!(text, @r"
    5 send 1 7 8
    5 compute 0.5
    5 loop 1 1
    5 compute 3
    5 compute 4
    5 loop 1 2 0
    5 compute 2
    ");
    assert_eq!(read(&text), events);
}

#[test]
fn nothing_comes_again_from_beyond_the_window() {
    let between = Lookback::default().window() as u32 - 1;
    let round = |between: u32| std::iter::once(send(9)).chain((0..between).map(|i| send(i % 9)));
    let spelled =
        |between| write(&round(between).chain(round(between)).collect::<Vec<_>>(), &[]).matches("send 9").count();
    assert_eq!((spelled(between), spelled(between + 1)), (1, 2));
}

#[test]
fn of_many_different_events_the_oldest_do_not_come_again() {
    for many in [Lookback::LEAST as u32, Lookback::LEAST as u32 + 1, 3000] {
        let events: Vec<Event> = (0..many).chain(0..many).chain([7, 8, many - 1]).map(send).collect();
        let text = write(&events, &[100, 2000, 2100]);
        let mut reader = EventReader::new(many);
        reader.remember();
        let mut read = EventBuffer::default();
        text.lines().for_each(|line| _ = reader.line(line.as_bytes(), &mut read).unwrap());
        assert!(read.iter().map(EventRef::to_event).eq(events), "{many}");
    }
}

#[test]
fn lists_of_titr_0_1_are_read() {
    let text =
        "5 send 1 7 8\n5 compute 1410\n5 recv 1 11 640\n5 again 2 0*3 1420 20 1400\n5 compute 0.5\n5 again 1 0\n";
    let recv = "5 recv 1 11 640\n";
    let send = "5 send 1 7 8\n";
    let spelled = format!(
        "{send}5 compute 1410\n{recv}{send}{recv}{send}5 compute 1420\n{recv}5 compute 20\n{send}5 compute 1400\n{recv}5 compute 0.5\n{recv}"
    );
    assert_eq!(read(text), read(&spelled));
}

#[test]
fn a_long_event_is_spelled_and_interrupts_no_loop() {
    let long = Event::Start((0..1000).map(|i| RequestId(i * i)).collect());
    let events: Vec<Event> = (0..20).flat_map(|i| [send(i % 2), long.clone()]).collect();
    let text = write(&events, &[]);
    assert_eq!(text.lines().filter(|&line| line == "5 loop 2 1").count(), 18);
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
    5 loop 2 2 1
    5.1 loop 2 2 1
    5 loop 2 2 2
    5.1 loop 2 2 2
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
    assert!(text.ends_with("5 loop 2 1\n"), "{text}");
    text += "5 on 2 allgatherv 8 8 8\n";
    assert_eq!(read(&text).len(), 4);
}

#[test]
fn an_event_that_lists_many_is_not_remembered() {
    let start = |last: u32| Event::Start((0..=last).map(RequestId).collect());
    let loops = |last| [start(last), send(1), start(last), send(1), start(last), send(1)];
    assert_eq!(write(&loops(9), &[]), "5 start 0-9\n5 send 1 7 8\n5 loop 2 4\n");
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
        "5 again 1 0 x",
        "5 again 1 :ab",
        "5 again 1 500,100,62,1:ab 7*2x 5",
        "5 again 1 500,100,62,1:ab 7x 5",
        "5 again 1 500,100,62,2:abc",
        "5 again 1 500,100,62,2:ab c",
        "5 again 1 500,100,62,3:abcd-",
        "5 again 1 500,100,10,1:0a",
        "5 again 1 500,100,62,1:",
        "5 loop 1",
        "5 loop 1 0",
        "5 loop 2 1",
        "5 loop 1 1 7",
        "5 loop 1 20000",
        "5 loop 1 x",
        "5 window 1000",
        "5 window 200000",
        "5 window 2048 1",
        "5 window x",
        "5.1 loop 1 1",
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

/// Loops in loops, as programs have them, which compute as much in each round or not quite, or nothing now and then.
fn program() -> impl Strategy<Value = Vec<Event>> {
    let body = prop::collection::vec(event(), 1..12);
    let inner = (body, 1..20_usize).prop_map(|(body, rounds)| vec![body; rounds].concat());
    let outer = (prop::collection::vec(inner, 1..4), 1..5_usize)
        .prop_map(|(parts, rounds)| vec![parts.concat(); rounds].concat());
    (prop::collection::vec(outer, 1..4), 1..100_u32).prop_map(|(parts, varied)| {
        let vary = |(index, event): (usize, Event)| match (event, index as u32 * 7919 % varied) {
            (Event::Compute(_), 90..) => None,
            (Event::Compute(Instructions(work)), more) => Some(compute(work + f64::from(more))),
            (event, _) => Some(event),
        };
        parts.concat().into_iter().enumerate().filter_map(vary).collect()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(events in program(), ends in prop::collection::vec(0..2000_usize, 0..4)) {
        let text = write(&events, &ends);
        prop_assert_eq!(&read(&text), &events, "{}", text);
        for most in [2, 7, 1000] {
            prop_assert_eq!(&read_in_rounds(&text, most).0, &events, "{}", text);
        }
    }

    #[test]
    fn of_a_text_that_is_cut_all_whole_lines_are_read(events in program(), lines in 0..200_usize) {
        let text: String = write(&events, &[]).lines().take(lines).flat_map(|line| [line, "\n"]).collect();
        prop_assert!(events.starts_with(&read(&text)));
    }
}
