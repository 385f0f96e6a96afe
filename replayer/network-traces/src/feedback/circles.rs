//! Finds cycles of messages that wait for each other.

use rustc_hash::FxHashMap;

use crate::message::{Label, TracedMessage};

/// The messages of a cycle, each of which waits for the next, if the messages of a trace contain one. The last is the
/// first again.
pub(super) fn find_circle(messages: &[TracedMessage]) -> Option<Vec<Label>> {
    let by_label: FxHashMap<Label, usize> =
        messages.iter().enumerate().map(|(index, message)| (message.label, index)).collect();
    let triggers =
        |index: usize| messages[index].after.iter().filter_map(|trigger| by_label.get(&trigger.label).copied());
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); messages.len()];
    let mut missing = vec![0_usize; messages.len()];
    for (index, missing) in missing.iter_mut().enumerate() {
        for trigger in triggers(index) {
            followers[trigger].push(index);
            *missing += 1;
        }
    }
    let mut free: Vec<usize> = (0..messages.len()).filter(|&index| missing[index] == 0).collect();
    while let Some(index) = free.pop() {
        for &follower in &followers[index] {
            missing[follower] -= 1;
            if missing[follower] == 0 {
                free.push(follower);
            }
        }
    }
    // Every message that is left waits for another that is left: following these ends in a circle.
    let mut next = (0..messages.len()).filter(|&index| missing[index] > 0).min_by_key(|&index| messages[index].label);
    let (mut path, mut seen) = (Vec::new(), FxHashMap::default());
    while let Some(index) = next {
        path.push(messages[index].label);
        if let Some(start) = seen.insert(index, path.len() - 1) {
            path.drain(..start);
            break;
        }
        next = triggers(index).find(|&trigger| missing[trigger] > 0);
    }
    (!path.is_empty()).then_some(path)
}
