//! The paper's bounds on the complete policy regret (CPR), as functions of the size of a problem.
//!
//! Lower bounds are rates: the paper's notation hides constants and logarithms, so they say how regret must grow, not
//! how large it must be. Theorem 1 has its constants, which are so large that it, too, is useful as an order of growth
//! only.

use crate::math;

/// The quantities in which the bounds are stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProblemSize {
    /// The number of arms, K.
    pub arms: usize,
    /// The number of plays, T.
    pub horizon: u64,
    /// The game's memory, m.
    pub memory: usize,
    /// The memory bound that the policy is told, M.
    pub memory_bound: u64,
}

impl ProblemSize {
    fn k(&self) -> f64 {
        self.arms as f64
    }

    fn t(&self) -> f64 {
        self.horizon as f64
    }

    /// The right-hand side of Theorem 1: with probability `1 - delta` the CPR of Algorithm 1 on a game that satisfies
    /// alpha-REO is at most
    ///
    /// `4·K·M + K·m·log T + 800·sqrt(K·T·ln(2·K·log T / delta)) + alpha·T`.
    ///
    /// The paper's `log T` bounds the number of epochs `S = log2(T/(4KM) + 1)`. It is therefore taken to base 2 here:
    /// with the natural logarithm, `S <= log T` fails for small `K·M`.
    ///
    /// ```
    /// use calibandit::theory::ProblemSize;
    /// let fig1a = ProblemSize { arms: 5, horizon: 1_000_000, memory: 3, memory_bound: 3 };
    /// // The constants are large: here the bound exceeds the horizon, and with it every possible regret.
    /// assert!(fig1a.theorem_1(0.05, 0.0) > 1_000_000.0);
    /// ```
    pub fn theorem_1(&self, delta: f64, alpha: f64) -> f64 {
        let log_t = math::log2(self.t()).max(1.0);
        let (k, m) = (self.k(), self.memory as f64);
        4.0 * k * self.memory_bound as f64
            + k * m * log_t
            + 800.0 * (k * self.t() * math::ln(2.0 * k * log_t / delta)).sqrt()
            + alpha * self.t()
    }

    /// The rate `sqrt(K·T) + m·K + M` below which no policy can stay on all 0-REO games (discussion of Theorems 1 and
    /// 2).
    pub fn lower_rate(&self) -> f64 {
        (self.k() * self.t()).sqrt() + self.memory as f64 * self.k() + self.memory_bound as f64
    }

    /// The rate `min(2^m, T) / m` of Proposition 1: the regret of any policy without repeated exposure optimality.
    pub fn intractability_rate(&self) -> f64 {
        let m = self.memory as f64;
        math::exp2(m).min(self.t()) / m
    }

    /// Theorem 2's cost of not knowing the memory: a policy that plays the second arm of both games M times in a row
    /// has a CPR of at least the first number on game A; any other policy has a CPR of at least the second on game B.
    pub fn adaptivity_price(&self) -> (f64, f64) {
        let bound = self.memory_bound as f64;
        (bound / 2.0, self.t() / 2.0 - (bound - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: ProblemSize = ProblemSize { arms: 2, horizon: 1024, memory: 3, memory_bound: 4 };

    #[test]
    fn theorem_1_by_hand() {
        // 4·2·4 + 2·3·10 + 800·sqrt(2048·ln(400)) + 0.01·1024, with ln(2·2·10/0.1) = ln 400 = 5.991464547107982.
        let by_hand = 32.0 + 60.0 + 800.0 * (2048.0f64 * 5.991464547107982).sqrt() + 10.24;
        assert!((SMALL.theorem_1(0.1, 0.01) - by_hand).abs() < 1e-8);
    }

    #[test]
    fn lower_bounds_by_hand() {
        assert!((SMALL.lower_rate() - (2048.0f64.sqrt() + 6.0 + 4.0)).abs() < 1e-12);
        assert_eq!(SMALL.intractability_rate(), 8.0 / 3.0);
        assert_eq!(ProblemSize { memory: 20, ..SMALL }.intractability_rate(), 1024.0 / 20.0);
        assert_eq!(SMALL.adaptivity_price(), (2.0, 509.0));
    }

    #[test]
    fn theorem_1_is_finite_at_a_horizon_of_one() {
        assert!(ProblemSize { horizon: 1, ..SMALL }.theorem_1(0.05, 0.0).is_finite());
    }
}
