//! The windows of several games being played side by side: which level a play has.

use super::history::{History, Tracks};
use super::lanes::Lane;
use super::levels::ArmLevels;
use super::vector::Vector;

/// The windows of `L` games.
pub(super) trait Windows<const L: usize>: Sized {
    /// The empty windows of these games; `None` if they are not of the right kind.
    fn new(lanes: &[Lane<'_>]) -> Option<Self>;

    /// Plays an arm in each; returns the levels. `chosen` and `arms` are the same.
    fn play<V: Vector<L>>(&mut self, v: V, chosen: V::U, arms: &[u64; L]) -> [usize; L];
}

/// For games with few arms and a short memory: all of the last plays, packed into one number that a table knows the level
/// of. The games must have the same levels.
pub(super) struct Joint<const L: usize> {
    /// The last plays, `bits` bits each; all ones where nothing was played yet.
    recent: [u64; L],
    bits: u64,
    mask: u64,
    levels: Vec<u16>,
}

/// The table is small enough to stay in the fastest cache.
const MOST_BITS: u32 = 12;

impl<const L: usize> Windows<L> for Joint<L> {
    fn new(lanes: &[Lane<'_>]) -> Option<Self> {
        let (levels, others) = (lanes.first()?.levels(), &lanes[1..]);
        let arms = levels.arms();
        if others.iter().any(|lane| lane.levels().arms() != arms) {
            return None;
        }
        // One number is left over for "nothing was played yet".
        let bits = usize::BITS - arms.len().leading_zeros();
        let memory = arms.iter().map(|arm| arm.window.count_ones()).max()?;
        if bits * memory > MOST_BITS || levels.losses().len() > usize::from(u16::MAX) {
            return None;
        }
        let size = 1usize << (bits * memory);
        let mask = size as u64 - 1;
        let level = |recent: usize| {
            let played = |age: u32| recent >> (bits * age) & ((1 << bits) - 1);
            let Some(arm) = arms.get(played(0)) else { return 0 };
            let window = (0..memory).filter(|&age| played(age) == played(0)).fold(0, |window, age| window | 1 << age);
            arm.of(window & arm.window) as u16
        };
        // All ones is no arm in every place.
        Some(Self { recent: [mask; L], bits: bits.into(), mask, levels: (0..size).map(level).collect() })
    }

    #[inline(always)]
    fn play<V: Vector<L>>(&mut self, v: V, chosen: V::U, _: &[u64; L]) -> [usize; L] {
        let recent = v.left_by(v.u(&self.recent), self.bits);
        self.recent = v.words(v.and(v.or(recent, chosen), v.splat_word(self.mask)));
        let levels = self.levels.as_slice();
        self.recent.map(|recent| usize::from(levels[recent as usize]))
    }
}

/// For all others: each game's windows by themselves.
pub(super) struct Separate<const L: usize> {
    games: [(Tracks, Vec<ArmLevels>); L],
}

impl<const L: usize> Windows<L> for Separate<L> {
    fn new(lanes: &[Lane<'_>]) -> Option<Self> {
        let game = |lane: usize| {
            let levels = lanes.get(lane).unwrap_or(&lanes[0]).levels().arms().to_vec();
            (Tracks::new(levels.len()), levels)
        };
        Some(Self { games: std::array::from_fn(game) })
    }

    #[inline(always)]
    fn play<V: Vector<L>>(&mut self, _: V, _: V::U, arms: &[u64; L]) -> [usize; L] {
        let mut played = [0; L];
        for ((level, arm), (tracks, levels)) in played.iter_mut().zip(arms).zip(&mut self.games) {
            let arm = *arm as usize;
            *level = tracks.play(arm, &levels[arm]);
        }
        played
    }
}
