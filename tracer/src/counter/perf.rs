//! Instructions of the calling thread, counted by the processor through `perf_event_open(2)`.
//!
//! If the kernel permits it, the thread reads the counter itself, with one instruction and a few numbers in a page that
//! it shares with the kernel; otherwise each reading is a system call.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{Ordering, compiler_fence};

use crate::descriptors::place_high;

/// The part of `struct perf_event_attr` that every kernel knows (`PERF_ATTR_SIZE_VER0`).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// Bits of `flags`. Not `inherit`: computation of each thread is kept apart.
const PINNED: u64 = 1 << 2;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// `PERF_EVENT_IOC_ID`: `_IOR('$', 7, __u64 *)`.
const EVENT_ID: libc::c_ulong = 0x8008_2407;

/// The head of `struct perf_event_mmap_page`.
#[repr(C)]
struct Page {
    version: u32,
    compat_version: u32,
    lock: u32,
    index: u32,
    offset: i64,
    time_enabled: u64,
    time_running: u64,
    capabilities: u64,
    pmc_width: u16,
}

/// `cap_user_rdpmc`.
const MAY_READ: u64 = 1 << 2;

/// The event that is counted.
#[derive(Clone, Copy)]
pub(super) struct Event {
    kind: u32,
    config: u64,
}

impl Event {
    /// Instructions in user mode: `PERF_TYPE_HARDWARE`, `PERF_COUNT_HW_INSTRUCTIONS`.
    pub(super) const INSTRUCTIONS: Self = Self { kind: 0, config: 1 };
    /// CPU time, which every kernel counts: `PERF_TYPE_SOFTWARE`, `PERF_COUNT_SW_TASK_CLOCK`.
    #[cfg(test)]
    const TASK_CLOCK: Self = Self { kind: 1, config: 1 };
}

pub(super) struct Perf {
    /// Absent only while the value is dropped.
    file: Option<File>,
    /// The event's number, which distinguishes its descriptor from that of another file.
    id: u64,
    page: Option<NonNull<Page>>,
    started: u64,
}

