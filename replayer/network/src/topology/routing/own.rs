//! A routing that a router graph brings along. A topology with a routing of its own needs no registration: it gives its
//! [`RouterGraph`] the routing ([`RouterGraph::with_routing`]), and calls go through a virtual table.

use std::fmt::{self, Debug};
use std::sync::Arc;

use super::{BuildRouting, Header, OutputVc, Routing, RoutingOptions, Unroutable};
use crate::topology::{ChannelIndex, PortIndex, RouterGraph, RouterId};

/// The routing that a router graph brings along.
#[derive(Clone, Debug)]
pub struct OwnRouting(Arc<dyn ErasedRouting>);

/// Makes the routing of a graph, by the options that are asked for.
#[derive(Clone)]
pub(in crate::topology) struct RoutingMaker(Arc<Make>);

type Make = dyn Fn(&RoutingOptions) -> Result<OwnRouting, Unroutable> + Send + Sync;

impl RoutingMaker {
    pub fn new<R: Routing + Debug + Send + Sync + 'static>(
        make: impl Fn(&RoutingOptions) -> Result<R, Unroutable> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(move |options| Ok(OwnRouting(Arc::new(make(options)?)))))
    }
}

impl Debug for RoutingMaker {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("RoutingMaker")
    }
}

type Room<'a> = &'a dyn Fn(PortIndex, ChannelIndex) -> u32;

/// The methods of [`Routing`], such that they can be called through a virtual table.
trait ErasedRouting: Debug + Send + Sync {
    fn virtual_channels(&self) -> u32;
    fn state_words(&self) -> usize;
    fn has_rings(&self) -> bool;
    fn has_alternatives(&self) -> bool;
    fn depart(&self, from: RouterId, header: &Header, state: &mut [i32]);
    fn fixed_output(&self, at: RouterId, header: &Header, state: &[i32]) -> Option<PortIndex>;
    fn choose_channel(&self, port: PortIndex, arrival: Option<OutputVc>, room: Room) -> Option<OutputVc>;
    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        state: &[i32],
        arrival: Option<OutputVc>,
        room: Room,
    ) -> Option<OutputVc>;
    fn hop(&self, port: PortIndex, to: RouterId, state: &mut [i32]);
}

impl<R: Routing + Debug + Send + Sync> ErasedRouting for R {
    fn virtual_channels(&self) -> u32 {
        Routing::virtual_channels(self)
    }

    fn state_words(&self) -> usize {
        Routing::state_words(self)
    }

    fn has_rings(&self) -> bool {
        Routing::has_rings(self)
    }

    fn has_alternatives(&self) -> bool {
        Routing::has_alternatives(self)
    }

    fn depart(&self, from: RouterId, header: &Header, state: &mut [i32]) {
        Routing::depart(self, from, header, state);
    }

    fn fixed_output(&self, at: RouterId, header: &Header, state: &[i32]) -> Option<PortIndex> {
        Routing::fixed_output(self, at, header, state)
    }

    fn choose_channel(&self, port: PortIndex, arrival: Option<OutputVc>, room: Room) -> Option<OutputVc> {
        Routing::choose_channel(self, port, arrival, room)
    }

    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        state: &[i32],
        arrival: Option<OutputVc>,
        room: Room,
    ) -> Option<OutputVc> {
        Routing::choose(self, at, header, state, arrival, room)
    }

    fn hop(&self, port: PortIndex, to: RouterId, state: &mut [i32]) {
        Routing::hop(self, port, to, state);
    }
}

impl BuildRouting for OwnRouting {
    const NAMES: &'static [&'static str] = &[];

    fn suits(graph: &RouterGraph) -> bool {
        graph.routing.is_some()
    }

    fn new(graph: &RouterGraph, options: &RoutingOptions) -> Result<Self, Unroutable> {
        match &graph.routing {
            Some(RoutingMaker(make)) => make(options),
            None => Err(Unroutable::Impossible("the network brings no routing along")),
        }
    }
}

impl Routing for OwnRouting {
    fn virtual_channels(&self) -> u32 {
        self.0.virtual_channels()
    }

    fn state_words(&self) -> usize {
        self.0.state_words()
    }

    fn has_rings(&self) -> bool {
        self.0.has_rings()
    }

    fn has_alternatives(&self) -> bool {
        self.0.has_alternatives()
    }

    fn depart(&self, from: RouterId, header: &Header, state: &mut [i32]) {
        self.0.depart(from, header, state);
    }

    fn fixed_output(&self, at: RouterId, header: &Header, state: &[i32]) -> Option<PortIndex> {
        self.0.fixed_output(at, header, state)
    }

    fn choose_channel(
        &self,
        port: PortIndex,
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        self.0.choose_channel(port, arrival, &room)
    }

    fn choose(
        &self,
        at: RouterId,
        header: &Header,
        state: &[i32],
        arrival: Option<OutputVc>,
        room: impl Fn(PortIndex, ChannelIndex) -> u32,
    ) -> Option<OutputVc> {
        self.0.choose(at, header, state, arrival, &room)
    }

    fn hop(&self, port: PortIndex, to: RouterId, state: &mut [i32]) {
        self.0.hop(port, to, state);
    }
}
