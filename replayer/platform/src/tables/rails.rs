//! `[network.rails]`: several network interfaces at each host.

use std::num::NonZero;

use titr_common::units::Bytes;
use titr_document::Checked;
use titr_network::topology::{MultiRail, RailChoice, Rails, Topology};

use super::builder::Builder;
use super::network::{NetworkTable, RailChoiceName, RailsTable};

/// Rails at most: a mistyped number is refused rather than filling memory with links.
const MOST: u32 = 64;

/// Links of all rails at most.
const MOST_LINKS: u64 = 1 << 27;

/// The largest message that takes the first rail alone, if the platform does not say it.
const SMALL: Bytes = Bytes(16 << 10);

impl Builder<'_> {
    /// The machine whose rails have these topologies, or all the same one.
    pub(super) fn with_rails(
        &self,
        mut topologies: Vec<Box<dyn Topology>>,
        network: &NetworkTable,
    ) -> Checked<Box<dyn Topology>> {
        let rails = match &network.rails {
            Some(table) => self.rails(table.get_ref())?,
            None => Rails::ONE,
        };
        let Some(table) = network.rails.as_ref().filter(|_| rails.count.get() > 1) else {
            return Ok(topologies.swap_remove(0));
        };
        let links = topologies[0].links().len() as u64 * u64::from(rails.count.get());
        if links > MOST_LINKS {
            let message = format!("{links} links of all rails: a platform has at most {MOST_LINKS}");
            return Err(self.wrong(table, message));
        }
        Ok(Box::new(MultiRail::new(topologies, rails)))
    }

    pub(super) fn rails(&self, RailsTable { count, choice, small }: &RailsTable) -> Checked<Rails> {
        let Some(number) = NonZero::new(*count.get_ref()).filter(|number| number.get() <= MOST) else {
            return Err(self.wrong(count, format!("{} is not from 1 to {MOST}", count.get_ref())));
        };
        let choice = match (choice, small) {
            (RailChoiceName::Size, small) => {
                RailChoice::Size { small: small.as_ref().map_or(SMALL, |small| small.get_ref().0) }
            }
            (RailChoiceName::Rank, None) => RailChoice::Rank,
            (RailChoiceName::RoundRobin, None) => RailChoice::RoundRobin,
            (RailChoiceName::Rank | RailChoiceName::RoundRobin, Some(small)) => {
                let mistake = self.wrong(small, "messages choose their rails by size only with choice = \"size\"");
                return Err(mistake.with_help("leave `small` out, or change `choice`"));
            }
        };
        Ok(Rails { count: number, choice })
    }
}
