//! The path of a call from the program to the tool and the real function.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{mem, ptr, thread};

use crate::abi::Abi;
use crate::argument::{Arguments, IgnoredStatus};
use crate::callbacks;
use crate::caller::Caller;
use crate::containment::{Panic, contain, contained};
use crate::function::Function;
use crate::functions::collective::Collective;
use crate::functions::communicator::Communicator;
use crate::functions::io::Io;
use crate::functions::mark::Mark;
use crate::functions::one_sided::OneSided;
use crate::functions::point_to_point::PointToPoint;
use crate::functions::process::Process;
use crate::functions::topology::Topology;
use crate::in_progress::{CallsInProgress, Started};
use crate::pmpi::ErrorCode;
use crate::symbol::Forward;
use crate::weak_symbols;

/// A tool that sees the calls of a program.
pub trait Tool: Sync {
    /// The program has called `function`. The tool runs the real one at any time; if it does not, the real one runs
    /// after it.
    ///
    /// Calls that the library makes inside the real one are part of it and not seen. Exceptions of the program's
    /// callbacks pass through the tool, whose destructors run.
    fn call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>);

    /// Like [`call`](Self::call), for a call that a callback of the program makes inside another call of the same
    /// thread.
    fn nested_call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>);

    /// The program has left a call of `function` on this thread, by an exception, a jump or the end of the thread, and the
    /// call will not return. `is_nested` as for [`nested_call`](Self::nested_call).
    fn left(&self, function: &'static Function, is_nested: bool);

    /// The program has initialised an MPI library that is not known, and says `library` of itself. Nothing will be seen.
    fn unknown_library(&self, library: &str);

    /// The tool has panicked in a call; it sees no more.
    fn panicked(&self);
}

