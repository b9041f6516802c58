//! The exponential function of exponential weights, with the same bits in scalar code and in SIMD registers.
//!
//! The standard library's `exp` takes one number at a time. This function consists of additions, multiplications and
//! one division, which IEEE 754 rounds in the same way everywhere, so batched simulation can compute it for several
//! numbers at once without changing a bit.
//!
//! With n the integer nearest to x / ln 2 and r = x - n·ln 2, so that |r| <= 0.35,
//!
//! ```text
//! exp(x) = 2^n · (1 + 2·r / (B(r²) - r)),    B(r²) = r·coth(r / 2) = 2 + r²/6 - r⁴/360 + r⁶/15120 - ...
//! ```
//!
//! The coefficients of B are 2·B_2k / (2k)! with the Bernoulli numbers B_2k. Truncated after r¹², the series has
//! a relative error below 2e-17; with all roundings the error is below 1.5 units in the last place.

/// Below this the result is 0 (exactly: it would be less than 4e-308).
pub(crate) const LEAST: f64 = -708.0;

pub(crate) const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// ln 2 in two parts. The first has 32 trailing zero bits, so that its product with n is exact.
pub(crate) const LN_2_HIGH: f64 = f64::from_bits(std::f64::consts::LN_2.to_bits() & !0xffff_ffff);
pub(crate) const LN_2_LOW: f64 = 4.749_325_039_031_672_6e-7;
/// Added to a number below 2^51 and taken away again, it rounds to an integer, which its last bits show.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// 2·B_2k / (2k)! for k = 1 to 6.
pub(crate) const COTH: [f64; 6] =
    [1.0 / 6.0, -1.0 / 360.0, 1.0 / 15_120.0, -1.0 / 604_800.0, 1.0 / 23_950_080.0, -691.0 / 653_837_184_000.0];

/// exp(x) for x up to 709, and 0 for x below [`LEAST`].
pub(crate) fn exp(x: f64) -> f64 {
    if x < LEAST {
        return 0.0;
    }
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let t = r * r;
    // In pairs, so that a processor need not wait for one term before it takes up the next.
    let tt = t * t;
    let series = (COTH[0] + t * COTH[1]) + tt * ((COTH[2] + t * COTH[3]) + tt * (COTH[4] + t * COTH[5]));
    let fraction = 1.0 + (r + r) / ((2.0 + t * series) - r);
    // The last bits of `shifted` are n: moved into the place of the exponent, they are 2^n without its bias.
    fraction * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1f64.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many numbers lie between two positive ones.
    fn units(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn ln_2_in_two_parts_is_ln_2() {
        assert_eq!(LN_2_HIGH + LN_2_LOW, std::f64::consts::LN_2);
        // ln 2 = 0.693147180559945309417232121458..., in decimals computed outside this project.
        assert_eq!(LN_2_HIGH, 0.693_146_705_627_441_4);
    }

    #[test]
    fn agrees_with_the_standard_library() {
        let mut worst = 0;
        let mut check = |x: f64| worst = worst.max(units(exp(x), x.exp()));
        for i in 0..400_000 {
            check(f64::from(i) * 0.0035 - 700.0); // -700 to 700
            check(f64::from(i) * 1e-6 - 0.2); // where 1 + ... loses nothing
            check(f64::from(i) * 1e-9);
        }
        assert!(worst <= 2, "{worst} units in the last place");
    }

    #[test]
    fn the_ends() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(-1e9), 0.0);
        assert_eq!(exp(LEAST.next_down()), 0.0);
        assert!(units(exp(LEAST), LEAST.exp()) <= 2 && exp(LEAST) < 4e-308);
        assert!(units(exp(709.0), 709f64.exp()) <= 2);
        assert!(exp(f64::NAN).is_nan());
    }
}
