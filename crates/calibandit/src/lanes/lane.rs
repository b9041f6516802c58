//! One lane: a sequence of plays with one window, kept as the arm played last and its plays in a row.
//!
//! Plays are in the order in which they were given out. As long as it is not certain that a play was made, it and the
//! plays behind it are kept one by one (the *tail*), so that the streak can be counted again when it turns out that a
//! play was not made or was another arm's. A lane without such plays is a few words long.

use std::collections::VecDeque;

use super::settings::LaneSettings;
#[cfg(feature = "serde")]
use super::settings::MOST_OVERLAP;
use super::watch::LaneNotes;
#[cfg(feature = "serde")]
use crate::policy::history::{StateError, ensure};

/// No arm: a lane that was never played, or lost its memory.
pub(super) const NO_ARM: u32 = u32::MAX;

/// Plays of one arm in a row, as far as they are certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Streak {
    arm: u32,
    plays: u64,
}

impl Streak {
    pub(super) const COLD: Self = Self { arm: NO_ARM, plays: 0 };

    pub(super) fn arm(&self) -> Option<usize> {
        (self.arm != NO_ARM).then_some(self.arm as usize)
    }

    /// The plays in a row before a play of this arm.
    pub(super) fn before(&self, arm: usize) -> u64 {
        if self.arm as usize == arm { self.plays } else { 0 }
    }

    fn add(&mut self, play: &TailPlay) {
        if play.fresh {
            *self = Self::COLD;
        }
        let same = self.arm == play.arm;
        match play.state {
            PlayState::NotMade => {}
            PlayState::Pending | PlayState::Made if same => self.plays += 1,
            PlayState::Pending | PlayState::Made => *self = Self { arm: play.arm, plays: 1 },
            // It may have been made, so it interrupts other arms; it may not have been made, so it does not count.
            PlayState::Unknown if same => {}
            PlayState::Unknown => *self = Self { arm: play.arm, plays: 0 },
        }
    }
}

/// What is known of a play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub(super) enum PlayState {
    /// It has no outcome.
    Pending,
    /// It was made.
    Made,
    /// It was not made.
    NotMade,
    /// It has expired.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct TailPlay {
    pub(super) id: u64,
    pub(super) arm: u32,
    pub(super) state: PlayState,
    /// Whether its loss is in the bank, or is to come there.
    pub(super) counted: bool,
    /// Whether the lane lost its memory before it.
    pub(super) fresh: bool,
    /// When it was made, as far as that is known.
    pub(super) at: u64,
    /// The newest decision of the lane when it was finished. With overlap, plays up to that one may have overtaken it.
    pub(super) seen: u64,
    /// Whether the lane lost its memory while it was under way, so that it may have been made before or after.
    pub(super) crossed: bool,
}

impl TailPlay {
    /// Whether it was made, as far as is known.
    fn may_be_made(&self) -> bool {
        matches!(self.state, PlayState::Pending | PlayState::Made)
    }

    /// The time of the newest play that was made, if that of the plays before was `before`.
    fn time_after(&self, before: u64) -> u64 {
        if self.may_be_made() { before.max(self.at) } else { before }
    }
}

/// The plays from the oldest pending one on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
struct LaneTail {
    /// The decision before the first play, and the streak and the time then.
    before: Option<u64>,
    base: Streak,
    base_at: u64,
    plays: VecDeque<TailPlay>,
    /// Whether the lane lost its memory after the last play.
    reset: bool,
}

impl LaneTail {
    fn demote_overtaken(&mut self) -> Vec<(u64, usize)> {
        let mut demoted = Vec::new();
        for place in 0..self.plays.len() {
            let play = self.plays[place];
            let last = if play.state == PlayState::Pending { u64::MAX } else { play.seen };
            let overtakes =
                |other: &TailPlay| other.id <= last && other.arm != play.arm && other.state != PlayState::NotMade;
            if play.counted && self.plays.range(place + 1..).any(overtakes) {
                demoted.push((play.id, play.arm as usize));
                self.plays[place].counted = false;
            }
        }
        demoted
    }
}

/// A lane.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Lane {
    streak: Streak,
    /// The newest decision.
    pub(super) newest: Option<u64>,
    /// When the newest play was made, as far as that is known.
    last_at: u64,
    pub(super) notes: LaneNotes,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    tail: Option<Box<LaneTail>>,
}

/// Without overlap, at most this many plays of a lane are kept one by one; older ones without an outcome count as made.
/// With overlap, a lane keeps at most about twice the overlap.
const LONGEST_TAIL: usize = 256;

/// The effect of a change of an earlier play.
pub(super) struct Revision {
    tail: Box<LaneTail>,
    streak: Streak,
    /// Plays that are not calibrated any more, oldest first.
    pub(super) demoted: Vec<(u64, usize)>,
    /// The plays in a row before the changed play.
    pub(super) before: u64,
    last_at: u64,
}

