//! What each virtual channel did, by the names of links.

use std::io::{self, Write};

use serde::Serialize;

use titr_network::packet::ChannelFigures;
use titr_platform::Platform;

/// What a virtual channel of a link did.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelUse {
    /// The link.
    pub link: String,
    /// The channel's number there.
    pub channel: u32,
    /// Packets that it carried, in all runs.
    pub packets: u64,
    /// Part of the time that it used the link.
    #[serde(rename = "use")]
    pub utilization: f64,
    /// Packets in the queue at its end in the mean.
    pub occupancy: f64,
}

impl ChannelUse {
    /// With the name that its link has on a platform.
    #[must_use]
    pub fn new(platform: &Platform, figures: &ChannelFigures) -> Self {
        let &ChannelFigures { link, channel, packets, utilization, occupancy } = figures;
        Self { link: platform.topology.link_name(link), channel: channel.0, packets, utilization, occupancy }
    }

    /// Of all channels.
    #[must_use]
    pub fn all(platform: &Platform, figures: &[ChannelFigures]) -> Vec<Self> {
        figures.iter().map(|figures| Self::new(platform, figures)).collect()
    }
}

/// Prints them as a table.
///
/// # Errors
/// Where `out` cannot be written.
pub fn channel_table(channels: &[ChannelUse], out: &mut impl Write) -> io::Result<()> {
    let width = channels.iter().map(|channel| channel.link.chars().count()).max().unwrap_or_default().max(4);
    writeln!(out, "\n  {:<width$}  channel    packets    use  queue", "Link")?;
    for ChannelUse { link, channel, packets, utilization, occupancy } in channels {
        writeln!(out, "  {link:<width$}  {channel:>7}  {packets:>9}  {utilization:>5.3}  {occupancy:>5.2}")?;
    }
    Ok(())
}
