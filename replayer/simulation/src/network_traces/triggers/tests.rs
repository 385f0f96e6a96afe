use super::*;

const MESSAGES: &str = "# titr network trace 1
nodes 3
ordered
0 0 1 8 read 0 10 address=40
1 0 1 8 read 1 11 address=80
2 2 1 8 write 2 12 address=40
3 1 0 40 data 20 30 address=80
4 1 0 40 data 21 31 address=40 cause=2+9
5 1 0 8 invalidate 22 33 address=40
6 0 2 8 read 35 40 address=c0
7 0 1 8 ack 36 41 address=40
end 8
";

const RULES: &str = "data = [\"data\"]
[replies]
data = [\"read\", \"write\"]
[protocol]
invalidate = [\"write\"]
ack = [\"invalidate\"]
";

/// For each message, its trigger or 99, its delay, and the number of messages that it triggers; and the counts.
type Found = (Vec<(u64, u64, u32)>, TriggerCounts);

fn found(text: &str, source: &TriggerSource) -> Result<Found, String> {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, text).unwrap();
    let counts = find_triggers(&from, &to, source).map_err(|error| error.to_string())?;
    let mut trace = NetworkTrace::open(&to).unwrap();
    let mut found = Vec::new();
    while let Some(message) = trace.next_message().unwrap() {
        let (label, delay) = message.after.first().map_or((99, 0), |first| (first.label.0, first.delay.0));
        found.push((label, delay, message.triggers));
    }
    Ok((found, counts))
}

/// The replies match by address, not by order; the write of node 2 triggers the invalidation at its home, which
/// triggers the acknowledgement; the read after the data waits for the last of them.
#[test]
fn each_rule_finds_its_triggers() {
    let rules = Rules::parse("r".as_ref(), RULES.to_owned()).unwrap();
    let (found, counts) = found(MESSAGES, &TriggerSource::Rules(rules)).unwrap();
    let expected = vec![(99, 0, 1), (99, 0, 1), (99, 0, 1), (1, 9, 0), (0, 11, 1), (2, 10, 1), (4, 4, 0), (5, 3, 0)];
    assert_eq!(found, expected);
    assert_eq!(counts, TriggerCounts { messages: 8, replies: 2, protocol: 2, data: 1, none: 3, ..Default::default() });
}

#[test]
fn without_rules_every_message_waits_for_the_last_one_received() {
    let (found, counts) = found(MESSAGES, &TriggerSource::Rules(Rules::default())).unwrap();
    assert_eq!(found[3..], [(2, 8, 0), (2, 9, 0), (2, 10, 2), (5, 2, 0), (5, 3, 0)]);
    assert_eq!((counts.data, counts.none), (5, 3));
}

#[test]
fn exact_triggers_are_the_recorded_causes() {
    let (found, counts) = found(MESSAGES, &TriggerSource::Exact).unwrap();
    assert_eq!((found[2], found[4]), ((99, 0, 1), (2, 9, 0)));
    assert_eq!((counts.exact, counts.none), (1, 7));
    let without = MESSAGES.replace(" cause=2+9", "");
    assert!(self::found(&without, &TriggerSource::Exact).unwrap_err().contains("no message has a cause"));
    let wrong = MESSAGES.replace("cause=2", "cause=77");
    assert!(self::found(&wrong, &TriggerSource::Exact).unwrap_err().contains("the cause 77, which is no message"));
}

/// Node 2's request has waited until the cache of the home, node 1, had answered another, for which there is no message: the
/// acknowledgement of before both is no trigger of the answer.
#[test]
fn a_message_from_before_a_request_does_not_trigger_its_answer() {
    let text = "# titr network trace 1
nodes 3
ordered
0 0 1 8 ack 0 10 address=40
1 0 1 8 read 20 30 address=40
2 2 1 8 read 25 35 address=40
3 1 0 40 data 70 80 address=40
4 1 2 40 late 75 90 address=40
5 0 1 8 read 95 100 address=40
6 0 1 8 ack 96 110 address=40
7 1 0 40 late 120 130 address=40
end 8
";
    let rules = "data = [\"data\", \"late\"]
[replies]
data = [\"read\"]
[protocol]
late = [\"ack\"]
";
    let rules = Rules::parse("r".as_ref(), rules.to_owned()).unwrap();
    let (found, counts) = found(text, &TriggerSource::Rules(rules)).unwrap();
    assert_eq!((found[3], found[4], found[7]), ((1, 40, 2), (2, 40, 0), (6, 10, 0)));
    assert_eq!((counts.replies, counts.protocol), (1, 2));
}
