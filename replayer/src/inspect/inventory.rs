//! Counts of a trace's contents.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;
use titr_common::event::{Activity, Event, Rank};
use titr_common::trace::{Ending, Manifest, RankStream, Trace, TraceError};
use titr_common::units::{Bytes, Instructions, Seconds};

use super::messages::SentMessages;

/// The contents of a trace.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Inventory {
    /// Size of the world.
    pub ranks: u32,
    /// Events of all ranks.
    pub events: u64,
    /// The number of events of each kind, by the word of the kind.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Instructions of all ranks, excluding reductions.
    pub compute: Instructions,
    /// Computation of fixed times, of all ranks.
    #[serde(skip)]
    pub slept: Seconds,
    /// The number of messages sent outside of collectives; a persistent request counts once for each start.
    pub messages: u64,
    /// Payload of these messages.
    pub bytes: Bytes,
    /// The end of each rank's stream, and its contents.
    pub per_rank: Vec<RankEnd>,
}

/// The length and the end of a rank's stream.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RankEnd {
    /// The number of events in the stream.
    pub events: u64,
    /// The reason why the stream ends before the program did; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torn: Option<String>,
    /// Whether the stream's last event is `finalize`.
    pub finalized: bool,
    /// The word of the stream's last call; `None` if it has none.
    #[serde(skip)]
    pub last: Option<&'static str>,
    /// The first event that `init` or `finalize` should not precede or follow.
    #[serde(skip)]
    pub misplaced: Option<String>,
}

/// Where a rank is between `init` and `finalize`.
#[derive(Default)]
struct Lifetime {
    has_called: bool,
    initialised: bool,
    finalized: bool,
}

impl Lifetime {
    /// Goes on by an event, and whether it is a call. Returns where it stands, if that is the wrong place.
    fn pass(&mut self, event: &Event, is_call: bool) -> Option<&'static str> {
        let (init, finalize) = (*event == Event::Init, *event == Event::Finalize);
        let wrong = [
            (init && self.initialised, "after another init"),
            (init && self.has_called, "after other calls"),
            ((is_call || finalize) && self.finalized, "after finalize"),
        ];
        self.has_called |= is_call;
        self.initialised |= init;
        self.finalized |= finalize;
        wrong.into_iter().find(|(is_wrong, _)| *is_wrong).map(|(_, place)| place)
    }
}

/// The object that `titr info --json` prints.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct TraceInfo<'a> {
    /// The contents of the trace.
    #[serde(flatten)]
    pub inventory: &'a Inventory,
    /// The manifest of the trace; `null` if there is none.
    pub manifest: Option<&'a Manifest>,
    /// Parts of a trace in a format of another tool without a counterpart in titr's events.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub untranslated: &'a [String],
}

impl Inventory {
    /// Reads all of `trace`; of an incomplete stream, the existing part.
    ///
    /// # Errors
    /// If the trace has any other fault.
    pub(crate) fn of(trace: &Trace) -> Result<Self, TraceError> {
        let source = trace.clone().partial(true);
        let mut this = Self { ranks: source.ranks(), ..Self::default() };
        (0..source.ranks()).map(Rank).try_for_each(|rank| this.add(source.stream(rank)?))?;
        Ok(this)
    }

    /// Reads all events of the next rank.
    pub(crate) fn add(&mut self, mut stream: RankStream) -> Result<(), TraceError> {
        let mut kinds: FxHashMap<&'static str, u64> = FxHashMap::default();
        let mut sent = SentMessages::default();
        let (mut finalized, mut last) = (false, None);
        let (mut lifetime, mut misplaced) = (Lifetime::default(), None);
        while let Some(event) = stream.next_event()? {
            finalized = event == Event::Finalize;
            let is_call = event.activity().is_some_and(|activity| activity != Activity::Compute);
            if is_call {
                last = Some(event.word());
            }
            if let Some(place) = lifetime.pass(&event, is_call) {
                misplaced.get_or_insert_with(|| format!("event {}, '{}', {place}", stream.events(), event.word()));
            }
            *kinds.entry(event.word()).or_default() += 1;
            if let Event::Compute(work) = event {
                self.compute.0 += work.0;
            } else if let Event::Sleep(time) = event {
                self.slept.0 += time.0;
            }
            sent.visit(&event, |message| {
                self.messages += 1;
                self.bytes += message.bytes;
            });
        }
        let torn = match stream.ending() {
            Some(Ending::Torn(reason)) => Some(reason),
            Some(Ending::Complete) | None => None,
        };
        kinds.into_iter().for_each(|(word, events)| *self.kinds.entry(word).or_default() += events);
        self.events += stream.events();
        self.per_rank.push(RankEnd { events: stream.events(), torn, finalized, last, misplaced });
        Ok(())
    }
}
