//! Rules show the same stacks as the system's unwinder.

use std::cell::RefCell;
use std::ffi::{CString, c_int, c_ulong, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{mem, thread};

use tempfile::TempDir;

use super::*;
use crate::caller::exported;

type End = unsafe extern "C" fn();
type Chain = unsafe extern "C" fn(order: c_ulong, depth: c_int, end: End) -> c_int;

thread_local! {
    static UNWINDER: RefCell<Unwinder> = RefCell::new(Unwinder::new());
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
}

/// A stack, as it was shown at one call.
struct Seen {
    by_unwinder: Vec<Caller>,
    by_walk: Vec<Caller>,
    /// As far as rules lead.
    by_rules: Vec<Caller>,
}

extern "C" fn compare() {
    let caller = Caller::last();
    let mut seen = Seen { by_unwinder: Vec::new(), by_walk: Vec::new(), by_rules: Vec::new() };
    let note = |stack: &mut Vec<Caller>, caller| {
        stack.push(caller);
        ControlFlow::Continue(())
    };
    caller.stack(|caller| note(&mut seen.by_unwinder, caller));
    UNWINDER.with_borrow_mut(|unwinder| {
        unwinder.walk(caller, |caller, _| note(&mut seen.by_walk, caller));
        let mut walk = Walk { unwinder, is_checked: false };
        walk.by_rules(caller, |caller, _| note(&mut seen.by_rules, caller));
    });
    SEEN.with_borrow_mut(|all| all.push(seen));
}

exported!("titr_test_unwinding", compare);

unsafe extern "C" {
    fn titr_test_unwinding();
}

/// A library of functions that call each other.
struct Library {
    handle: *mut c_void,
}

impl Library {
    fn open(file: &Path) -> Self {
        let name = CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: a library whose only initialisation is the language's.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{}", file.display());
        Self { handle }
    }

    fn chain(&self, name: &str) -> Chain {
        let name = CString::new(name).unwrap();
        // SAFETY: the handle is of an open library.
        let chain = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        assert!(!chain.is_null(), "{name:?}");
        // SAFETY: all functions that tests request have this type.
        unsafe { mem::transmute::<*mut c_void, Chain>(chain) }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: opened once, and none of its functions is in progress.
        unsafe { libc::dlclose(self.handle) };
    }
}

/// Builds one of the sources beside this file.
fn build(directory: &TempDir, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let name = format!("{compiler}{}-{source}.so", options.concat());
    let file = directory.path().join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/unwinding/tests").join(source);
    let mut command = Command::new(compiler);
    command.args(["-w", "-shared", "-fPIC"]).args(options).arg("-o").arg(&file).arg(source);
    let output = command.current_dir(directory.path()).output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    file
}

/// The view at the end of one chain.
fn seen(chain: Chain, order: c_ulong, depth: c_int) -> Seen {
    // SAFETY: the chain calls `titr_test_unwinding`, which takes nothing, as its last function.
    unsafe { chain(order, depth, titr_test_unwinding) };
    let seen = SEEN.take().pop().unwrap();
    assert_eq!(seen.by_walk, seen.by_unwinder, "order {order:#x} depth {depth}");
    assert!(seen.by_unwinder.len() > depth as usize, "order {order:#x} depth {depth}");
    seen
}

/// Numbers that differ in all digits.
fn orders(count: u64) -> impl Iterator<Item = c_ulong> {
    (1..=count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number << 7))
}

/// Whether rules alone show the whole stack: they do on x86-64.
fn assert_by_rules(seen: &Seen, what: &str) {
    let expected: &[Caller] = if cfg!(target_arch = "x86_64") { &seen.by_unwinder } else { &[] };
    assert!(seen.by_rules.starts_with(expected), "{what}: {:x?} of {:x?}", seen.by_rules, seen.by_unwinder);
}

const FRAMES: [&str; 2] = ["-fomit-frame-pointer", "-fno-omit-frame-pointer"];
const LEVELS: [&str; 5] = ["-O0", "-O1", "-O2", "-O3", "-Os"];

