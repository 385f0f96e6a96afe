//! The nodes of communicators, for algorithms of collectives that know which members share one.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Context;
use super::communicators::{CommIndex, Communicators};
use crate::collectives::{NodeMap, Selection};
use crate::event::CollectiveKind;

/// The nodes of the members of communicators, each found once.
pub struct NodeMaps {
    /// The host of each rank; none if no algorithm needs to know.
    hosts: Vec<u32>,
    maps: Vec<Rc<NodeMap>>,
    numbers: FxHashMap<Rc<NodeMap>, NodesId>,
    /// Of each communicator; the context tells whether another one has taken its index since.
    of_communicators: FxHashMap<CommIndex, (Context, Option<NodesId>)>,
}

/// The number of a [`NodeMap`]: that of two communicators is the same if their members share nodes in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodesId(u32);

impl NodeMaps {
    /// The nodes of communicators of ranks on these `hosts`, for algorithms of a selection.
    #[must_use]
    pub fn new(selection: &Selection, hosts: impl Iterator<Item = u32> + Clone) -> Self {
        let matter = selection.knows_nodes() && NodeMap::of(hosts.clone()).is_some();
        let hosts = if matter { hosts.collect() } else { Vec::new() };
        let (numbers, of_communicators) = (FxHashMap::default(), FxHashMap::default());
        Self { hosts, maps: Vec::new(), numbers, of_communicators }
    }

    /// The nodes of the members of a communicator, if they matter to collectives of this kind.
    #[inline]
    pub fn of(&mut self, communicators: &Communicators, index: CommIndex, kind: CollectiveKind) -> Option<NodesId> {
        if self.hosts.is_empty() || !NodeMap::matters_to(kind) { None } else { self.find(communicators, index) }
    }

    fn find(&mut self, communicators: &Communicators, index: CommIndex) -> Option<NodesId> {
        let communicator = communicators.get(index);
        if let Some(&(context, nodes)) = self.of_communicators.get(&index)
            && context == communicator.context
        {
            return nodes;
        }
        let members = &communicator.members;
        let host = |member| self.hosts.get(members.rank(member).0 as usize);
        let nodes = NodeMap::of((0..members.len() as u32).map(host)).map(|map| self.number(map));
        self.of_communicators.insert(index, (communicator.context, nodes));
        nodes
    }

    fn number(&mut self, map: NodeMap) -> NodesId {
        let (map, next) = (Rc::new(map), NodesId(self.maps.len() as u32));
        let number = *self.numbers.entry(Rc::clone(&map)).or_insert(next);
        if number == next {
            self.maps.push(map);
        }
        number
    }

    /// The nodes of a number.
    pub fn get(&self, number: Option<NodesId>) -> Option<&NodeMap> {
        self.maps.get(number?.0 as usize).map(Rc::as_ref)
    }
}
