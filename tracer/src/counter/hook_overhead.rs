//! The volume that a hook adds between two calls.
//!
//! A part of each hook is between two readings of the counter, and its cost depends on its surroundings: in a sequence
//! of calls without computation, a processor overlaps consecutive hooks, and predicts all their branches. Programs
//! compute between their calls, so a hook is measured by what it adds to computation: short bursts of work, once
//! without interruption and once with a call after each.

use std::hint::black_box;

use titr_wrappers::Abi;

/// Number of measurements, and number of bursts in each.
const BATCHES: usize = 31;
const BURSTS: u32 = 100;
/// Steps of a burst: some 0.4 µs.
const STEPS: u32 = 250;

/// In instructions. `call` makes a call, which adds the computation before it to the result of `counted`.
pub(crate) fn measure(call: impl Fn(), counted: impl Fn() -> f64) -> f64 {
    let mut state = 1;
    let mut batches = [0.0; BATCHES];
    for batch in &mut batches {
        call();
        counted();
        for _ in 0..BURSTS {
            state = burst(state);
        }
        call();
        let at_once = counted();
        for _ in 0..BURSTS {
            state = burst(state);
            call();
        }
        *batch = (counted() - at_once) / f64::from(BURSTS - 1);
    }
    black_box(state);
    batches.sort_by(f64::total_cmp);
    // The median: some batches are interrupted.
    batches[BATCHES / 2].max(0.0)
}

/// A call to be measured, which moves no data.
pub(crate) fn send_to_nobody(abi: &Abi) {
    unsafe extern "C" {
        fn PMPI_Send(buf: usize, count: usize, datatype: usize, dest: usize, tag: usize, comm: usize) -> usize;
    }
    let (datatype, dest, comm) = (abi.byte.raw(), abi.proc_null as usize, abi.comm_self.raw());
    // SAFETY: our own function of this name (`MPI_Send` may be another tool's), which takes its arguments as words.
    unsafe { PMPI_Send(0, 0, datatype, dest, 0, comm) };
}

/// Knuth's MMIX generator: each step depends on the last and each burst on the one before, so consecutive bursts cannot
/// overlap.
#[inline(never)]
fn burst(mut state: u64) -> u64 {
    for _ in 0..STEPS {
        state = black_box(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
    }
    state
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_a_call_adds_is_found_whatever_the_work_is() {
        let calls = Cell::new(0_u32);
        // The work counts for nothing here, and each call for 40.
        let counted = || 40.0 * f64::from(calls.take());
        assert_eq!(measure(|| calls.set(calls.get() + 1), counted), 40.0);
    }
}
