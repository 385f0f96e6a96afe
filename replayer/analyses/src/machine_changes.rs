//! Applies hypotheses about the machine to a platform.

use std::sync::Arc;

use titr_document::Mistake;
use titr_hypotheses::{MachineChange, Network};
use titr_network::topology::ChangedLinks;
use titr_platform::{Model, Platform};

/// Changes a platform, change after change.
///
/// # Errors
/// If a change names a collective or an algorithm that there is not.
pub fn apply_machine_changes(changes: &[MachineChange], mut platform: Platform) -> Result<Platform, Mistake> {
    for change in changes {
        match change {
            MachineChange::Collective { collective, algorithm, written } => {
                let forced = platform.mpi.collectives.force(collective, algorithm);
                forced.map_err(|unknown| written.mistake(unknown.to_string()))?;
            }
            MachineChange::Network(network) => {
                platform = match network {
                    Network::Instant => instant_network(platform),
                    Network::Uncontended => Platform { model: Model::Ideal, ..platform },
                };
            }
        }
    }
    Ok(platform)
}

/// The platform with a network on which messages take no time, and MPI calls that cost nothing.
pub(crate) fn instant_network(platform: Platform) -> Platform {
    Platform {
        model: Model::Ideal,
        topology: Arc::new(ChangedLinks::instant(platform.topology)),
        mpi: platform.mpi.without_overheads(),
        ..platform
    }
}
