//! The records of a rank's calls.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use titr_common::event::{CommCall, CommId, Completion, Event, Mark, Rank, RequestId, WinId};
use titr_common::program::{Communicators, Members, RequestTable, Template};

use super::NotWritten;
use super::datatypes::DumpiTypes;
use super::definitions::CommDefinitions;
use super::file::{DumpiBytes, DumpiFile, DumpiSpan};
use super::open::OpenDumpi;
use crate::input::dumpi::functions::DumpiFunction;
use crate::input::notes::Notes;
use crate::output::timed_calls::TimedCall;

/// The difference between the numbers of DUMPI and those of titr, for communicators, requests and windows: DUMPI has a number
/// for an error, and one for none.
const OFFSET: u32 = 2;

/// A rank whose records are being written.
pub(super) struct DumpiRank<'a> {
    pub rank: Rank,
    pub communicators: &'a mut Communicators,
    pub definitions: &'a CommDefinitions,
    pub file: DumpiFile,
    pub types: DumpiTypes,
    pub requests: RequestTable<OpenDumpi>,
    /// The number of requests that the trace has no number for.
    pub unnumbered: i32,
    pub windows: FxHashMap<WinId, Rc<Members>>,
    /// Whether the rank has made the operation that is not commutative.
    pub has_ordered_operation: bool,
    /// The time and the thread of the current call.
    pub span: DumpiSpan,
}

impl<'a> DumpiRank<'a> {
    pub(super) fn new(
        rank: Rank,
        communicators: &'a mut Communicators,
        definitions: &'a CommDefinitions,
        file: DumpiFile,
    ) -> Self {
        Self {
            rank,
            communicators,
            definitions,
            file,
            types: DumpiTypes::default(),
            requests: RequestTable::default(),
            unnumbered: 0,
            windows: FxHashMap::default(),
            has_ordered_operation: false,
            span: DumpiSpan::default(),
        }
    }

    /// Ends the file.
    pub(super) fn finish(self, host: &str) -> Result<(), std::io::Error> {
        self.file.finish(host, &self.types.sizes())
    }

    /// Writes the record of the current call.
    pub(super) fn record(&mut self, function: DumpiFunction, arguments: &DumpiBytes) -> Result<(), NotWritten> {
        Ok(self.file.record(function, self.span, arguments)?)
    }

    /// Writes the record of a call that the current one needs, and that takes no time.
    pub(super) fn record_before(&mut self, function: DumpiFunction, arguments: &DumpiBytes) -> Result<(), NotWritten> {
        let span = DumpiSpan { end: self.span.begin, ..self.span };
        Ok(self.file.record(function, span, arguments)?)
    }

