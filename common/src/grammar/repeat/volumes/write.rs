//! Writes a list of volumes.

use super::{LETTERS, Scale, WIDEST};
use crate::grammar::line::push_number;

/// Minimum length of a run of equal volumes that is counted, and minimum length if they are written as numbers anyway.
const COUNTED: usize = 12;
const COUNTED_NUMBERS: usize = 3;
/// Fewer volumes are written as numbers, and this many as letters if one letter suffices for each.
const FEWEST: usize = 4;
const MANY: usize = 16;

/// Appends a list of volumes, each word of it after a blank.
pub(in crate::grammar::repeat) fn write_volumes(out: &mut Vec<u8>, volumes: &[u64]) {
    let mut rest = volumes;
    while !rest.is_empty() {
        let (near, after) = rest.split_at(before_equals(rest));
        write_near(out, near);
        let times = after.iter().take_while(|&volume| Some(volume) == after.first()).count();
        write_numbers(out, &after[..times]);
        rest = &after[times..];
    }
}

/// The number of volumes before the first run that is long enough to be counted.
fn before_equals(volumes: &[u64]) -> usize {
    let mut start = 0;
    while let Some(counted) = volumes.get(start..start + COUNTED) {
        // Looked at from the end, most volumes are never compared: equal ones begin only after the last that differs
        // from the next.
        match counted.windows(2).rposition(|pair| pair[0] != pair[1]) {
            None => return start,
            Some(last) => start += last + 1,
        }
    }
    volumes.len()
}

/// Appends volumes as numbers.
fn write_numbers(out: &mut Vec<u8>, volumes: &[u64]) {
    for equal in volumes.chunk_by(|one, next| one == next) {
        let [first, ..] = *equal else { continue };
        if equal.len() < COUNTED_NUMBERS {
            equal.iter().for_each(|&volume| push_word(out, volume));
        } else {
            push_word(out, first);
            out.push(b'*');
            push_number(out, equal.len() as u64);
        }
    }
}

fn push_word(out: &mut Vec<u8>, volume: u64) {
    out.push(b' ');
    push_number(out, volume);
}

/// Appends volumes as letters if that is shorter, and outliers as numbers.
fn write_near(out: &mut Vec<u8>, volumes: &[u64]) {
    let Some(Fit { scale, end, .. }) = fit(volumes) else {
        return write_numbers(out, volumes);
    };
    let is_near = |volume: u64| volume >= scale.from && volume < end;
    let (mut rest, mut said) = (volumes, false);
    while let Some(&first) = rest.first() {
        if !is_near(first) {
            push_word(out, first);
            rest = &rest[1..];
            continue;
        }
        let (near, after) = rest.split_at(rest.iter().take_while(|&&volume| is_near(volume)).count());
        if said {
            out.extend_from_slice(b" :");
        } else {
            push_scale(out, scale);
        }
        push_letters(out, near, scale);
        (rest, said) = (after, true);
    }
}

/// Appends the letters of volumes that the scale can represent.
fn push_letters(out: &mut Vec<u8>, volumes: &[u64], Scale { from, step, base, width }: Scale) {
    let steps = |&volume: &u64| {
        let above = volume - from;
        if step == 1 || above == 0 { above } else { above / step }
    };
    match width {
        1 => out.extend(volumes.iter().map(|volume| LETTERS[steps(volume) as usize % LETTERS.len()])),
        _ => volumes.iter().for_each(|volume| push_digits(out, steps(volume) as u32, base, width)),
    }
}

#[cold]
fn push_scale(out: &mut Vec<u8>, Scale { from, step, base, width }: Scale) {
    push_word(out, from);
    for number in [step, u64::from(base), width as u64] {
        out.push(b',');
        push_number(out, number);
    }
    out.push(b':');
}

#[inline]
fn push_digits(out: &mut Vec<u8>, mut number: u32, base: u32, width: usize) {
    let mut digits = [0; WIDEST];
    for digit in digits[..width].iter_mut().rev() {
        *digit = LETTERS[(number % base) as usize];
        number /= base;
    }
    out.extend_from_slice(&digits[..width]);
}

/// A scale for a list.
struct Fit {
    scale: Scale,
    /// The first number that is too large for the scale.
    end: u64,
    /// About how long the list is with it, in half bits.
    length: usize,
}

/// The scale that spells volumes shortest; `None` if numbers are shorter.
fn fit(volumes: &[u64]) -> Option<Fit> {
    if volumes.len() < FEWEST {
        return None;
    }
    let (mut least, mut some, mut most, mut step) = (u64::MAX, u64::MAX, 0, 0);
    for &volume in volumes {
        least = least.min(volume);
        if volume > 0 {
            some = some.min(volume);
            most = most.max(volume);
            if step != 1 {
                step = common_divisor(volume, step);
            }
        }
    }
    let step = step.max(1);
    let end = least.saturating_add(step.saturating_mul(62));
    if volumes.len() >= MANY && most < end {
        let scale = Scale { from: least, step, base: 62, width: 1 };
        return scale.is_bounded().then_some(Fit { scale, end, length: 0 });
    }
    // A volume of zero may be the only outlier.
    let fits = [fit_from(volumes, least, step), if least < some { fit_from(volumes, some, step) } else { None }];
    fits.into_iter().flatten().min_by_key(|fit| fit.length)
}

/// The scale that spells the volumes that are at least `from` in the shortest way. `from` is one of them, and all are
/// multiples of `step`.
fn fit_from(volumes: &[u64], from: u64, step: u64) -> Option<Fit> {
    let near = |end: u64| volumes.iter().copied().filter(move |&volume| volume >= from && volume < end);
    // In half bits: letters have slightly less than six, digits and blanks slightly more than three.
    let numbers: usize = volumes.iter().map(|&volume| 1 + digits(volume)).sum();
    let (mut best, mut shortest) = (None, 7 * numbers);
    for width in 1..=WIDEST {
        let end = from.saturating_add(step.saturating_mul(62_u64.pow(width as u32)));
        let lettered = near(end).count();
        let far = volumes.iter().filter(|&&volume| volume < from || volume >= end);
        let length = 120 + 11 * width * lettered + far.map(|&volume| 9 * (3 + digits(volume))).sum::<usize>();
        if length < shortest {
            (best, shortest) = (Some((width, end)), length);
        }
        if lettered == volumes.len() {
            break;
        }
    }
    let (width, end) = best?;
    let steps = (near(end).max()? - from) / step;
    let base = match width {
        1 => 62,
        _ => (2..62).find(|&base: &u32| u64::from(base).pow(width as u32) > steps).unwrap_or(62),
    };
    let scale = Scale { from, step, base, width };
    scale.is_bounded().then_some(Fit { scale, end, length: shortest })
}

/// About how many digits a number has.
#[inline]
fn digits(number: u64) -> usize {
    1 + (64 - number.leading_zeros() as usize) * 77 / 256
}

#[inline]
fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
