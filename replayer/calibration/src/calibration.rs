//! The complete calibration, from measurements to a platform file.

use std::path::Path;

use thiserror::Error;
use titr_common::collectives::Library;
use titr_common::units::Speed;
use titr_network::topology::HostId;
use titr_platform::{Platform, PlatformError};
use titr_simulation::SimulationError;

use crate::benchmarks::{PredictionError, compare, errors};
use crate::cluster::comments;
use crate::cluster::{Hosts, cluster, figures};
use crate::compute::ComputeRate;
use crate::directions::Duplexity;
use crate::fit::{Fit, NoPingPong};
use crate::host_links::{Direction, HostLinks};
use crate::measurements::Measurements;
use crate::noise::Confidence;
use crate::noise::Noise;
use crate::residuals::{Misses, Residuals, contradictions, error_of_model, residuals};
use crate::topology::NamedTopology;

/// A platform that was fitted to measurements.
#[derive(Debug)]
pub struct Calibration {
    /// The platform file.
    pub cluster: String,
    /// Sentences for the user: contradictions between measurements and topology, and parts that were not measured.
    pub remarks: Vec<String>,
    /// The parameters.
    pub fit: Fit,
    /// The predictions for each pattern.
    pub residuals: Vec<Residuals>,
    /// The spread of the machine's times.
    pub noise: Noise,
    /// The measured times that the platform misses.
    pub misses: Misses,
}

