//! Extended traces: blocking collectives, which the tracer executes, give the library's results, and the annotations of an extended
//! trace can be removed.

use std::path::Path;

use serde_json::Value;
use titr_common::event::{Annotation, Event, Rank};
use titr_common::trace::manifest::{Mode, RankEntry};
use titr_common::trace::{Manifest, Trace};
use titr_tests::{
    EXTENDED, Family, assert_sound, binary, extended, extended_only, like, lines, no_blocking_collective_is_opaque,
    recorded, replay, replay_with, run, traced, traced_as,
};

/// Every member gets what it gets from the library, whatever the datatype and the operation.
#[test]
fn results_are_the_librarys() {
    for (family, ranks) in [(Family::OpenMpi, 5), (Family::Mpich, 3), (Family::OpenMpi, 1)] {
        let trace = extended(family, ranks, "every_collective.c");
        assert!(trace.run.stdout.lines().count() > 1000, "{family:?}");
        assert_sound(&trace.path());
        no_blocking_collective_is_opaque(&trace.path());
        let messages: usize = recorded(&trace.path()).iter().map(|recorded| recorded.messages.len()).sum();
        assert!(messages > 4_000 || ranks == 1, "{family:?}: {messages}");
    }
}

/// The two groups of an inter-communicator get from each other what they get from the library, and so do neighbours.
#[test]
fn results_are_the_librarys_between_groups_and_neighbors() {
    for family in Family::ALL {
        for (source, ranks) in [("intergroups.c", 5), ("groups.c", 2), ("neighbors.c", 4), ("repeated_neighbors.c", 2)]
        {
            let trace = extended(family, ranks, source);
            assert_sound(&trace.path());
            for entry in Manifest::read(&trace.path()).unwrap().per_rank {
                assert!(entry.opaque.keys().all(|call| call.starts_with("MPI_I")), "{family:?} {source}: {entry:?}");
            }
        }
    }
}

/// The tracer makes no communicators, so that collectives begin on those that the program has only just made, and threads may
/// make them at the same time.
#[test]
fn communicators_may_be_made_in_any_way() {
    for (family, ranks) in [(Family::OpenMpi, 3), (Family::Mpich, 3), (Family::OpenMpi, 2)] {
        let trace = extended(family, ranks, "duplicates.c");
        assert_sound(&trace.path());
        // Those of duplicates that were made in the background are the library's.
        let whose =
            |entry: &RankEntry| entry.opaque.keys().all(|call| call == "MPI_Barrier" || call.starts_with("MPI_I"));
        assert!(Manifest::read(&trace.path()).unwrap().per_rank.iter().all(whose), "{family:?}");
    }
}

/// The program gets the errors of a collective as it gets them from the library: returned, after its own handler was told.
#[test]
fn errors_are_handed_to_the_program() {
    for family in Family::ALL {
        let trace = extended(family, 3, "collective_errors.c");
        assert_sound(&trace.path());
        no_blocking_collective_is_opaque(&trace.path());
    }
}

/// The library itself says what is wrong with arguments, also where messages could be made of them. A communicator that is
/// refused on some ranks only is made by none.
#[test]
fn the_library_refuses_what_it_refuses_otherwise() {
    for family in Family::ALL {
        let trace = extended(family, 3, "refused.c");
        assert_sound(&trace.path());
        assert_eq!(replay("torus.toml", &trace.path())["ranks"], 3);
    }
}

/// The library's own non-blocking collectives go on while the tracer carries out blocking ones.
#[test]
fn what_is_started_goes_on_in_the_background() {
    for (family, ranks) in [(Family::OpenMpi, 5), (Family::Mpich, 5), (Family::OpenMpi, 8), (Family::Mpich, 2)] {
        let trace = extended(family, ranks, "background.c");
        assert_sound(&trace.path());
        no_blocking_collective_is_opaque(&trace.path());
    }
}

