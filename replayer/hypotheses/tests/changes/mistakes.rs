//! Mistakes in hypotheses files, and contradictions between them and the trace.

use super::support::changed;

#[track_caller]
fn assert_refused(change: &str, expected: &str) {
    let trace = "0 region_begin foo\n0 compute 1\n0 send 1 3 8\n0 region_end foo\n1 recv 0 3 8\n1 compute 2";
    let error = changed(&format!("[[change]]\n{change}"), 2, trace).unwrap_err();
    assert_eq!(error, expected);
}

#[test]
fn a_kind_or_a_key_that_there_is_not() {
    assert_refused(
        "kind = 'balance'",
        "changes.toml:2:8: there is no such kind of change: there are scale-compute, balance-compute, infinite-cpu, \
         remove-messages, scale-messages, merge-messages, nonblocking, collective, ideal-network\n 2 | kind = 'balance'\n   |        ^^^^^^^^^",
    );
    assert_refused(
        "kind = 'scale-compute'\nfactor = 2\ntag = 1",
        "changes.toml:4:1: this kind of change has no key 'tag': it has ranks, region, call_site, factor\n 4 | tag = 1\n   | ^^^",
    );
    assert_refused(
        "kind = 'scale-compute'",
        "changes.toml:2:8: this kind of change needs the key 'factor'\n 2 | kind = 'scale-compute'\n   |        ^^^^^^^^^^^^^^^",
    );
    assert_refused("factor = 2", "changes.toml:1:1: a change needs a kind\n 1 | [[change]]\n   | ^^^^^^^^^^");
}

#[test]
fn a_value_that_makes_no_sense() {
    assert_refused(
        "kind = 'scale-compute'\nfactor = -1",
        "changes.toml:3:10: 'factor' is a number from 0 on, such as 0.5\n 3 | factor = -1\n   |          ^^",
    );
    assert_refused(
        "kind = 'infinite-cpu'\nranks = '4-2'",
        "changes.toml:3:9: 'ranks' is a list of ranks, such as \"0-31,40\"\n 3 | ranks = '4-2'\n   |         ^^^^^",
    );
    assert_refused(
        "kind = 'infinite-cpu'\ncall_site = 'main.c:7'",
        "changes.toml:3:13: the trace has no call sites: TITRACE_CALLSITES=1 records them\n 3 | call_site = 'main.c:7'\n   |             ^^^^^^^^^^",
    );
    assert_refused(
        "kind = 'balance-compute'\nover = 'instances'",
        "changes.toml:2:8: over = \"instances\" needs a region or a call site, whose instances are made even\n 2 | kind = 'balance-compute'\n   \
         |        ^^^^^^^^^^^^^^^^^",
    );
}

#[test]
fn a_call_site_that_the_trace_does_not_have() {
    let trace = "0 call_site 0 foo\u{a0}(lb.c:7) main\u{a0}(lb.c:20)\n0 at 0\n0 compute 1\n0 send 1 3 8\n1 recv 0 3 8";
    let change = "[[change]]\nkind = 'infinite-cpu'\ncall_site = 'bar'";
    assert_eq!(
        changed(change, 2, trace).unwrap_err(),
        "changes.toml:3:13: no call is made from 'bar': there are foo (lb.c:7), main (lb.c:20)\n 3 | call_site = 'bar'\n   |             ^^^^^",
    );
}

#[test]
fn a_region_a_rank_or_a_tag_that_the_trace_does_not_have() {
    assert_refused(
        "kind = 'balance-compute'\nregion = 'bar'",
        "changes.toml:3:10: the program marks no region 'bar': it marks foo\n 3 | region = 'bar'\n   |          ^^^^^",
    );
    assert_refused(
        "kind = 'remove-messages'\nranks = '1,2'",
        "changes.toml:3:9: there is no rank 2 in this trace, whose ranks are 0 to 1\n 3 | ranks = '1,2'\n   |         ^^^^^",
    );
    assert_refused(
        "kind = 'remove-messages'\ntag = 4",
        "changes.toml:3:7: no message has the tag 4: the tags are 3\n 3 | tag = 4\n   |       ^",
    );
    assert_refused(
        "kind = 'balance-compute'\nregion = 'foo'",
        "changes.toml:2:8: rank 1 computes nothing here, so there is nothing that could become more; over = \"instances\" \
         gives each instance of a region its share\n 2 | kind = 'balance-compute'\n   |        ^^^^^^^^^^^^^^^^^",
    );
}

#[test]
fn changes_that_contradict_each_other() {
    assert_refused(
        "kind = 'infinite-cpu'\n[[change]]\nkind = 'balance-compute'",
        "changes.toml:4:8: no computation is selected here, or the changes before this one leave none of it\n \
         4 | kind = 'balance-compute'\n   |        ^^^^^^^^^^^^^^^^^",
    );
    assert_refused(
        "kind = 'collective'\ncollective = 'bcast'\nalgorithm = 'binomial'\n[[change]]\nkind = 'collective'\n\
         collective = 'bcast'\nalgorithm = 'ring'",
        "changes.toml:6:8: this contradicts the algorithm 'binomial' of bcast, an earlier change\n \
         6 | kind = 'collective'\n   |        ^^^^^^^^^^^^",
    );
}
