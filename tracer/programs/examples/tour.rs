//! Uses every kind of function in `titr_mpi` once; the tests run it under each MPI library.

use std::error::Error;

use titr_mpi::{Comm, Mpi, Peer, Request, SendMode, TagChoice};

fn main() {
    let mpi = match Mpi::start() {
        Ok(mpi) => mpi,
        Err(error) => {
            eprintln!("tour: {error}");
            std::process::exit(1);
        }
    };
    if let Err(error) = tour(&mpi, mpi.world()) {
        eprintln!("tour: {error}");
        mpi.abort(1);
    }
    if let Err(error) = mpi.finish() {
        eprintln!("tour: {error}");
    }
}

fn tour(mpi: &Mpi, world: Comm<'_>) -> Result<(), Box<dyn Error>> {
    let (rank, size) = (world.rank, world.size);
    let (right, left) = (Peer::Rank((rank + 1) % size), Peer::Rank((rank + size - 1) % size));
    for bytes in [0, 8, 1 << 20] {
        let receive = world.irecv(left, TagChoice::Tag(7), bytes)?;
        let sends = vec![
            world.isend(SendMode::Standard, right, 7, bytes)?,
            world.isend(SendMode::Standard, Peer::Nobody, 7, 1)?,
        ];
        assert_eq!(receive.wait()?.tag, 7);
        Request::wait_all(sends)?;
    }
    if rank == 0 {
        for _ in 1..size {
            let found = world.probe(Peer::Any, TagChoice::Any)?;
            let source = found.source.ok_or("a message from nobody")?;
            assert_eq!(found.tag, source + 10);
            assert_eq!(world.recv(Peer::Rank(source), TagChoice::Tag(found.tag), 100)?, found);
        }
    } else {
        world.send(SendMode::Synchronous, Peer::Rank(0), rank + 10, u64::from(rank))?;
    }
    assert_eq!(world.max(i64::from(rank))?, i64::from(size) - 1);
    let color = (rank > 0).then_some(3);
    let others = world.split(color, size - rank)?;
    assert_eq!(others.is_some(), rank > 0);
    if let Some(others) = others {
        assert_eq!((others.rank, others.size), (size - 1 - rank, size - 1));
        others.barrier()?;
        others.free()?;
    }
    let name = mpi.processor_name()?;
    assert!(!name.is_empty());
    let given = vec![rank as u8; rank as usize];
    let all = world.gather(0, &given)?;
    let told = world.broadcast(0, all.concat())?;
    let expected: Vec<u8> = (0..size as u8).flat_map(|rank| vec![rank; rank.into()]).collect();
    assert_eq!(told, expected);
    // A rank that does not exist: an error that is a value.
    let error = world.send(SendMode::Standard, Peer::Rank(size), 0, 1).err().ok_or("a message to nowhere was sent")?;
    if rank == 0 {
        println!("{size} ranks, {}: {error}", mpi.library());
    }
    Ok(())
}
