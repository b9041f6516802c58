//! The transcendental functions of the library, in one place.
//!
//! They are the standard library's, which are those of the platform: the last bit of a result may differ from one
//! operating system, C library, processor or compiler version to another. glibc selects `exp`, `ln`, `ln_1p` and
//! powers by the processor, so that some last bits differ on x86-64 processors without FMA. The library therefore
//! promises the same bits for the same seed *per platform*. What uses none of these functions has the same bits
//! everywhere: random words, uniform and Bernoulli draws, exponential weights, alpha and the optimum of games without
//! exponential curves; `tests/cpu_features.rs` compares them with FMA and AVX2 switched off. Another implementation
//! would be chosen here, for the whole library at once; rand_distr, which draws the noise, computes its own logarithms
//! with the standard library too (its feature `std_math`).
//!
//! Not here: `sqrt`, which IEEE 754 defines to the last bit, and the exponential function of exponential weights
//! ([`exponential`](crate::exponential)), which must give the same bits in SIMD registers.

/// The exponential function.
#[inline(always)]
pub(crate) fn exp(x: f64) -> f64 {
    x.exp()
}

/// `exp(x) - 1`, precise for small `x` too.
#[inline(always)]
pub(crate) fn exp_m1(x: f64) -> f64 {
    x.exp_m1()
}

/// `2^x`.
#[inline(always)]
pub(crate) fn exp2(x: f64) -> f64 {
    x.exp2()
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    x.ln()
}

/// `ln(1 + x)`, precise for small `x` too.
#[inline(always)]
pub(crate) fn ln_1p(x: f64) -> f64 {
    x.ln_1p()
}

/// The logarithm to base 2.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    x.log2()
}

/// The cube root.
#[inline(always)]
pub(crate) fn cbrt(x: f64) -> f64 {
    x.cbrt()
}

/// The inverse sine.
#[inline(always)]
pub(crate) fn asin(x: f64) -> f64 {
    x.asin()
}

/// `x` to the power of an integer.
#[inline(always)]
pub(crate) fn powi(x: f64, n: i32) -> f64 {
    x.powi(n)
}

/// `x` to the power of `y`.
#[inline(always)]
pub(crate) fn powf(x: f64, y: f64) -> f64 {
    x.powf(y)
}
