//! The traced part of the program, if that is not all of it: whether the rank is in it, and the rank's calls outside.

use std::time::Instant;

use titr_common::event::{Event, Mark};
use titr_common::program::OpenRegions;
use titr_common::trace::manifest::PartCalls;
use titr_config::Part;

use super::unrecorded::UnrecordedCalls;

/// A rank's way through the part.
pub(super) struct PartGate {
    part: Part,
    begun: Instant,
    is_open: bool,
    /// The number of open regions with the name, and the number of times the outermost of these has begun.
    depth: u64,
    times: u64,
    regions: OpenRegions,
    outside: UnrecordedCalls,
    calls: PartCalls,
}

/// The events that go into the trace when the rank passes an event.
pub(super) struct Admission {
    pub(super) before: Vec<Mark>,
    /// Whether to record the event, and the computation before it.
    pub(super) event: bool,
    pub(super) after: Vec<Mark>,
}

impl PartGate {
    /// A closed gate; `None` if all of the program is recorded.
    pub(super) fn new(part: Part) -> Option<Self> {
        (part != Part::All).then(|| Self {
            part,
            begun: Instant::now(),
            is_open: false,
            depth: 0,
            times: 0,
            regions: OpenRegions::default(),
            outside: UnrecordedCalls::default(),
            calls: PartCalls::default(),
        })
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// The calls in the part, and outside.
    pub(super) fn calls(&self) -> PartCalls {
        self.calls
    }

    /// The rank passes the next event.
    pub(super) fn pass(&mut self, event: &Event) -> Admission {
        let was_open = self.is_open;
        let mut before = Vec::new();
        let is_wanted = self.is_wanted(event);
        if was_open && !is_wanted.0 {
            before.extend(self.close());
        } else if !was_open && is_wanted.0 {
            before.extend(self.open());
        }
        if let Event::Mark(mark) = event {
            self.regions.pass(mark);
        }
        self.count(event);
        let is_recorded = self.is_open || UnrecordedCalls::is_definition(event);
        if is_recorded {
            self.outside.recorded(event);
            before.extend(self.outside.take());
        } else {
            self.outside.unrecorded(event);
        }
        let after = if self.is_open && !is_wanted.1 { self.close() } else { Vec::new() };
        Admission { before, event: is_recorded, after }
    }

    /// The part begins. Regions that are open begin in the trace, too.
    fn open(&mut self) -> Vec<Mark> {
        self.is_open = true;
        self.calls.times += 1;
        let open: Vec<Mark> = self.regions.names().map(|name| Mark::RegionBegin(name.into())).collect();
        self.outside.take().into_iter().chain([Mark::PartBegin]).chain(open.into_iter().rev()).collect()
    }

    /// The part ends, and with it the regions that are open in the trace.
    fn close(&mut self) -> Vec<Mark> {
        self.is_open = false;
        self.regions.names().map(|name| Mark::RegionEnd(name.into())).chain([Mark::PartEnd]).collect()
    }

    fn count(&mut self, event: &Event) {
        if matches!(event, Event::Mark(_)) || !event.is_executed() {
            return;
        }
        match self.calls {
            _ if self.is_open => self.calls.inside += 1,
            PartCalls { times: 0, .. } => self.calls.before += 1,
            _ => self.calls.after += 1,
        }
    }

    /// Whether to record an event, and whether to record those after it.
    fn is_wanted(&mut self, event: &Event) -> (bool, bool) {
        let same = |is_wanted| (is_wanted, is_wanted);
        let mark = if let Event::Mark(mark) = event { Some(mark) } else { None };
        match (&self.part, mark) {
            (Part::All, _) => same(true),
            (Part::Seconds(range), _) => same(range.contains(&self.begun.elapsed().as_secs_f64())),
            (Part::Calls(range), _) => {
                let calls = self.calls.before + self.calls.inside + self.calls.after;
                same(range.contains(&(calls + 1)))
            }
            (Part::Control, Some(Mark::Control(0))) => (self.is_open, false),
            (Part::Control, Some(Mark::Control(1))) => same(true),
            (Part::Region { name, times }, Some(mark)) => match change(&self.regions, mark, name) {
                Change::Begins => {
                    self.depth += 1;
                    self.times += u64::from(self.depth == 1);
                    same(times.contains(&self.times))
                }
                Change::Ends(depth) => {
                    self.depth = self.depth.saturating_sub(depth);
                    (self.is_open, self.is_open && self.depth > 0)
                }
                Change::Neither => same(self.is_open),
            },
            (Part::Between { from, to }, Some(mark)) => {
                let begins = self.times == 0 && matches!(change(&self.regions, mark, from), Change::Begins);
                self.times += u64::from(begins);
                let ends = matches!(change(&self.regions, mark, to), Change::Ends(_));
                let is_wanted = self.is_open || begins;
                (is_wanted, is_wanted && !ends)
            }
            (Part::Control | Part::Region { .. } | Part::Between { .. }, _) => same(self.is_open),
        }
    }
}

/// The effect of a mark on the region of a name.
enum Change {
    Begins,
    /// This many regions of the name end.
    Ends(u64),
    Neither,
}

fn change(regions: &OpenRegions, mark: &Mark, name: &str) -> Change {
    let open = |regions: &OpenRegions| regions.names().filter(|open| *open == name).count() as u64;
    let mut after = regions.clone();
    after.pass(mark);
    let (before, after) = (open(regions), open(&after));
    match after.cmp(&before) {
        std::cmp::Ordering::Greater => Change::Begins,
        std::cmp::Ordering::Less => Change::Ends(before - after),
        std::cmp::Ordering::Equal => Change::Neither,
    }
}

#[cfg(test)]
mod tests {
    use titr_common::event::{CommId, Completion, Outgoing, Rank, SendMode, Tag};
    use titr_common::units::Bytes;