/// The same in Fortran.
#[test]
fn results_are_the_librarys_in_fortran() {
    for family in Family::ALL {
        for binding in ["-DBINDING=1", "-DBINDING=2", "-DBINDING=3"] {
            let program = family.build("tour.F90", &[binding]);
            let trace = traced_as(&[EXTENDED], family, 4, &program, &[], str::to_owned);
            assert_eq!(trace.run.status, Some(0), "{family:?} {binding}: {}", trace.run.stderr);
            assert_sound(&trace.path());
            assert!(
                recorded(&trace.path()).iter().all(|recorded| !recorded.messages.is_empty()),
                "{family:?} {binding}"
            );
        }
        let program = family.build("wavefront.f90", &[]);
        let trace = traced_as(&[EXTENDED], family, 6, &program, &["32", "10"], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        no_blocking_collective_is_opaque(&trace.path());
    }
}

/// Without what it adds, an extended trace is the time-independent one.
#[test]
fn it_folds_back_to_a_time_independent_trace() {
    for family in Family::ALL {
        for source in ["collectives.c", "vector_collectives.c", "in_place.c", "communicators.c", "nonblocking.c"] {
            let ranks = if source == "nonblocking.c" { 2 } else { 4 };
            let plain = traced(family, ranks, &family.build(source, &["-pthread"]), &[], str::to_owned);
            let extended = extended_only(family, ranks, source);
            assert_eq!(extended.run.stdout, plain.run.stdout, "{family:?} {source}");
            assert_eq!(lines(&extended.path()), lines(&plain.path()), "{family:?} {source}");
            assert_sound(&extended.path());
        }
    }
}

/// `titr convert --to ti` folds it, and the manifest with it.
#[test]
fn it_is_folded_by_conversion() {
    for family in Family::ALL {
        let extended = extended_only(family, 4, "collectives.c");
        let folded = extended.path().with_file_name("folded");
        let convert = run(binary("titr").args(["convert", "--to", "ti", "-o"]).arg(&folded).arg(extended.path()));
        assert_eq!(convert.status, Some(0), "{}", convert.stderr);
        assert_eq!(lines(&folded), lines(&extended.path()));
        let mut stream = Trace::open(&folded).unwrap().stream(Rank(0)).unwrap();
        while let Some(event) = stream.next_event().unwrap() {
            assert!(!matches!(event, Event::Annotation(_)), "{event:?}");
        }
        assert_sound(&folded);
        let [before, after] = [&extended.path(), &folded].map(|trace| Manifest::read(trace).unwrap());
        assert_eq!((before.mode, after.mode), (Mode::Extended, Mode::Ti));
        let clocks = before.per_rank.iter().map(|entry| entry.clock.unwrap());
        assert!(clocks.clone().all(|clock| clock.uncertainty < 1e9), "{:?}", clocks.collect::<Vec<_>>());
    }
}

/// The messages recorded, and the same call decomposed again by the same algorithms, take the same time where only the network
/// costs time; those that were not recorded are decomposed in either case.
#[test]
fn it_is_replayed_as_recorded_or_decomposed_again() {
    let seconds = |trace: &Path, arguments: &[&str]| {
        let no_copies = &["--set", "network.loopback.latency=100 ns"][..];
        let report = replay_with(&[arguments, no_copies].concat(), "torus.toml", trace);
        let told = report["warnings"].as_array().unwrap().iter().map(Value::to_string);
        let told: Vec<String> = told.filter(|warning| !warning.contains("messages were not recorded")).collect();
        (report["simulated_time"].as_f64().unwrap(), told)
    };
    for family in Family::ALL {
        for (source, ranks) in [
            ("collectives.c", 4),
            ("vector_collectives.c", 4),
            ("nonblocking_collectives.c", 4),
            ("intergroups.c", 5),
            ("repeated_neighbors.c", 2),
            ("noncommutative.c", 5),
            ("noncommutative.c", 4),
        ] {
            let traced = extended_only(family, ranks, source);
            let trace = traced.path();
            let library = like(family).library.name();
            let others = format!("mpi.collectives={library}");
            let recorded = seconds(&trace, &["--collectives", "recorded", "--set", &others]);
            assert_eq!(recorded, seconds(&trace, &["--collectives", library]), "{family:?} {source}");
        }
    }
}

/// The tracer is set up at the time of `init`. Computation by the clock is what passes between calls, from that time on.
#[test]
fn what_the_tracer_does_at_the_start_is_no_computation() {
    for family in Family::ALL {
        let traced = extended_only(family, 2, "ring.c");
        let report = replay_with(&["--compute", "timed"], "torus.toml", &traced.path());
        for (rank, mut stream) in (0..).zip(Trace::open(&traced.path()).unwrap().streams().unwrap()) {
            let Some(Event::Annotation(Annotation::Call(init))) = stream.next_event().unwrap() else {
                panic!("{family:?}: the first line of rank {rank} has no time")
            };
            assert_eq!(stream.next_event().unwrap(), Some(Event::Init));
            assert!(init.begin.0 > 0 && init.begin == init.end, "{family:?} {rank}: {init:?}");
            let (mut returned, mut between) = (init.end.0, 0);
            while let Some(event) = stream.next_event().unwrap() {
                if let Event::Annotation(Annotation::Call(call)) = event {
                    between += call.begin.0 - returned;
                    returned = call.end.0;
                }
            }
            let computed = report["per_rank"][rank]["compute"].as_f64().unwrap();
            assert!((computed - between as f64 * 1e-9).abs() < 1e-9, "{family:?} {rank}: {computed} s, {between} ns");
        }
    }
}

/// Persistent and non-blocking collectives are the library's own, are counted as opaque, and do not disturb those that the tracer
/// carries out.
#[test]
fn those_that_do_not_block_are_left_to_the_library() {
    for family in Family::ALL {
        for (source, name) in [("persistent_collectives.c", "_init"), ("nonblocking_collectives.c", "MPI_I")] {
            let trace = extended(family, 4, source);
            assert_sound(&trace.path());
            no_blocking_collective_is_opaque(&trace.path());
            let manifest = Manifest::read(&trace.path()).unwrap();
            let has = |entry: &RankEntry| entry.opaque.keys().any(|call| call.contains(name));
            assert!(manifest.per_rank.iter().all(has), "{family:?} {source}: {manifest:?}");
        }
    }
}

/// Operands that may not change places keep the order of their ranks, and the trace says which reductions have such.
#[test]
fn operands_keep_their_order() {
    for (family, ranks) in [(Family::OpenMpi, 5), (Family::Mpich, 5), (Family::OpenMpi, 4), (Family::Mpich, 4)] {
        let trace = extended(family, ranks, "noncommutative.c");
        assert_sound(&trace.path());
        no_blocking_collective_is_opaque(&trace.path());
        let all = recorded(&trace.path());
        assert!(all.iter().all(|recorded| !recorded.collective.is_commutative), "{family:?}");
        let [plain, commuting] = ["noncommutative.c", "collectives.c"].map(|source| {
            let trace = traced(family, 4, &family.build(source, &["-pthread"]), &[], str::to_owned);
            lines(&trace.path()).lines().filter(|line| line.ends_with(" noncommutative")).count()
        });
        assert!(plain > 0 && commuting == 0, "{family:?}: {plain} {commuting}");
    }
}

/// Data may have absolute addresses, also where the library packs none from `MPI_BOTTOM`.
#[test]
fn data_may_be_at_absolute_addresses() {
    for family in Family::ALL {
        let trace = extended(family, 3, "bottom.c");
        assert_sound(&trace.path());
        no_blocking_collective_is_opaque(&trace.path());
    }
}

/// The library itself says whether elements that there are none of may be of no datatype.
#[test]
fn no_datatype_is_refused_as_the_library_refuses_it() {
    for family in Family::ALL {
        let trace = extended(family, 3, "null_datatypes.c");
        assert!(trace.run.stdout.contains("ring: "), "{family:?}: {}", trace.run.stdout);
    }
}

/// Collectives of data that the host cannot read are the library's own on all members, and are said and counted; others are
/// messages.
#[test]
fn data_in_the_memory_of_devices_is_left_to_the_library() {
    for family in Family::ALL {
        let library = family.build("device_library.c", &["-shared", "-fPIC"]);
        let program = family.build("device.c", &[&library.display().to_string()]);
        let trace = traced_as(&[EXTENDED], family, 4, &program, &[], str::to_owned);
        assert_eq!(trace.run.status, Some(0), "{family:?}: {}", trace.run.stderr);
        assert_eq!(trace.run.stderr.matches("the host cannot read").count(), 1, "{family:?}: {}", trace.run.stderr);
        assert_sound(&trace.path());
        for (rank, entry) in Manifest::read(&trace.path()).unwrap().per_rank.iter().enumerate() {
            // Half of the ranks broadcast what is in the memory of a device once more.
            let broadcasts = if rank % 2 == 0 { 1 } else { 2 };
            let expected = [("MPI_Allreduce", 1), ("MPI_Bcast", broadcasts), ("MPI_Iallreduce", 1)];
            let opaque: Vec<_> = entry.opaque.iter().map(|(name, &calls)| (name.as_str(), calls)).collect();
            assert_eq!(opaque, expected, "{family:?} {rank}");
        }
    }
}
