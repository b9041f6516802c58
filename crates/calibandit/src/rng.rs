//! Random streams: named, independent generators derived from one seed.
//!
//! Every `(seed, experiment, instance, purpose)` has its own generator: xoshiro256++ whose 256-bit state is the SHA-256
//! digest of the four. Two instances therefore never share a stream by accident (as `seed + i` can), and the thread or
//! shard that computes an instance cannot change a bit of it.
//!
//! This module does not sample from distributions; see [`Noise`](crate::Noise) and the policies.

use std::convert::Infallible;

use rand::TryRng;
use sha2::{Digest, Sha256};

/// The name of the generator and of the derivation of its seeds, as written into manifests.
pub const GENERATOR: &str = "xoshiro256++ seeded by SHA-256(calibandit-stream-v1, seed, experiment, instance, purpose)";

/// The generator used everywhere in this crate: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number
/// generators", ACM TOMS 2021). It implements [`rand::Rng`]. Create one with a [`StreamKey`].
///
/// The state is serialisable, so that a saved policy continues with exactly the bits it would have drawn.
///
/// It is implemented here, in ten lines, because batched simulation needs to read and write the state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stream {
    s: [u64; 4],
}

/// For batched simulation, which keeps the states of several streams in vectors.
#[cfg(any(test, feature = "simd"))]
impl Stream {
    /// The state: four words, not all zero.
    pub(crate) fn state(&self) -> [u64; 4] {
        self.s
    }

    /// A stream with this state, which must not be all zero.
    pub(crate) fn from_state(s: [u64; 4]) -> Self {
        Self { s }
    }
}

impl Stream {
    /// Whether the state is one that the generator can reach: from all zeros it would draw zeros for ever.
    pub(crate) fn is_valid(&self) -> bool {
        self.s != [0; 4]
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }
}

/// `rand::Rng` follows from this implementation.
impl TryRng for Stream {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        // The upper bits: the lowest bits of xoshiro256++ have linear dependencies.
        Ok((self.next() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        rand::rand_core::utils::fill_bytes_via_next_word(bytes, || self.try_next_u64())
    }
}

/// The name of one instance of one experiment, from which its streams are derived.
///
/// ```
/// use calibandit::StreamKey;
/// use rand::Rng;
///
/// let key = StreamKey::new(1, "fig1a", 0);
/// let first = key.noise().next_u64();
/// assert_eq!(first, key.noise().next_u64(), "the same key gives the same bits");
/// assert_ne!(first, key.policy().next_u64());
/// assert_ne!(first, StreamKey::new(1, "fig1a", 1).noise().next_u64());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamKey<'a> {
    seed: u64,
    experiment: &'a str,
    instance: u64,
}

impl<'a> StreamKey<'a> {
    /// The key of instance number `instance` of the experiment with this name and seed.
    pub fn new(seed: u64, experiment: &'a str, instance: u64) -> Self {
        Self { seed, experiment, instance }
    }

    /// The stream from which the game of the instance is drawn. All policies share it, so that they play the same game.
    pub fn game(&self) -> Stream {
        self.derive("game")
    }

    /// The stream of the noise of the feedback.
    pub fn noise(&self) -> Stream {
        self.derive("noise")
    }

    /// The stream for the policy's own randomisation.
    pub fn policy(&self) -> Stream {
        self.derive("policy")
    }

    /// The stream for the choice of lanes that explore.
    pub fn lanes(&self) -> Stream {
        self.derive("lanes")
    }

    /// The stream of delays, lost losses and sessions in simulations of live use.
    pub fn delays(&self) -> Stream {
        self.derive("delays")
    }

    /// The digest is over `"calibandit-stream-v1"`, the seed, the length of the experiment's name, the name, the
    /// instance (integers as 8 bytes, little-endian) and the purpose, which is easy to repeat in any language.
    fn derive(&self, purpose: &str) -> Stream {
        let mut hash = Sha256::new();
        hash.update(b"calibandit-stream-v1");
        hash.update(self.seed.to_le_bytes());
        hash.update((self.experiment.len() as u64).to_le_bytes());
        hash.update(self.experiment.as_bytes());
        hash.update(self.instance.to_le_bytes());
        hash.update(purpose.as_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| digest[8 * i + byte]));
        Stream { s: std::array::from_fn(word) }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// The expected number was computed outside this project, with Python's hashlib and a hand-written xoshiro256++:
    /// `rotl(s0 + s3, 23) + s0` of the digest's four little-endian words.
    #[test]
    fn derivation_matches_an_independent_implementation() {
        assert_eq!(StreamKey::new(1, "fig1a", 0).game().next_u64(), FIRST_WORD_FROM_PYTHON);
    }

    const FIRST_WORD_FROM_PYTHON: u64 = 12799200818621705807;

    #[test]
    fn every_part_of_the_key_changes_the_stream() {
        let mut first = [
            StreamKey::new(1, "a", 0).game(),
            StreamKey::new(2, "a", 0).game(),
            StreamKey::new(1, "b", 0).game(),
            StreamKey::new(1, "a", 1).game(),
            StreamKey::new(1, "a", 0).noise(),
            StreamKey::new(1, "a", 0).policy(),
        ]
        .map(|mut stream| stream.next_u64())
        .to_vec();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 6);
    }

    #[test]
    fn words_match_the_rand_xoshiro_crate() {
        let mut stream = StreamKey::new(1, "reference", 0).noise();
        let seed: Vec<u8> = stream.state().iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut reference = Xoshiro256PlusPlus::from_seed(seed.try_into().unwrap());
        let mut bytes = ([0; 13], [0; 13]);
        for _ in 0..1000 {
            assert_eq!(stream.next_u64(), reference.next_u64());
            assert_eq!(stream.next_u32(), reference.next_u32());
            stream.fill_bytes(&mut bytes.0);
            reference.fill_bytes(&mut bytes.1);
            assert_eq!(bytes.0, bytes.1);
        }
    }

    /// Saved policies and advisors contain streams in this form.
    #[test]
    fn serialised_form_is_that_of_earlier_snapshots() {
        let stored = r#"{"s":[1,2,3,18446744073709551615]}"#;
        let stream: Stream = serde_json::from_str(stored).unwrap();
        assert_eq!(stream, Stream::from_state([1, 2, 3, u64::MAX]));
        assert_eq!(serde_json::to_string(&stream).unwrap(), stored);
    }
}
