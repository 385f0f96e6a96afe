//! In a process that uses MPI through `mpi-sys`, the library is recognised, its table agrees with `mpi-sys`, and a tool
//! sees each call once, with its arguments.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use mpi_sys as c;
use titr_wrappers::functions::collective::Collective;
use titr_wrappers::functions::point_to_point::PointToPoint;
use titr_wrappers::{Abi, Call, Function, Real, Tool, install, pmpi};

/// Notes each call.
struct Notes(Mutex<Vec<String>>);

static NOTES: Notes = Notes(Mutex::new(Vec::new()));

impl Notes {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Tool for Notes {
    fn call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        match call {
            Call::PointToPoint(PointToPoint::MPI_Recv(recv, status)) => {
                status.keep();
                self.fail_if_asked();
                real.run();
                let status = status.get().unwrap();
                self.note(format!("MPI_Recv({}) from {} tag {}", recv.count().get(), status.source(), status.tag()));
            }
            Call::PointToPoint(PointToPoint::MPI_Irecv(recv, request)) => {
                real.run();
                let null = Abi::current().unwrap().request_null;
                self.note(format!("MPI_Irecv({}) {}", recv.source(), request.get() != null));
            }
            Call::PointToPoint(PointToPoint::MPI_Send(send)) => {
                let bytes = send.count().get() * pmpi::type_size(send.datatype()).unwrap();
                self.note(format!("MPI_Send {bytes} bytes to {} tag {}", send.dest(), send.tag()));
            }
            Call::PointToPoint(PointToPoint::MPI_Waitall(wait)) => {
                wait.array_of_statuses().keep();
                self.fail_if_asked();
                let before = wait.array_of_requests().iter().len();
                real.run();
                let tags: Vec<i32> =
                    (0..before).filter_map(|i| wait.array_of_statuses().get(i)).map(|s| s.tag()).collect();
                self.note(format!("MPI_Waitall({before}) tags {tags:?}"));
            }
            Call::Collective(Collective::MPI_Allgatherv(gather)) => {
                let counts: Vec<u64> = gather.recvcounts().iter().map(|count| count.get()).collect();
                self.note(format!("MPI_Allgatherv {counts:?} in place {}", gather.sendbuf().is_in_place));
            }
            _ => self.note(function.name.to_owned()),
        }
        self.fail_if_asked();
        assert!(real.run() || function.name == "MPI_Wtime");
    }

    fn nested_call(&self, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        self.call(function, call, real);
    }

    fn left(&self, function: &'static Function, _is_nested: bool) {
        self.note(format!("left {}", function.name));
    }

    fn unknown_library(&self, library: &str) {
        self.note(format!("unknown: {library}"));
    }

    fn panicked(&self) {
        self.note("panicked".to_owned());
    }
}

/// Whether the tool fails in the next call.
static FAILS: AtomicBool = AtomicBool::new(false);

impl Notes {
    fn fail_if_asked(&self) {
        assert!(!FAILS.swap(false, Ordering::Relaxed), "as a tool might");
    }

    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }
}

