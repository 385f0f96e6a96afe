//! The values of event types that stand for MPI functions, and the names of types and values.

use std::collections::BTreeMap;
use std::io::{self, Write};

use titr_common::event::Event;

use crate::input::paraver::names::{COMMUNICATOR, INSTRUCTIONS, RECEIVED, ROOT, SENT, value_of};
use crate::output::function_name;

/// The types of events whose values are functions.
const POINT_TO_POINT: u64 = 50_000_001;
const COLLECTIVE: u64 = 50_000_002;
const OTHER: u64 = 50_000_003;
const ONE_SIDED: u64 = 50_000_004;
const FILE: u64 = 50_000_005;

/// The names of these types.
const KINDS: [(u64, &str); 5] = [
    (POINT_TO_POINT, "MPI Point-to-point"),
    (COLLECTIVE, "MPI Collective Comm"),
    (OTHER, "MPI Other"),
    (ONE_SIDED, "MPI One-sided"),
    (FILE, "MPI I/O"),
];

/// The value of the first function that Extrae has no number for.
const FIRST_OWN: u64 = 1000;

/// A function as an event of a trace: a type, and the value with which a call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PrvFunction {
    pub kind: u64,
    pub value: u64,
}

/// The functions that a trace has calls of.
#[derive(Default)]
pub(super) struct PrvFunctions {
    names: BTreeMap<PrvFunction, String>,
    own: BTreeMap<String, u64>,
}

impl PrvFunctions {
    /// The function that an event is a call of.
    pub(super) fn of(&mut self, event: &Event) -> PrvFunction {
        let name = function_name(event);
        let name = if name.starts_with("MPI_") { name } else { format!("MPI_{name}") };
        let usual = name.strip_prefix("MPI_").and_then(value_of);
        let next = FIRST_OWN + self.own.len() as u64;
        let value = usual.unwrap_or_else(|| *self.own.entry(name.clone()).or_insert(next));
        let function = PrvFunction { kind: kind(event), value };
        self.names.entry(function).or_insert(name);
        function
    }

    /// Writes the names of types and values.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (kind, about) in KINDS {
            let mut functions = self.names.iter().filter(|(function, _)| function.kind == kind).peekable();
            if functions.peek().is_some() {
                writeln!(out, "\nEVENT_TYPE\n9    {kind}    {about}\nVALUES")?;
                functions.try_for_each(|(function, name)| writeln!(out, "{:<6} {name}", function.value))?;
                writeln!(out, "0      Outside MPI")?;
            }
        }
        writeln!(
            out,
            "\nEVENT_TYPE\n1    {SENT}    Send Size in MPI Global OP\n1    {RECEIVED}    Recv Size in MPI Global OP"
        )?;
        writeln!(out, "1    {ROOT}    Root in MPI Global OP\n1    {COMMUNICATOR}    Communicator in MPI Global OP")?;
        writeln!(out, "\nEVENT_TYPE\n7    {INSTRUCTIONS}    PAPI_TOT_INS [Instr completed]")
    }
}

/// The type of the events of a call.
fn kind(event: &Event) -> u64 {
    match event {
        Event::Send(..) | Event::Recv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => POINT_TO_POINT,
        Event::Partitioned(_) | Event::Start(_) | Event::RequestFree(_) | Event::Cancel(_) => POINT_TO_POINT,
        Event::Wait(..) | Event::Test(..) => POINT_TO_POINT,
        Event::Collective(..) | Event::Neighborhood(..) => COLLECTIVE,
        Event::OneSided(_) => ONE_SIDED,
        Event::File(_) => FILE,
        Event::Init | Event::Finalize | Event::Other(_) | Event::CommCreate(..) | Event::CommFree(_) => OTHER,
        Event::Compute(_) | Event::Sleep(_) | Event::Matched(..) | Event::Mark(_) => OTHER,
        Event::Task(_) | Event::Annotation(_) => OTHER,
    }
}
