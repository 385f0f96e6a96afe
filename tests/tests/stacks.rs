//! Programs with small stacks, like those of coroutines.

use titr_tests::{EXTENDED, Family, assert_sound, traced_as};

/// The tracer and the library have room enough in 8 KiB. MPICH needs more than a hundred for its collectives, untraced as well.
#[test]
fn calls_on_a_stack_of_8_kib_are_traced() {
    for family in Family::ALL {
        let program = family.build("stacks.c", &[]);
        let arguments: &[&str] = if family == Family::OpenMpi { &["collectives"] } else { &[] };
        for variables in [&[][..], &[EXTENDED], &[("TITRACE_CALLSITES", "3")]] {
            let trace = traced_as(variables, family, 2, &program, arguments, str::to_owned);
            assert_eq!(trace.run.status, Some(0), "{family:?} {variables:?}: {}", trace.run.stderr);
            assert_sound(&trace.path());
        }
    }
}
