//! The sensitivity of a predicted time to parameters of the machine: its elasticity, the change in percent by one percent more.
//!
//! The critical path says it at once: what is on the path grows with the parameter, or shrinks. That is exact as long as the
//! path stays the same. Two replays, with one percent more and one percent less of the parameter, say whether it does.

use std::collections::BTreeSet;
use std::sync::Arc;

use titr_common::units::Speed;
use titr_network::topology::{ChangedLinks, LinkId};
use titr_platform::{Model, Platform};

pub(crate) use crate::observe::Parameter;

/// The part of a parameter that replays add and take away.
pub(crate) const STEP: f64 = 0.01;

/// More classes of links than these are no classes.
const CLASSES: usize = 16;

/// The classes of a platform's links, where there are several.
pub(crate) fn link_classes(platform: &Platform) -> Vec<String> {
    let topology = &platform.topology;
    let links = (0..topology.links().len() as u32).map(LinkId);
    let classes: BTreeSet<String> = links.map(|link| topology.link_class(link)).collect();
    if (2..=CLASSES).contains(&classes.len()) { classes.into_iter().collect() } else { Vec::new() }
}

/// A platform with `factor` times as much of a parameter; of one of links, on all links or those of a class. `None` if its
/// network model has no such parameter, or has taken it from the links before.
pub(crate) fn scaled(platform: &Platform, parameter: Parameter, class: Option<&str>, factor: f64) -> Option<Platform> {
    let mut scaled = platform.clone();
    let links = |latency, bandwidth| match platform.model {
        Model::Flow(_) | Model::Ideal => {
            Some(Arc::new(ChangedLinks::scaled(Arc::clone(&platform.topology), class, latency, bandwidth)))
        }
        Model::Packet(_) => None,
    };
    match parameter {
        Parameter::HostSpeed => {
            let faster = |speed: &Speed| Speed { per_second: speed.per_second * factor };
            scaled.speeds = platform.speeds.iter().map(faster).collect();
        }
        Parameter::Latency => scaled.topology = links(factor, 1.0)?,
        Parameter::Bandwidth => scaled.topology = links(1.0, factor)?,
        Parameter::Overheads => scaled.mpi = platform.mpi.scale_overheads(factor),
    }
    Some(scaled)
}
