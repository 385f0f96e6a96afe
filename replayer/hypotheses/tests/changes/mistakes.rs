//! Mistakes in hypotheses files, and contradictions between them and the trace.

use super::support::changed;

/// The mistake in each of several changes.
#[track_caller]
fn refused(changes: &[&str]) -> String {
    let trace = "0 region_begin foo\n0 compute 1\n0 send 1 3 8\n0 region_end foo\n1 recv 0 3 8\n1 compute 2";
    let refused = |change: &&str| changed(&format!("[[change]]\n{change}"), 2, trace).unwrap_err();
    changes.iter().map(refused).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn a_kind_or_a_key_that_there_is_not() {
    insta::assert_snapshot!(refused(&[
        "kind = 'balance'",
        "kind = 'scale-compute'\nfactor = 2\ntag = 1",
        "kind = 'scale-compute'",
        "factor = 2",
    ]));
}

#[test]
fn a_value_that_makes_no_sense() {
    insta::assert_snapshot!(refused(&[
        "kind = 'scale-compute'\nfactor = -1",
        "kind = 'infinite-cpu'\nranks = '4-2'",
        "kind = 'infinite-cpu'\ncall_site = 'main.c:7'",
        "kind = 'balance-compute'\nover = 'instances'",
    ]));
}

#[test]
fn what_earlier_versions_removed_or_merged() {
    insta::assert_snapshot!(refused(&[
        "kind = 'merge-messages'\ncount = 2",
        "kind = 'remove-messages'",
        "kind = 'remove-messages'\nmax_bytes = 8",
        "kind = 'remove-messages'\ncollective = 'bcast'",
    ]));
}

#[test]
fn a_call_site_that_the_trace_does_not_have() {
    let trace = "0 call_site 0 foo\u{a0}(lb.c:7) main\u{a0}(lb.c:20)\n0 at 0\n0 compute 1\n0 send 1 3 8\n1 recv 0 3 8";
    let change = "[[change]]\nkind = 'infinite-cpu'\ncall_site = 'bar'";
    insta::assert_snapshot!(changed(change, 2, trace).unwrap_err());
}

#[test]
fn a_region_a_rank_or_a_tag_that_the_trace_does_not_have() {
    insta::assert_snapshot!(refused(&[
        "kind = 'balance-compute'\nregion = 'bar'",
        "kind = 'nonblocking'\nranks = '1,2'",
        "kind = 'nonblocking'\ntag = 4",
    ]));
}

#[test]
fn a_rank_that_comes_to_a_region_and_computes_nothing_there() {
    let trace = "0 region_begin foo\n0 compute 1\n0 region_end foo\n1 region_begin foo\n1 region_end foo";
    insta::assert_snapshot!(changed("[[change]]\nkind = 'balance-compute'\nregion = 'foo'", 2, trace).unwrap_err());
}

/// What rank 0 computes in the region is the mean over the ranks that come there.
#[test]
fn a_rank_that_never_comes_to_a_region_is_left_out() {
    let trace = "0 region_begin foo\n0 compute 1\n0 region_end foo\n1 compute 2";
    let balanced = changed("[[change]]\nkind = 'balance-compute'\nregion = 'foo'", 2, trace).unwrap();
    assert_eq!(balanced.trim_end(), trace);
}

#[test]
fn changes_that_contradict_each_other() {
    insta::assert_snapshot!(refused(&[
        "kind = 'infinite-cpu'\n[[change]]\nkind = 'balance-compute'",
        "kind = 'collective'\ncollective = 'bcast'\nalgorithm = 'binomial'\n[[change]]\nkind = 'collective'\n\
         collective = 'bcast'\nalgorithm = 'ring'",
    ]));
}
