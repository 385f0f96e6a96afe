//! Changes of computation.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use titr_common::event::Rank;
use titr_common::trace::{EventSource, RankSources, Trace, TraceError, Transformation};
use titr_hypotheses::Hypotheses;

use super::support::{assert_changed, changed, lines, trace};

const TWO: &str = "
    0 init
    0 compute 5
    0 region_begin foo
    0 compute 100
    0 barrier
    0 compute 100
    0 region_end foo
    0 compute 10
    1 init
    1 region_begin foo
    1 compute 300
    1 barrier
    1 compute 500
    1 region_end foo
    1 compute 10
";

#[test]
fn a_file_without_changes_changes_nothing() {
    assert_changed("", 2, TWO, TWO);
    assert_changed("[[change]]\nkind = 'scale-compute'\nfactor = 1", 2, TWO, TWO);
}

#[test]
fn computation_is_multiplied_in_a_region_of_some_ranks() {
    let changes = "[[change]]\nkind = 'scale-compute'\nfactor = 0.5\nregion = 'foo'\nranks = '1'";
    assert_changed(changes, 2, TWO, &TWO.replace("compute 300", "compute 150").replace("compute 500", "compute 250"));
}

#[test]
fn totals_become_their_mean() {
    let changes = "[[change]]\nkind = 'balance-compute'\nregion = 'foo'";
    let after = TWO.replace("compute 100", "compute 250");
    let after = after.replace("compute 300", "compute 187.5").replace("compute 500", "compute 312.5");
    assert_changed(changes, 2, TWO, &after);
}

#[test]
fn instances_become_their_means_and_one_without_computation_gets_its_share() {
    let before = "
        0 region_begin foo
        0 compute 100
        0 region_end foo
        0 compute 7
        0 region_begin foo
        0 compute 1
        0 region_end foo
        1 region_begin foo
        1 compute 300
        1 region_end foo
        1 region_begin foo
        1 region_end foo
    ";
    let after = "
        0 region_begin foo
        0 compute 200
        0 region_end foo
        0 compute 7
        0 region_begin foo
        0 compute 0.5
        0 region_end foo
        1 region_begin foo
        1 compute 200
        1 region_end foo
        1 region_begin foo
        1 compute 0.5
        1 region_end foo
    ";
    assert_changed("[[change]]\nkind = 'balance-compute'\nregion = 'foo'\nover = 'instances'", 2, before, after);
}

const SITES: &str = "
    0 call_site 0 foo\u{a0}(lb.c:7) main\u{a0}(lb.c:20)
    0 at 0
    0 compute 100
    0 barrier
    0 call_site 1 main\u{a0}(lb.c:21)
    0 at 1
    0 compute 10
    0 barrier
    0 at 0
    0 barrier
    1 call_site 0 foo\u{a0}(lb.c:7) main\u{a0}(lb.c:20)
    1 at 0
    1 compute 300
    1 barrier
    1 call_site 1 main\u{a0}(lb.c:21)
    1 at 1
    1 compute 10
    1 barrier
    1 at 0
    1 compute 50
    1 barrier
";

#[test]
fn the_computation_before_a_call_is_at_its_call_site() {
    for name in ["foo", "lb.c:7", "foo (lb.c:7)", "lb.c:20"] {
        let changes = format!("[[change]]\nkind = 'scale-compute'\nfactor = 2\ncall_site = '{name}'");
        let after = SITES.replace("compute 100", "compute 200").replace("compute 300", "compute 600");
        assert_changed(&changes, 2, SITES, &after.replace("compute 50", "compute 100"));
    }
    let changes = "[[change]]\nkind = 'scale-compute'\nfactor = 2\ncall_site = 'main'";
    let all = [("compute 50", "compute 100"), ("compute 100", "compute 200"), ("compute 10\n", "compute 20\n")];
    let after = SITES.replace("compute 300", "compute 600").replace(all[1].0, all[1].1);
    assert_changed(changes, 2, SITES, &after.replace(all[0].0, all[0].1).replace(all[2].0, all[2].1));
}

