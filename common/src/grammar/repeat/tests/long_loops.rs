//! Tests of loops whose rounds have more different events than are remembered at first.

use super::*;

/// Rounds of `different` different events, with varying volumes, some of which are an inner loop.
fn long_loop(different: u32, rounds: u32, inner: u32) -> Vec<Event> {
    let round = |round: u32| {
        let messages = (0..different).flat_map(move |i| [compute(f64::from(1 + (i + round) % 3)), send(i)]);
        messages.chain((0..inner).map(|i| send(i % 4)))
    };
    (0..rounds).flat_map(round).collect()
}

/// The events that are spelled.
fn spelled(text: &str) -> usize {
    text.lines().filter(|line| line.contains(" send ")).count()
}

#[test]
fn a_loop_of_many_different_events_is_spelled_a_few_times() {
    for (different, inner) in [(1000, 0), (1025, 0), (2000, 40), (5000, 3), (20_000, 400)] {
        let events = long_loop(different, 12, inner);
        let text = write(&events, &[500, 3000, 7777, 30_000]);
        assert!(spelled(&text) < 5 * different as usize, "{different}: {}", spelled(&text));
        assert_eq!(text.contains(" window "), different > 1000, "{different}");
        let mut reader = EventReader::new(different);
        reader.remember();
        let mut read = EventBuffer::default();
        text.lines().for_each(|line| _ = reader.line(line.as_bytes(), &mut read).unwrap());
        assert!(read.iter().map(EventRef::to_event).eq(events), "{different}");
    }
}

#[test]
fn nothing_is_widened_for_events_that_do_not_come_again_or_a_loop_that_is_too_long() {
    let common = |i: u32| std::iter::once(send(i)).chain(i.is_multiple_of(100).then_some(send(7)));
    assert!(!write(&(0..40_000).flat_map(common).collect::<Vec<_>>(), &[]).contains(" window "));
    let events = vec![(0..Lookback::MOST as u32 + 1).map(send).collect::<Vec<_>>(); 3].concat();
    assert!(!write(&events, &[]).contains(" window "));
}

#[test]
fn the_longest_loop_comes_again() {
    let events = vec![(0..100_000).map(send).collect::<Vec<_>>(); 8].concat();
    let text = write(&events, &[]);
    assert!(spelled(&text) < 400_000, "{}", spelled(&text));
    let mut reader = EventReader::new(100_000);
    reader.remember();
    let mut read = EventBuffer::default();
    text.lines().for_each(|line| _ = reader.line(line.as_bytes(), &mut read).unwrap());
    assert!(read.iter().map(EventRef::to_event).eq(events));
}

#[test]
fn lists_are_forgotten_where_they_take_much_memory() {
    let mut reader = EventReader::new(WORLD);
    reader.remember();
    let mut events = EventBuffer::default();
    _ = reader.line(b"5 window 2048", &mut events).unwrap();
    for i in 0..2000 {
        events.clear();
        let line = format!("5 start {i}-{}", i + 1000);
        _ = reader.line(line.as_bytes(), &mut events).unwrap();
    }
    assert_eq!(reader.line(b"5 loop 64 1", &mut events).unwrap(), Some(Rank(5).into()));
    let error = reader.line(b"5 loop 1999 1", &mut events).unwrap_err();
    assert!(error.to_string().contains("events ago there was none"), "{error}");
}
