//! Reading the volumes of a collective: how many counts there are depends on the communicator, what they count on the
//! datatypes that stand after them.

use super::datatype;
use super::error::ParseError;
use super::fields::Fields;
use crate::event::{Collective, CollectiveOp, CommId, Rank};
use crate::units::{Bytes, Instructions};

/// What a collective's line has to be read with.
pub(super) struct Volumes {
    /// Members of the communicator.
    pub(super) members: usize,
    /// Size of an element where the line names no datatype.
    pub(super) default: Bytes,
}

/// The datatypes at the end of a line.
struct Types {
    send: Bytes,
    recv: Bytes,
    /// What algorithms cut at: the element that titr adds, or one of the datatype.
    element: Bytes,
}

impl Volumes {
    /// The collective that `word` names, with what follows on the line; `None` if it names none.
    pub(super) fn collective(
        &self,
        word: &[u8],
        comm: CommId,
        f: &mut Fields,
    ) -> Result<Option<Collective>, ParseError> {
        let (op, element) = match word {
            b"barrier" => (CollectiveOp::Barrier, Bytes(1)),
            b"bcast" => {
                let count = count(f)?;
                let root = root(f)?;
                let types = self.one_type(f)?;
                (CollectiveOp::Bcast { bytes: types.send.times(count), root }, types.element)
            }
            b"reduce" => {
                let (count, work, root) = (count(f)?, work(f)?, root(f)?);
                let types = self.one_type(f)?;
                (CollectiveOp::Reduce { bytes: types.send.times(count), work, root }, types.element)
            }
            b"allreduce" | b"scan" | b"exscan" | b"reducescatter_block" => {
                let (count, work) = (count(f)?, work(f)?);
                let types = self.one_type(f)?;
                let bytes = types.send.times(count);
                let op = match word {
                    b"allreduce" => CollectiveOp::Allreduce { bytes, work },
                    b"scan" => CollectiveOp::Scan { bytes, work },
                    b"exscan" => CollectiveOp::Exscan { bytes, work },
                    _ => CollectiveOp::ReduceScatterBlock { bytes, work },
                };
                (op, types.element)
            }
            b"reducescatter" => {
                let (counts, work) = (self.counts(f)?, work(f)?);
                let types = self.one_type(f)?;
                (CollectiveOp::ReduceScatter { counts: scale(counts, types.send), work }, types.element)
            }
            b"gather" | b"scatter" => {
                let (sent, received, root) = (count(f)?, count(f)?, root(f)?);
                let types = self.two_types(f)?;
                let (send, recv) = (types.send.times(sent), types.recv.times(received));
                let op = match word {
                    b"gather" => CollectiveOp::Gather { send, recv, root },
                    _ => CollectiveOp::Scatter { send, recv, root },
                };
                (op, types.element)
            }
            b"allgather" | b"alltoall" => {
                let (sent, received) = (count(f)?, count(f)?);
                let types = self.two_types(f)?;
                let (send, recv) = (types.send.times(sent), types.recv.times(received));
                let op = match word {
                    b"allgather" => CollectiveOp::Allgather { send, recv },
                    _ => CollectiveOp::Alltoall { send, recv },
                };
                (op, types.element)
            }
            b"gatherv" => {
                let (sent, received, root) = (count(f)?, self.counts(f)?, root(f)?);
                let types = self.two_types(f)?;
                let (send, recvs) = (types.send.times(sent), scale(received, types.recv));
                (CollectiveOp::Gatherv { send, recvs, root }, types.element)
            }
            b"scatterv" => {
                let (sent, received, root) = (self.counts(f)?, count(f)?, root(f)?);
                let types = self.two_types(f)?;
                let (sends, recv) = (scale(sent, types.send), types.recv.times(received));
                (CollectiveOp::Scatterv { sends, recv, root }, types.element)
            }
            b"allgatherv" => {
                let (sent, received) = (count(f)?, self.counts(f)?);
                // SimGrid may put displacements after the counts or after the datatypes: they move no data.
                if f.count() == self.members && f.count() > 2 {
                    f.skip_all();
                }
                let types = self.two_types(f)?;
                f.skip_all();
                let (send, recvs) = (types.send.times(sent), scale(received, types.recv));
                (CollectiveOp::Allgatherv { send, recvs }, Bytes(1))
            }
            b"alltoallv" | b"alltoallw" => {
                count(f)?;
                let sent = self.counts(f)?;
                count(f)?;
                let received = self.counts(f)?;
                let types = self.two_types(f)?;
                let (sends, recvs) = (scale(sent, types.send), scale(received, types.recv));
                let op = match word {
                    b"alltoallv" => CollectiveOp::Alltoallv { sends, recvs },
                    _ => CollectiveOp::Alltoallw { sends, recvs },
                };
                (op, types.element)
            }
            _ => return Ok(None),
        };
        Ok(Some(Collective { comm, op, element }))
    }

    /// A count for each member.
    fn counts(&self, f: &mut Fields) -> Result<Vec<u64>, ParseError> {
        let found = f.count();
        if found < self.members {
            return Err(
                f.error(format!("{} counts are expected, one for each member; {found} fields follow", self.members))
            );
        }
        (0..self.members).map(|_| count(f)).collect()
    }

    fn one_type(&self, f: &mut Fields) -> Result<Types, ParseError> {
        let send = datatype::element(f)?.unwrap_or(self.default);
        // SimGrid writes a second, unused datatype after some; titr the element size after `6`.
        let element = self.element(f, send)?;
        Ok(Types { send, recv: send, element })
    }

    fn two_types(&self, f: &mut Fields) -> Result<Types, ParseError> {
        let send = datatype::element(f)?.unwrap_or(self.default);
        let recv = datatype::element(f)?.unwrap_or(self.default);
        let element = self.element(f, send)?;
        Ok(Types { send, recv, element })
    }

    fn element(&self, f: &mut Fields, datatype: Bytes) -> Result<Bytes, ParseError> {
        if f.at_end() {
            return Ok(Bytes(datatype.0.max(1)));
        }
        Ok(Bytes(f.bytes("the size of an element", Bytes(1))?.0.max(1)))
    }
}

fn count(f: &mut Fields) -> Result<u64, ParseError> {
    Ok(f.bytes("a count", Bytes(1))?.0)
}

fn scale(counts: Vec<u64>, element: Bytes) -> Vec<Bytes> {
    counts.into_iter().map(|count| element.times(count)).collect()
}

/// What the reduction computes. SimGrid's tracer writes −1 where it does not know.
fn work(f: &mut Fields) -> Result<Instructions, ParseError> {
    Ok(Instructions(f.float("a number of instructions")?.max(0.0)))
}

/// The root; 0 where the line ends.
fn root(f: &mut Fields) -> Result<Rank, ParseError> {
    if f.at_end() { Ok(Rank(0)) } else { f.rank("a root rank") }
}
