//! Random changes of bytes, for the tests that run without libFuzzer.

use rand::{Rng, RngExt};

/// Values at which readers of numbers break.
const NUMBERS: [&[u8]; 12] = [
    b"0",
    b"1",
    b"-1",
    b"0.5",
    b"1e308",
    b"1e309",
    b"-0.0",
    b"nan",
    b"inf",
    b"4294967296",
    b"18446744073709551615",
    b"9007199254740993",
];

/// Marks of the languages that are read.
const MARKS: &[u8] = b"{}[]\",:=\n\r\t .#'\\\0\x1b\xff";

/// A copy with one to four random changes.
pub fn mutated(bytes: &[u8], other: &[u8], random: &mut impl Rng) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    for _ in 0..random.random_range(1..=4) {
        change(&mut changed, other, random);
    }
    changed
}

fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut impl Rng) {
    let at = random.random_range(0..=bytes.len());
    let end = random.random_range(at..=bytes.len().min(at + 40));
    match random.random_range(0..8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
        1 if at < bytes.len() => bytes[at] = random.random(),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let copied = bytes[at..end].to_vec();
            let to = random.random_range(0..=bytes.len());
            bytes.splice(to..to, copied);
        }
        5 => {
            let number = NUMBERS[random.random_range(0..NUMBERS.len())];
            bytes.splice(number_at(bytes, at), number.iter().copied());
        }
        6 => bytes.insert(at, MARKS[random.random_range(0..MARKS.len())]),
        _ => {
            let from = random.random_range(0..=other.len());
            let to = random.random_range(from..=other.len().min(from + 60));
            bytes.splice(at..end, other[from..to].iter().copied());
        }
    }
}

/// The place of the first number at or after `at`; an empty place at `at` if there is none.
fn number_at(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let Some(offset) = bytes[at..].iter().position(u8::is_ascii_digit) else { return at..at };
    let start = at + offset;
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit() || b".e-+".contains(byte)).count();
    start..start + length
}
