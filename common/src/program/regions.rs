//! The open regions of a thread.

use crate::event::Mark;

/// The regions that are open in one thread, outermost first.
///
/// A named region is open from its beginning to its end. `MPI_Pcontrol` with a level above 0 opens the region that has the
/// level as its name, with the negative level closes that region, and with 0, which disables profiling (MPI 4.0 §15.2.4),
/// closes all regions that a level has opened. An end without a beginning closes nothing.
#[derive(Clone, Debug, Default)]
pub struct OpenRegions(Vec<OpenRegion>);

#[derive(Clone, Debug)]
struct OpenRegion {
    name: Box<str>,
    is_level: bool,
}

impl OpenRegions {
    /// The program has passed a mark.
    pub fn pass(&mut self, mark: &Mark) {
        match mark {
            Mark::RegionBegin(name) => self.0.push(OpenRegion { name: name.clone(), is_level: false }),
            Mark::RegionEnd(name) => self.close(name),
            Mark::Control(0) => self.0.retain(|region| !region.is_level),
            Mark::Control(level) if *level > 0 => {
                self.0.push(OpenRegion { name: level.to_string().into(), is_level: true });
            }
            Mark::Control(level) => self.close(&level.unsigned_abs().to_string()),
            Mark::CallSite(_) | Mark::CallStack(..) => {}
            Mark::PartBegin | Mark::PartEnd | Mark::Unrecorded(_) => {}
        }
    }

    /// Closes the region of this name that was opened last.
    fn close(&mut self, name: &str) {
        if let Some(at) = self.0.iter().rposition(|region| *region.name == *name) {
            self.0.remove(at);
        }
    }

    /// Whether a region of this name is open.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|region| *region.name == *name)
    }

    /// The names of all open regions, innermost first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().rev().map(|region| &*region.name)
    }

    /// The name of the region that was opened last.
    pub fn innermost(&self) -> Option<&str> {
        self.names().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_open_from_its_beginning_to_its_end() {
        let mut open = OpenRegions::default();
        let [foo, bar] = ["foo", "bar"].map(Box::<str>::from);
        open.pass(&Mark::RegionBegin(foo.clone()));
        open.pass(&Mark::RegionBegin(bar.clone()));
        open.pass(&Mark::RegionBegin(foo.clone()));
        assert_eq!(open.innermost(), Some("foo"));
        open.pass(&Mark::RegionEnd(foo.clone()));
        assert!(open.contains("foo") && open.contains("bar"));
        open.pass(&Mark::RegionEnd(foo.clone()));
        open.pass(&Mark::RegionEnd(foo));
        assert!(!open.contains("foo") && open.contains("bar"));
    }

    #[test]
    fn a_level_opens_a_region_and_0_closes_those_of_all_levels() {
        let mut open = OpenRegions::default();
        for mark in [Mark::RegionBegin("foo".into()), Mark::Control(1), Mark::Control(2), Mark::Control(-1)] {
            open.pass(&mark);
        }
        assert!(open.contains("2") && !open.contains("1"));
        open.pass(&Mark::Control(0));
        assert!(open.contains("foo") && !open.contains("2"));
        open.pass(&Mark::Control(i32::MIN));
    }
}