fn compare_chains(compiler: &str, source: &str) {
    let directory = tempfile::tempdir().unwrap();
    for level in LEVELS {
        for frames in FRAMES {
            let file = build(&directory, compiler, source, &[level, frames]);
            let library = Library::open(&file);
            let chain = library.chain("chain");
            for order in orders(100) {
                for depth in [0, 1, 2, 4, 8, 20] {
                    let seen = seen(chain, order, depth);
                    assert_by_rules(&seen, &format!("{} order {order:#x} depth {depth}", file.display()));
                }
            }
        }
    }
}

#[test]
fn chains_of_c_are_those_of_the_unwinder() {
    compare_chains("gcc", "chain.c");
}

#[test]
fn chains_of_cpp_are_those_of_the_unwinder() {
    compare_chains("g++", "chain.c");
}

#[test]
fn chains_of_fortran_are_those_of_the_unwinder() {
    compare_chains("gfortran", "chain.f90");
}

/// Rules are of addresses, and these are of other functions once another library is where one was.
#[test]
fn a_library_in_the_place_of_another_has_rules_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let files = ["-DROOM=1000", "-DROOM=2008"].map(|room| build(&directory, "gcc", "chain.c", &["-O2", room]));
    // Another test may map memory at any time.
    let mut reused = 0;
    for _ in 0..50 {
        let ends = files.each_ref().map(|file| {
            let library = Library::open(file);
            let chain = library.chain("chain");
            let roomy = 0;
            seen(chain, roomy, 1).by_walk
        });
        let [of_first, of_second] = ends.map(|stack| stack[..3].to_vec());
        if of_first.iter().map(|caller| caller.address).eq(of_second.iter().map(|caller| caller.address)) {
            reused += 1;
            let size = |stack: &[Caller]| stack[2].frame - stack[0].frame;
            assert_eq!(size(&of_second) - size(&of_first), 2008 - 1000);
        }
    }
    assert!(reused > 0, "the system has not put one library where another was");
}

#[test]
fn a_thread_has_a_stack_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let library = Library::open(&build(&directory, "gcc", "chain.c", &["-O2"]));
    let chain = library.chain("chain");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for order in orders(50) {
                    assert_by_rules(&seen(chain, order, 6), "thread");
                }
            });
        }
    });
}

/// The tables of the function after one that does not return are not taken for its own.
#[test]
fn a_call_may_be_the_last_instruction() {
    let directory = tempfile::tempdir().unwrap();
    for level in LEVELS {
        let library = Library::open(&build(&directory, "gcc", "chain.c", &[level]));
        for order in orders(50) {
            assert_by_rules(&seen(library.chain("chain_without_return"), order, 4), level);
        }
    }
}

#[test]
fn the_unwinder_shows_what_is_around_a_signal_handler() {
    let directory = tempfile::tempdir().unwrap();
    let library = Library::open(&build(&directory, "gcc", "chain.c", &["-O2"]));
    let seen = seen(library.chain("chain_in_signal"), 1, 3);
    assert!(seen.by_rules.len() < seen.by_unwinder.len());
}

#[test]
fn the_unwinder_shows_the_stack_of_a_coroutine() {
    let directory = tempfile::tempdir().unwrap();
    let library = Library::open(&build(&directory, "gcc", "chain.c", &["-O2"]));
    let seen = seen(library.chain("chain_in_coroutine"), 0x1234_5678, 5);
    assert!(seen.by_rules.is_empty());
}

/// Without tables neither shows more than the first place.
#[test]
fn code_without_tables_has_no_rule() {
    let directory = tempfile::tempdir().unwrap();
    let without = ["-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"];
    let library = Library::open(&build(&directory, "gcc", "chain.c", &without));
    let seen = seen(library.chain("chain"), 7, 0);
    assert_eq!(seen.by_rules.len(), 1);
}

#[test]
fn a_visitor_that_has_seen_enough_is_shown_no_more() {
    extern "C" fn visit() {
        let caller = Caller::last();
        for depth in 1..4 {
            let mut seen = 0;
            UNWINDER.with_borrow_mut(|unwinder| {
                unwinder.walk(caller, |_, _| {
                    seen += 1;
                    if seen == depth { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
            });
            assert_eq!(seen, depth);
        }
    }
    exported!("titr_test_unwinding_visit", visit);
    unsafe extern "C" {
        fn titr_test_unwinding_visit();
    }
    // SAFETY: defined above, with no arguments.
    unsafe { titr_test_unwinding_visit() };
}