/// MPI is one process's for its whole life: one test, from `MPI_Init` to `MPI_Finalize`.
#[test]
fn a_tool_sees_each_call_once() {
    if size_of::<c::MPI_Comm>() == size_of::<c_int>() {
        // MPICH's header names no object of its library, and all functions are ours, so the linker did not link it.
        // Loaded like this it is invisible to others, like libraries that Python loads. SAFETY: the library may be
        // loaded at any time.
        let loaded = unsafe { libc::dlopen(c"libmpich.so".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!loaded.is_null());
    }
    install(&NOTES);
    // SAFETY: MPI calls as the standard has them, on one thread.
    unsafe {
        c::MPI_Init(ptr::null_mut(), ptr::null_mut());
        assert_eq!(NOTES.take(), ["MPI_Init"]);

        constants_agree();

        let (world, int) = (c::RSMPI_COMM_WORLD, c::RSMPI_INT32_T);
        let mut numbers: [c_int; 10] = [7; 10];
        let buffer = (&raw mut numbers).cast::<c_void>();
        let sent = (&raw const numbers[9]).cast::<c_void>();
        let mut request = MaybeUninit::uninit();
        c::MPI_Irecv(buffer, 1, int, c::RSMPI_ANY_SOURCE, 5, world, request.as_mut_ptr());
        c::MPI_Send(sent, 1, int, 0, 5, world);
        c::MPI_Waitall(1, request.as_mut_ptr(), c::RSMPI_STATUSES_IGNORE);
        assert_eq!(
            NOTES.take(),
            [
                format!("MPI_Irecv({}) true", c::RSMPI_ANY_SOURCE),
                "MPI_Send 4 bytes to 0 tag 5".into(),
                "MPI_Waitall(1) tags [5]".into()
            ]
        );

        c::MPI_Isend(sent, 1, int, 0, 6, world, request.as_mut_ptr());
        c::MPI_Recv(buffer, 9, int, c::RSMPI_ANY_SOURCE, c::RSMPI_ANY_TAG, world, c::RSMPI_STATUS_IGNORE);
        c::MPI_Wait(request.as_mut_ptr(), c::RSMPI_STATUS_IGNORE);
        assert_eq!(NOTES.take(), ["MPI_Isend", "MPI_Recv(9) from 0 tag 6", "MPI_Wait"]);

        let (counts, displacements) = ([1], [0]);
        c::MPI_Allgatherv(
            Abi::current().unwrap().in_place as *const c_void,
            0,
            int,
            buffer,
            counts.as_ptr(),
            displacements.as_ptr(),
            int,
            world,
        );
        assert_eq!(NOTES.take(), ["MPI_Allgatherv [1] in place true"]);

        let before = c::MPI_Wtime();
        assert!(c::MPI_Wtime() >= before && before >= 0.0);
        let mut size = 0;
        c::PMPI_Comm_size(world, &mut size);
        assert_eq!(size, 1);
        assert_eq!(NOTES.take(), ["MPI_Wtime", "MPI_Wtime", "MPI_Comm_size"]);

        // The program gets its result although the tool fails; the tool is not called any more.
        let mut inter = 1;
        FAILS.store(true, Ordering::Relaxed);
        c::MPI_Comm_test_inter(world, &mut inter);
        assert_eq!(inter, 0);
        assert_eq!(NOTES.take(), ["MPI_Comm_test_inter", "panicked"]);

        // Also where the tool has given the call memory for the statuses that the program ignores.
        let mut requests = [request; 20];
        for request in &mut requests {
            c::MPI_Isend(sent, 1, int, 0, 7, world, request.as_mut_ptr());
        }
        install(&NOTES);
        FAILS.store(true, Ordering::Relaxed);
        c::MPI_Waitall(20, requests.as_mut_ptr().cast(), c::RSMPI_STATUSES_IGNORE);
        for _ in &requests {
            numbers[0] = 0;
            install(&NOTES);
            FAILS.store(true, Ordering::Relaxed);
            c::MPI_Recv(buffer, 9, int, 0, 7, world, c::RSMPI_STATUS_IGNORE);
            assert_eq!(numbers[0], 7);
        }
        assert_eq!(NOTES.take(), ["panicked"; 21]);
        c::MPI_Finalize();
        assert_eq!(NOTES.take(), [""; 0]);
    }
}

/// A handle as a word, for any type in which `mpi-sys` wraps an `int` or a pointer.
fn raw<H: Copy>(handle: H) -> usize {
    let mut word = 0_usize;
    // SAFETY: a handle is no longer than a word and has no padding.
    unsafe { (&raw mut word).cast::<H>().write(handle) };
    word
}

fn constants_agree() {
    let abi = Abi::current().unwrap();
    // SAFETY: constants of the library.
    unsafe {
        assert_eq!(abi.comm_world.raw(), raw(c::RSMPI_COMM_WORLD));
        assert_eq!(abi.comm_null.raw(), raw(c::RSMPI_COMM_NULL));
        assert_eq!(abi.request_null.raw(), raw(c::RSMPI_REQUEST_NULL));
        assert_eq!(abi.datatype_null.raw(), raw(c::RSMPI_DATATYPE_NULL));
        assert_eq!(abi.group_empty.raw(), raw(c::RSMPI_GROUP_EMPTY));
        assert_eq!(abi.max.raw(), raw(c::RSMPI_MAX));
        assert_eq!(abi.any_source, c::RSMPI_ANY_SOURCE);
        assert_eq!(abi.proc_null, c::RSMPI_PROC_NULL);
        assert_eq!(abi.any_tag, c::RSMPI_ANY_TAG);
        assert_eq!(abi.undefined, c::RSMPI_UNDEFINED);
        assert_eq!(abi.status_ignore, c::RSMPI_STATUS_IGNORE as usize);
        assert_eq!(abi.status_bytes, size_of::<c::MPI_Status>());
        assert_eq!(abi.status_source, std::mem::offset_of!(c::MPI_Status, MPI_SOURCE));
        assert_eq!(abi.status_tag, std::mem::offset_of!(c::MPI_Status, MPI_TAG));
    }
    assert_eq!(pmpi::allreduce(abi, 42, abi.max, abi.comm_world), Some(42));
    let translation = pmpi::translate(abi, abi.comm_self, abi.comm_world).unwrap();
    assert_eq!((translation.local, translation.remote), (vec![Some(0)], vec![]));
    assert_eq!(NOTES.take(), [""; 0]);
}
