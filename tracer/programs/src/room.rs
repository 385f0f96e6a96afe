//! Memory for messages whose content is not used.

use std::cell::Cell;

use titr_wrappers::pmpi::Memory;

/// Memory that grows to the longest message. It is never freed: MPI may use it as long as the process lives.
#[derive(Default)]
pub(crate) struct Room {
    address: Cell<usize>,
    bytes: Cell<u64>,
}

impl Room {
    /// The address of this many bytes. Messages share them.
    pub(crate) fn of(&self, bytes: u64) -> usize {
        if bytes > self.bytes.get() || self.address.get() == 0 {
            let memory = Memory::new(bytes.max(1).next_power_of_two());
            self.address.set(memory.address());
            self.bytes.set(memory.bytes());
            std::mem::forget(memory);
        }
        self.address.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_and_stays() {
        let room = Room::default();
        let small = room.of(0);
        assert_ne!(small, 0);
        let large = room.of(5000);
        assert_eq!(room.of(8192), large);
        assert_eq!(room.of(10), large);
        assert_ne!(room.of(8193), large);
    }
}