/// A call with its arguments, by chapter of the MPI standard.
#[derive(Clone, Copy)]
pub enum Call<'c> {
    /// Messages and requests.
    PointToPoint(PointToPoint<'c>),
    /// Collective communication.
    Collective(Collective<'c>),
    /// Making and freeing communicators.
    Communicator(Communicator<'c>),
    /// Topologies, and collectives of neighbours.
    Topology(Topology<'c>),
    /// The beginning and the end.
    Process(Process<'c>),
    /// One-sided communication.
    OneSided(OneSided<'c>),
    /// Input and output.
    Io(Io<'c>),
    /// A mark of the program.
    Mark(Mark<'c>),
    /// Any other function; its arguments are passed on unread.
    Other,
}

/// The real function, to be run with the program's arguments.
#[derive(Clone, Copy)]
pub struct Real<'c>(&'c Pending<'c>);

impl Real<'_> {
    /// Runs the function, the first time, and returns whether it returned `MPI_SUCCESS`; meaningless for the few functions
    /// that return something else.
    #[inline]
    pub fn run(self) -> bool {
        self.0.run() as c_int == 0
    }

    /// The place in the program that has made the call, as long as the call has not been run: it may call others.
    pub fn caller(self) -> Caller {
        Caller::last()
    }

    /// The error that the function has returned; `None` if it has not run, or succeeded.
    pub fn error(self) -> Option<ErrorCode> {
        self.0.result.get().map(|code| code as c_int).filter(|&code| code != 0).map(ErrorCode)
    }

    /// Returns `code` to the program without running the function, because the tool has executed the program's request.
    /// Does nothing if the function has run.
    pub fn replace(self, code: c_int) {
        if self.0.result.get().is_none() {
            self.0.result.set(Some(code as usize));
        }
    }
}

/// The tool, from `Box`; null before it is installed, and when it is retired.
static TOOL: AtomicPtr<&'static dyn Tool> = AtomicPtr::new(ptr::null_mut());

/// Installs `tool`, which sees every call from now on. The first one installed stays until it panics.
pub fn install(tool: &'static dyn Tool) {
    weak_symbols::hide_if_linked();
    // A second tool in one process is ignored, as it would be if the first had not made itself known here.
    let _ = TOOL.compare_exchange(ptr::null_mut(), Box::leak(Box::new(tool)), Ordering::AcqRel, Ordering::Relaxed);
}

/// Runs `body` as a part of the program: the tool sees the calls in it, for example to measure their cost.
pub fn as_program<R>(body: impl FnOnce() -> R) -> R {
    CallsInProgress::own().outside(body)
}

#[inline]
fn tool() -> Option<&'static dyn Tool> {
    // SAFETY: of `Box`, and never freed.
    unsafe { TOOL.load(Ordering::Acquire).as_ref() }.copied()
}

/// Converts the words of a function's call to typed arguments.
pub(crate) type Decode = for<'c> fn(&'c Arguments<'c>) -> Call<'c>;

/// Calls a function with the words behind a pointer; see [`Forward::forward`].
pub(crate) type Run = unsafe fn(*const c_void, *const usize) -> usize;

/// Every exported function comes here.
#[inline]
pub(crate) fn enter<const N: usize>(function: &'static Function, decode: Decode, words: [usize; N]) -> usize
where
    [usize; N]: Forward,
{
    enter_with(function, decode, words, <[usize; N]>::forward)
}

/// [`enter`] for functions that are not called with `N` words for a word.
#[inline]
pub(crate) fn enter_with<const N: usize>(
    function: &'static Function,
    decode: Decode,
    mut words: [usize; N],
    run: Run,
) -> usize {
    let words = Cell::from_mut(words.as_mut_slice()).as_slice_of_cells();
    let pending = Pending { function, decode, words, run, room: IgnoredStatus::new(), result: Cell::new(None) };
    contained(&pending, make, make_after_panic)
}

/// Makes a call, which the tool sees if it is the program's.
extern "C-unwind" fn make(pending: &Pending<'_>) -> usize {
    let calls = CallsInProgress::own();
    if !calls.is_empty() {
        return inside(calls, pending);
    }
    let Some(tool) = tool() else { return pending.run() };
    outermost(tool, calls, pending)
}

/// Makes a call in which the tool has panicked, if it has not been made yet. The tool is retired.
#[cold]
extern "C-unwind" fn make_after_panic(pending: &Pending<'_>, panic: Panic) -> usize {
    panic.discard();
    retire();
    pending.run()
}

/// A call of a thread that is in no other call.
#[inline(always)]
fn outermost(tool: &'static dyn Tool, calls: CallsInProgress, pending: &Pending<'_>) -> usize {
    calls.begin(pending.function);
    let entered = Entered { calls, depth: 0 };
    let result = seen(tool, pending, |call| tool.call(pending.function, call, Real(pending)));
    mem::forget(entered);
    calls.end();
    result
}

/// A call of a thread that seems to be in another one.
#[cold]
fn inside(calls: CallsInProgress, pending: &Pending<'_>) -> usize {
    let caller = Caller::last();
    let Some(tool) = tool() else { return pending.run() };
    if callbacks::is_of_library(pending.function.name, caller) {
        return pending.run();
    }
    while let Some(innermost) = calls.innermost()
        && innermost.was_left_before(caller)
    {
        leave(calls, calls.depth() - 1);
    }
    if calls.is_empty() {
        return outermost(tool, calls, pending);
    }
    let entered = Entered { calls, depth: calls.depth() };
    calls.begin_nested(Started { function: pending.function, caller });
    let result = seen(tool, pending, |call| tool.nested_call(pending.function, call, Real(pending)));
    mem::forget(entered);
    calls.end_innermost();
    result
}

/// Ends the calls inside the first `depth`, which the program has left.
#[cold]
fn leave(calls: CallsInProgress, depth: usize) {
    while calls.depth() > depth
        && let Some(Started { function, .. }) = calls.innermost()
    {
        calls.end_innermost();
        // A tool that panics has left the call itself.
        if !thread::panicking()
            && let Some(tool) = tool()
            && contain(|| tool.left(function, calls.depth() > 0)).is_err()
        {
            retire();
        }
    }
}

/// Retires a tool that has panicked.
fn retire() {
    // SAFETY: as in `tool`.
    if let Some(tool) = unsafe { TOOL.swap(ptr::null_mut(), Ordering::AcqRel).as_ref() } {
        // A tool that panics again while told so has nothing more to say.
        let _ = contain(|| tool.panicked());
    }
}

/// A call that is being made: dropped where an exception passes.
struct Entered {
    calls: CallsInProgress,
    /// The number of calls around this one.
    depth: usize,
}

impl Drop for Entered {
    fn drop(&mut self) {
        leave(self.calls, self.depth);
    }
}

/// A call of the program, not of the library.
#[inline(always)]
fn seen(tool: &'static dyn Tool, pending: &Pending<'_>, see: impl FnOnce(&Call<'_>)) -> usize {
    match Abi::current() {
        Ok(abi) => {
            let arguments = Arguments::new(pending.words, pending.function.is_large(), abi, &pending.room);
            see(&(pending.decode)(&arguments));
            // The arguments own the memory for several statuses.
            pending.run()
        }
        Err(library) => {
            if matches!(pending.function.name, "MPI_Init" | "MPI_Init_thread") {
                tool.unknown_library(library);
            }
            pending.run()
        }
    }
}

/// A call before or after its execution.
struct Pending<'c> {
    function: &'static Function,
    decode: Decode,
    words: &'c [Cell<usize>],
    run: Run,
    room: IgnoredStatus,
    result: Cell<Option<usize>>,
}

impl Pending<'_> {
    /// Makes the call unless it has been made.
    fn run(&self) -> usize {
        if let Some(result) = self.result.get() {
            return result;
        }
        // SAFETY: `real` is the library's function of this name, and `run` the way to call a function of its arity
        // (both come from one line of `functions`, which a test compares with mpi.h). The words are the program's own
        // arguments, except that ignored statuses may be replaced by memory for them (`argument`).
        let result = unsafe { (self.run)(self.function.real(), self.words.as_ptr().cast()) };
        self.result.set(Some(result));
        result
    }
}
