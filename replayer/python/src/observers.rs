//! Observers of a replay that keep each message and each state of a rank, as columns.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use titr_common::event::{Activity, Rank};
use titr_common::time::Time;
use titr_network::TransferId;
use titr_simulation::observe::{Departure, Observer};

use crate::table::{Columns, Table};

/// The kinds of observers.
const NAMES: [&str; 2] = ["messages", "states"];

/// The observers of a replay; `None` for one that was not asked for.
#[derive(Default)]
pub(crate) struct Observers {
    messages: Option<Messages>,
    states: Option<States>,
}

/// The recordings of observers; `None` for one that was not asked for.
pub(crate) struct Recorded {
    pub(crate) messages: Option<Py<Table>>,
    pub(crate) states: Option<Py<Table>>,
}

/// Each message that travelled through the network, in the order of departure.
#[derive(Default)]
struct Messages {
    messages: Vec<Travel>,
    /// The places in `messages` of those in transit, by the id of their transfer.
    in_transit: Vec<usize>,
}

struct Travel {
    message: Departure,
    departed: Time,
    arrived: Option<Time>,
}

/// Each state of a rank.
#[derive(Default)]
struct States(Vec<State>);

struct State {
    rank: Rank,
    activity: Activity,
    begin: Time,
    end: Time,
}

impl Observers {
    /// The observers of these names.
    pub(crate) fn named(names: &[String]) -> PyResult<Self> {
        if let Some(unknown) = names.iter().find(|name| !NAMES.contains(&name.as_str())) {
            return Err(PyValueError::new_err(format!(
                "there is no observer '{unknown}': there are {}",
                NAMES.join(", ")
            )));
        }
        let wants = |name: &str| names.iter().any(|named| named == name);
        Ok(Self { messages: wants("messages").then(Messages::default), states: wants("states").then(States::default) })
    }

    /// The recordings as tables, once the replay has ended.
    pub(crate) fn tables(self, py: Python<'_>) -> PyResult<Recorded> {
        let messages = self.messages.map(|messages| Py::new(py, messages.table()?)).transpose()?;
        let states = self.states.map(|states| Py::new(py, states.table()?)).transpose()?;
        Ok(Recorded { messages, states })
    }

    /// The observers, as a replay takes them.
    pub(crate) fn list(&mut self) -> Vec<&mut dyn Observer> {
        let messages = self.messages.iter_mut().map(|observer| observer as &mut dyn Observer);
        messages.chain(self.states.iter_mut().map(|observer| observer as &mut dyn Observer)).collect()
    }
}

impl Observer for Messages {
    fn injected(&mut self, now: Time, message: Departure) {
        let slot = message.id.0 as usize;
        if self.in_transit.len() <= slot {
            self.in_transit.resize(slot + 1, usize::MAX);
        }
        self.in_transit[slot] = self.messages.len();
        self.messages.push(Travel { message, departed: now, arrived: None });
    }

    fn delivered(&mut self, now: Time, id: TransferId) {
        let place = self.in_transit.get(id.0 as usize).copied().unwrap_or(usize::MAX);
        if let Some(travel) = self.messages.get_mut(place) {
            travel.arrived = Some(now);
        }
    }
}

impl Observer for States {
    fn spent(&mut self, rank: Rank, activity: Activity, from: Time, to: Time) {
        if from < to {
            self.0.push(State { rank, activity, begin: from, end: to });
        }
    }
}

impl Messages {
    /// The messages as a table.
    fn table(&self) -> PyResult<Table> {
        let all = || self.messages.iter();
        Columns::default()
            .numbers("from", all().map(|travel| travel.message.from.0))
            .numbers("to", all().map(|travel| travel.message.to.0))
            .counts("bytes", all().map(|travel| travel.message.bytes.0))
            .floats("departed", all().map(|travel| travel.departed.seconds().0))
            .optional_floats("arrived", all().map(|travel| travel.arrived.map(|at| at.seconds().0)))
            .flags("in_collective", all().map(|travel| travel.message.in_collective))
            .table()
    }
}

impl States {
    /// The states as a table.
    fn table(&self) -> PyResult<Table> {
        let all = || self.0.iter();
        Columns::default()
            .numbers("rank", all().map(|state| state.rank.0))
            .categories("activity", all().map(|state| Some(name(state.activity))))
            .floats("begin", all().map(|state| state.begin.seconds().0))
            .floats("end", all().map(|state| state.end.seconds().0))
            .table()
    }
}

/// The name of an activity, as the columns of `ranks` have it.
fn name(activity: Activity) -> &'static str {
    match activity {
        Activity::Compute => "compute",
        Activity::Send => "send",
        Activity::Recv => "recv",
        Activity::Wait => "wait",
        Activity::File => "file",
        Activity::Collective => "collective",
    }
}
