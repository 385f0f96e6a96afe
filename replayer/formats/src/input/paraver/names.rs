//! The MPI functions that values of event types stand for.

use std::path::Path;

use rustc_hash::FxHashMap;
use titr_common::input;
use titr_common::trace::TraceError;
use titr_common::units::Bytes;

/// The most that is read of a `.pcf` file.
const LARGEST_PCF: Bytes = Bytes(64 << 20);

/// The types of events whose values are MPI functions: point-to-point, collective, others, one-sided, files.
pub(super) const MPI_TYPES: std::ops::RangeInclusive<u64> = 50_000_001..=50_000_005;

/// The types of events of a collective: the bytes that a rank gives and gets, the root, and the communicator.
pub(crate) const SENT: u64 = 50_100_001;
pub(crate) const RECEIVED: u64 = 50_100_002;
pub(crate) const ROOT: u64 = 50_100_003;
pub(crate) const COMMUNICATOR: u64 = 50_100_004;
/// The type of events that count completed instructions.
pub(crate) const INSTRUCTIONS: u64 = 42_000_050;

/// The functions that Extrae has had the same values for since its first versions.
const USUAL: [(u64, &str); 96] = [
    (1, "Send"),
    (2, "Recv"),
    (3, "Isend"),
    (4, "Irecv"),
    (5, "Wait"),
    (6, "Waitall"),
    (7, "Bcast"),
    (8, "Barrier"),
    (9, "Reduce"),
    (10, "Allreduce"),
    (11, "Alltoall"),
    (12, "Alltoallv"),
    (13, "Gather"),
    (14, "Gatherv"),
    (15, "Scatter"),
    (16, "Scatterv"),
    (17, "Allgather"),
    (18, "Allgatherv"),
    (19, "Comm_rank"),
    (20, "Comm_size"),
    (21, "Comm_create"),
    (22, "Comm_dup"),
    (23, "Comm_split"),
    (25, "Comm_free"),
    (30, "Scan"),
    (31, "Init"),
    (32, "Finalize"),
    (33, "Bsend"),
    (34, "Ssend"),
    (35, "Rsend"),
    (36, "Ibsend"),
    (37, "Issend"),
    (38, "Irsend"),
    (39, "Test"),
    (40, "Cancel"),
    (41, "Sendrecv"),
    (42, "Sendrecv_replace"),
    (43, "Cart_create"),
    (49, "Cart_sub"),
    (54, "Graph_create"),
    (59, "Waitany"),
    (60, "Waitsome"),
    (61, "Probe"),
    (62, "Iprobe"),
    (63, "Win_create"),
    (64, "Win_free"),
    (65, "Put"),
    (66, "Get"),
    (67, "Accumulate"),
    (68, "Win_fence"),
    (69, "Win_start"),
    (70, "Win_complete"),
    (71, "Win_post"),
    (72, "Win_wait"),
    (73, "Win_test"),
    (74, "Win_lock"),
    (75, "Win_unlock"),
    (80, "Reduce_scatter"),
    (96, "Intercomm_create"),
    (97, "Intercomm_merge"),
    (112, "Bsend_init"),
    (115, "Request_free"),
    (116, "Recv_init"),
    (117, "Send_init"),
    (121, "Rsend_init"),
    (122, "Ssend_init"),
    (123, "Start"),
    (124, "Startall"),
    (125, "Testall"),
    (126, "Testany"),
    (128, "Testsome"),
    (141, "File_open"),
    (142, "File_close"),
    (143, "File_read"),
    (144, "File_read_all"),
    (145, "File_write"),
    (146, "File_write_all"),
    (147, "File_read_at"),
    (148, "File_read_at_all"),
    (149, "File_write_at"),
    (150, "File_write_at_all"),
    (151, "Comm_spawn"),
    (154, "Ireduce"),
    (155, "Iallreduce"),
    (156, "Ibarrier"),
    (157, "Ibcast"),
    (158, "Ialltoall"),
    (159, "Ialltoallv"),
    (160, "Iallgather"),
    (161, "Iallgatherv"),
    (162, "Igather"),
    (163, "Igatherv"),
    (164, "Iscatter"),
    (165, "Iscatterv"),
    (166, "Ireduce_scatter"),
    (167, "Iscan"),
];

/// The usual value of a function.
pub(crate) fn value_of(name: &str) -> Option<u64> {
    USUAL.iter().find(|(_, known)| *known == name).map(|&(value, _)| value)
}

/// The names of MPI functions, without `MPI_`.
pub(super) struct Names {
    by_value: FxHashMap<u64, Box<str>>,
}

impl Names {
    /// The names in the `.pcf` file beside a trace, and the usual ones where it has none.
    pub(super) fn beside(path: &Path) -> Result<Self, TraceError> {
        let mut by_value: FxHashMap<u64, Box<str>> = USUAL.iter().map(|&(value, name)| (value, name.into())).collect();
        let path = if path.extension().is_some_and(|end| end == "gz") { path.with_extension("") } else { path.into() };
        let path = path.with_extension("pcf");
        if path.is_file() {
            let text = input::read_text(&path, LARGEST_PCF).map_err(TraceError::io(&path))?;
            by_value.extend(values(&text));
        }
        Ok(Self { by_value })
    }

    pub(super) fn get(&self, value: u64) -> Option<&str> {
        self.by_value.get(&value).map(|name| &**name)
    }
}

/// The values of MPI's event types in the text of a `.pcf` file: blocks of `EVENT_TYPE`, lines of types, `VALUES`, lines of
/// values and names.
fn values(text: &str) -> Vec<(u64, Box<str>)> {
    let mut found = Vec::new();
    let (mut is_mpi, mut are_values, mut are_types) = (false, false, false);
    for line in text.lines() {
        let line = line.trim();
        let mut words = line.split_ascii_whitespace();
        match line {
            "EVENT_TYPE" => (is_mpi, are_types, are_values) = (false, true, false),
            "VALUES" => (are_types, are_values) = (false, true),
            "" => (are_types, are_values) = (false, false),
            _ if are_types => {
                let number = words.nth(1).and_then(|word| word.parse().ok());
                is_mpi |= number.is_some_and(|number| MPI_TYPES.contains(&number));
            }
            _ if are_values && is_mpi => {
                let (value, name) = (words.next().and_then(|word| word.parse().ok()), words.next());
                if let (Some(value), Some(name)) = (value, name.and_then(|name| name.strip_prefix("MPI_"))) {
                    found.push((value, name.into()));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_mpi_types_have_names() {
        let text = "EVENT_TYPE\n9 50000003 MPI Other\nVALUES\n123 MPI_Start\n0 Outside MPI\n\nEVENT_TYPE\n1 7 x\nVALUES\n4 MPI_No\n";
        assert_eq!(values(text), [(123, "Start".into())]);
    }
}