impl Perf {
    /// Opens a counter, and sees to it that it counts: some virtual machines have events that stay at zero.
    pub(super) fn of_this_thread(event: Event) -> io::Result<Self> {
        let attributes = Attributes {
            kind: event.kind,
            size: size_of::<Attributes>() as u32,
            config: event.config,
            // Always on the processor, or an error: never a share of the time, scaled up.
            flags: PINNED | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..Attributes::default()
        };
        // SAFETY: the attributes are a live local of the size they say. This thread, any core, no group.
        let file = unsafe {
            let none = -1;
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, none, none, CLOSE_ON_EXEC)
        };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the system call has just returned this descriptor, which has no other owner.
        let file = place_high(unsafe { File::from_raw_fd(file as i32) })?;
        let id = id(&file).ok_or_else(io::Error::last_os_error)?;
        let page = map(&file);
        let mut perf = Self { file: Some(file), id, page, started: 0 };
        let first = perf.count_in_kernel()?;
        (0..1000).for_each(|number| {
            std::hint::black_box(number);
        });
        if perf.count_in_kernel()? == first {
            return Err(io::Error::other("the counter stands still"));
        }
        perf.start();
        Ok(perf)
    }

    pub(super) fn start(&mut self) {
        self.started = self.count();
    }

    /// The count since [`start`](Self::start).
    pub(super) fn stop(&mut self) -> u64 {
        self.count().saturating_sub(self.started)
    }

    /// The count. If the program has closed the file in the meantime, it does not change.
    fn count(&self) -> u64 {
        self.count_here().or_else(|| self.count_in_kernel().ok()).unwrap_or(self.started)
    }

    /// The count, without asking the kernel, if it is on a counter that may be read: the loop that `perf_event.h`
    /// prescribes for its page.
    fn count_here(&self) -> Option<u64> {
        let page = self.page?.as_ptr();
        loop {
            // SAFETY: the page is mapped for as long as `self` lives; the kernel writes to it, hence volatile.
            unsafe {
                let lock = (&raw const (*page).lock).read_volatile();
                compiler_fence(Ordering::SeqCst);
                let index = (&raw const (*page).index).read_volatile();
                let offset = (&raw const (*page).offset).read_volatile();
                let width = (&raw const (*page).pmc_width).read_volatile();
                let capabilities = (&raw const (*page).capabilities).read_volatile();
                if capabilities & MAY_READ == 0 || index == 0 {
                    return None;
                }
                let count = offset.wrapping_add(sign_extend(rdpmc(index - 1), width));
                compiler_fence(Ordering::SeqCst);
                if (&raw const (*page).lock).read_volatile() == lock {
                    return Some(count as u64);
                }
            }
        }
    }

    fn count_in_kernel(&self) -> io::Result<u64> {
        let mut count = [0; 8];
        // A pinned event that has lost its counter reads as an empty file.
        self.own_file().ok_or(io::ErrorKind::NotFound)?.read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

impl Perf {
    /// The event's file, if its descriptor is still that.
    fn own_file(&self) -> Option<&File> {
        self.file.as_ref().filter(|file| id(file) == Some(self.id))
    }
}

impl Drop for Perf {
    fn drop(&mut self) {
        if self.own_file().is_none() {
            // The number belongs to another file, whose owner will close it.
            self.file.take().map(File::into_raw_fd);
        }
        if let Some(page) = self.page {
            // SAFETY: mapped by `map` with this length, and not used after.
            unsafe { libc::munmap(page.as_ptr().cast(), page_size()) };
        }
    }
}

/// The number of the event that a descriptor is; `None` if it is something else. All events are one inode.
fn id(file: &File) -> Option<u64> {
    let mut id = 0_u64;
    // SAFETY: the request writes a number to a live local, and every other file refuses it.
    (unsafe { libc::ioctl(file.as_raw_fd(), EVENT_ID, &raw mut id) } == 0).then_some(id)
}

/// Maps the page that goes with a counter; there may be none, or too many.
fn map(file: &File) -> Option<NonNull<Page>> {
    // SAFETY: a new mapping of a file that is open; nothing else is touched.
    let page =
        unsafe { libc::mmap(ptr::null_mut(), page_size(), libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if page == libc::MAP_FAILED { None } else { NonNull::new(page.cast()) }
}

fn page_size() -> usize {
    // SAFETY: takes a number, returns a number.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

/// A counter of `width` bits, as a number with its sign.
fn sign_extend(count: u64, width: u16) -> i64 {
    let unused = 64_u32.saturating_sub(u32::from(width)).min(63);
    (count << unused) as i64 >> unused
}

#[cfg(target_arch = "x86_64")]
unsafe fn rdpmc(index: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the caller has seen that the kernel allows the instruction for this counter.
    unsafe {
        std::arch::asm!("rdpmc", in("ecx") index, out("eax") low, out("edx") high, options(nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Elsewhere the kernel does not say `cap_user_rdpmc` unless it was asked to, and it was not.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn rdpmc(_: u32) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use titr_test_support::cannot_run;

    use super::super::tests;
    use super::*;

    #[test]
    fn the_structures_are_those_of_the_header() {
        assert_eq!(size_of::<Attributes>(), 64);
        assert_eq!(std::mem::offset_of!(Attributes, flags), 40);
        assert_eq!(std::mem::offset_of!(Page, capabilities), 40);
        assert_eq!(std::mem::offset_of!(Page, pmc_width), 48);
    }

    #[test]
    fn a_counter_narrower_than_a_word_keeps_its_sign() {
        assert_eq!(sign_extend(0xffff_ffff_ffff, 48), -1);
        assert_eq!(sign_extend(0x7fff_ffff_ffff, 48), 0x7fff_ffff_ffff);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
    }

    /// Runs the code for instructions on an event that needs no hardware. Fails if a start does not forget the count before
    /// it, or a stop does not count.
    #[test]
    fn an_event_counts_between_start_and_stop_only() {
        let mut perf = match Perf::of_this_thread(Event::TASK_CLOCK) {
            Ok(perf) => perf,
            Err(error) => return cannot_run(format_args!("the kernel refuses perf events: {error}")),
        };
        let (counted, bounds) = tests::measure(&mut perf, Perf::start, |perf| perf.stop() as f64);
        assert!(bounds.allow(counted), "{counted} {bounds:?}");
    }

    #[test]
    #[ignore = "needs a hardware counter, which virtual machines lack: ci/test hardware"]
    fn instructions_are_counted() {
        let mut perf = Perf::of_this_thread(Event::INSTRUCTIONS).unwrap();
        perf.start();
        (0..1_000_000).for_each(|number| {
            std::hint::black_box(number);
        });
        let counted = perf.stop();
        assert!((1_000_000..1_000_000_000).contains(&counted), "{counted}");
    }
}
