//! Functions of the C library that end a process at once, or replace its program.

use std::arch::naked_asm;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use titr_common::trace::manifest::Ended;

use super::{TO_TAKE, exits_with, order};
use crate::launched;

/// A function that is behind ours in the search order.
pub(super) struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    /// The function of this name, which ends with a NUL.
    pub(super) const fn new(name: &'static str) -> Self {
        let name = match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => name,
            Err(_) => c"",
        };
        Self { name, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The address of the function, or null.
    pub(super) fn find(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

static EXIT: Next = Next::new("_exit\0");

pub(super) fn find_all() {
    let all = [&EXIT, &EXECVE, &EXECV, &EXECVP, &EXECVPE, &FEXECVE, &EXECVEAT, &EXECL, &EXECLP, &EXECLE];
    all.into_iter().for_each(|function| {
        function.find();
    });
}

/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(status: c_int) -> ! {
    exits_with(status);
    order(Ended::ImmediateExit, TO_TAKE);
    // SAFETY: the C library's function of this name and type.
    let real: unsafe extern "C" fn(c_int) -> ! = unsafe { std::mem::transmute(EXIT.find()) };
    // SAFETY: takes a number.
    unsafe { real(status) }
}

/// # Safety
/// As the C library's function of this name.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the C library's name")]
pub(crate) unsafe extern "C" fn _Exit(status: c_int) -> ! {
    // SAFETY: another name of the same function.
    unsafe { _exit(status) }
}

type Strings = *const *const c_char;

/// A function of the `exec` family returns only if it fails.
macro_rules! exec {
    ($($next:ident $name:ident($($argument:ident: $type:ty),*))*) => {$(
        static $next: Next = Next::new(concat!(stringify!($name), "\0"));

        /// # Safety
        /// As the C library's function of this name.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            launched::left();
            order(Ended::Exec, TO_TAKE);
            // SAFETY: the C library's function of this name and type.
            let real: unsafe extern "C" fn($($type),*) -> c_int = unsafe { std::mem::transmute($next.find()) };
            // SAFETY: the caller's promise.
            let failed = unsafe { real($($argument),*) };
            launched::stayed();
            failed
        }
    )*};
}

exec! {
    EXECVE execve(path: *const c_char, arguments: Strings, environment: Strings)
    EXECV execv(path: *const c_char, arguments: Strings)
    EXECVP execvp(file: *const c_char, arguments: Strings)
    EXECVPE execvpe(file: *const c_char, arguments: Strings, environment: Strings)
    FEXECVE fexecve(file: c_int, arguments: Strings, environment: Strings)
    EXECVEAT execveat(folder: c_int, path: *const c_char, arguments: Strings, environment: Strings, flags: c_int)
}

/// Functions of as many arguments as the caller likes, which are passed on where they are, in registers and on the stack.
macro_rules! variadic_exec {
    ($($next:ident $before:ident $name:ident)*) => {$(
        static $next: Next = Next::new(concat!(stringify!($name), "\0"));

        extern "C" fn $before() -> *mut c_void {
            launched::left();
            order(Ended::Exec, TO_TAKE);
            $next.find()
        }

        /// # Safety
        /// As the C library's function of this name.
        #[cfg(target_arch = "x86_64")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() {
            // Seven words and the return address: the stack is aligned at the call.
            naked_asm!(
                "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                "call {before}",
                "mov r11, rax",
                "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                "jmp r11",
                before = sym $before,
            )
        }

        /// # Safety
        /// As the C library's function of this name.
        #[cfg(target_arch = "aarch64")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                "stp x29, x30, [sp, #-80]!",
                "stp x0, x1, [sp, #16]", "stp x2, x3, [sp, #32]", "stp x4, x5, [sp, #48]", "stp x6, x7, [sp, #64]",
                "bl {before}",
                "mov x16, x0",
                "ldp x0, x1, [sp, #16]", "ldp x2, x3, [sp, #32]", "ldp x4, x5, [sp, #48]", "ldp x6, x7, [sp, #64]",
                "ldp x29, x30, [sp], #80",
                "br x16",
                before = sym $before,
            )
        }
    )*};
}

variadic_exec! {
    EXECL before_execl execl
    EXECLP before_execlp execlp
    EXECLE before_execle execle
}
