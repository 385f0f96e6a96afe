//! The files of a trace of Paraver, and what all of them have: states, and the names of rows.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use titr_common::event::Activity;

/// The states: Paraver's number, name and colour of each.
const STATES: [(Activity, u32, &str, &str); 6] = [
    (Activity::Compute, 1, "Running", "{77,179,77}"),
    (Activity::Send, 4, "Blocking Send", "{51,102,204}"),
    (Activity::Recv, 3, "Waiting a message", "{230,153,26}"),
    (Activity::Wait, 8, "Wait/WaitAll", "{204,51,51}"),
    (Activity::File, 12, "I/O", "{128,102,51}"),
    (Activity::Collective, 13, "Group Communication", "{153,77,179}"),
];

/// The files that are written for a trace at `path`: the trace, the meaning of its numbers, and the names of its rows.
pub(super) fn files(path: &Path) -> [PathBuf; 3] {
    [path.to_owned(), path.with_extension("pcf"), path.with_extension("row")]
}

/// The number of the state of an activity.
pub(super) fn state_of(activity: Activity) -> u32 {
    STATES.iter().find(|(known, ..)| *known == activity).map_or(0, |found| found.1)
}

/// Writes the beginning of the second file, with the states.
pub(super) fn write_states(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "DEFAULT_OPTIONS\n\nLEVEL               TASK\nUNITS               NANOSEC\n")?;
    writeln!(out, "STATES")?;
    STATES.iter().try_for_each(|(_, number, name, _)| writeln!(out, "{number:<4}{name}"))?;
    writeln!(out, "\nSTATES_COLOR")?;
    STATES.iter().try_for_each(|(_, number, _, color)| writeln!(out, "{number:<4}{color}"))
}

/// Writes the third file, with the names of tasks and of their threads.
pub(super) fn write_rows(out: &mut impl Write, tasks: &[String], threads: &[String]) -> io::Result<()> {
    for (level, names) in [("CPU", tasks), ("TASK", tasks), ("THREAD", threads)] {
        writeln!(out, "LEVEL {level} SIZE {}", names.len())?;
        names.iter().try_for_each(|name| writeln!(out, "{name}"))?;
        writeln!(out)?;
    }
    Ok(())
}
