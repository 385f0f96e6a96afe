//! Round trips of all events, with any contents, and no panic for any line.

use proptest::prelude::*;
use titr_common::event::*;
use titr_common::event_buffer::{EventBuffer, EventRef};
use titr_common::grammar::{EventReader, EventWriter, Parser};

use super::strategies::{event, rank, thread};
use super::{WORLD, text};

proptest! {
    #[test]
    fn what_is_written_is_read(rank in rank(), thread in thread(), event in event()) {
        let mut parser = Parser::new(WORLD);
        parser.line(b"0 comm_split 2 0 0-2").unwrap();
        let actor = Actor { rank, thread };
        let line = text(actor, &event);
        let read = parser.line(line.as_bytes());
        prop_assert_eq!(read, Ok(Some((actor, event))), "{}", line);
    }

    /// Any text inserted into a line makes it invalid, or is still there when the event is written again.
    #[test]
    fn no_word_of_a_line_is_dropped(
        event in event(),
        at in any::<prop::sample::Index>(),
        word in "any|any_source|any_tag|-|[*]|found|none|on [12]|x",
    ) {
        let before = "0 comm_split 2 0 0-2";
        let line = text(Rank(0), &event);
        let mut fields: Vec<&str> = line.split_whitespace().collect();
        fields.insert(1 + at.index(fields.len()), &word);
        let line = fields.join(" ");
        let mut parser = Parser::new(WORLD);
        parser.line(before.as_bytes()).unwrap();
        // SimGrid's `init` has an argument that says no more than that it is there.
        if let Ok(Some((actor, read))) = parser.line(line.as_bytes()) && read != Event::Init {
            let is_word = |field: &&str| !field.as_bytes()[0].is_ascii_digit();
            let words = |line: &str| line.split_whitespace().filter(is_word).map(str::to_owned).collect::<Vec<_>>();
            // An empty list at the end is as good as none.
            let said = words(line.trim_end_matches(" -"));
            prop_assert_eq!(said, words(text(actor, &read).trim_end().trim_end_matches(" -")), "{}", line);
        }
    }

    #[test]
    fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..60), words in "[0-9]{1,2} (on 0 )?[a-z_]{3,9}( [-0-9*a-z,/.]{1,9}){0,6}") {
        let _ = Parser::new(WORLD).line(&line);
        let _ = Parser::new(WORLD).line(words.as_bytes());
        let _ = EventReader::new(WORLD).line(&line, &mut EventBuffer::default());
    }

    #[test]
    fn events_that_come_again_are_read_again(
        events in prop::collection::vec(event(), 1..20),
        order in prop::collection::vec((any::<prop::sample::Index>(), thread()), 0..200),
    ) {
        let mut events: Vec<(ThreadId, Event)> =
            order.iter().map(|(index, thread)| (*thread, index.get(&events).clone())).collect();
        // The communicators that the events refer to.
        let members = vec![Rank(0), Rank(1), Rank(2)];
        let group = Group { id: CommId(2), members, remote: Vec::new(), tag: None };
        events.insert(0, (ThreadId::MAIN, Event::CommCreate(CommCall::Split, CommId::WORLD, Some(group))));
        let (mut writer, mut text) = (EventWriter::new(Rank(1)), Vec::new());
        for (thread, event) in &events {
            writer.switch(&mut text, *thread);
            writer.write(&mut text, event);
        }
        writer.end_line(&mut text);

        let (mut reader, mut read, mut threads) = (EventReader::new(WORLD), EventBuffer::default(), Vec::new());
        reader.remember();
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let before = read.len();
            let actor = reader.line(line.trim_ascii_end(), &mut read).unwrap().unwrap();
            prop_assert_eq!(actor, Actor { rank: Rank(1), thread: reader.thread() });
            threads.resize(threads.len() + read.len() - before, actor.thread);
        }
        prop_assert_eq!(threads.into_iter().zip(read.iter().map(EventRef::to_event)).collect::<Vec<_>>(), events);
    }
}
