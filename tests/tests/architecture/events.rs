//! Finds a `match` on events with a default arm, which would miss a new event.

use crate::source::{Token, block};

/// The lines of such arms.
pub fn catch_alls(tokens: &[Token]) -> Vec<usize> {
    let mut lines = Vec::new();
    for at in (0..tokens.len()).filter(|&at| tokens[at].text == "match") {
        let patterns = patterns(tokens, at);
        let names_events =
            |pattern: &&[Token]| pattern.windows(2).any(|pair| pair[0].text == "Event" && pair[1].text == "::");
        if patterns.iter().any(names_events) {
            lines.extend(patterns.iter().filter(|pattern| is_catch_all(pattern)).map(|pattern| pattern[0].line));
        }
    }
    lines
}

/// `_`, or a name for whatever it is; with or without a condition.
fn is_catch_all(pattern: &[Token]) -> bool {
    let is_name = pattern[0].text.starts_with(|c: char| c == '_' || c.is_lowercase());
    is_name && pattern.get(1).is_none_or(|next| next.text == "if")
}

/// The patterns of the arms of the `match` at `at`, with their conditions.
fn patterns(tokens: &[Token], at: usize) -> Vec<&[Token]> {
    let mut open = at + 1;
    while open < tokens.len() && tokens[open].text != "{" {
        // What is matched may have braces of its own only within brackets.
        open = if ["(", "["].contains(&tokens[open].text.as_str()) { block(tokens, open) } else { open + 1 };
    }
    let end = block(tokens, open).saturating_sub(1);
    let (mut patterns, mut begin) = (Vec::new(), open + 1);
    while begin < end {
        let mut arrow = begin;
        while arrow < end && tokens[arrow].text != "=>" {
            arrow =
                if ["(", "[", "{"].contains(&tokens[arrow].text.as_str()) { block(tokens, arrow) } else { arrow + 1 };
        }
        if arrow > begin {
            patterns.push(&tokens[begin..arrow.min(end)]);
        }
        begin = arrow + 1;
        if begin < end && tokens[begin].text == "{" {
            begin = block(tokens, begin);
        } else {
            while begin < end && tokens[begin].text != "," {
                begin = if ["(", "[", "{"].contains(&tokens[begin].text.as_str()) {
                    block(tokens, begin)
                } else {
                    begin + 1
                };
            }
        }
        while begin < end && tokens[begin].text == "," {
            begin += 1;
        }
    }
    patterns
}

#[test]
fn an_arm_for_all_other_events_is_found() {
    let found = |arms: &str| catch_alls(&crate::source::tokens(&format!("fn f() {{ match event {{\n{arms}\n}} }}")));
    assert_eq!(found("Event::Init => 1,\n_ => 2,"), [3]);
    assert_eq!(found("Some(Event::Init) => { g(); }\nother => 2,"), [3]);
    assert_eq!(found("Event::Send(m) if m.wide => f(|it| match it { 1 => 1, _ => 2 }),\nEvent::Init => 2,"), [0; 0]);
    assert_eq!(found("1 => Event::Init,\n_ => Event::Finalize,"), [0; 0]);
}