#[cfg(feature = "serde")]
impl Lane {
    /// Checks a restored lane beside this number of arms, of decisions and this time.
    pub(super) fn check_restored(
        &self,
        arms: usize,
        next: u64,
        now: u64,
        settings: &LaneSettings,
    ) -> Result<(), StateError> {
        let exists = |arm: u32| (arm as usize) < arms;
        let possible = |streak: &Streak| match streak.arm == NO_ARM {
            true => streak.plays == 0,
            false => exists(streak.arm) && streak.plays <= next,
        };
        ensure(possible(&self.streak), "the streak of a lane is out of range")?;
        ensure(self.last_at <= now, "a lane was played in the future")?;
        ensure(self.newest.is_none_or(|newest| newest < next), "the newest decision of a lane was never made")?;
        let Some(tail) = &self.tail else { return Ok(()) };
        let longest = if settings.overlap == 1 { LONGEST_TAIL + 1 } else { 4 * MOST_OVERLAP as usize };
        ensure((1..=longest).contains(&tail.plays.len()), "the plays of a lane are too many, or none")?;
        ensure(possible(&tail.base) && tail.base_at <= now, "the streak of a lane is out of range")?;
        let (mut streak, mut last_at, mut before) = (tail.base, tail.base_at, tail.before);
        for play in &tail.plays {
            let in_order = before.is_none_or(|before| play.id > before) && play.id < next && play.seen < next;
            ensure(in_order && exists(play.arm) && play.at <= now, "a play of a lane is out of order")?;
            ensure(play.may_be_made() || !play.counted, "a play that was not made counts")?;
            streak.add(play);
            (last_at, before) = (play.time_after(last_at), Some(play.id));
        }
        ensure(before == self.newest, "the newest decision of a lane is not its last play")?;
        let streak = if tail.reset { Streak::COLD } else { streak };
        ensure(streak == self.streak, "the streak of a lane does not fit its plays")?;
        ensure(last_at <= now, "a lane was played in the future")
    }

    /// The plays whose place in the bank is not certain, and their arms.
    pub(super) fn held(&self) -> impl Iterator<Item = (u64, usize)> {
        self.plays().filter(|play| play.counted).map(|play| (play.id, play.arm as usize))
    }
}

impl Lane {
    pub(super) fn new(now: u64) -> Self {
        Self { streak: Streak::COLD, newest: None, last_at: now, notes: LaneNotes::default(), tail: None }
    }

    pub(super) fn streak(&self) -> Streak {
        self.streak
    }

    pub(super) fn last_at(&self) -> u64 {
        self.last_at
    }

    /// Gives a play out. With `made`, it was made already.
    pub(super) fn push(&mut self, id: u64, arm: usize, counted: bool, at: u64, made: bool) {
        let (before, base, base_at) = (self.newest, self.streak, self.last_at);
        let tail = self
            .tail
            .get_or_insert_with(|| Box::new(LaneTail { before, base, base_at, plays: VecDeque::new(), reset: false }));
        let state = if made { PlayState::Made } else { PlayState::Pending };
        let fresh = std::mem::take(&mut tail.reset);
        let play = TailPlay { id, arm: arm as u32, state, counted, fresh, at, seen: id, crossed: false };
        tail.plays.push_back(play);
        self.streak.add(&play);
        (self.newest, self.last_at) = (Some(id), at);
    }

    /// The plays whose outcome is not known, oldest first.
    pub(super) fn pending(&self) -> impl Iterator<Item = &TailPlay> {
        self.plays().filter(|play| play.state == PlayState::Pending)
    }

    fn plays(&self) -> impl Iterator<Item = &TailPlay> {
        self.tail.iter().flat_map(|tail| &tail.plays)
    }

    /// Whether a further play must wait, because the one `overlap` places before it is not finished.
    pub(super) fn is_busy(&self, overlap: u32) -> bool {
        let Some(tail) = &self.tail else { return false };
        let oldest = tail.plays.iter().position(|play| play.state == PlayState::Pending);
        oldest.is_some_and(|oldest| tail.plays.len() - oldest >= overlap as usize)
    }

    /// Whether a play of this arm could overtake a counted play of another one.
    pub(super) fn would_overtake(&self, arm: usize) -> bool {
        self.pending().any(|play| play.counted && play.arm as usize != arm)
    }

    /// The decision that follows `after`, if it is still pending.
    pub(super) fn successor(&self, after: Option<u64>) -> Option<u64> {
        let tail = self.tail.as_ref()?;
        let mut before = tail.before;
        for play in &tail.plays {
            if before == after {
                return (play.state == PlayState::Pending).then_some(play.id);
            }
            before = Some(play.id);
        }
        None
    }

    fn index(&self, id: u64) -> Option<usize> {
        self.tail.as_ref()?.plays.binary_search_by_key(&id, |play| play.id).ok()
    }

    /// Whether this play is kept one by one.
    pub(super) fn keeps(&self, id: u64) -> bool {
        self.index(id).is_some()
    }

    /// Whether this is the newest play.
    pub(super) fn is_newest(&self, id: u64) -> bool {
        self.newest == Some(id)
    }

