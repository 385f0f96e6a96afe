//! The environment of spawned processes.

use std::ffi::{CString, c_int};

use crate::abi::{Abi, Family};
use crate::argument::{Argument, Arguments, HandleCell, Info};
use crate::handle::{Handle, InfoKind};

/// The hints of a spawn: an `MPI_Info`, or if `MULTIPLE` an array of as many as the call's first argument says.
#[derive(Clone, Copy)]
pub struct SpawnInfos<'c, const MULTIPLE: bool> {
    call: &'c Arguments<'c>,
    at: usize,
}

/// The hints that a spawn is made with in place of the program's own. They have to live until the call has returned.
#[derive(Debug)]
pub struct ChangedInfos {
    /// Keeps the objects that the handles below mean.
    _owned: Vec<OwnedInfo>,
    /// The handles as MPI stores them, each as long as the ABI says.
    _stored: Vec<u8>,
}

impl<const MULTIPLE: bool> SpawnInfos<'_, MULTIPLE> {
    /// Makes the call give the processes that it starts this environment variable, in addition to the program's hints:
    /// to be called at the root, before the call. `None` if the library has no such hint, or does not accept one of
    /// this length.
    pub fn with_variable(&self, name: &str, value: &str) -> Option<ChangedInfos> {
        let abi = self.call.abi;
        // Open MPI has the hint `env` (MPI_Comm_spawn(3)).
        if abi.family != Family::OpenMpi {
            return None;
        }
        let count = if MULTIPLE { usize::try_from(self.call.word(0) as i32).ok()? } else { 1 };
        let address = self.call.word(self.at);
        let mut owned = Vec::with_capacity(count);
        let mut stored = vec![0_u8; count * abi.handle_bytes];
        for index in 0..count {
            let info = match MULTIPLE {
                // SAFETY: at the root the argument points to `count` handles (MPI 4.0 §11.8.3).
                true => unsafe { Handle::<InfoKind>::load_from(abi, address + index * abi.handle_bytes) },
                false => Info::from_raw(address),
            };
            let changed = OwnedInfo::with_variable(abi, info, name, value)?;
            // SAFETY: there is room for `count` handles.
            unsafe { changed.0.get(abi).store_to(abi, stored.as_mut_ptr() as usize + index * abi.handle_bytes) };
            owned.push(changed);
        }
        let word = if MULTIPLE { stored.as_ptr() as usize } else { owned.first()?.0.get(abi).raw() };
        self.call.set_word(self.at, word);
        Some(ChangedInfos { _owned: owned, _stored: stored })
    }
}

impl<'c, const MULTIPLE: bool> Argument<'c> for SpawnInfos<'c, MULTIPLE> {
    const TYPE: &'static str = if MULTIPLE { "MPI_Info*" } else { "MPI_Info" };
    fn read(call: &'c Arguments<'c>, at: usize) -> Self {
        Self { call, at }
    }
}

/// An info object that is freed when the value is dropped.
#[derive(Debug)]
struct OwnedInfo(HandleCell<InfoKind>);

/// The hint of Open MPI's spawn for the environment: variables, a line each.
const ENVIRONMENT: &str = "env";
/// `MPI_MAX_INFO_VAL` of Open MPI, which counts the zero at the end. A longer value is an error that ends the program.
const LONGEST: usize = 256;

impl OwnedInfo {
    /// The hints `info` with a variable for the environment of new processes; `None` if there is no room for one.
    fn with_variable(abi: &Abi, info: Info, name: &str, value: &str) -> Option<Self> {
        let mut cell = HandleCell::empty();
        let made = if info == abi.info_null {
            // SAFETY: (MPI_Info *).
            unsafe { call!(MPI_Info_create(cell.address())) }
        } else {
            // SAFETY: (MPI_Info, MPI_Info *), a live object as the program is about to give it to MPI.
            unsafe { call!(MPI_Info_dup(info, cell.address())) }
        };
        let new = made.ok().map(|()| Self(cell))?;
        let key = CString::new(ENVIRONMENT).ok()?;
        let (mut room, mut found) = ([0_u8; LONGEST + 1], 0 as c_int);
        let length = LONGEST as c_int - 1;
        // SAFETY: (MPI_Info, const char *, int, char *, int *), with room for the text and its zero.
        unsafe { call!(MPI_Info_get(new.0.get(abi), key.as_ptr(), length, room.as_mut_ptr(), &raw mut found)) }.ok()?;
        let known = if found == 0 { Vec::new() } else { room.split(|&byte| byte == 0).next()?.to_vec() };
        let separator = if known.is_empty() { "" } else { "\n" };
        let text = [&known, separator.as_bytes(), name.as_bytes(), b"=", value.as_bytes()].concat();
        if text.len() >= LONGEST {
            return None;
        }
        let text = CString::new(text).ok()?;
        // SAFETY: (MPI_Info, const char *, const char *).
        unsafe { call!(MPI_Info_set(new.0.get(abi), key.as_ptr(), text.as_ptr())) }.ok()?;
        Some(new)
    }
}

impl Drop for OwnedInfo {
    fn drop(&mut self) {
        // SAFETY: (MPI_Info *), an object that MPI has made.
        let _ = unsafe { call!(MPI_Info_free(self.0.address())) };
    }
}
