use proptest::prelude::*;

use super::super::reference::progressive_filling;
use super::*;

impl MaxMinSolver {
    /// The rate of a flow that has entered, as last solved.
    fn rate(&self, flow: FlowId) -> f64 {
        match self.pace(flow) {
            Pace::Rate(rate) => rate,
            Pace::Shared(inverse_penalty) => inverse_penalty * self.shared_level(),
        }
    }
}

fn demand(bound: f64, penalty: f64, uses: &[(u32, f64)]) -> Demand {
    Demand { bound, penalty, uses: uses.iter().map(|&(link, weight)| (LinkId(link), weight)).collect() }
}

/// The rates of flows that all come at once.
fn shared(capacities: &[f64], demands: &[Demand]) -> Vec<f64> {
    let mut solver = MaxMinSolver::new(capacities.iter().copied());
    for (flow, demand) in (0..).map(FlowId).zip(demands) {
        solver.define(flow, demand);
        solver.enter(flow);
    }
    solver.solve(&mut Vec::new());
    (0..demands.len() as u32).map(|flow| solver.rate(FlowId(flow))).collect()
}

/// Two links in a row, one flow over both and one over each: the long flow gets half of the narrower link, the short
/// flows the rest.
#[test]
fn a_chain_of_links() {
    let demands =
        [demand(1e9, 1.0, &[(0, 1.0), (1, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(1, 1.0)])];
    assert_eq!(shared(&[10.0, 6.0], &demands), [3.0, 7.0, 3.0]);
}

/// A share goes by 1/penalty: 12 in the ratio of 1 to 1/2.
#[test]
fn penalties_divide_a_link() {
    assert_eq!(shared(&[12.0], &[demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 2.0, &[(0, 1.0)])]), [8.0, 4.0]);
}

/// The capacity that a bound leaves goes to the others: 1 for the first, 11/2 for each of the other two.
#[test]
fn bounds_leave_the_rest() {
    let demands = [demand(1.0, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)])];
    assert_eq!(shared(&[12.0], &demands), [1.0, 5.5, 5.5]);
}

/// Each direction of a cable carries a flow and 5 % of the other: r + 0.05 r = C.
#[test]
fn crosstraffic_costs_both_ways() {
    let there = demand(100.0, 1.0, &[(0, 1.0), (1, 0.05)]);
    let back = demand(100.0, 1.0, &[(1, 1.0), (0, 0.05)]);
    let rates = shared(&[105.0, 105.0], &[there, back]);
    assert!(rates.iter().all(|rate| (rate - 100.0).abs() < 1e-9), "{rates:?}");
}

/// A flow that leaves gives way at once, and one whose bottleneck is elsewhere is not recomputed.
#[test]
fn only_what_changes_is_reported() {
    let mut solver = MaxMinSolver::new([10.0, 4.0]);
    let demands = [demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(0, 1.0)]), demand(1e9, 1.0, &[(1, 1.0)])];
    for (flow, demand) in (0..).map(FlowId).zip(&demands) {
        solver.define(flow, demand);
        solver.enter(flow);
    }
    let mut changed = Vec::new();
    solver.solve(&mut changed);
    changed.clear();
    solver.leave(FlowId(0));
    solver.solve(&mut changed);
    assert_eq!((&changed[..], solver.rate(FlowId(1))), (&[FlowId(1)][..], 10.0));
}

/// Links m, n, k, q, s. On m, g and x have 4 each and h, held by n, 2. At one instant w (on n) is held by s no longer
/// but has to share q, which makes room for h on n, and x has to share k, which makes room on m. Were g not looked
/// at again, h would take all of that room, for m is full again then.
#[test]
fn no_flow_overtakes_another_that_its_link_holds() {
    let [m, n, k, q, s] = [0, 1, 2, 3, 4];
    let before = [
        demand(1e9, 1.0, &[(m, 1.0)]),
        demand(1e9, 1.0, &[(m, 1.0), (k, 1.0)]),
        demand(1e9, 1.0, &[(m, 1.0), (n, 1.0)]),
        demand(1e9, 0.1, &[(n, 1.0), (q, 1.0), (s, 1.0)]),
        demand(1.0, 1.0, &[(s, 1.0)]),
    ];
    let after = [demand(1e9, 0.001, &[(q, 1.0)]), demand(1e9, 0.1, &[(k, 1.0)])];
    let mut solver = MaxMinSolver::new([10.0, 20.0, 5.0, 18.5, 19.0]);
    for (flow, demand) in (0..).map(FlowId).zip(&before) {
        solver.define(flow, demand);
        solver.enter(flow);
    }
    solver.solve(&mut Vec::new());
    let rates = |solver: &MaxMinSolver| [0, 1, 2].map(|flow| (solver.rate(FlowId(flow)) * 1e6).round() / 1e6);
    assert_eq!(rates(&solver), [4.0, 4.0, 2.0]);
    solver.leave(FlowId(4));
    for (flow, demand) in (5..).map(FlowId).zip(&after) {
        solver.define(flow, demand);
        solver.enter(flow);
    }
    solver.solve(&mut Vec::new());
    assert_eq!(rates(&solver), [4.772_727, 0.454_545, 4.772_727]);
}

