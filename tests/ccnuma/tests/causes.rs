//! Programs on small machines: the protocol holds, and the network trace records the cause of each message.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use titr_ccnuma::programs::{Fft, Op, Program, Radix, Script};
use titr_ccnuma::{Machine, MachineError, MachineResult, Recorder};
use titr_platform::Platform;
use titr_simulation::network_traces::{NetworkTrace, Rules, TriggerSource, find_triggers};

/// A mesh with this many routers per side and adaptive routing, on which messages overtake each other.
fn mesh(side: u32, model: &str) -> Platform {
    let packet = if model == "packet" {
        "[network.packet]\npacket = \"40 B\"\nvirtual_channels = 2\nrouting = \"adaptive\"\n"
    } else {
        "latency = \"100 ns\"\n"
    };
    let text = format!(
        "schema = 1\n[hosts]\nspeed = \"1 Ginstr/s\"\n[topology.mesh]\ndims = [{side}, {side}]\n[network]\nmodel = \"{model}\"\nbandwidth = \"1.1 GB/s\"\n{packet}"
    );
    Platform::parse(Path::new("mesh.toml"), text, &[]).unwrap()
}

/// All nodes read and write the same few lines in their own orders, so that every message of the protocol meets every other.
struct Quarrel {
    phases: u64,
}

impl Program for Quarrel {
    fn nodes(&self) -> u32 {
        16
    }

    fn phase(&mut self) -> Vec<Script> {
        if self.phases == 0 {
            return Vec::new();
        }
        self.phases -= 1;
        let op = |node: u64, number: u64| {
            let chance = (self.phases << 40 | node << 20 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            // Lines of three homes, with more lines in one set of a cache than it has room for.
            let address = ((chance % 3) << 32) + (chance >> 4) % 2 * 4096;
            match chance >> 12 & 3 {
                0 => Op::Write(address),
                1 => Op::Compute(chance as u32 >> 16 & 63),
                _ => Op::Read(address),
            }
        };
        (0..16).map(|node| Script { ops: (0..400).map(|number| op(node, number)).collect() }).collect()
    }
}

fn programs() -> [Box<dyn Program>; 3] {
    [Box::new(Fft::new(16, 32).unwrap()), Box::new(Radix::new(16, 256).unwrap()), Box::new(Quarrel { phases: 4 })]
}

fn run(platform: &Platform, program: Box<dyn Program>) -> MachineResult {
    Machine::new(platform, program, None).unwrap().run().unwrap()
}

/// Every message leaves when the delay since the last of its causes is over: nothing else that it waited for is missing.
#[test]
fn a_message_leaves_when_its_causes_say() {
    let folder = tempfile::tempdir().unwrap();
    let mut kinds = BTreeSet::new();
    for program in programs() {
        let file = folder.path().join("trace.gz");
        let recorder = Recorder::create(&file, 16).unwrap();
        let result = Machine::new(&mesh(4, "packet"), program, Some(recorder)).unwrap().run().unwrap();
        let mut trace = NetworkTrace::open(&file).unwrap();
        let mut arrived = HashMap::new();
        let mut without = 0;
        let mut messages = Vec::new();
        while let Some(message) = trace.next_message().unwrap() {
            arrived.insert(message.label, message.arrived.unwrap().0);
            messages.push(message);
        }
        for message in &messages {
            let due = message.causes.iter().map(|cause| arrived[&cause.label] + cause.delay.0).max();
            without += u32::from(due.is_none());
            assert!(due.is_none_or(|due| due == message.generated.0), "{message:?}: {due:?}");
        }
        assert_eq!(messages.len() as u64, result.messages);
        assert!(without < 16 * 16, "{without} messages of {} follow from the start alone", messages.len());
        kinds.extend(messages.into_iter().map(|message| message.kind));
    }
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    let expected = [
        "acknowledge",
        "acknowledged-data",
        "acknowledged-grant",
        "arrive",
        "data",
        "forward",
        "forwarded-data",
        "grant",
        "invalidate",
        "next-data",
        "next-forward",
        "owner-data",
        "own-forward",
        "own-invalidate",
        "read",
        "release",
        "upgrade",
        "write",
        "write-back",
        "written-back",
    ];
    let missing: Vec<_> = expected.into_iter().filter(|kind| !kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?} of {kinds:?}");
}

/// The rules that titr ships find a trigger that the machine knows for nearly every message.
#[test]
fn the_rules_for_mesi_find_what_released_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let [fft, radix, _] = programs();
    for program in [fft, radix] {
        let [file, found] = ["trace.gz", "found.gz"].map(|name| folder.path().join(name));
        let recorder = Recorder::create(&file, 16).unwrap();
        Machine::new(&mesh(4, "packet"), program, Some(recorder)).unwrap().run().unwrap();
        let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mesi.toml");
        find_triggers(&file, &found, &TriggerSource::Rules(Rules::load(&rules).unwrap())).unwrap();
        let [mut recorded, mut found] = [file, found].map(|file| NetworkTrace::open(&file).unwrap());
        let (mut right, mut all) = (0, 0);
        while let (Some(known), Some(found)) = (recorded.next_message().unwrap(), found.next_message().unwrap()) {
            let is_known = |label| known.causes.iter().any(|cause| cause.label == label);
            all += u32::from(!known.causes.is_empty());
            right += u32::from(found.after.first().is_some_and(|trigger| is_known(trigger.label)));
        }
        assert!(f64::from(right) > 0.95 * f64::from(all), "{right} of {all}");
    }
}

/// Equal instructions on every network, and the same result again.
#[test]
fn the_network_changes_the_time_and_not_the_program() {
    for ((on_packets, again), ideal) in programs().into_iter().zip(programs()).zip(programs()) {
        let packets = run(&mesh(4, "packet"), on_packets);
        let same = run(&mesh(4, "packet"), again);
        let ideal = run(&mesh(4, "ideal"), ideal);
        assert_eq!(packets.instructions, ideal.instructions);
        assert_eq!(
            (packets.simulated_time, packets.messages, packets.misses),
            (same.simulated_time, same.messages, same.misses)
        );
    }
}

#[test]
fn a_machine_needs_a_host_for_each_node() {
    let failed = Machine::new(&mesh(3, "ideal"), Box::new(Fft::new(16, 16).unwrap()), None);
    assert!(matches!(failed, Err(MachineError::Nodes { nodes: 16, hosts: 9 })));
}
