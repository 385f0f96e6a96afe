//! Lines of a trace.

use std::borrow::Cow;
use std::collections::HashMap;

use titr_common::event::{CommId, Event, Rank};
use titr_common::event_buffer::{EventBuffer, EventRef};
use titr_common::grammar::{EventReader, EventWriter, Parser, write_event};

use crate::has_wide_range;

/// The world that lines are read in.
const WORLD: u32 = 8;

/// Lines of a rank's trace, up to the first that is wrong or another rank's.
///
/// # Panics
/// If what was read is not what is read after it was written.
pub fn lines(data: &[u8]) {
    if has_wide_range(data) {
        return;
    }
    let mut reader = EventReader::new(WORLD);
    if data.first().is_some_and(|first| first % 2 == 1) {
        reader.remember();
    }
    let (mut rank, mut sizes) = (None, HashMap::new());
    let mut events = Vec::new();
    for line in data.split(|&byte| byte == b'\n') {
        let mut read = EventBuffer::default();
        match reader.line(line, &mut read) {
            Ok(actor) if actor.is_none_or(|actor| *rank.get_or_insert(actor.rank) == actor.rank) => {
                let read: Vec<Event> = read.iter().map(EventRef::to_event).collect();
                // What comes again may be older than its communicator: a replay refuses it, and no writer writes it.
                if read.iter().any(|event| changes_size(event, &mut sizes)) {
                    break;
                }
                events.extend(read);
            }
            Ok(_) | Err(_) => break,
        }
    }
    let rank = rank.unwrap_or(Rank(0));
    let (mut spelled, mut again) = (Vec::new(), Vec::new());
    let mut writer = EventWriter::new(rank);
    for event in &events {
        write_event(&mut spelled, rank, event);
        writer.write(&mut again, event);
    }
    writer.end_line(&mut again);

    let mut parser = Parser::new(WORLD);
    let mut twice = Vec::new();
    for line in spelled.split_inclusive(|&byte| byte == b'\n') {
        let read = parser.line(line.trim_ascii_end()).unwrap_or_else(|error| panic!("{error}: {}", text(line)));
        let (actor, event) = read.unwrap_or_else(|| panic!("no event: {}", text(line)));
        write_event(&mut twice, actor, &event);
    }
    assert!(spelled == twice, "{}\n---\n{}", text(&spelled), text(&twice));

    let mut reader = EventReader::new(WORLD);
    reader.remember();
    let mut events = EventBuffer::default();
    for line in again.split(|&byte| byte == b'\n') {
        reader.line(line, &mut events).unwrap_or_else(|error| panic!("{error}: {}", text(line)));
    }
    let mut unfolded = Vec::new();
    events.iter().for_each(|moment| write_event(&mut unfolded, rank, &moment.to_event()));
    assert!(spelled == unfolded, "{}\n---\n{}\n---\n{}", text(&spelled), text(&again), text(&unfolded));
}

/// Whether an event makes a communicator under the number of one that had more or fewer members.
fn changes_size(event: &Event, sizes: &mut HashMap<CommId, usize>) -> bool {
    let Event::CommCreate(_, _, Some(group)) = event else { return false };
    let size = group.members.len();
    *sizes.entry(group.id).or_insert(size) != size
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
