//! A program closes foreign descriptors, reuses their numbers, and takes away the means to open more: its own files and
//! its output are unchanged, and the trace is complete.

use std::fs;

use titr_tests::{Family, assert_sound, traced};

#[test]
fn the_programs_own_files_are_its_own_and_the_trace_is_whole() {
    for family in Family::ALL {
        let program = family.build("descriptors.c", &[]);
        for how in ["close", "replace", "limit", "stderr"] {
            let trace = traced(family, 2, &program, &[how], |text| {
                let mut lines: Vec<&str> = text.lines().filter(|line| line.contains("files are whole")).collect();
                lines.sort_unstable();
                lines.concat()
            });
            assert_eq!(trace.run.status, Some(0), "{family:?} {how}: {}", trace.run.stderr);
            assert_eq!(trace.run.stdout.matches("8 files are whole").count(), 2, "{family:?} {how}: {:?}", trace.run);
            assert!(!trace.run.stderr.contains("titrace"), "{family:?} {how}: {}", trace.run.stderr);
            assert_sound(&trace.path());
            // All entries are in the manifest.
            assert_eq!(fs::read_dir(trace.path()).unwrap().count(), 3, "{family:?} {how}");
        }
    }
}