    /// Marks a play whose streak does not change, and gives up its place in the bank unless it keeps it.
    pub(super) fn settle(&mut self, id: u64, keeps_place: bool) {
        let Some(index) = self.index(id) else { return };
        let tail = self.tail.as_mut().expect("a play with an index is in the tail");
        let seen = self.newest.unwrap_or(id);
        let play = &mut tail.plays[index];
        (play.state, play.counted, play.seen) = (PlayState::Made, play.counted && keeps_place, seen);
    }

    /// Takes the places in the bank of plays that a play of another arm may have overtaken.
    pub(super) fn demote_overtaken(&mut self) -> Vec<(u64, usize)> {
        self.tail.as_mut().map_or_else(Vec::new, |tail| tail.demote_overtaken())
    }

    /// What changes if this play of the tail becomes another one. A pause before a play that is longer than
    /// `reset_after` makes the lane cold. Nothing is changed yet.
    pub(super) fn revise(
        &self,
        id: u64,
        settings: &LaneSettings,
        change: impl FnOnce(&mut TailPlay),
    ) -> Option<Revision> {
        let (burn_in, longest_pause) = (settings.burn_in(), settings.reset_after);
        let index = self.index(id)?;
        let mut tail = self.tail.clone()?;
        let was = tail.plays[index];
        change(&mut tail.plays[index]);
        tail.plays[index].seen = self.newest.unwrap_or(id);
        let (mut streak, mut demoted, mut before, mut last_at) = (tail.base, Vec::new(), 0, tail.base_at);
        for (place, play) in tail.plays.iter_mut().enumerate() {
            let paused = longest_pause.is_some_and(|longest| play.at.saturating_sub(last_at) > longest);
            play.fresh |= paused && play.may_be_made();
            let start = if play.fresh { Streak::COLD } else { streak };
            let in_a_row = start.before(play.arm as usize);
            if place == index {
                before = if play.crossed { 0 } else { in_a_row };
                if was.counted && !(play.counted && play.arm == was.arm && in_a_row >= burn_in) {
                    demoted.push((was.id, was.arm as usize));
                    play.counted = false;
                }
            } else if play.counted && in_a_row < burn_in {
                demoted.push((play.id, play.arm as usize));
                play.counted = false;
            }
            streak.add(play);
            last_at = play.time_after(last_at);
        }
        if settings.overlap > 1 {
            demoted.extend(tail.demote_overtaken());
        }
        let streak = if tail.reset { Streak::COLD } else { streak };
        Some(Revision { tail, streak, demoted, before, last_at })
    }

    pub(super) fn commit(&mut self, revision: Revision) {
        (self.streak, self.last_at, self.tail) = (revision.streak, revision.last_at, Some(revision.tail));
    }

    /// Gives up the place of a play in the bank.
    pub(super) fn uncount(&mut self, id: u64) {
        if let Some(index) = self.index(id)
            && let Some(tail) = &mut self.tail
        {
            tail.plays[index].counted = false;
        }
    }

    /// Makes the changed play count, for another arm.
    pub(super) fn count(&mut self, id: u64) {
        if let Some(index) = self.index(id)
            && let Some(tail) = &mut self.tail
        {
            tail.plays[index].counted = true;
        }
    }

    /// Forgets what can no longer change, and returns the plays whose place in the bank is now certain: all plays that
    /// they may have overtaken, or that may have overtaken them, are finished.
    pub(super) fn release(&mut self, overlap: u32) -> Vec<(u64, usize)> {
        let Some(tail) = &mut self.tail else { return Vec::new() };
        let mut certain = Vec::new();
        while let Some(play) = tail.plays.front() {
            let pending = |other: &TailPlay| other.state == PlayState::Pending && other.id <= play.seen;
            let open = play.state == PlayState::Pending || (overlap > 1 && tail.plays.iter().any(pending));
            if open && (overlap > 1 || tail.plays.len() <= LONGEST_TAIL) {
                break;
            }
            if play.counted && play.state == PlayState::Made {
                certain.push((play.id, play.arm as usize));
            }
            tail.base.add(play);
            (tail.before, tail.base_at) = (Some(play.id), play.time_after(tail.base_at));
            tail.plays.pop_front();
        }
        if tail.plays.is_empty() {
            // A reset after the last play has cleared the streak already.
            self.tail = None;
        }
        certain
    }

    /// The lane loses its memory. Plays that may be under way are not calibrated any more; returns those that were.
    pub(super) fn reset(&mut self, overlap: u32) -> Vec<(u64, usize)> {
        let newest = self.newest;
        self.streak = Streak::COLD;
        let Some(tail) = &mut self.tail else { return Vec::new() };
        tail.reset = true;
        let mut demoted = Vec::new();
        for play in &mut tail.plays {
            let under_way = play.state == PlayState::Pending && (overlap > 1 || newest == Some(play.id));
            play.crossed |= under_way;
            if under_way && play.counted {
                demoted.push((play.id, play.arm as usize));
                play.counted = false;
            }
        }
        demoted
    }
}
