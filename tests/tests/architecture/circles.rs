//! Circles in a graph: its strongly connected components of more than one node, by Tarjan's algorithm (SIAM J. Comput. 1
//! (2), 1972).

use std::collections::BTreeMap;

/// The circles among nodes that name others, each in order, as are all.
pub fn circles<N: Clone + Ord>(edges: &BTreeMap<N, Vec<N>>) -> Vec<Vec<N>> {
    let mut search = Search { edges, seen: BTreeMap::new(), path: Vec::new(), circles: Vec::new() };
    for node in edges.keys() {
        search.visit(node);
    }
    search.circles.sort();
    search.circles
}

struct Search<'a, N> {
    edges: &'a BTreeMap<N, Vec<N>>,
    /// For each node that was visited: when, and the earliest node that it can come back to. `None` if its component is
    /// complete.
    seen: BTreeMap<N, Option<usize>>,
    path: Vec<N>,
    circles: Vec<Vec<N>>,
}

impl<N: Clone + Ord> Search<'_, N> {
    /// Returns the earliest place on the path that `node` can come back to, if any.
    fn visit(&mut self, node: &N) -> Option<usize> {
        if let Some(&place) = self.seen.get(node) {
            return place;
        }
        let place = self.path.len();
        self.path.push(node.clone());
        self.seen.insert(node.clone(), Some(place));
        let edges = self.edges;
        let reached = edges.get(node).into_iter().flatten().filter_map(|next| self.visit(next));
        let earliest = reached.fold(place, usize::min);
        if earliest < place {
            // Stays on the path, as a part of the circle that began there.
            self.seen.insert(node.clone(), Some(earliest));
            return Some(earliest);
        }
        let mut circle = self.path.split_off(place);
        circle.sort();
        for node in &circle {
            self.seen.insert(node.clone(), None);
        }
        if circle.len() > 1 {
            self.circles.push(circle);
        }
        None
    }
}

#[test]
fn a_circle_is_found_whatever_hangs_on_it() {
    let edges = [
        ("a", vec!["b", "e"]),
        ("b", vec!["c"]),
        ("c", vec!["d", "f"]),
        ("d", vec!["b"]),
        ("f", vec!["g"]),
        ("g", vec!["f"]),
    ];
    assert_eq!(circles(&BTreeMap::from(edges)), [vec!["b", "c", "d"], vec!["f", "g"]]);
}
