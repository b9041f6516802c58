//! The instances of games that tasks of a run share, each with the optimum that regret is measured against.
//!
//! A game that is the same in all instances is prepared once. An instance is kept from its first use to its
//! last one, so that a run of a million instances does not hold them all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use calibandit::rng::StreamKey;
use calibandit::simulate::LiveSpec;
use calibandit::{Game, Interrupt, Optima, OptimumError};
use sha2::{Digest, Sha256};

use crate::Experiment;
use crate::error::InstanceError;
use crate::experiment::GameSource;
use crate::spec::{Point, RegretReference};

/// An instance of a game with the optimum that its regret is measured against.
pub(super) struct Instance {
    pub(super) game: Game,
    /// The optimum's excess over mu(x*) at each checkpoint; empty in live use, where it depends on the sessions.
    pub(super) optimum: Vec<f64>,
}

/// A place for an instance, which the first thread that needs it fills.
type Slot = Arc<OnceLock<Result<Arc<Instance>, InstanceError>>>;

/// The instances of all games of an experiment.
pub(super) struct Instances<'a> {
    experiment: &'a Experiment,
    /// By point: its game among the different games.
    game_of: Vec<usize>,
    games: Vec<GameUses<'a>>,
    /// By game and instance: those in use.
    slots: Mutex<HashMap<(usize, u64), Slot>>,
    /// Held while an optimum is computed that takes much memory: one at a time.
    large: Mutex<()>,
}

/// An optimum that may take more memory than this is not computed on several threads at the same time.
const LARGE: u64 = 128 << 20;

/// A game of one or more points, and how often its instances will be used.
struct GameUses<'a> {
    source: &'a GameSource,
    live: Option<LiveSpec>,
    /// By instance; one number for all if the game is the same in all.
    uses: Vec<AtomicU32>,
}

impl<'a> Instances<'a> {
    pub(super) fn new(experiment: &'a Experiment) -> Self {
        let mut known = HashMap::new();
        let (mut game_of, mut games) = (Vec::new(), Vec::new());
        for point in experiment.points() {
            let game = *known.entry(game_key(point)).or_insert(games.len());
            if game == games.len() {
                let places = if point.game.is_same_in_all_instances() { 1 } else { experiment.instances() };
                let uses = (0..places).map(|_| AtomicU32::new(0)).collect();
                games.push(GameUses { source: &point.game, live: point.live, uses });
            }
            game_of.push(game);
        }
        Self { experiment, game_of, games, slots: Mutex::default(), large: Mutex::default() }
    }

    /// The number of the game of a point. Points with the same game have the same number.
    pub(super) fn game(&self, point: usize) -> usize {
        self.game_of[point]
    }

    /// Announces a use. An instance must be announced as often as it is released.
    pub(super) fn announce(&self, point: usize, instance: u64) {
        let (game, place) = self.place(point, instance);
        self.games[game].uses[place as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Ends a use. The last one frees the memory.
    pub(super) fn release(&self, point: usize, instance: u64) {
        let (game, place) = self.place(point, instance);
        if self.games[game].uses[place as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
            self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&(game, place));
        }
    }

    /// The instance. A game whose optimum is out of reach is tried once, not once per instance.
    pub(super) fn get(
        &self,
        point: usize,
        instance: u64,
        interrupt: Interrupt<'_>,
    ) -> Result<Arc<Instance>, InstanceError> {
        let key = self.place(point, instance);
        let slot = match self.slots.lock().unwrap_or_else(PoisonError::into_inner).entry(key) {
            Entry::Occupied(slot) => slot.get().clone(),
            Entry::Vacant(place) => place.insert(Slot::default()).clone(),
        };
        slot.get_or_init(|| self.prepare(key.0, instance, interrupt).map(Arc::new)).clone()
    }

    /// One point of each game.
    pub(super) fn points(&self) -> impl Iterator<Item = usize> {
        (0..self.games.len()).filter_map(|game| self.game_of.iter().position(|of_point| *of_point == game))
    }

    /// Frees the instances that nobody has announced.
    pub(super) fn free_unused(&self) {
        let is_used = |game: usize, place: u64| self.games[game].uses[place as usize].load(Ordering::Acquire) > 0;
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).retain(|&(game, place), _| is_used(game, place));
    }

    /// The game and the place of an instance in it.
    fn place(&self, point: usize, instance: u64) -> (usize, u64) {
        let game = self.game_of[point];
        (game, if self.games[game].uses.len() > 1 { instance } else { 0 })
    }

    fn prepare(&self, game: usize, instance: u64, interrupt: Interrupt<'_>) -> Result<Instance, InstanceError> {
        let key = StreamKey::new(self.experiment.seed(), self.experiment.name(), instance);
        let GameUses { source, live, .. } = &self.games[game];
        let game = source.draw(&mut key.game())?;
        let mut optima = Optima::new(&game).interruptible(interrupt);
        if let Some(live) = live {
            // The simulation computes the optima of its sessions. One of them is tried before anything is simulated.
            if instance == 0 {
                optima.excess_at(usual_session(live, self.experiment.horizon()))?;
            }
            return Ok(Instance { game, optimum: Vec::new() });
        }
        let large = optima.memory_estimate(self.experiment.horizon()) > LARGE;
        let _alone = large.then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
        let optimum = optimum_at_checkpoints(&mut optima, self.experiment)?;
        Ok(Instance { game, optimum })
    }

    /// The number of instances in memory.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.slots.lock().unwrap().len()
    }
}

/// The excess over mu(x*) of what losses are compared with, at each checkpoint. Without it there is no regret, so that
/// a run is refused.
pub(crate) fn optimum_at_checkpoints(
    optima: &mut Optima<'_>,
    experiment: &Experiment,
) -> Result<Vec<f64>, OptimumError> {
    let excess = |&t: &u64| match experiment.reference() {
        RegretReference::Time => optima.excess_at(t),
        RegretReference::Horizon => optima.planned_excess_at(experiment.horizon(), t),
    };
    experiment.grid().times().iter().map(excess).collect()
}

/// The number of plays of a usual session of live use.
pub(crate) fn usual_session(live: &LiveSpec, horizon: u64) -> u64 {
    let of_lane = horizon.div_ceil(live.lanes.max(1));
    live.session.map_or(of_lane, |mean| of_lane.min(mean.round() as u64)).max(1)
}

/// What points with the same game and the same live use have in common. A game without a specification is only at one
/// point.
fn game_key(point: &Point) -> [u8; 32] {
    let text = serde_json::to_string(&(&point.game, &point.live));
    Sha256::digest(text.unwrap_or_else(|_| format!("the game of point {}", point.index))).into()
}
