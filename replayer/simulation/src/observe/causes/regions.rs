//! The regions of the program that its ranks are in.

use rustc_hash::FxHashMap;
use titr_common::event::{Mark, Rank};
use titr_common::program::OpenRegions;

use super::segment::RegionName;

/// The regions that the main threads of all ranks are in, and the names of all that there were.
#[derive(Debug)]
pub(in crate::observe) struct Regions {
    open: Vec<OpenRegions>,
    current: Vec<RegionName>,
    names: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, RegionName>,
}

impl Regions {
    pub fn new(ranks: u32) -> Self {
        let outside: Box<str> = "".into();
        let numbers = FxHashMap::from_iter([(outside.clone(), RegionName::default())]);
        Self {
            open: vec![OpenRegions::default(); ranks as usize],
            current: vec![RegionName::default(); ranks as usize],
            names: vec![outside],
            numbers,
        }
    }

    /// A rank passes a mark; the region that it is in then.
    pub fn pass(&mut self, rank: Rank, mark: &Mark) -> RegionName {
        let open = &mut self.open[rank.0 as usize];
        open.pass(mark);
        let name = open.innermost().unwrap_or_default();
        let number = self.numbers.get(name).copied().unwrap_or_else(|| {
            let number = RegionName(self.names.len() as u32);
            self.names.push(name.into());
            self.numbers.insert(name.into(), number);
            number
        });
        self.current[rank.0 as usize] = number;
        number
    }

    /// The region that a rank is in.
    pub fn of(&self, rank: Rank) -> RegionName {
        self.current[rank.0 as usize]
    }

    /// The name of a region; empty outside of all.
    pub fn name(&self, region: RegionName) -> &str {
        &self.names[region.0 as usize]
    }
}
