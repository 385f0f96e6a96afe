//! The kinds of changes that remove messages without content, or scale messages.
//!
//! A change of sizes neither adds nor removes messages, so the place of each in its channel is the same after it. That lets one
//! survey serve all changes: a sender knows by itself what it selects, and shows each change the sizes that those before it
//! leave. Were there a survey for each, the last would pass through all changes before it, and so would each of these.

use titr_common::event::{CollectiveKind, Event, Outgoing};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, Trace, TraceError};
use titr_document::Mistake;

use super::agreement::Survey;
use super::collectives::{CollectiveFilter, Collectives};
use super::rewrite::{WithoutMessages, treated};
use super::treatment::{ByteFactor, Treatment};
use crate::keys::Keys;
use crate::kind::{Effect, Kind, MessageScaling, ProgramChange};
use crate::message_filter::MessageFilter;
use crate::position::Position;
use crate::rewriting::survey_all;

/// Removes messages without content and the waits for them, or barriers.
pub(crate) const REMOVE_MESSAGES: Kind = Kind { name: "remove-messages", read: remove };

/// The bytes of messages are multiplied by a factor, and rounded to whole ones. Collectives that reduce have so much more
/// to reduce.
pub(crate) const SCALE_MESSAGES: Kind = Kind { name: "scale-messages", read: scale };

fn remove(keys: &mut Keys) -> Result<Effect, Mistake> {
    if let Some(filter) = CollectiveFilter::read(keys)? {
        if filter.kind() != CollectiveKind::Barrier {
            return Err(keys.mistake("of the collectives, only barriers can be removed"));
        }
        return Ok(Effect::program(Collectives { filter, treatment: Treatment::Removed }));
    }
    let filter = MessageFilter::read(keys)?;
    if !filter.is_of_empty_messages() {
        return Err(keys.mistake("only messages without content can be removed: write max_bytes = 0"));
    }
    Ok(Effect::program(WithoutMessages(filter.into())))
}

fn scale(keys: &mut Keys) -> Result<Effect, Mistake> {
    let factor = keys.required("factor", Keys::factor)?;
    if let Some(filter) = CollectiveFilter::read(keys)? {
        return Ok(Effect::program(Collectives { filter, treatment: Treatment::Scaled(ByteFactor(factor)) }));
    }
    let scaling = MessageScaling { filter: MessageFilter::read(keys)?.into(), factor };
    Ok(Effect::Program(ProgramChange::MessageScalings(vec![scaling])))
}

/// The trace after these changes, one after the other.
pub(crate) fn scaled(scalings: &[MessageScaling], trace: Trace) -> Result<Trace, TraceError> {
    let selections: Vec<_> = scalings.iter().map(|scaling| scaling.filter.selection.clone()).collect();
    let surveys = scalings.iter().map(|scaling| Survey::of(&trace, &scaling.filter));
    let mut surveys = surveys.collect::<Result<Vec<_>, _>>()?;
    survey_all(&trace, &selections, |positions, Located { event, location }| {
        let mut changed = None;
        for ((survey, position), scaling) in surveys.iter_mut().zip(positions).zip(scalings) {
            let event = changed.as_ref().map_or(event, EventRef::Event);
            survey.see(position, Located { event, location })?;
            changed = scaling.sent(position, Located { event, location }).or(changed);
        }
        Ok(())
    })?;
    surveys.into_iter().zip(scalings).try_fold(trace, |trace, (survey, scaling)| {
        Ok(treated(trace, survey.finish()?, Treatment::Scaled(ByteFactor(scaling.factor))))
    })
}

impl MessageScaling {
    /// An event with the message that it sends as the change leaves it; `None` if it is the same.
    fn sent(&self, position: &Position, Located { event, location }: Located<'_>) -> Option<Event> {
        let filter: &MessageFilter = &self.filter;
        let scaled = |message: &Outgoing| {
            let is_selected = filter.selects(position, location.thread, message);
            is_selected.then(|| Outgoing { bytes: ByteFactor(self.factor).of(message.bytes), ..*message })
        };
        match event {
            EventRef::Send(message, completion) => {
                scaled(&message).map(|message| EventRef::Send(message, completion).to_event())
            }
            EventRef::Event(Event::Send(mode, message, completion)) => {
                scaled(message).map(|message| Event::Send(*mode, message, *completion))
            }
            EventRef::Event(Event::Sendrecv(Some(message), received)) => {
                scaled(message).map(|message| Event::Sendrecv(Some(message), *received))
            }
            EventRef::Compute(_) | EventRef::Recv(..) | EventRef::Event(_) => None,
        }
    }
}
