//! The traffic between each pair of members: a line `src dst messages bytes`, tab-separated, for each pair with traffic.

use std::collections::BTreeMap;
use std::io::{self, Write};

use titr_common::collectives::{Member, Step};
use titr_common::units::Bytes;

use super::Example;

/// Writes it, below a line that names the columns.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(example: &Example, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "src\tdst\tmessages\tbytes")?;
    for me in example.members() {
        for (to, Traffic { messages, bytes }) in sent(&example.steps(me)) {
            writeln!(out, "{me}\t{to}\t{messages}\t{}", bytes.0)?;
        }
    }
    Ok(())
}

/// The traffic from one member to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    messages: u64,
    bytes: Bytes,
}

/// The traffic that a member sends in these steps, by receiver.
fn sent(steps: &[Step]) -> BTreeMap<Member, Traffic> {
    let mut sent: BTreeMap<Member, Traffic> = BTreeMap::new();
    for step in steps {
        let (to, data) = match *step {
            Step::Send { to, data } | Step::Isend { to, data } | Step::Sendrecv { to, send: data, .. } => (to, data),
            Step::Recv { .. }
            | Step::Irecv { .. }
            | Step::Wait { .. }
            | Step::WaitAll
            | Step::Copy { .. }
            | Step::ReduceLeft { .. }
            | Step::ReduceRight { .. } => continue,
        };
        let traffic = sent.entry(to).or_default();
        traffic.messages += 1;
        traffic.bytes += data.len;
    }
    sent
}
