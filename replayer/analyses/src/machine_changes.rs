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
                platform.model = Model::Ideal;
                if *network == Network::Instant {
                    platform.topology = Arc::new(ChangedLinks::instant(platform.topology));
                    platform.mpi = platform.mpi.without_overheads();
                }
            }
        }
    }
    Ok(platform)
}
