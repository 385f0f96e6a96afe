//! The summary of a machine as text.

use std::io::{self, Write};

use titr_common::format::{count, counted, plural, significant, uncertain, volume};
use titr_common::terminal::on_one_line;
use titr_common::units::Bytes;

use super::{BisectionOfMachine, FailureOfMachine, MachineSummary};

impl MachineSummary {
    /// Prints the summary.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { hosts, cores, .. } = self;
        row(out, "Machine", &format!("{}; {} model", self.topology, self.model))?;
        row(
            out,
            "Hosts",
            &format!("{}, {} {}", count((*hosts).into()), count(*cores), plural(*cores, "core", "cores")),
        )?;
        if let (Some(routers), Some(cables)) = (self.routers, self.cables) {
            let noun = plural(cables, "cable", "cables");
            row(out, "Routers", &format!("{}; {} {noun}", count(routers), count(cables)))?;
        }
        if let Some(why) = &self.no_routers {
            row(out, "Routers", &format!("unknown: {why}"))?;
        }
        let width = self.links.iter().map(|class| class.class.len()).max().unwrap_or_default();
        let numbers = self.links.iter().map(|class| count(class.links).len()).max().unwrap_or_default();
        for (number, class) in self.links.iter().enumerate() {
            let (links, latency) = (count(class.links), uncertain(class.latency, None));
            let what = format!("{:<width$}  {links:>numbers$}  {}, {latency}", class.class, rate(class.bandwidth));
            row(out, if number == 0 { "Links" } else { "" }, &what)?;
        }
        let routes = &self.routes;
        let sample =
            if routes.is_complete { String::new() } else { format!(", of {} pairs of hosts", count(routes.pairs)) };
        let latencies = (uncertain(routes.longest_latency, None), uncertain(routes.mean_latency, None));
        if routes.pairs > 0 {
            let links = counted(routes.longest, "link", "links");
            row(out, "Routes", &format!("at most {links}, mean {}{sample}", significant(routes.mean, 4)))?;
            row(out, "Latency", &format!("at most {}, mean {}", latencies.0, latencies.1))?;
        }
        if let Some(distances) = self.distances.as_ref().filter(|_| *hosts > 1) {
            let diameter = match distances.is_complete {
                true => distances.diameter.to_string(),
                false => format!("{} or more, from {} routers", distances.diameter, count(distances.sources.into())),
            };
            let mean = significant(distances.mean, 4);
            row(out, "Diameter", &format!("{diameter}; mean distance of routers {mean}"))?;
        }
        if let Some(bisection) = &self.bisection {
            row(out, "Bisection", &bisection.in_words())?;
        }
        if let Some(packets) = &self.packets {
            let channels = counted(packets.virtual_channels, "virtual channel", "virtual channels");
            let rings = if packets.has_rings { ", bubbles in rings" } else { "" };
            row(
                out,
                "Packets",
                &format!("free of deadlock with {channels}{rings}; cycles of {}", uncertain(packets.cycle, None)),
            )?;
        }
        if let Some(packets) = self.packets.as_ref().filter(|packets| packets.switch != "input-queued") {
            row(out, "Switches", &packets.switch)?;
        }
        for (number, failure) in self.failures.iter().enumerate() {
            row(out, if number == 0 { "Failures" } else { "" }, &failure.in_words())?;
        }
        for finding in &self.findings {
            row(out, "Mistake", finding)?;
        }
        Ok(())
    }
}

impl FailureOfMachine {
    fn in_words(&self) -> String {
        let from = if self.at.0 > 0.0 { format!(" from {}", uncertain(self.at, None)) } else { String::new() };
        let until = self.until.map(|until| format!(" until {}", uncertain(until, None))).unwrap_or_default();
        format!("{}{from}{until}", self.what)
    }
}

impl BisectionOfMachine {
    fn in_words(&self) -> String {
        let rate = rate(self.bandwidth);
        let part = self.part_of_injection.map(|part| {
            let percent = significant(100.0 * part, 3);
            format!(", {percent} % of what half the hosts can send")
        });
        let part = part.unwrap_or_default();
        match self.is_exact {
            true => format!("{rate} each way{part}"),
            false => {
                format!("at most {rate} each way{part} (the smallest of {} divisions)", count(self.divisions.into()))
            }
        }
    }
}

fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", volume(Bytes(bytes_per_second as u64)))
}

fn row(out: &mut impl Write, name: &str, what: &str) -> io::Result<()> {
    writeln!(out, "{name:<11}{}", on_one_line(what))
}
