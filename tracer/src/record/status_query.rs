//! `MPI_Request_get_status` and related functions, which leave the requests to the program.

use titr_common::event::Event;

use super::Outcome;
use super::communicator_table::CommunicatorTable;
use super::completion_call::CompletionCall;
use super::held_requests::Matches;
use super::message_args::RequestRef;
use super::omitted_calls::Omission;
use super::request_table::{Entry, RequestKind};
use super::requests::Requests;
use super::stream::EventStream;

impl Requests {
    /// Records a question for requests, as a test: what it finds done is completed in the trace, and only the handles are yet
    /// to be waited for.
    pub(super) fn status_query(
        &mut self,
        query: &CompletionCall<'_>,
        communicators: &mut CommunicatorTable,
        stream: &mut EventStream,
    ) -> Outcome {
        let mut is_visible = false;
        query.each_request(|handle, place| is_visible |= self.in_progress(RequestRef { handle, place }));
        if !is_visible {
            return Err(Omission::NullPeer);
        }
        if !query.has_completed() {
            stream.write(&Event::Test(query.ask, None));
            return Ok(());
        }
        let mut done = Vec::new();
        if query.names_all() {
            done.extend((0..query.len()).map(|index| (index, index)));
        } else {
            query.each_done(|index, status| done.push((index, status)));
        }
        self.completed_ids.clear();
        let mut key = None;
        for (index, status) in done {
            let Some(request) = query.request(index).filter(|request| self.in_progress(*request)) else { continue };
            let Some(id) = self.table.take_out(request.handle, request.place) else { continue };
            let left = self.table.get(id).filter(|entry| !entry.persistent).map(Entry::handle);
            key = self.complete(id, &Matches::Of(query), status, communicators, stream).or(key);
            if let Some((handle, place)) = left {
                self.table.add(handle, place, RequestKind::Nothing, false);
            }
        }
        if self.completed_ids.is_empty() {
            return Err(Omission::NullPeer);
        }
        let completed = self.completed(key);
        self.write_completion(Event::Test(query.ask, Some(completed)), stream);
        Ok(())
    }

    /// Whether the trace has the request in progress.
    fn in_progress(&mut self, RequestRef { handle, place }: RequestRef) -> bool {
        let id = self.table.find(handle, place);
        id.and_then(|id| self.table.get(id)).is_some_and(|entry| entry.active && entry.is_visible())
    }
}
