//! Channel dependency graphs: which channels the packets in a channel can wait for (W. J. Dally, C. L. Seitz,
//! "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks", IEEE Transactions on Computers 36(5), 1987).
//!
//! A packet that takes one channel and then another holds the first while it waits for the second. If these
//! dependencies have no cycle, packets cannot deadlock. Routes whose dependencies have a cycle are distributed over
//! **layers** without cycles, each with its own virtual channels (T. Skeie, O. Lysne, I. Theiss, "Layered Shortest Path
//! (LASH) Routing in Irregular System Area Networks", IPDPS 2002): a route goes to the first layer in which it closes
//! no cycle.

use rustc_hash::FxHashSet;

use super::ChannelId;

/// Layers of routes, none of which has a cycle of dependencies.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers {
    layers: Vec<Dependencies>,
    /// The first cycle that made a second layer necessary: a list of channels, each of which waits for the next, and
    /// the last for the first. None if the routes have no cycle.
    pub cycle: Vec<ChannelId>,
}

/// Dependencies without a cycle.
#[derive(Clone, Debug, Default)]
struct Dependencies {
    all: FxHashSet<(ChannelId, ChannelId)>,
    /// For each channel, the channels that a packet in it can wait for.
    next: Vec<Vec<ChannelId>>,
}

impl Layers {
    /// Adds a route, and returns the number of its layer.
    pub(crate) fn add(&mut self, route: &[ChannelId]) -> u32 {
        let mut layer = 0;
        loop {
            if layer == self.layers.len() {
                self.layers.push(Dependencies::default());
            }
            match self.layers[layer].add(route) {
                Ok(()) => return layer as u32,
                Err(cycle) if self.cycle.is_empty() => self.cycle = cycle,
                Err(_) => {}
            }
            layer += 1;
        }
    }

    /// The number of layers, at least one.
    pub(crate) fn count(&self) -> u32 {
        self.layers.len().max(1) as u32
    }
}

impl Dependencies {
    /// Adds the dependencies of a route that takes no channel twice. If they would close a cycle, adds none of them and
    /// returns the cycle.
    fn add(&mut self, route: &[ChannelId]) -> Result<(), Vec<ChannelId>> {
        let mut added = Vec::new();
        for pair in route.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            if !self.all.insert((from, to)) {
                continue;
            }
            let channels = from.index().max(to.index()) + 1;
            if self.next.len() < channels {
                self.next.resize(channels, Vec::new());
            }
            self.next[from.index()].push(to);
            added.push((from, to));
            if let Some(cycle) = self.path(to, from) {
                for (from, to) in added {
                    self.all.remove(&(from, to));
                    self.next[from.index()].retain(|&next| next != to);
                }
                return Err(cycle);
            }
        }
        Ok(())
    }

    /// The channels of a path of dependencies from one channel to another.
    fn path(&self, from: ChannelId, to: ChannelId) -> Option<Vec<ChannelId>> {
        let mut seen = FxHashSet::from_iter([from]);
        // Each channel of the path, with the channels after it that are still to be tried.
        let mut path = vec![(from, self.next[from.index()].iter())];
        while let Some((channel, after)) = path.last_mut() {
            if *channel == to {
                return Some(path.into_iter().map(|(channel, _)| channel).collect());
            }
            match after.find(|&&next| seen.insert(next)) {
                Some(&next) => path.push((next, self.next[next.index()].iter())),
                None => drop(path.pop()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channels(numbers: &[u32]) -> Vec<ChannelId> {
        numbers.iter().map(|&number| ChannelId(number)).collect()
    }

    /// Around a ring of three, each route takes two channels: the last closes the cycle.
    #[test]
    fn a_ring_needs_two_layers() {
        let mut layers = Layers::default();
        assert_eq!((layers.count(), &layers.cycle[..]), (1, &[][..]));
        assert_eq!(layers.add(&channels(&[0, 1])), 0);
        assert_eq!(layers.add(&channels(&[1, 2])), 0);
        assert_eq!((layers.count(), &layers.cycle[..]), (1, &[][..]));
        assert_eq!(layers.add(&channels(&[2, 0])), 1);
        assert_eq!((layers.count(), &layers.cycle[..]), (2, &channels(&[0, 1, 2])[..]));
    }

    #[test]
    fn a_route_that_is_refused_leaves_nothing_behind() {
        let mut layers = Layers::default();
        layers.add(&channels(&[0, 1]));
        assert_eq!(layers.add(&channels(&[2, 1, 0])), 1);
        // Would close a cycle with 2 before 1, if that had stayed in the first layer.
        assert_eq!(layers.add(&channels(&[1, 2])), 0);
    }
}
