//! The windows of several games at once: from the arms played to the rows of the loss tables.

use super::game_lanes::GameLane;
use super::vector::Vector;
use crate::simulate::loss_table::ArmRows;
use crate::simulate::play_history::{PlayHistory, WordHistory};

/// The windows of `L` games.
pub(super) trait WindowLanes<const L: usize>: Sized {
    /// The empty windows of these games; `None` if the games do not fit this type.
    fn new(lanes: &[GameLane<'_>]) -> Option<Self>;

    /// Plays one arm in each game; returns the rows. `chosen` and `arms` are the same numbers.
    fn play<V: Vector<L>>(&mut self, v: V, chosen: V::U, arms: &[u64; L]) -> [usize; L];
}

/// For games with few arms and a short memory: the last plays are packed into one number, which is looked up in a table
/// of rows. The games must have the same rows.
pub(super) struct JointWindows<const L: usize> {
    /// The last plays, `bits` bits per play; all ones where nothing was played yet.
    recent: [u64; L],
    bits: u64,
    mask: u64,
    rows: Vec<u16>,
}

/// 2^12 entries of two bytes stay in the first-level cache.
const MOST_BITS: u32 = 12;

impl<const L: usize> WindowLanes<L> for JointWindows<L> {
    fn new(lanes: &[GameLane<'_>]) -> Option<Self> {
        let (table, others) = (lanes.first()?.table(), &lanes[1..]);
        let arms = table.arms();
        if others.iter().any(|lane| lane.table().arms() != arms) {
            return None;
        }
        // One more number than arms, for "nothing was played yet".
        let bits = usize::BITS - arms.len().leading_zeros();
        let memory = arms.iter().map(|arm| arm.window.count_ones()).max()?;
        if bits * memory > MOST_BITS || table.losses().len() > usize::from(u16::MAX) {
            return None;
        }
        let size = 1usize << (bits * memory);
        let mask = size as u64 - 1;
        let row = |recent: usize| {
            let played = |age: u32| recent >> (bits * age) & ((1 << bits) - 1);
            let Some(arm) = arms.get(played(0)) else { return 0 };
            let window = (0..memory).filter(|&age| played(age) == played(0)).fold(0, |window, age| window | 1 << age);
            arm.of(window & arm.window) as u16
        };
        // All ones means: nothing was played yet.
        Some(Self { recent: [mask; L], bits: bits.into(), mask, rows: (0..size).map(row).collect() })
    }

    #[inline(always)]
    fn play<V: Vector<L>>(&mut self, v: V, chosen: V::U, _: &[u64; L]) -> [usize; L] {
        let recent = v.left_by(v.u(&self.recent), self.bits);
        self.recent = v.words(v.and(v.or(recent, chosen), v.splat_word(self.mask)));
        let rows = self.rows.as_slice();
        self.recent.map(|recent| usize::from(rows[recent as usize]))
    }
}

/// For all other games: the windows of each game separately.
pub(super) struct SeparateWindows<const L: usize> {
    games: [(WordHistory, Vec<ArmRows>); L],
}

impl<const L: usize> WindowLanes<L> for SeparateWindows<L> {
    fn new(lanes: &[GameLane<'_>]) -> Option<Self> {
        let game = |lane: usize| {
            let rows = lanes.get(lane).unwrap_or(&lanes[0]).table().arms().to_vec();
            (WordHistory::new(rows.len()), rows)
        };
        Some(Self { games: std::array::from_fn(game) })
    }

    #[inline(always)]
    fn play<V: Vector<L>>(&mut self, _: V, _: V::U, arms: &[u64; L]) -> [usize; L] {
        let mut played = [0; L];
        for ((row, arm), (history, rows)) in played.iter_mut().zip(arms).zip(&mut self.games) {
            let arm = *arm as usize;
            *row = history.play(arm, &rows[arm]);
        }
        played
    }
}
