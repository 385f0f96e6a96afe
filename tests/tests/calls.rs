//! Each kind of MPI call, event by event: one program for each kind, one golden trace for both MPI libraries.

use titr_tests::{Family, lines, traced};

fn check(name: &str, ranks: u32) {
    for family in Family::ALL {
        let program = family.build(&format!("{name}.c"), &[]);
        let trace = traced(family, ranks, &program, &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        insta::assert_snapshot!(name, lines(&trace.path()), &format!("{family:?}"));
    }
}

macro_rules! programs {
    ($($name:ident: $ranks:literal;)*) => {$(
        #[test]
        fn $name() {
            check(stringify!($name), $ranks);
        }
    )*};
}

programs! {
    send_modes: 2;
    completion: 2;
    persistent: 2;
    probe: 2;
    sendrecv: 4;
    wildcards: 3;
    null_peers: 4;
    collectives: 4;
    vector_collectives: 4;
    nonblocking_collectives: 4;
    in_place: 4;
    communicators: 4;
    datatypes: 2;
}

/// The same calls in C and in the three Fortran bindings leave the same trace.
#[test]
fn bindings() {
    for family in Family::ALL {
        let c = family.build("ring.c", &[]);
        let fortran = ["-DBINDING=1", "-DBINDING=2", "-DBINDING=3"].map(|binding| family.build("ring.F90", &[binding]));
        for program in std::iter::once(c).chain(fortran) {
            let trace = traced(family, 4, &program, &[], str::to_owned);
            insta::assert_snapshot!("ring", lines(&trace.path()), &program.display().to_string());
        }
    }
}

/// What the trace does not hold is listed with its count, and is not taken for computation or for nothing.
#[test]
fn untraced() {
    for family in Family::ALL {
        let program = family.build("untraced.c", &[]);
        let trace = traced(family, 2, &program, &["file"], str::to_owned);
        let manifest = titr_common::trace::Manifest::read(&trace.path()).unwrap();
        for entry in &manifest.per_rank {
            let count = |name: &str| entry.untraced.get(name).copied();
            assert_eq!(count("MPI_Put"), Some(1), "{family:?}: {entry:?}");
            assert_eq!(count("MPI_Win_fence"), Some(2), "{family:?}");
            assert_eq!(count("MPI_File_write_at"), Some(1), "{family:?}");
            assert_eq!(count("MPI_Neighbor_allgather"), Some(1), "{family:?}");
            assert_eq!(entry.local.get("MPI_Wtime"), Some(&1), "{family:?}");
        }
        insta::assert_snapshot!("untraced", lines(&trace.path()), &format!("{family:?}"));
    }
}
