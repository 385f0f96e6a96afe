//! The events of one rank of one world, renumbered as events of all worlds together.

use super::numbers::Numbering;
use super::unmatched::Unmatched;
use crate::event::Event;
use crate::trace::located::{Located, LocatedEvents, Location};
use crate::trace::transformation::ChangeEvents;

/// Renumbers the events of one rank of one world.
pub(super) struct Renumber {
    numbering: Numbering,
    unmatched: Unmatched,
    /// Whether the event that introduces the rank's world is still to come.
    is_first: bool,
}

impl Renumber {
    pub(super) fn new(numbering: Numbering) -> Self {
        let is_first = numbering.is_one_of_several;
        Self { numbering, unmatched: Unmatched::default(), is_first }
    }
}

impl ChangeEvents for Renumber {
    fn change(&mut self, Located { event, location }: Located<'_>, changed: &mut LocatedEvents) {
        let event = event.to_event();
        if self.is_first && event != Event::Init {
            self.is_first = false;
            changed.push(self.numbering.world(), Location { line: None, ..Location::default() });
        }
        if let Some(mut event) = self.unmatched.pass(event, &self.numbering) {
            self.numbering.renumber(&mut event);
            changed.push(event, location);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event::Rank;
    use crate::event_buffer::EventRef;
    use crate::grammar::{EventWriter, Parser};
    use crate::trace::event_source::EventSource;
    use crate::trace::transformation::ChangedEvents;

    /// The lines of rank 1 in a world of 2 that follows a world of 4, in which it is rank 5. It knows the ranks 0 and 3
    /// of that world, and its number 4 is unknown.
    fn seen(lines: &str) -> Vec<String> {
        let mut parser = Parser::new(2);
        let list: Vec<Event> = lines.lines().map(|line| parser.line(line.as_bytes()).unwrap().unwrap().1).collect();
        let foreign = [(2, Rank(3)), (3, Rank(0))].into_iter().collect();
        let numbering = Numbering { first: Rank(4), size: 2, foreign: Arc::new(foreign), is_one_of_several: true };
        let mut renumbered = ChangedEvents::new(Box::new(list.into_iter()), Renumber::new(numbering));
        let mut events = LocatedEvents::default();
        while renumbered.read(&mut events).unwrap() {}
        let text = |event: EventRef<'_>| {
            let (mut writer, mut text) = (EventWriter::new(Rank(5)), Vec::new());
            writer.write(&mut text, &event.to_event());
            writer.end_line(&mut text);
            String::from_utf8(text).unwrap().trim_end().to_owned()
        };
        events.iter().map(|located| text(located.event)).collect()
    }

    #[test]
    fn ranks_and_communicators_get_the_numbers_of_all_worlds() {
        let seen = seen(
            "1 init\n1 comm_parent 2 0 0-1 2-3\n1 send 0 7 8\n1 on 2 recv 3 7 8\n1 on 2 bcast 5 2\n1 barrier\n1 on 1 barrier\n1 comm_free 2",
        );
        assert_eq!(
            seen,
            [
                "5 init",
                "5 comm_world 2 0 4-5",
                "5 comm_parent 3 2 4-5 3,0",
                "5 on 2 send 4 7 8",
                "5 on 3 recv 0 7 8",
                "5 on 3 bcast 5 3",
                "5 on 2 barrier",
                "5 on 1 barrier",
                "5 comm_free 3",
            ]
        );
    }

    #[test]
    fn what_concerns_a_world_that_is_missing_is_passed_over() {
        let seen = seen(
            "1 init\n1 comm_parent 2 0 0-1 2-3\n1 comm_spawn 3 0 0-1 4\n1 intercomm_merge 4 3 0-1,4\n1 on 3 isend 4 7 8 6 0\n1 isend 0 7 16 6 1\n1 waitall_of 0-1\n1 on 4 irecv * * 32 6 0\n1 matched 0 4 9\n1 wait 4 1 9 0\n1 comm_dup 5 4 0-1,4\n1 on 5 send 0 7 8\n1 on 4 allreduce 8 1\n1 comm_free 4\n1 comm_free 3\n1 comm_split 3 0 1\n1 on 3 barrier",
        );
        assert_eq!(
            seen[3..],
            [
                "5 call MPI_Comm_spawn 0 0",
                "5 call MPI_Intercomm_merge 0 0",
                "5 call MPI_Isend 8 0",
                "5 on 2 isend 4 7 16 6 1",
                "5 waitall_of 1",
                "5 call MPI_Irecv 0 32",
                "5 call MPI_Comm_dup 0 0",
                "5 call MPI_Send 8 0",
                "5 call MPI_Allreduce 8 0",
                "5 comm_split 4 2 5",
                "5 on 4 barrier",
            ]
        );
    }
}