/// A flow whose bound exceeds a link's capacity slightly — by less than a thousandth of a byte per second — gets the
/// capacity, and a second flow that takes no link disturbs neither.
#[test]
fn a_bound_just_above_a_slow_link_is_not_met() {
    let capacity = 9.999_653_584_077_247;
    let rates = shared(&[capacity], &[demand(10.0, 1.0, &[(0, 1.0)]), demand(10.0, 1.0, &[])]);
    assert_eq!(rates, [capacity, 10.0]);
}

/// A flow of a thousand messages is bounded otherwise in one step: it arrives once, and frees each of its links once.
#[test]
fn a_bound_changes_once_for_all_messages_of_a_flow() {
    let mut solver = MaxMinSolver::new([1000.0, 4000.0]);
    let demands = [demand(10.0, 1.0, &[(0, 1.0), (1, 1.0)]), demand(10.0, 1.0, &[(0, 1.0)])];
    for (flow, demand) in (0..).map(FlowId).zip(&demands) {
        solver.define(flow, demand);
        (0..1000).for_each(|_| solver.enter(flow));
    }
    solver.solve(&mut Vec::new());
    assert_eq!([0, 1].map(|flow| solver.rate(FlowId(flow))), [0.5, 0.5]);
    solver.set_bound(FlowId(0), 0.25);
    assert_eq!((&solver.arrived[..], &solver.freed[..]), (&[FlowId(0)][..], &[LinkId(0)][..]));
    solver.solve(&mut Vec::new());
    assert_eq!([0, 1].map(|flow| solver.rate(FlowId(flow))), [0.25, 0.75]);
}

const LINKS: usize = 8;

fn any_demand() -> impl Strategy<Value = Demand> {
    let weight = prop::sample::select(vec![1.0, 1.0, 0.05, 1.05]);
    let uses = prop::collection::btree_map(0..LINKS as u32, weight, 0..6);
    let penalty = prop_oneof![Just(1.0), Just(2.0), 0.1..10.0];
    let bound = prop_oneof![Just(10.0), Just(100.0), 0.1..200.0];
    (bound, penalty, uses).prop_map(|(bound, penalty, uses)| Demand {
        bound,
        penalty,
        uses: uses.into_iter().map(|(link, weight)| (LinkId(link), weight)).collect(),
    })
}

/// A flow between two of the hosts around a backbone (link 0), whose half-duplex cables are the other links, with or
/// without acknowledgements.
fn any_demand_on_a_cluster() -> impl Strategy<Value = Demand> {
    let hosts = LINKS as u32 - 1;
    let bound = prop_oneof![4 => Just(100.0), 1 => 0.1..100.0];
    let penalty = prop_oneof![4 => Just(1.0), 1 => 0.5..2.0];
    let weight = prop::sample::select(vec![1.0, 1.05]);
    (bound, penalty, weight, 0..hosts, 1..hosts).prop_map(move |(bound, penalty, weight, from, hop)| {
        demand(bound, penalty, &[0, 1 + from, 1 + (from + hop) % hosts].map(|link| (link, weight)))
    })
}

/// An event in the life of a flow.
#[derive(Clone, Debug)]
enum Step {
    /// This many messages of a new flow enter.
    Enter(Demand, u32),
    /// One more message of a flow that is there.
    Again(prop::sample::Index),
    Leave(prop::sample::Index),
    /// A flow that is there is bounded otherwise.
    Bound(prop::sample::Index, f64),
}

fn any_step(demand: impl Strategy<Value = Demand>) -> impl Strategy<Value = Step> {
    prop_oneof![
        (demand, prop_oneof![4 => Just(1), 1 => 2_u32..5]).prop_map(|(demand, count)| Step::Enter(demand, count)),
        any::<prop::sample::Index>().prop_map(Step::Again),
        any::<prop::sample::Index>().prop_map(Step::Leave),
    ]
}

