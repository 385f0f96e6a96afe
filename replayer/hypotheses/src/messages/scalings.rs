//! Messages of other sizes, by changes that follow each other.
//!
//! A change of sizes neither adds nor removes messages, so the place of each in its channel is the same after it. That lets one
//! survey serve all changes: a sender knows by itself what it selects, and shows each change the sizes that those before it
//! leave. Were there a survey for each, the last would pass through all changes before it, and so would each of these.

use titr_common::event::{Event, Outgoing};
use titr_common::event_buffer::EventRef;
use titr_common::trace::{Located, Trace, TraceError, Transformation};

use super::agreement::Survey;
use super::rewrite::treated;
use super::scale_messages::ByteFactor;
use crate::kind::MessageScaling;
use crate::message_filter::MessageFilter;
use crate::position::Position;
use crate::rewriting::survey_all;

/// Changes of a trace, one after the other.
#[derive(Default)]
pub struct MessageScalings(Vec<MessageScaling>);

impl MessageScalings {
    /// Adds a change after the others.
    pub(crate) fn push(&mut self, scaling: MessageScaling) {
        self.0.push(scaling);
    }
}

impl Transformation for MessageScalings {
    fn apply(&self, trace: Trace) -> Result<Trace, TraceError> {
        let selections: Vec<_> = self.0.iter().map(|scaling| scaling.filter.selection.clone()).collect();
        let surveys = self.0.iter().map(|scaling| Survey::of(&trace, &scaling.filter, None));
        let mut surveys = surveys.collect::<Result<Vec<_>, _>>()?;
        survey_all(&trace, &selections, |positions, Located { event, location }| {
            let mut changed = None;
            for ((survey, position), scaling) in surveys.iter_mut().zip(positions).zip(&self.0) {
                let event = changed.as_ref().map_or(event, EventRef::Event);
                survey.see(position, Located { event, location })?;
                changed = scaling.sent(position, Located { event, location }).or(changed);
            }
            Ok(())
        })?;
        surveys.into_iter().zip(&self.0).try_fold(trace, |trace, (survey, scaling)| {
            Ok(treated(trace, survey.finish()?, ByteFactor(scaling.factor)))
        })
    }
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
            EventRef::Send(message) => scaled(&message).map(|message| EventRef::Send(message).to_event()),
            EventRef::Event(Event::Send(mode, message, completion)) => {
                scaled(message).map(|message| Event::Send(*mode, message, *completion))
            }
            EventRef::Event(Event::Sendrecv(Some(message), received)) => {
                scaled(message).map(|message| Event::Sendrecv(Some(message), *received))
            }
            EventRef::Compute(_) | EventRef::Recv(_) | EventRef::Event(_) => None,
        }
    }
}
