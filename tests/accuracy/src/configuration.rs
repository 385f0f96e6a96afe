//! A configuration of the lab, described completely by its name: `tree-8x2-100mbit`.

use std::error::Error;
use std::fmt;
use std::path::Path;

/// A configuration of the lab.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Configuration {
    /// The shape of the network.
    pub shape: Shape,
    /// The number of hosts.
    pub hosts: u32,
    /// The number of ranks on each host.
    pub slots: u32,
    /// The rate of a host's link each way, as `tc` writes it.
    pub rate: String,
}

/// The shape of the lab's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// One switch.
    Star,
    /// Two switches with half the hosts each, below one root, whose links have the rate of one host's.
    Tree,
    /// A router for each host, in a ring.
    Ring,
}

impl Configuration {
    /// All configurations with a file in `directory`, in order.
    pub fn measured(directory: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let files = std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let mut found = Vec::new();
        for file in files {
            let name = file?.file_name();
            let name = name.to_string_lossy();
            found.push(Self::parse(&name).ok_or_else(|| format!("{name} is no SHAPE-HOSTSxSLOTS-RATE"))?);
        }
        found.sort();
        Ok(found)
    }

    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('-');
        let shape = match parts.next()? {
            "star" => Shape::Star,
            "tree" => Shape::Tree,
            "ring" => Shape::Ring,
            _ => return None,
        };
        let (hosts, slots) = parts.next()?.split_once('x')?;
        let rate = parts.next()?.to_owned();
        Some(Self { shape, hosts: hosts.parse().ok()?, slots: slots.parse().ok()?, rate })
    }

    /// The hosts and ranks of the configuration as its calibration names them, without the shape: `8x2-100mbit`.
    pub fn machine(&self) -> String {
        format!("{}x{}-{}", self.hosts, self.slots, self.rate)
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.hosts * self.slots
    }
}

impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}-{}", self.shape, self.machine())
    }
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 3] = [Self::Star, Self::Tree, Self::Ring];

    /// The network model that suits the shape better: the one with the smaller error that 90 % of the tuned half stay within.
    pub fn model(self) -> Model {
        match self {
            Self::Star | Self::Ring => Model::Packet,
            Self::Tree => Model::Flow,
        }
    }
}

/// A network model of titr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Model {
    Flow,
    Packet,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Flow => "flow",
            Self::Packet => "packet",
        })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Star => "star",
            Self::Tree => "tree",
            Self::Ring => "ring",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_all() {
        let tree = Configuration::parse("tree-8x2-100mbit").unwrap();
        assert_eq!((tree.shape, tree.hosts, tree.slots, tree.ranks()), (Shape::Tree, 8, 2, 16));
        assert_eq!((tree.to_string(), tree.machine()), ("tree-8x2-100mbit".to_owned(), "8x2-100mbit".to_owned()));
        assert_eq!(Configuration::parse("bus-8x2-100mbit"), None);
    }
}