#[test]
fn each_call_from_a_call_site_is_an_instance() {
    let changes = "[[change]]\nkind = 'balance-compute'\ncall_site = 'foo'\nover = 'instances'";
    let after = SITES.replace("compute 100", "compute 200").replace("compute 300", "compute 200");
    let after = after.replace("0 at 0\n    0 barrier", "0 at 0\n    0 compute 25\n    0 barrier");
    assert_changed(changes, 2, SITES, &after.replace("compute 50", "compute 25"));
}

#[test]
fn levels_of_pcontrol_are_regions() {
    let before = "0 pcontrol 2\n0 compute 10\n0 pcontrol -2\n0 compute 10\n0 pcontrol 2\n0 compute 10\n0 pcontrol 0\n0 compute 10";
    let after = "0 pcontrol 2\n0 compute 30\n0 pcontrol -2\n0 compute 10\n0 pcontrol 2\n0 compute 30\n0 pcontrol 0\n0 compute 10";
    assert_changed("[[change]]\nkind = 'scale-compute'\nfactor = 3.0\nregion = '2'", 1, before, after);
}

#[test]
fn an_infinitely_fast_processor_computes_and_reduces_in_no_time() {
    let before = "0 compute 10\n0 allreduce 8 100\n0 sleep 0.5";
    assert_changed("[[change]]\nkind = 'infinite-cpu'", 1, before, "0 compute 0\n0 allreduce 8 0\n0 sleep 0");
}

#[test]
fn changes_are_made_in_their_order() {
    let scale = "[[change]]\nkind = 'scale-compute'\nfactor = 4\nranks = 0\n";
    let balance = "[[change]]\nkind = 'balance-compute'\n";
    let before = "0 compute 100\n1 compute 200";
    assert_changed(&[scale, balance].concat(), 2, before, "0 compute 300\n1 compute 300");
    assert_changed(&[balance, scale].concat(), 2, before, "0 compute 600\n1 compute 150");
}

/// Changes of computation one after the other are as if each was made of the trace that the one before leaves.
#[test]
fn changes_follow_each_other() {
    let region = "[[change]]\nkind = 'scale-compute'\nregion = 'foo'\nfactor = 3\n";
    let ranks = "[[change]]\nkind = 'scale-compute'\nranks = '1'\nfactor = 0.5\n";
    let all = "[[change]]\nkind = 'scale-compute'\nfactor = 2\n";
    let idle = "[[change]]\nkind = 'infinite-cpu'\nranks = '0'\n";
    let balance = "[[change]]\nkind = 'balance-compute'\n";
    for changes in [[region, ranks, all], [all, idle, region], [all, balance, ranks], [ranks, ranks, ranks]] {
        let one_by_one =
            changes.iter().fold(changed("", 2, TWO).unwrap(), |text, change| changed(change, 2, &text).unwrap());
        assert_eq!(changed(&changes.concat(), 2, TWO).unwrap(), one_by_one, "{changes:?}");
    }
    let none = changed(&[idle, ranks, "[[change]]\nkind = 'infinite-cpu'\nranks = '0'"].concat(), 2, TWO).unwrap_err();
    assert!(none.starts_with("× no computation is selected here") && none.contains("[changes.toml:9:8]"), "{none}");
}

/// A trace that counts how often a rank is read.
struct Counted(Trace, Arc<AtomicU32>);

impl RankSources for Counted {
    fn source(&self, rank: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(self.0.stream(rank)?))
    }
}

#[test]
fn many_changes_read_the_trace_as_often_as_one() {
    let read = |changes: usize| {
        let text = "[[change]]\nkind = 'scale-compute'\nfactor = 2\n".repeat(changes);
        let hypotheses = Hypotheses::parse(Path::new("changes.toml"), text).unwrap();
        let count = Arc::new(AtomicU32::new(0));
        let counted = Trace::new(2, Counted(trace(2, TWO), Arc::clone(&count)));
        let changed = hypotheses.apply(counted).unwrap();
        (lines(&changed).unwrap(), count.load(Ordering::Relaxed))
    };
    let ((_, once), (text, often)) = (read(1), read(500));
    assert_eq!(once, often);
    // 5 instructions, doubled five hundred times.
    assert!(text.contains(&format!("0 compute {}", 5.0 * 2_f64.powi(500))), "{text}");
}