    /// Writes the records of a call, and takes note of what DUMPI does not say of it.
    pub(super) fn call(&mut self, call: &TimedCall, notes: &mut Notes) -> Result<(), NotWritten> {
        let thread = u16::try_from(call.thread.0).unwrap_or(u16::MAX);
        self.span = DumpiSpan { begin: call.begin, end: call.end, thread };
        call.before.iter().try_for_each(|event| self.before(event, notes))?;
        match &call.event {
            Event::Init => {
                self.record(DumpiFunction::INIT, &DumpiBytes::default().int(0))?;
                self.define()?;
            }
            Event::Finalize => self.record(DumpiFunction::FINALIZE, &DumpiBytes::default())?,
            Event::Send(mode, message, completion) => self.send(*mode, message, completion)?,
            Event::Recv(message, completion) => self.receive(message, completion)?,
            Event::Sendrecv(sent, received) => self.exchange(sent.as_ref(), received.as_ref())?,
            Event::Probe(message) => self.probe(message, None)?,
            Event::Iprobe(message, found) => self.probe(message, Some(*found))?,
            Event::Start(ids) => self.start(ids)?,
            Event::RequestFree(id) => self.free_request(*id)?,
            Event::Wait(quantifier, completed) => self.wait(*quantifier, completed, notes)?,
            Event::Test(quantifier, completed) => self.test(*quantifier, completed.as_ref(), notes)?,
            Event::Collective(collective, completion) => match completion {
                Completion::Blocking => self.collective(collective)?,
                Completion::Request(id) => {
                    notes.add("non-blocking collectives are left out, for which DUMPI has no function");
                    self.requests.add(*id, None)?;
                }
                Completion::Persistent(id) => {
                    notes.add("persistent collectives are left out, for which DUMPI has no function");
                    let index = self.communicators.find(self.rank, collective.comm)?;
                    let part = self.communicators.begin(index, self.rank, collective)?;
                    self.requests.add_persistent(*id, Template::Collective(Rc::new(collective.clone()), part))?;
                }
            },
            Event::Neighborhood(collective, completion) => {
                notes.add("neighbourhood collectives are left out, for which DUMPI has no function");
                match completion {
                    Completion::Blocking => {}
                    Completion::Request(id) => self.requests.add(*id, None)?,
                    Completion::Persistent(id) => {
                        let index = self.communicators.find(self.rank, collective.comm)?;
                        let part = self.communicators.begin_neighborhood(index, self.rank)?;
                        self.requests.add_persistent(*id, Template::Neighbor(Rc::new(collective.clone()), part))?;
                    }
                }
            }
            Event::Partitioned(partitioned) => {
                notes.add("calls of partitioned messages are left out, for which DUMPI has no function");
                if let Some((id, bytes)) = partitioned.sets_up() {
                    self.requests.add_persistent(id, Template::Partitioned(bytes))?;
                }
            }
            Event::OneSided(one_sided) => {
                self.add_requests(call.event.starts())?;
                self.one_sided(one_sided, notes)?;
            }
            Event::File(_) => {
                notes.add("calls on files are left out");
                self.add_requests(call.event.starts())?;
            }
            Event::Other(_) => {
                notes.add("calls that are neither messages nor collectives are left out");
                self.add_requests(call.event.starts())?;
            }
            Event::CommCreate(function, parent, group) => self.create(*function, *parent, group.as_ref(), notes)?,
            Event::CommFree(id) => {
                self.record(DumpiFunction::COMM_FREE, &DumpiBytes::default().handle(handle(id.0)?))?;
                self.communicators.free(self.rank, *id)?;
            }
            Event::Compute(_) | Event::Sleep(_) | Event::Matched(..) | Event::Cancel(_) => {}
            Event::Mark(_) | Event::Task(_) | Event::Annotation(_) => {}
        }
        Ok(())
    }

    fn before(&mut self, event: &Event, notes: &mut Notes) -> Result<(), NotWritten> {
        if let Event::Matched(id, source, tag) = event {
            self.matched(*id, *source, *tag);
        }
        if let Event::Cancel(id) = event {
            self.cancel(*id)?;
        }
        if let Event::CommCreate(CommCall::World, parent, Some(group)) = event {
            self.definitions.check(self.rank, group)?;
            self.communicators.create(self.rank, CommCall::World, *parent, group)?;
        }
        if let Event::Mark(Mark::RegionBegin(_) | Mark::RegionEnd(_) | Mark::Control(_)) = event {
            notes.add("marks of regions are left out");
        }
        Ok(())
    }

    /// Adds requests whose operations have no record.
    fn add_requests(&mut self, ids: &[RequestId]) -> Result<(), NotWritten> {
        Ok(ids.iter().try_for_each(|&id| self.requests.add(id, None))?)
    }

    /// The number of a communicator in records, and its members.
    pub(super) fn comm(&mut self, id: CommId) -> Result<(u16, Rc<Members>), NotWritten> {
        let index = self.communicators.find(self.rank, id)?;
        Ok((handle(id.0)?, Rc::clone(&self.communicators.get(index).members)))
    }
}

/// The number in records of a communicator or a window.
pub(super) fn handle(id: u32) -> Result<u16, std::io::Error> {
    let number = id.checked_add(OFFSET).and_then(|number| u16::try_from(number).ok());
    number.ok_or_else(|| std::io::Error::other("more communicators or windows at a time than DUMPI has numbers for"))
}

/// The number of a request in records.
pub(super) fn request(id: RequestId) -> i32 {
    id.0.saturating_add(OFFSET).cast_signed()
}
