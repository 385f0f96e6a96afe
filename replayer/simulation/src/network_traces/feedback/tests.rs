use std::io::Cursor;

use super::*;

/// The messages of a trace in which each arrives ten picoseconds after it was released, with the times of their release.
fn replay(lines: &[&str], open_loop: bool) -> Result<Vec<(u64, u64)>, String> {
    let text = format!("# titr network trace 1\nnodes 4\n{}\nend {}\n", lines.join("\n"), messages(lines));
    let run = || -> Result<Vec<(u64, u64)>, NetworkTraceError> {
        let trace = NetworkTrace::of("t".as_ref(), Cursor::new(text.into_bytes()))?;
        let mut feedback = Feedback::new(trace, open_loop)?;
        let (mut under_way, mut found) = (Vec::new(), Vec::new());
        loop {
            let arrival = under_way.iter().map(|&(at, _)| at).min();
            let release = feedback.next_release(arrival)?;
            let Some(now) = [arrival, release].into_iter().flatten().min() else { break };
            let (arrived, others) = under_way.into_iter().partition(|&(at, _)| at == now);
            under_way = others;
            let arrived: Vec<(Time, Label)> = arrived;
            for (_, label) in arrived {
                feedback.arrived(label, now)?;
            }
            while let Some(Released { at, label, .. }) = feedback.take_released(now) {
                assert_eq!(at, now, "a message is released in time");
                found.push((label.0, at.0));
                under_way.push((Time(at.0 + 10), label));
            }
        }
        feedback.finish()?;
        Ok(found)
    };
    run().map_err(|error| error.to_string())
}

fn messages(lines: &[&str]) -> usize {
    lines.iter().filter(|line| **line != "ordered").count()
}

/// All orders of a few things.
fn orders<T: Copy>(all: &[T]) -> Vec<Vec<T>> {
    if all.is_empty() {
        return vec![Vec::new()];
    }
    (0..all.len())
        .flat_map(|first| {
            let others: Vec<T> = [&all[..first], &all[first + 1..]].concat();
            orders(&others).into_iter().map(move |rest| [&[all[first]], &rest[..]].concat())
        })
        .collect()
}

const CHAIN: [&str; 5] = [
    "0 0 1 8 a 0 5 triggers=2",
    "1 1 2 8 a 7 9 after=0+2 triggers=1",
    "2 1 0 8 a 8 9 after=0+3",
    "3 2 0 8 a 20 30 after=1+11 triggers=1",
    "4 0 1 8 a 31 40 after=3+1",
];

/// Every message arrives after 10: message 0 at 10, 1 at 10 + 2 + 10 = 22, 3 at 22 + 11 + 10 = 43.
#[test]
fn messages_are_released_by_their_triggers() {
    let expected = vec![(0, 0), (1, 12), (2, 13), (3, 33), (4, 44)];
    for order in orders(&CHAIN) {
        assert_eq!(replay(&order, false), Ok(expected.clone()));
    }
    assert_eq!(replay(&[&["ordered"], &CHAIN[..]].concat(), false), Ok(expected));
    assert_eq!(replay(&CHAIN, true), Ok(vec![(0, 0), (1, 7), (2, 8), (3, 20), (4, 31)]));
}

#[test]
fn a_message_with_several_triggers_waits_for_the_last() {
    let lines = ["0 0 2 8 a 0 5 triggers=1", "1 1 2 8 a 7 9 triggers=1", "2 2 0 8 a 20 30 after=0+20 after=1+5"];
    assert_eq!(replay(&lines, false), Ok(vec![(0, 0), (1, 7), (2, 30)]));
    assert_eq!(replay(&[&["ordered"], &lines[..]].concat(), false), Ok(vec![(0, 0), (1, 7), (2, 30)]));
}

/// A trace in order that needs memory for only one second of it: each of a thousand messages waits for the one before.
#[test]
fn memory_does_not_grow_with_the_trace() {
    let lines: Vec<String> = (0..1000)
        .map(|label: u64| match label.checked_sub(1) {
            None => "0 0 1 8 a 0 1 triggers=1".to_owned(),
            Some(last) => format!("{label} 0 1 8 a {label} {label} after={last}+0 triggers={}", u64::from(label < 999)),
        })
        .collect();
    let text = format!("# titr network trace 1\nnodes 4\nordered\n{}\nend 1000\n", lines.join("\n"));
    let trace = NetworkTrace::of("t".as_ref(), Cursor::new(text.into_bytes())).unwrap();
    let mut feedback = Feedback::new(trace, false).unwrap();
    let (mut now, mut most) = (Time::ZERO, 0);
    while let Some(at) = feedback.next_release(None).unwrap() {
        now = at;
        let released = feedback.take_released(now).unwrap();
        feedback.arrived(released.label, now).unwrap();
        most = most.max(feedback.pending.kept());
    }
    assert_eq!((now, feedback.finish().is_ok()), (Time(0), true));
    assert!(most < 10, "{most} are kept");
}

#[test]
fn triggers_that_make_no_sense_are_refused() {
    let first = "0 0 1 8 a 0 5 triggers=1";
    for (lines, message) in [
        (&["0 0 1 8 a 0 5", "0 0 1 8 a 1 5"][..], "t: there are two messages 0"),
        (&["0 0 1 8 a 0 5 after=7+1"], "t: message 0 waits for 7, which is no message"),
        (&["ordered", "9 0 1 8 a 0 5 after=7+1"], "t: message 9 waits for 7, which is no message"),
        (&[first, "1 1 0 8 a 0 5 after=0+1", "2 1 0 8 a 0 5 after=0+1"], "t: message 2 waits for 0, which"),
        (&[first], "t: message 0 says that 1 more messages wait for it than there are"),
        (&["ordered", first], "t: message 0 says that 1 more messages wait for it than there are"),
        (
            &[
                "1 0 1 8 a 0 5 after=3+1 triggers=1",
                "2 0 1 8 a 0 5 after=1+1 triggers=1",
                "3 0 1 8 a 0 5 after=2+1 triggers=1",
            ],
            "t: messages wait for each other in a circle: 1 waits for 3 waits for 2 waits for 1",
        ),
    ] {
        let found = replay(lines, false).unwrap_err();
        assert!(found.starts_with(message), "{lines:?}: {found}");
    }
}
