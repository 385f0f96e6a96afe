//! Kinds of changes of the machine.

use std::sync::Arc;

use titr_document::Mistake;

use crate::keys::Keys;
use crate::kind::{Effect, Kind, MachineChange, Network, Written};

/// Another algorithm for a collective.
pub(crate) const COLLECTIVE: Kind = Kind { name: "collective", read: collective };

/// A network on which messages take no time, or none because of others.
pub(crate) const IDEAL_NETWORK: Kind = Kind { name: "ideal-network", read: ideal_network };

fn collective(keys: &mut Keys) -> Result<Effect, Mistake> {
    let collective = keys.required("collective", Keys::text)?.into_inner();
    let algorithm = keys.required("algorithm", Keys::text)?;
    let written = Written { source: Arc::clone(&keys.source), place: algorithm.span() };
    Ok(Effect::Machine(MachineChange::Collective { collective, algorithm: algorithm.into_inner(), written }))
}

fn ideal_network(keys: &mut Keys) -> Result<Effect, Mistake> {
    let words = [("instant", Network::Instant), ("uncontended", Network::Uncontended)];
    let network = keys.choice("messages", &words)?.unwrap_or(Network::Instant);
    Ok(Effect::Machine(MachineChange::Network(network)))
}
