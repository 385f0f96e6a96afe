//! Where a rank runs: its host, and the parts of the host that hold all processors which the kernel lets it use.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use titr_calibration::benchmarks::Place;
use titr_common::units::Bytes;

/// The parts of a host, from the inside outwards.
const PARTS: [Place; 3] = [Place::CoreComplex, Place::NumaRegion, Place::Socket];

/// The place of a rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Seat {
    /// The name of the host.
    pub host: String,
    /// The core complex, the NUMA region and the socket; `None`: the rank may run in several.
    pub parts: [Option<String>; 3],
    /// Processors of the host.
    pub processors: u32,
    /// The part of the last two levels of cache that a processor has; 0: not known.
    pub cache: Bytes,
}

impl Seat {
    /// The place of this process on a host of this name, by the folders of the kernel.
    pub(crate) fn here(host: String) -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
        Self::of(host, Path::new("/sys/devices/system/cpu"), allowed)
    }

    /// The place of a process that may run on the processors of a list such as `0-3,8`. `folder` has those of a host.
    fn of(host: String, folder: &Path, allowed: &str) -> Self {
        let numbers: Vec<u32> = listed(allowed);
        let part = |of: fn(&Path) -> Option<String>| {
            let parts: Option<BTreeSet<String>> =
                numbers.iter().map(|number| of(&folder.join(format!("cpu{number}")))).collect();
            parts.filter(|parts| parts.len() == 1)?.pop_first()
        };
        let online = fs::read_to_string(folder.join("online")).unwrap_or_default();
        let caches = numbers.first().map(|number| caches(&folder.join(format!("cpu{number}")))).unwrap_or_default();
        let cache = caches.iter().rev().take(2).map(|cache| cache.bytes / cache.shared_by).sum();
        let parts = [part(core_complex), part(numa_region), part(socket)];
        Self { host, parts, processors: listed(&online).len() as u32, cache: Bytes(cache) }
    }
}

/// The numbers of a list such as `0-3,8`.
fn listed(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    text.trim().split(',').filter_map(range).flatten().collect()
}

/// A cache of data.
struct Cache {
    processors: String,
    shared_by: u64,
    bytes: u64,
}

/// The caches of a processor, from the inside outwards.
fn caches(processor: &Path) -> Vec<Cache> {
    let read = |folder: &PathBuf, name| fs::read_to_string(folder.join(name)).map(|text| text.trim().to_owned()).ok();
    let cache = |number: u32| {
        let folder = processor.join(format!("cache/index{number}"));
        let (kind, size) = (read(&folder, "type")?, read(&folder, "size")?);
        let bytes = size.strip_suffix('K')?.parse::<u64>().ok()? << 10;
        let processors = read(&folder, "shared_cpu_list")?;
        let shared_by = listed(&processors).len().max(1) as u64;
        (kind != "Instruction").then_some(Cache { processors, shared_by, bytes })
    };
    (0..8).filter_map(cache).collect()
}

/// The processors that share the last level of cache.
fn core_complex(processor: &Path) -> Option<String> {
    caches(processor).pop().map(|cache| cache.processors)
}

fn numa_region(processor: &Path) -> Option<String> {
    let names = fs::read_dir(processor).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_node = |name: &String| name.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
    names.into_iter().find(is_node)
}

fn socket(processor: &Path) -> Option<String> {
    fs::read_to_string(processor.join("topology/physical_package_id")).map(|text| text.trim().to_owned()).ok()
}

/// The levels of the ranks of a host, from the inside outwards, with the ranks that each holds: those that differ, and last the
/// host.
pub(crate) fn levels(seats: &[&Seat]) -> Vec<(Place, u32)> {
    let mut levels: Vec<(Place, u32)> = Vec::new();
    for (number, place) in PARTS.into_iter().enumerate() {
        let sharing = |one: &&Seat| seats.iter().filter(|other| share(one, other, number)).count();
        let held = seats.iter().map(sharing).max().unwrap_or(0);
        if held < seats.len() && held as u32 > levels.last().map_or(1, |last| last.1) {
            levels.push((place, held as u32));
        }
    }
    levels.push((Place::Node, seats.len() as u32));
    levels
}

/// The innermost level of a host that holds two ranks.
pub(crate) fn between(one: &Seat, other: &Seat, levels: &[(Place, u32)]) -> Place {
    let is_shared = |place: &Place| PARTS.iter().position(|part| part == place).is_some_and(|at| share(one, other, at));
    levels.iter().map(|level| level.0).find(is_shared).unwrap_or(Place::Node)
}

fn share(one: &Seat, other: &Seat, part: usize) -> bool {
    one.parts[part].is_some() && one.parts[part] == other.parts[part]
}

/// Whether the levels hold ranks in their order, as those of a platform do.
pub(crate) fn are_in_order(seats: &[&Seat], levels: &[(Place, u32)]) -> bool {
    let in_order = |place: Place, held: usize| {
        let part = PARTS.iter().position(|part| *part == place);
        part.is_none_or(|part| {
            let pairs = (0..seats.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
            pairs.into_iter().all(|(one, other)| share(seats[one], seats[other], part) == (one / held == other / held))
        })
    };
    levels.iter().all(|&(place, held)| in_order(place, held as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A host of two sockets with two core complexes each, of two processors each.
    fn host() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("online", "0-7\n");
        for processor in 0..8 {
            let first = processor / 2 * 2;
            let cpu = format!("cpu{processor}");
            write(&format!("{cpu}/topology/physical_package_id"), &format!("{}\n", processor / 4));
            write(&format!("{cpu}/node{}/distance", processor / 4), "");
            for (index, kind, size, shared) in [
                (0, "Data", "32K", processor.to_string()),
                (1, "Instruction", "32K", processor.to_string()),
                (2, "Unified", "512K", processor.to_string()),
                (3, "Unified", "4096K", format!("{first}-{}", first + 1)),
            ] {
                for (name, text) in [("type", kind), ("size", size), ("shared_cpu_list", &shared)] {
                    write(&format!("{cpu}/cache/index{index}/{name}"), &format!("{text}\n"));
                }
            }
        }
        folder
    }

    #[test]
    fn levels_are_those_that_the_kernel_tells_apart() {
        let folder = host();
        let seat = |allowed: &str| Seat::of("a".to_owned(), folder.path(), allowed);
        let bound: Vec<Seat> = (0..8).map(|processor| seat(&processor.to_string())).collect();
        assert_eq!((bound[5].processors, bound[5].cache), (8, Bytes((2048 + 512) << 10)));
        let all: Vec<&Seat> = bound.iter().collect();
        let found = levels(&all);
        // NUMA regions are the sockets here.
        assert_eq!(found, [(Place::CoreComplex, 2), (Place::NumaRegion, 4), (Place::Node, 8)]);
        let place = |one: usize, other: usize| between(all[one], all[other], &found);
        assert_eq!([place(0, 1), place(0, 2), place(0, 4)], [Place::CoreComplex, Place::NumaRegion, Place::Node]);
        assert!(are_in_order(&all, &found));
        let around: Vec<&Seat> = [0, 4, 1, 5].map(|processor| all[processor]).to_vec();
        assert!(!are_in_order(&around, &levels(&around)));
        // A rank that may run anywhere is near to none.
        let free = seat("0-7");
        assert_eq!(levels(&[&free, &free]), [(Place::Node, 2)]);
    }
}
