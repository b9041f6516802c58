//! Where randomness comes from: named, independent streams derived from one seed.
//!
//! Every `(seed, experiment, instance, purpose)` has a generator of its own: xoshiro256++ whose 256-bit state is the
//! SHA-256 digest of those four. So no two instances can share a stream by accident (as `seed + i` does), and which
//! thread or shard computes an instance cannot change a single bit of it.
//!
//! This module does not draw from any distribution; see [`Noise`](crate::Noise) and the policies.

use rand::SeedableRng;
use sha2::{Digest, Sha256};

/// The generator used everywhere: xoshiro256++ (Blackman and Vigna 2021). Its state serialises, so that a saved
/// policy goes on with the very bits it would have drawn.
pub type Stream = rand_xoshiro::Xoshiro256PlusPlus;

/// The name of the generator and of the derivation of its seeds, as written into manifests.
pub const GENERATOR: &str = "xoshiro256++ seeded by SHA-256(calibandit-stream-v1, seed, experiment, instance, purpose)";

/// What a stream is used for. Streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Drawing the game of an instance: shared by all policies, so that they face the same game.
    Game,
    /// The noise of the feedback.
    Noise,
    /// The policy's own randomisation.
    Policy,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Purpose::Game => "game",
            Purpose::Noise => "noise",
            Purpose::Policy => "policy",
        }
    }
}

/// The stream of one purpose in one instance of one experiment.
///
/// The digest is over `"calibandit-stream-v1"`, the seed, the length of the experiment's name, the name, the
/// instance (integers as 8 bytes, little-endian) and the purpose's name: easy to repeat in any language.
///
/// ```
/// use calibandit::rng::{Purpose, stream};
/// use rand::Rng;
/// let a = stream(1, "fig1a", 0, Purpose::Noise).next_u64();
/// assert_eq!(a, stream(1, "fig1a", 0, Purpose::Noise).next_u64());
/// assert_ne!(a, stream(1, "fig1a", 1, Purpose::Noise).next_u64());
/// ```
pub fn stream(seed: u64, experiment: &str, instance: u64, purpose: Purpose) -> Stream {
    let mut hash = Sha256::new();
    hash.update(b"calibandit-stream-v1");
    hash.update(seed.to_le_bytes());
    hash.update((experiment.len() as u64).to_le_bytes());
    hash.update(experiment.as_bytes());
    hash.update(instance.to_le_bytes());
    hash.update(purpose.name().as_bytes());
    Stream::from_seed(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// The expected number was computed outside this project, with Python's hashlib and a hand-written xoshiro256++:
    /// `rotl(s0 + s3, 23) + s0` of the digest's four little-endian words.
    #[test]
    fn derivation_matches_an_independent_implementation() {
        assert_eq!(stream(1, "fig1a", 0, Purpose::Game).next_u64(), FIRST_WORD_FROM_PYTHON);
    }

    const FIRST_WORD_FROM_PYTHON: u64 = 12799200818621705807;

    #[test]
    fn every_part_of_the_key_changes_the_stream() {
        let mut first = [
            stream(1, "a", 0, Purpose::Game),
            stream(2, "a", 0, Purpose::Game),
            stream(1, "b", 0, Purpose::Game),
            stream(1, "a", 1, Purpose::Game),
            stream(1, "a", 0, Purpose::Noise),
            stream(1, "a", 0, Purpose::Policy),
        ]
        .map(|mut stream| stream.next_u64())
        .to_vec();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 6);
    }
}
