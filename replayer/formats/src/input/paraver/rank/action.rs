//! The meaning of a call, from the values of the events that begin it.

use std::sync::Arc;

use titr_common::event::{Quantifier, SendMode};

use crate::input::paraver::collectives::PrvCall;
use crate::input::paraver::survey::{Point, is_collective};
use crate::input::rank_events::is_local;

use super::{Action, IsTest, PrvIsBlocking, PrvTranslation};

impl PrvTranslation {
    /// What the function of a value does.
    pub(super) fn action(&mut self, value: u64, point: &Point) -> Action {
        use SendMode::{Buffered, Ready, Standard, Synchronous};
        let survey = Arc::clone(&self.survey);
        let Some(name) = survey.names.get(value) else {
            self.notes.add("calls of functions that the .pcf file does not name have no event");
            return Action::Nothing;
        };
        if is_collective(name) {
            return self.collective(name, point);
        }
        match name {
            "Init" | "Init_thread" => Action::Init,
            "Finalize" => Action::Finalize,
            "Send" => Action::Send(Standard, PrvIsBlocking(true)),
            "Bsend" => Action::Send(Buffered, PrvIsBlocking(true)),
            "Ssend" => Action::Send(Synchronous, PrvIsBlocking(true)),
            "Rsend" => Action::Send(Ready, PrvIsBlocking(true)),
            "Isend" => Action::Send(Standard, PrvIsBlocking(false)),
            "Ibsend" => Action::Send(Buffered, PrvIsBlocking(false)),
            "Issend" => Action::Send(Synchronous, PrvIsBlocking(false)),
            "Irsend" => Action::Send(Ready, PrvIsBlocking(false)),
            "Recv" | "Mrecv" => Action::Recv(PrvIsBlocking(true)),
            "Irecv" | "Imrecv" => Action::Recv(PrvIsBlocking(false)),
            "Sendrecv" | "Sendrecv_replace" => Action::Sendrecv,
            "Start" | "Startall" => Action::Start,
            "Wait" => Action::Complete(Quantifier::Single, IsTest(false)),
            "Waitall" => Action::Complete(Quantifier::All, IsTest(false)),
            "Waitany" => Action::Complete(Quantifier::Any, IsTest(false)),
            "Waitsome" => Action::Complete(Quantifier::Some, IsTest(false)),
            "Test" => Action::Complete(Quantifier::Single, IsTest(true)),
            "Testall" => Action::Complete(Quantifier::All, IsTest(true)),
            "Testany" => Action::Complete(Quantifier::Any, IsTest(true)),
            "Testsome" => Action::Complete(Quantifier::Some, IsTest(true)),
            // The messages of their starts say what they are.
            "Send_init" | "Bsend_init" | "Ssend_init" | "Rsend_init" | "Recv_init" => Action::Nothing,
            // In vain, or followed by a receive.
            "Iprobe" | "Improbe" | "Probe" | "Mprobe" => Action::Nothing,
            name if is_local(name) => Action::Local,
            name => {
                self.notes.add(format!("calls of MPI_{name} have no event"));
                Action::Nothing
            }
        }
    }

    pub(super) fn collective(&mut self, name: &str, point: &Point) -> Action {
        let number = self.before.entry(point.comm).or_default();
        let instance = (point.comm, *number);
        *number += 1;
        let Some((comm, members)) = self.communicators.get(&point.comm) else {
            self.notes.add("collectives are left out, whose communicators the trace does not define");
            return Action::Nothing;
        };
        let volumes = self.survey.volumes(instance, members);
        if matches!(name, "Alltoallv" | "Alltoallw") {
            self.notes.add("calls of MPI_Alltoallv have only sums of their counts: members get shares in proportion");
        }
        let root = self.survey.root(instance, members);
        let (sent, received, me) = (point.sent, point.received, self.me);
        let call = PrvCall { name, comm: *comm, members, me, root, sent, received, volumes };
        match call.collective() {
            Some(collective) => Action::Collective(Box::new(collective)),
            None => {
                self.notes.add("collectives are left out, whose root is no member of their communicator");
                Action::Nothing
            }
        }
    }
}
