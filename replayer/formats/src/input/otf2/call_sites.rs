//! The call sites of a rank's calls: the parts of the program around a call that have a place in its source.
//!
//! An archive has the places of functions and other regions, not those of calls: the call is between the first and the
//! last line of the innermost one.

use rustc_hash::FxHashMap;
use titr_common::event::{CallSiteId, CallStack, CodePlace, Mark};

use super::definitions::Region;

/// The number of places of a call site, the innermost ones.
const DEEPEST: usize = 8;
/// The number of call sites of a rank; further ones are not distinguished from the last.
const MOST: usize = 1 << 16;

/// The call sites of a rank so far.
#[derive(Default)]
pub(super) struct Otf2CallSites {
    /// By the regions that they consist of, innermost first.
    numbers: FxHashMap<Box<[u32]>, CallSiteId>,
    /// The call site of the open regions, once it was looked up.
    current: Option<Option<CallSiteId>>,
}

impl Otf2CallSites {
    /// A region begins or ends.
    pub(super) fn move_on(&mut self) {
        self.current = None;
    }

    /// The marks before a call within these open regions, the innermost last.
    pub(super) fn marks(&mut self, open: &[u32], regions: &FxHashMap<u32, Region>) -> [Option<Mark>; 2] {
        let (current, stack) = match self.current {
            Some(known) => (known, None),
            None => self.look_up(open, regions),
        };
        self.current = Some(current);
        [current.zip(stack).map(|(site, stack)| Mark::CallStack(site, stack)), current.map(Mark::CallSite)]
    }

    /// The number of the call site of these regions, and its places if it is new; none if no region has a place.
    fn look_up(&mut self, open: &[u32], regions: &FxHashMap<u32, Region>) -> (Option<CallSiteId>, Option<CallStack>) {
        let place = |number: &u32| match regions.get(number) {
            Some(Region::User { source: Some(source), .. }) => Some((*number, CodePlace::Named(source.clone()))),
            Some(_) | None => None,
        };
        let (key, stack): (Vec<u32>, Vec<CodePlace>) = open.iter().rev().filter_map(place).take(DEEPEST).unzip();
        if key.is_empty() {
            return (None, None);
        }
        if let Some(known) = self.numbers.get(&key[..]) {
            return (Some(*known), None);
        }
        let number = CallSiteId(self.numbers.len() as u32);
        if self.numbers.len() == MOST {
            return (Some(CallSiteId(number.0 - 1)), None);
        }
        self.numbers.insert(key.into(), number);
        (Some(number), Some(stack.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str, source: Option<&str>) -> Region {
        Region::User { name: name.into(), source: source.map(Into::into) }
    }

    #[test]
    fn a_call_site_is_the_open_regions_with_places_the_innermost_first() {
        let regions =
            [(1, user("main", Some("main (a.c:1-9)"))), (2, user("loop", None)), (3, user("f", Some("f (b.c:3)")))];
        let regions: FxHashMap<u32, Region> = regions.into_iter().collect();
        let mut sites = Otf2CallSites::default();
        let mut marks = |open: &[u32]| {
            sites.move_on();
            sites.marks(open, &regions)
        };
        let (first, second) = (CallSiteId(0), CallSiteId(1));
        let named = |name: &str| CodePlace::Named(name.into());
        let stack = |site, places: &[CodePlace]| Some(Mark::CallStack(site, places.into()));
        assert_eq!(marks(&[2]), [None, None]);
        assert_eq!(marks(&[1, 2]), [stack(first, &[named("main (a.c:1-9)")]), Some(Mark::CallSite(first))]);
        let inner = [named("f (b.c:3)"), named("main (a.c:1-9)")];
        assert_eq!(marks(&[1, 2, 3]), [stack(second, &inner), Some(Mark::CallSite(second))]);
        assert_eq!(marks(&[1]), [None, Some(Mark::CallSite(first))]);
    }
}