/// A reason why there is no platform.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum CalibrationError {
    #[error(transparent)]
    Fit(#[from] NoPingPong),
    #[error("--topology {topology} has {has} hosts, and the ranks ran on {found}: {}", hosts.join(", "))]
    TooFewHosts { topology: NamedTopology, has: u64, found: usize, hosts: Vec<String> },
    #[error("--topology {topology}: {source}")]
    Topology { topology: NamedTopology, source: PlatformError },
    #[error("the results of full hosts cannot be predicted: {0}")]
    FullHosts(#[from] PredictionError),
    #[error("the patterns cannot be replayed on the fitted platform: {0}")]
    Replay(#[from] SimulationError),
}

/// Refuses a topology that has not as many hosts as were found.
///
/// # Errors
/// If so.
pub fn check_hosts(hosts: &[String], topology: &NamedTopology) -> Result<(), CalibrationError> {
    match topology.hosts() {
        Some(has) if has < hosts.len() as u64 => Err(CalibrationError::TooFewHosts {
            topology: topology.clone(),
            has,
            found: hosts.len(),
            hosts: hosts.to_vec(),
        }),
        _ => Ok(()),
    }
}

impl Calibration {
    /// Fits a platform with this topology; the hosts that were found are its first ones, in order.
    ///
    /// # Errors
    /// If there is nothing to fit to, or the topology does not suit the hosts.
    pub fn of(
        measurements: &Measurements,
        topology: &NamedTopology,
        rate: Option<&ComputeRate>,
    ) -> Result<Self, CalibrationError> {
        check_hosts(&measurements.hosts, topology)?;
        let topology = &topology.of_hosts(measurements.hosts.len() as u32, 1.0);
        let wrong = |source| CalibrationError::Topology { topology: topology.clone(), source };
        let bare = topology.alone(measurements.hosts.len() as u32).map_err(wrong)?;
        let links_between = |[one, two]: [u32; 2]| {
            let mut route = Vec::new();
            if one != two {
                bare.topology.route(HostId(one), HostId(two), &mut route);
            }
            route.len()
        };
        let of_pairs = measurements.with_pairs_alike(|one, other| links_between(one) == links_between(other));
        let fit = Fit::of(&of_pairs)?;
        let mut noise = Noise::of(measurements, &fit);
        let confidence = Confidence::of(&of_pairs, &fit)?;
        let links = match (topology, fit.duplex, fit.is_one_host) {
            (NamedTopology::Star, Duplexity::Full | Duplexity::RendezvousOneWay, false) => {
                HostLinks::of(measurements, &fit)
            }
            _ => HostLinks::alike(fit.bandwidth()),
        };
        let explained = fit.duplex != Duplexity::Full || *topology != NamedTopology::Star;
        let inside = measurements.full_hosts.fit(links.bandwidth, explained);
        let hosts = Hosts {
            links,
            inside,
            count: measurements.hosts.len() as u32,
            cores: measurements.ranks_of_a_host(),
            speed: rate.map_or(Speed { per_second: 1e9 }, ComputeRate::speed),
            speed_is: match rate {
                Some(_) => "The rate of the traced program: the median of its ranks.",
                None => "Not measured (--trace): what the tracer counts for a second where it counts time.",
            },
            regions: rate.map(ComputeRate::region_parts).unwrap_or_default(),
        };
        let collectives = Library::of_version(&measurements.mpi).unwrap_or_default().name();
        let text = |cables, noise: &Noise| cluster(&fit, &confidence, noise, &hosts, topology, cables, collectives);
        let hosts_of_pair = fit.pair.map(|rank| measurements.host_of(rank));
        let cables = links_between(hosts_of_pair).max(1) as u32;
        let mut platform = Platform::parse(Path::new("cluster.toml"), text(cables, &noise), &[]).map_err(wrong)?;
        let of_full_hosts = errors(&compare(&platform, &measurements.full_hosts.rows)?);
        let residuals = residuals(measurements, &mut platform, fit.burst.is_some())?;
        noise.model = error_of_model(&residuals);
        let misses = Misses::of(&residuals);
        let mut remarks: Vec<String> = misses.are_too_many().then(|| misfit(misses, &residuals)).into_iter().collect();
        remarks.extend(unlike_links(&hosts.links, &measurements.hosts));
        remarks.extend(contradictions(&residuals, fit.bandwidth()));
        remarks.extend(not_measured(&fit));
        remarks.extend_from_slice(&hosts.inside.remarks);
        let errors = (&residuals[..], &of_full_hosts[..]);
        let cluster = comments(measurements, topology, &fit, errors, &remarks, rate) + &text(cables, &noise);
        Ok(Self { cluster, remarks, fit, residuals, noise, misses })
    }
}

/// A sentence on a platform that does not fit: the patterns that it misses, and what to measure in its place.
fn misfit(misses: Misses, residuals: &[Residuals]) -> String {
    let count = |of: &Residuals| of.points.iter().filter(|point| point.is_missed()).count();
    let mut worst: Vec<(usize, &Residuals)> = residuals.iter().map(|of| (count(of), of)).collect();
    worst.sort_by_key(|&(missed, _)| std::cmp::Reverse(missed));
    let patterns = worst.iter().take_while(|(missed, _)| *missed > 0).take(3);
    let patterns: Vec<String> =
        patterns.map(|(missed, of)| format!("{} ({missed} of {})", of.title(), of.points.len())).collect();
    format!(
        "this platform does not fit: it misses {} of {} measured times by more than 15 %, most of them of {}. Do not trust \
         predictions by it. Measure again with nothing else running and more --seconds, with the --topology that the \
         machine has; if the misfit stays, measure hosts that are connected alike",
        misses.missed,
        misses.of,
        patterns.join(", ")
    )
}

/// A sentence on the hosts whose links are not like most. `names` are the hosts' names.
fn unlike_links(links: &HostLinks, names: &[String]) -> Option<String> {
    let named = |(host, way, bandwidth): &(u32, Direction, f64)| {
        let name = names.get(*host as usize).map_or("?", String::as_str);
        let does = match way {
            Direction::Up => "sends",
            Direction::Down => "receives",
        };
        format!("{name} {does} at {} Mbit/s", figures(bandwidth * 8e-6))
    };
    let some: Vec<String> = links.unlike.iter().take(4).map(named).collect();
    let more = if links.unlike.len() > some.len() { ", and others ([[network.link]])" } else { "" };
    let most = figures(links.bandwidth * 8e-6);
    (!some.is_empty()).then(|| format!("most links have {most} Mbit/s, but {}{more}", some.join(", ")))
}

/// Samples that differ by so much of their median were disturbed.
const DISTURBED: f64 = 0.1;

/// Sentences on parts of the platform that are not as a user may take them.
fn not_measured(fit: &Fit) -> Vec<String> {
    let mut remarks = Vec::new();
    if fit.is_one_host {
        remarks.push(
            "all ranks are on one host: bandwidth and latency are those of its memory, and say nothing of a network"
                .to_owned(),
        );
    } else if fit.loopback.is_none() {
        remarks.push(
            "no two ranks are on one host, or there was no time for large messages between them: messages within a host were not \
             measured"
                .to_owned(),
        );
    }
    if fit.noise > DISTURBED {
        remarks.push(format!(
            "samples of one size typically differ by {:.0} % from their median: measure again with nothing else running",
            fit.noise * 100.0
        ));
    }
    if !fit.is_one_host && fit.burst.is_none() && fit.fastest > 1.5 {
        remarks.push(
            "some messages are faster alone than the bandwidth that large ones have (a limiter that lets bursts pass does that): \
             one alone will be faster than predicted, as many in a row are not"
                .to_owned(),
        );
    }
    remarks
}

#[cfg(test)]
mod tests;
