//! The pilot under way: random runs, and when to look at the losses.

use rand::RngExt;

use super::search::MemorySearch;
use crate::pilot_plan::log_uniform_length;
use crate::policy::history::{RestoredPlays, StateError, ensure};
use crate::{Feedback, Run, Stream};

/// The first look comes after this many plays per arm.
const FIRST_PLAYS: u64 = 50;
/// Each look comes after this many times the plays before the last one.
const LOOK_GROWTH: f64 = 1.25;
/// Runs are at most twice as long as the scale. It is at least this, or the longest memory,
const FIRST_SCALE: u32 = 8;
/// and grows by one per this many plays of each arm, until the set has an upper end. Chosen by simulation.
const SCALE_PLAYS: u64 = 4;

/// The pilot under way.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(super) struct Searching {
    search: MemorySearch,
    stream: Stream,
    /// The arm of the run under way, the plays made in it and its length.
    arm: usize,
    position: u32,
    length: u32,
    /// The number of runs begun.
    runs: u64,
    /// The number of plays of all arms, and the number at which the next look comes.
    plays: u64,
    next_look: u64,
    /// The upper end of the set at the last look.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    upper: Option<u32>,
}

impl Searching {
    pub(super) fn new(longest: u32, arms: usize, most: u64, stream: Stream) -> Self {
        let search = MemorySearch::new(longest, arms);
        let next_look = first_look(arms);
        let mut this =
            Self { search, stream, arm: arms, position: 0, length: 0, runs: 0, plays: 0, next_look, upper: None };
        this.begin_run(most);
        this
    }

    /// Draws the next run: another arm, and a length, so that the pilot has at most `most` plays. Sets the next look if
    /// one was due.
    pub(super) fn begin_run(&mut self, most: u64) {
        while self.next_look <= self.plays {
            self.next_look = (self.next_look as f64 * LOOK_GROWTH).ceil() as u64;
        }
        let arms = self.search.plays().len();
        self.arm = if self.arm == arms {
            self.stream.random_range(0..arms)
        } else {
            // Any of the others.
            let drawn = self.stream.random_range(0..arms - 1);
            drawn + usize::from(drawn >= self.arm)
        };
        let length = log_uniform_length(self.scale(), &mut self.stream);
        self.length = u64::from(length).min(most.saturating_sub(self.plays)).max(1) as u32;
        self.position = 0;
        self.runs += 1;
    }

    /// Lengths are log-uniform up to twice this. A memory is visible in runs of about its own length, so runs are short
    /// at first and grow; an upper end of the set takes the place of the longest memory.
    fn scale(&self) -> u32 {
        let (arms, longest) = (self.search.plays().len() as u64, self.search.longest());
        let grown = u32::try_from(self.plays / (SCALE_PLAYS * arms)).unwrap_or(u32::MAX);
        self.upper.map_or(grown, |upper| grown.min(upper)).max(FIRST_SCALE).min(longest)
    }

    pub(super) fn upper(&self) -> Option<u32> {
        self.upper
    }

    pub(super) fn set_upper(&mut self, upper: Option<u32>) {
        self.upper = upper;
    }

    /// Single plays, so that each loss is seen; from the longest memory on, the rest of the run at once.
    pub(super) fn run(&self) -> Run {
        let calibrated = self.position + 1 >= self.search.longest();
        let record = if calibrated { self.length - self.position } else { 1 };
        Run { arm: self.arm, burn_in: 0, record: u64::from(record) }
    }

    /// The number of times that [`run`](Self::run) gives the same run.
    pub(super) fn repetitions(&self) -> u64 {
        let single = self.length.min(self.search.longest() - 1).saturating_sub(self.position);
        u64::from(single.max(1))
    }

    /// Whether the run is at its end.
    pub(super) fn observe(&mut self, run: Run, feedback: Feedback) -> bool {
        self.search.record(run.arm, self.position + 1, feedback);
        self.position += run.record as u32;
        self.plays += run.record;
        self.position >= self.length
    }

    pub(super) fn search(&self) -> &MemorySearch {
        &self.search
    }

    pub(super) fn stream(&self) -> Stream {
        self.stream.clone()
    }

    pub(super) fn plays(&self) -> u64 {
        self.plays
    }

    pub(super) fn next_look(&self) -> u64 {
        self.next_look
    }

    pub(super) fn check_restored(
        &self,
        longest: u32,
        most: u64,
        history: &RestoredPlays<'_>,
    ) -> Result<(), StateError> {
        ensure(self.stream.is_valid(), "the state of the random generator is zero")?;
        self.search.check_restored(longest, history)?;
        let lengths = (1..=2 * longest).contains(&self.length) && self.position < self.length;
        ensure(self.arm < history.arms && lengths, "the run of the pilot is out of range")?;
        let plays: u64 = self.search.plays().iter().sum();
        let before = plays.checked_sub(u64::from(self.position));
        let before = before.filter(|&before| plays == self.plays && before + u64::from(self.length) <= most);
        let Some(before) = before else { return Err(StateError::new("the plays of the pilot are out of range")) };
        let begun = self.search.latest(self.position as usize).all(|arm| arm == self.arm);
        // Every run is of another arm than the one before, which is still in the window if the run is short.
        let switched = self.search.latest(self.position as usize + 1).nth(self.position as usize);
        ensure(begun && switched != Some(self.arm), "the run of the pilot contradicts the last plays")?;
        let first = first_look(history.arms);
        let latest = first.max((LOOK_GROWTH * before as f64).ceil() as u64 + 1);
        let look = self.next_look >= first && self.next_look > before && self.next_look <= latest;
        ensure(
            self.upper.is_none_or(|upper| (1..=longest).contains(&upper)),
            "the upper end of the set is out of range",
        )?;
        ensure(look, "the next look of the pilot is out of range")?;
        if let Some(closed) = history.closed {
            let visits = closed.visits == self.runs.wrapping_sub(u64::from(self.position == 0));
            let burn_in = closed.burn_in.iter().all(|&plays| plays == 0);
            ensure(visits && burn_in, "the pilot and the advisor differ in the runs")?;
        }
        ensure(history.open.is_none_or(|run| run == self.run()), "the open run is not the one asked for")
    }
}

/// The number of plays of all arms before the first look.
pub(super) fn first_look(arms: usize) -> u64 {
    arms as u64 * FIRST_PLAYS
}