    use super::*;

    fn begin(name: &str) -> Event {
        Event::Mark(Mark::RegionBegin(name.into()))
    }

    fn end(name: &str) -> Event {
        Event::Mark(Mark::RegionEnd(name.into()))
    }

    fn send() -> Event {
        let message = Outgoing { comm: CommId::WORLD, to: Rank(1), tag: Tag(3), bytes: Bytes(8) };
        Event::Send(SendMode::Standard, message, Completion::Blocking)
    }

    /// The trace of a rank's calls, as text.
    fn recorded(part: Part, events: &[Event]) -> Vec<String> {
        let mut gate = PartGate::new(part).unwrap();
        let mut lines = Vec::new();
        let mut line = |event: &Event| {
            let mut text = Vec::new();
            let actor = titr_common::event::Actor { rank: Rank(0), thread: titr_common::event::ThreadId::MAIN };
            titr_common::grammar::write_event(&mut text, actor, event);
            lines.push(String::from_utf8(text).unwrap().trim().trim_start_matches("0 ").to_owned());
        };
        for event in events {
            let Admission { before, event: is_recorded, after } = gate.pass(event);
            before.into_iter().for_each(|mark| line(&Event::Mark(mark)));
            if is_recorded {
                line(event);
            }
            after.into_iter().for_each(|mark| line(&Event::Mark(mark)));
        }
        lines
    }

    #[test]
    fn iterations_of_a_region() {
        let iteration = [begin("outer"), begin("step"), send(), end("step"), send(), end("outer")];
        let events = [vec![Event::Init], vec![iteration; 3].concat(), vec![Event::Finalize]].concat();
        let seen = recorded(Part::Region { name: "step".into(), times: 2..=2 }, &events);
        let part = [
            "init",
            "unrecorded sent 0 1 3 2",
            "part_begin",
            "region_begin outer",
            "region_begin step",
            "send 1 3 8",
            "region_end step",
            "region_end outer",
            "part_end",
            "unrecorded sent 0 1 3 3",
            "finalize",
        ];
        assert_eq!(seen, part);
    }

    #[test]
    fn from_the_beginning_of_one_region_to_the_end_of_another() {
        let events = [send(), begin("a"), send(), end("a"), send(), begin("b"), end("b"), send(), begin("a"), end("a")];
        let seen = recorded(Part::Between { from: "a".into(), to: "b".into() }, &events);
        let part = [
            "unrecorded sent 0 1 3 1",
            "part_begin",
            "region_begin a",
            "send 1 3 8",
            "region_end a",
            "send 1 3 8",
            "region_begin b",
            "region_end b",
            "part_end",
        ];
        assert_eq!(seen, part);
    }

    #[test]
    fn levels_of_pcontrol_and_numbers_of_calls() {
        let level = |level| Event::Mark(Mark::Control(level));
        let events = [send(), level(1), send(), level(0), send(), level(1), send(), level(2)];
        let twice = ["part_begin", "pcontrol 1", "send 1 3 8", "pcontrol 0", "part_end"];
        let seen = recorded(Part::Control, &events);
        assert_eq!(seen[1..6], twice);
        assert_eq!(seen[6..], ["unrecorded sent 0 1 3 1", "part_begin", "pcontrol 1", "send 1 3 8", "pcontrol 2"]);
        let seen = recorded(Part::Calls(2..=3), &[send(), send(), send(), send()]);
        assert_eq!(seen, ["unrecorded sent 0 1 3 1", "part_begin", "send 1 3 8", "send 1 3 8", "part_end"]);
    }
}