fn any_bound() -> impl Strategy<Value = Step> {
    (any::<prop::sample::Index>(), 0.1..200.0).prop_map(|(index, bound)| Step::Bound(index, bound))
}

/// After any sequence of starts and ends, single or simultaneous, the rates equal those of filling all links from zero
/// with each flow by itself, and every flow whose pace changed is reported.
fn solving_again_equals_starting_over(capacities: &[f64], steps: Vec<(Step, bool)>) -> Result<(), TestCaseError> {
    let mut solver = MaxMinSolver::new(capacities.iter().copied());
    let mut present: Vec<(Demand, u32)> = Vec::new();
    let mut known: Vec<Option<Pace>> = Vec::new();
    for (step, solves) in steps {
        let there = |index: prop::sample::Index| {
            let flows: Vec<usize> = (0..present.len()).filter(|&flow| present[flow].1 > 0).collect();
            (!flows.is_empty()).then(|| flows[index.index(flows.len())])
        };
        match step {
            Step::Enter(demand, count) => {
                let flow = present.iter().position(|(_, count)| *count == 0).unwrap_or(present.len());
                present.resize(present.len().max(flow + 1), Default::default());
                known.resize(present.len(), None);
                known[flow] = None;
                solver.define(FlowId(flow as u32), &demand);
                (0..count).for_each(|_| solver.enter(FlowId(flow as u32)));
                present[flow] = (demand, count);
            }
            Step::Again(index) => {
                if let Some(flow) = there(index) {
                    solver.enter(FlowId(flow as u32));
                    present[flow].1 += 1;
                }
            }
            Step::Leave(index) => {
                if let Some(flow) = there(index) {
                    solver.leave(FlowId(flow as u32));
                    present[flow].1 -= 1;
                }
            }
            Step::Bound(index, bound) => {
                if let Some(flow) = there(index) {
                    solve(&mut solver, &mut known);
                    solver.set_bound(FlowId(flow as u32), bound);
                    present[flow].0.bound = bound;
                }
            }
        }
        if !solves {
            continue;
        }
        solve(&mut solver, &mut known);
        let each = |flow: usize| std::iter::repeat_n((flow, present[flow].0.clone()), present[flow].1 as usize);
        let (flows, demands): (Vec<usize>, Vec<Demand>) = (0..present.len()).flat_map(each).unzip();
        for (flow, expected) in flows.into_iter().zip(progressive_filling(capacities, &demands)) {
            let found = match known[flow] {
                Some(Pace::Rate(rate)) => rate,
                Some(Pace::Shared(inverse_penalty)) => inverse_penalty * solver.shared_level(),
                None => f64::NAN,
            };
            prop_assert!((found - expected).abs() <= 1e-6 * expected, "flow {flow}: {found} not {expected}");
        }
    }
    Ok(())
}

/// Solves the rates, and notes those that are reported to be others now.
fn solve(solver: &mut MaxMinSolver, known: &mut [Option<Pace>]) {
    let mut changed = Vec::new();
    solver.solve(&mut changed);
    for flow in changed {
        known[flow.index()] = Some(solver.pace(flow));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn flows_anywhere(
        capacities in prop::collection::vec(prop_oneof![Just(100.0), 1.0..1000.0], LINKS),
        steps in prop::collection::vec((any_step(any_demand()), prop::bool::weighted(0.7)), 1..60),
    ) {
        solving_again_equals_starting_over(&capacities, steps)?;
    }

    /// Flows around a backbone, which limits most of them.
    #[test]
    fn flows_around_a_backbone(
        backbone in 50.0..500.0,
        steps in prop::collection::vec((any_step(any_demand_on_a_cluster()), prop::bool::weighted(0.7)), 1..100),
    ) {
        let capacities = [&[backbone], &[100.0; LINKS - 1][..]].concat();
        solving_again_equals_starting_over(&capacities, steps)?;
    }

    /// Flows whose bounds change while they are in transit, as by InfiniBand's contention.
    #[test]
    fn flows_whose_bounds_change(
        capacities in prop::collection::vec(prop_oneof![Just(100.0), 1.0..1000.0], LINKS),
        steps in prop::collection::vec(
            (prop_oneof![3 => any_step(any_demand()), 1 => any_bound()], prop::bool::weighted(0.7)),
            1..60,
        ),
    ) {
        solving_again_equals_starting_over(&capacities, steps)?;
    }
}
