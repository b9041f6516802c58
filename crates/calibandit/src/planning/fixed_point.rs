//! Losses as integers.
//!
//! The optimum over 10^12 plays is decided by differences that sums of floats would lose. Expected losses are binary
//! fractions, so they are counted here in units of 2^-72: exact for every loss that is 0 or at least 2^-20 (about
//! 10^-6), and right to 10^-22 for smaller ones. Sums and comparisons are then exact, at any horizon.

/// Units in a loss of 1, as a power of two.
const BITS: u32 = 72;

/// Units in a loss of 1, which is exact as a float.
const UNITS: f64 = (1u128 << BITS) as f64;

/// The largest horizon: up to here plays are counted exactly in floats and losses exactly in 128 bits.
pub(crate) const LONGEST: u64 = 1 << 53;

/// A loss in units.
pub(crate) fn fixed(loss: f64) -> i128 {
    (loss * UNITS).round() as i128
}

/// Units as a float.
pub(crate) fn float(units: i128) -> f64 {
    units as f64 / UNITS
}

/// More than any loss.
pub(crate) const ABOVE_ALL: i128 = 1 << (BITS + 1);
