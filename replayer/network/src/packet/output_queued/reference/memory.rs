//! Memories in the reference, whose packets are counted anew each time.

use super::{Place, Reference};
use crate::packet::{Buffer, BufferSharing, OutputId, QueueId};
use crate::topology::{ChannelIndex, RouterId, Routing};

impl<R: Routing> Reference<'_, R> {
    /// Whether a memory has room for a packet.
    pub(super) fn admits(&self, Place { router, input, queue, .. }: Place) -> bool {
        let Some(Buffer { size, sharing, .. }) = self.buffer() else { return true };
        let places = size.0 / self.spec.parameters.packet_bytes().0;
        let pauses = self.pauses();
        let is_same = |place: &&Place| if pauses { place.input == input } else { place.queue == queue };
        let here: Vec<&Place> = self.held.iter().filter(|place| place.router == router).collect();
        let mine = here.iter().copied().filter(is_same).count() as u64;
        let accounts = self.accounts(router);
        match sharing {
            BufferSharing::Partitioned => mine < places / accounts.len() as u64,
            BufferSharing::Shared { alpha } if pauses => {
                let shared: u64 = accounts
                    .iter()
                    .map(|&(input, _)| {
                        let taken = here.iter().filter(|place| place.input == input).count() as u64;
                        taken.saturating_sub(1)
                    })
                    .sum();
                mine == 0 || ((mine - 1) as f64) < alpha * (places - accounts.len() as u64 - shared) as f64
            }
            BufferSharing::Shared { alpha } => (mine as f64) < alpha * (places - here.len() as u64) as f64,
        }
    }

    /// The inputs, or the virtual channels of ports, of a switch.
    fn accounts(&self, router: RouterId) -> Vec<(QueueId, Option<(OutputId, ChannelIndex)>)> {
        let state = &self.layout.routers[router.index()];
        if self.pauses() {
            return (state.first_queue.0..).take(state.queues as usize).map(|input| (QueueId(input), None)).collect();
        }
        let ports = self.spec.graph.ports(router);
        let channels = |place: usize| match ports.get(place) {
            Some(port) if port.to.is_none() => 0,
            Some(_) => self.spec.virtual_channels(),
            None => 1,
        };
        let outputs = state.all_outputs().enumerate();
        let all = outputs
            .flat_map(|(place, output)| (0..channels(place)).map(move |channel| (output, ChannelIndex(channel))));
        all.map(|queue| (QueueId(0), Some(queue))).collect()
    }

    /// No memory ever has more packets than fit.
    pub(super) fn check_memories(&self) {
        let Some(Buffer { size, .. }) = self.buffer() else { return };
        for router in self.spec.graph.routers() {
            let held = self.held.iter().filter(|place| place.router == router).count() as u64;
            assert!(held * self.spec.parameters.packet_bytes().0 <= size.0, "{held} packets in {} bytes", size.0);
        }
    }
}
