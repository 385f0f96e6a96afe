//! Writing a list of volumes.

use super::{LETTERS, Scale, WIDEST};
use crate::grammar::line::push_number;

/// From how many on equal volumes in a row are counted, and from how many on if they are written as numbers anyway.
const COUNTED: usize = 12;
const COUNTED_NUMBERS: usize = 3;

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

/// How many volumes come before so many equal ones that these are counted.
fn before_equals(volumes: &[u64]) -> usize {
    let mut equal = 0;
    for (index, volume) in volumes.iter().enumerate() {
        equal = if index > 0 && volumes[index - 1] == *volume { equal + 1 } else { 1 };
        if equal == COUNTED {
            return index + 1 - COUNTED;
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

/// Appends volumes by letters if that is shorter, and those that lie far from the others as they are.
fn write_near(out: &mut Vec<u8>, volumes: &[u64]) {
    // Where a volume is nothing, it may be the only one that lies far from the others.
    let nothing = volumes.iter().min().is_some_and(|&least| least == 0);
    let some = if nothing { volumes.iter().copied().filter(|&volume| volume > 0).min() } else { None };
    let scales = [scale(volumes, 0), some.and_then(|least| scale(volumes, least))];
    let Some((_, scale, end)) = scales.into_iter().flatten().min_by_key(|(length, ..)| *length) else {
        return write_numbers(out, volumes);
    };
    let Scale { from, step, base, width } = scale;
    let (mut said, mut open) = (false, false);
    for &volume in volumes {
        if volume < from || volume >= end {
            push_word(out, volume);
            open = false;
            continue;
        }
        if !said {
            push_word(out, from);
            for number in [step, u64::from(base), width as u64] {
                out.push(b',');
                push_number(out, number);
            }
            out.push(b':');
        } else if !open {
            out.extend_from_slice(b" :");
        }
        (said, open) = (true, true);
        let steps = if step == 1 { volume - from } else { (volume - from) / step };
        push_digits(out, steps as u32, base, width);
    }
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

/// The scale that spells those of `volumes` shortest that are at least `from`, with what is too large for it, and about how long
/// all volumes are then; `None` if numbers are shorter.
fn scale(volumes: &[u64], from: u64) -> Option<(usize, Scale, u64)> {
    let at_least = || volumes.iter().copied().filter(|&volume| volume >= from);
    let least = at_least().min()?;
    let mut step = 0;
    for volume in at_least() {
        if step == 1 {
            break;
        }
        step = common_divisor(volume - least, step);
    }
    let step = step.max(1);
    // In half bits: letters have a little less than six, digits and blanks a little more than three.
    let numbers: usize = volumes.iter().map(|&volume| 1 + digits(volume)).sum();
    let (mut best, mut shortest) = (None, 7 * numbers);
    for width in 1..=WIDEST {
        let end = least.saturating_add(step.saturating_mul(62_u64.pow(width as u32)));
        let near = at_least().filter(|&volume| volume < end).count();
        let far = volumes.iter().filter(|&&volume| volume < least || volume >= end);
        let length = 120 + 11 * width * near + far.map(|&volume| 9 * (3 + digits(volume))).sum::<usize>();
        if length < shortest {
            (best, shortest) = (Some((width, end)), length);
        }
        if near == volumes.len() {
            break;
        }
    }
    let (width, end) = best?;
    let most = at_least().filter(|&volume| volume < end).max()?;
    let steps = (most - least) / step;
    let base = match width {
        1 => 62,
        _ => (2..62).find(|&base: &u32| u64::from(base).pow(width as u32) > steps).unwrap_or(62),
    };
    let scale = Scale { from: least, step, base, width };
    scale.is_bounded().then_some((shortest, scale, end))
}

/// About how many digits a number has.
#[inline]
fn digits(number: u64) -> usize {
    1 + (64 - number.leading_zeros() as usize) * 77 / 256
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
