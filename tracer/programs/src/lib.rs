//! MPI for titr's own MPI programs. Nothing is linked: one binary runs under every MPI library that the tracer knows.
//!
//! [`Mpi::start`] finds the library of the launcher that has started the process ([`library`]). Functions are looked up
//! by their `MPI_` names in the order in which the dynamic linker searches, so a preloaded tool, such as titr's tracer,
//! sees every call ([`function`]). Constants and sizes of handles come from the table in [`titr_wrappers::abi`].
//!
//! Messages have a length and no content: MPI reads from and writes to memory that nothing else uses ([`room`]). This
//! suffices for programs that measure or imitate communication, and a mistake in them cannot corrupt their memory. The
//! few functions that carry data are in [`data`]. The programs are [`calibrate`] and [`reenact`].

pub mod calibrate;
mod collective;
mod communicator;
mod data;
mod function;
mod library;
mod message;
pub mod reenact;
mod request;

use std::ffi::{CStr, c_char, c_int};
use std::process::ExitCode;
use std::ptr;

use clap::error::ErrorKind;
use titr_common::terminal::{self, say, say_usage};
use titr_wrappers::abi::Abi;
use titr_wrappers::pmpi::{self, ErrorCode};

use data::Room;
use function::call;

pub(crate) use collective::{has_persistent, largest_argument};
pub use communicator::Comm;
pub(crate) use communicator::Duplicate;
pub(crate) use function::{MpiError, StartError};
pub use message::{Peer, SendMode, TagChoice};
pub use request::Request;

/// Runs the program of this name: starts MPI, has the `work` done that the options ask for, and ends MPI.
fn run<O>(
    program: &str,
    options: Result<O, clap::Error>,
    work: impl FnOnce(&Mpi, Comm<'_>, &O) -> ExitCode,
) -> ExitCode {
    // Help and version need no MPI.
    if let Err(error) = &options
        && matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion)
    {
        return terminal::status_of(program, error.print()).into();
    }
    let mpi = match Mpi::start() {
        Ok(mpi) => mpi,
        Err(error) => {
            say(format_args!("{program}: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let world = mpi.world();
    let status = match options {
        Ok(options) => work(&mpi, world, &options),
        Err(error) => {
            if world.rank == 0 {
                say_usage(&error.render().to_string());
            }
            ExitCode::from(error.exit_code() as u8)
        }
    };
    match mpi.finish() {
        Ok(()) => status,
        Err(error) => {
            say(format_args!("{program}: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// MPI in this process, from `MPI_Init` to `MPI_Finalize`. It belongs to the thread that has started it.
pub struct Mpi {
    abi: &'static Abi,
    /// Memory that messages are sent from.
    outgoing: Room,
    /// Memory that messages are received to.
    incoming: Room,
    /// Handles of `MPI_BYTE`, one behind the other.
    bytes: Room,
}

impl Mpi {
    /// Loads the MPI library and initialises it for one thread. Functions on `MPI_COMM_WORLD` return their errors from then on.
    ///
    /// # Errors
    /// If no library is found, where it is none that is known, and where it does not start.
    pub fn start() -> Result<Self, StartError> {
        library::load()?;
        let abi = Abi::current().map_err(|name| StartError::Unknown { library: name.to_owned() })?;
        // SAFETY: (int *, char ***); both may be NULL (MPI 4.0 §11.2.1).
        unsafe { call!(MPI_Init(ptr::null_mut::<c_int>(), ptr::null_mut::<c_char>())) }?;
        pmpi::return_errors(abi, abi.comm_world);
        Ok(Self { abi, outgoing: Room::default(), incoming: Room::default(), bytes: Room::default() })
    }

    /// `MPI_COMM_WORLD`.
    pub fn world(&self) -> Comm<'_> {
        Comm::of(self, self.abi.comm_world)
    }

    /// `MPI_COMM_SELF`, of this process alone.
    pub(crate) fn alone(&self) -> Comm<'_> {
        Comm::of(self, self.abi.comm_self)
    }

    /// Whether a function failed because a message is larger than the room for it.
    pub(crate) fn is_truncation(&self, error: &MpiError) -> bool {
        error.code.and_then(|code| ErrorCode(code).class()) == Some(self.abi.err_truncate)
    }

    /// The library's description of itself, in one line.
    pub fn library(&self) -> &str {
        &self.abi.library
    }

    /// The name of the host that this process runs on (`MPI_Get_processor_name`).
    pub fn processor_name(&self) -> Result<String, MpiError> {
        /// `MPI_MAX_PROCESSOR_NAME` is 256 in Open MPI and 128 in MPICH.
        const ROOM: usize = 1024;
        let (mut name, mut length) = ([0_u8; ROOM], 0 as c_int);
        // SAFETY: (char *, int *), with room for the longest name of any library.
        unsafe { call!(MPI_Get_processor_name(name.as_mut_ptr(), &raw mut length)) }?;
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// Gives the library memory for messages that it buffers (`MPI_Buffer_attach`), once.
    pub(crate) fn attach_buffer(&self, bytes: u32) -> Result<(), MpiError> {
        let room = Room::default();
        // SAFETY: (void *, int), and the memory is never freed.
        unsafe { call!(unseen MPI_Buffer_attach(room.of(bytes.into()), bytes as c_int)) }
    }

    /// Waits until the messages in the attached buffer need it no more (`MPI_Buffer_detach`), and attaches it again.
    pub(crate) fn empty_buffer(&self) -> Result<(), MpiError> {
        let (mut buffer, mut bytes) = (0_usize, 0 as c_int);
        // SAFETY: (void *, int *): the place of an address, and of its size.
        unsafe { call!(MPI_Buffer_detach(&raw mut buffer, &raw mut bytes)) }?;
        // SAFETY: (void *, int), the memory that was attached.
        unsafe { call!(unseen MPI_Buffer_attach(buffer, bytes)) }
    }

    /// The address of this many handles of `MPI_BYTE`.
    fn bytes_of_each(&self, members: u32) -> usize {
        let length = members as usize * self.abi.handle_bytes;
        let address = self.bytes.of(length as u64);
        for index in 0..members as usize {
            // SAFETY: the room is long enough, and all readers expect the same handles.
            unsafe { self.abi.byte.store_to(self.abi, address + index * self.abi.handle_bytes) };
        }
        address
    }

    /// Ends the program on all ranks (`MPI_Abort`).
    pub fn abort(&self, status: i32) -> ! {
        // SAFETY: (MPI_Comm, int).
        let _ = unsafe { call!(MPI_Abort(self.abi.comm_world, status)) };
        std::process::exit(status)
    }

    /// `MPI_Finalize`: collective. All requests must be complete.
    pub fn finish(self) -> Result<(), MpiError> {
        // SAFETY: no arguments.
        unsafe { call!(MPI_Finalize()) }
    }
}
