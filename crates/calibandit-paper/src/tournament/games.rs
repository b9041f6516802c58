//! The games: the paper's games at two horizons, one game of every other kind of the catalogue, the ten races, and
//! random games.

use calibandit::rng::{Stream, StreamKey};
use calibandit::zoo::{AlphaReo, CurveFamily, Darts, Decay, Fitted, RacePair, RandomReo, Span, Step, WeightFamily};
use calibandit::{GameSpec, Noise};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::neighbours::{rested_games, windowed_games};
use super::{TournamentOptions, TournamentPart};

/// A group of games, which has its own tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TournamentGroup {
    /// The games of the paper's figures.
    Paper,
    /// The games of the paper's figures with a hundredth of the plays.
    Short,
    /// One game of every other kind of the catalogue.
    Zoo,
    /// The ten fitted pairs of drivers.
    Races,
    /// Random games with repeated exposure optimality.
    Random,
    /// Rested games, at most 10,000 plays.
    Rested,
    /// Rested games, at most 50,000 plays.
    RestedLong,
    /// Windowed games without repeated exposure optimality.
    Windowed,
}

impl TournamentGroup {
    /// A short name for files and links.
    pub fn name(self) -> &'static str {
        match self {
            TournamentGroup::Paper => "paper",
            TournamentGroup::Short => "short",
            TournamentGroup::Zoo => "zoo",
            TournamentGroup::Races => "races",
            TournamentGroup::Random => "random",
            TournamentGroup::Rested => "rested",
            TournamentGroup::RestedLong => "rested-long",
            TournamentGroup::Windowed => "windowed",
        }
    }

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            TournamentGroup::Paper => "The paper's games",
            TournamentGroup::Short => "The paper's games, a hundredth of the plays",
            TournamentGroup::Zoo => "Other games of the zoo",
            TournamentGroup::Races => "The ten races",
            TournamentGroup::Random => "Random games",
            TournamentGroup::Rested => "Rested games",
            TournamentGroup::RestedLong => "Rested games, five times the plays",
            TournamentGroup::Windowed => "Windowed games without repeated exposure",
        }
    }
}

/// One game of the tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TournamentGame {
    /// The group.
    pub group: TournamentGroup,
    /// The name, unique in its group.
    pub name: String,
    /// The game.
    pub game: GameSpec,
    /// The memory bound M that policies are given.
    pub memory_bound: u64,
    /// The number of plays, T.
    pub horizon: u64,
    /// The number of instances.
    pub instances: u64,
}

impl TournamentGame {
    /// The name in the keys of the random streams. It contains the group, so that no two games share noise.
    pub(super) fn stream_name(&self) -> String {
        format!("tournament/{}/{}", self.group.name(), self.name)
    }
}

/// All games of the part, group by group.
pub fn games(options: &TournamentOptions) -> Vec<TournamentGame> {
    match options.part {
        TournamentPart::Main => main_games(options),
        TournamentPart::Rested => rested_games(options),
        TournamentPart::Windowed => windowed_games(options),
    }
}

fn main_games(options: &TournamentOptions) -> Vec<TournamentGame> {
    let paper = paper_games();
    let mut all = Vec::new();
    let mut add = |group, name, game, memory_bound, horizon, instances| {
        all.push(TournamentGame { group, name, game, memory_bound, horizon, instances });
    };
    for (group, horizon) in
        [(TournamentGroup::Paper, options.horizon), (TournamentGroup::Short, (options.horizon / 100).max(1))]
    {
        for (game, memory_bound) in &paper {
            let name = format!("{}, M = {memory_bound}", game.title());
            add(group, name, game.clone(), *memory_bound, horizon, options.instances);
        }
    }
    for kind in GameSpec::catalogue().iter().filter(|kind| !NEIGHBOURS.contains(&kind.name)) {
        let played = paper.iter().any(|(game, _)| *game == kind.example);
        if !played && !matches!(kind.example, GameSpec::Fitted(_)) {
            let memory_bound = memory(&kind.example, options.seed);
            add(
                TournamentGroup::Zoo,
                kind.example.title(),
                kind.example.clone(),
                memory_bound,
                options.horizon,
                options.instances,
            );
        }
    }
    for pair in RacePair::ALL {
        let fitted = pair.fitted();
        let game = Fitted::from(pair).into();
        add(TournamentGroup::Races, fitted.name.into(), game, fitted.laps as u64, options.horizon, options.instances);
    }
    all.extend((0..options.random_games).map(|index| random_game(options, index)));
    all
}

/// The games of neighbouring models, in which repeated exposure is not optimal or arms are rested: policies with a
/// memory bound are not made for them. They have parts of their own.
const NEIGHBOURS: [&str; 13] = [
    "sweet-spot",
    "congestion",
    "recovering",
    "last-switch",
    "rotting-two",
    "rotting-ten",
    "plateaus",
    "improving",
    "single-peaked",
    "recommender",
    "rising-two",
    "rising-fifteen",
    "learning-curves",
];

/// The eight games of the paper's figures with their memory bounds.
fn paper_games() -> Vec<(GameSpec, u64)> {
    let step = |memory, arms| GameSpec::from(Step { memory, arms, ..Step::default() });
    vec![
        (step(3, 5), 3),
        (step(3, 5), 10),
        (step(5, 10), 5),
        (step(10, 20), 10),
        (step(10, 20), 40),
        (AlphaReo { memory: 4, arms: 5, ..AlphaReo::default() }.into(), 4),
        (Decay { memory: 4, arms: 5, ..Decay::default() }.into(), 4),
        (Darts { arms: 20, ..Darts::default() }.into(), 2),
    ]
}

/// The memory of a game; the largest possible one if it is drawn at random.
pub(super) fn memory(game: &GameSpec, seed: u64) -> u64 {
    if let GameSpec::RandomReo(game) = game {
        return game.memory.high() as u64;
    }
    // Only random games have a memory that differs between instances.
    let drawn = game.draw(&mut StreamKey::new(seed, "tournament", 0).game());
    drawn.expect("the examples of the catalogue are valid").memory() as u64
}

/// The largest horizon of games with beta feedback, which is drawn play by play and therefore slow.
pub(super) const LONGEST_WITH_BETA: u64 = 300_000;

/// A random game: all of its parameters are drawn, most of them log-uniformly.
fn random_game(options: &TournamentOptions, index: u64) -> TournamentGame {
    let from = &mut StreamKey::new(options.seed, "tournament/random", index).game();
    let arms = whole(2, 200, from) as usize;
    let memory = whole(1, 32, from);
    let memory_bound = (memory as f64 * logarithmic(1.0, 8.0, from)).round() as u64;
    let (one, other) = (logarithmic(0.001, 0.5, from), logarithmic(0.001, 0.5, from));
    let mut horizon = whole(10_000, options.longest.max(10_000), from);
    let feedback = match whole_evenly(4, from) {
        0 => Noise::Bernoulli,
        1 => Noise::Normal { sd: logarithmic(0.01, 0.5, from) },
        2 => Noise::Beta { concentration: logarithmic(1.0, 100.0, from) },
        _ => Noise::None,
    };
    if matches!(feedback, Noise::Beta { .. }) {
        horizon = horizon.min(LONGEST_WITH_BETA);
    }
    let own_memory = whole_evenly(2, from) == 1;
    let weights = [WeightFamily::Unit, WeightFamily::Random, WeightFamily::Decay][whole_evenly(3, from)];
    let curve = [CurveFamily::Step, CurveFamily::Linear, CurveFamily::Falling, CurveFamily::Rough, CurveFamily::Mixed]
        [whole_evenly(5, from)];
    let game = RandomReo {
        arms,
        memory: if own_memory { Span::Between([1, memory as usize]) } else { Span::One(memory as usize) },
        own_memory,
        alpha: 0.0,
        gap: Span::Between([one.min(other), one.max(other)]),
        best_loss: None,
        best_arm: None,
        weights,
        curve,
        feedback,
    };
    let name = format!("random {}", index + 1);
    let instances = options.random_instances;
    TournamentGame { group: TournamentGroup::Random, name, game: game.into(), memory_bound, horizon, instances }
}

/// A log-uniform number from `low` to `high`.
fn logarithmic(low: f64, high: f64, from: &mut Stream) -> f64 {
    let u: f64 = from.random();
    (low * (high / low).powf(u)).clamp(low, high)
}

/// A log-uniform whole number from `low` to `high`, both included.
fn whole(low: u64, high: u64, from: &mut Stream) -> u64 {
    (logarithmic(low as f64, high as f64 + 1.0, from) as u64).min(high)
}

/// A uniform whole number from 0 to `n - 1`.
fn whole_evenly(n: usize, from: &mut Stream) -> usize {
    let u: f64 = from.random();
    ((u * n as f64) as usize).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_game_is_played_and_names_are_unique() {
        let games = games(&TournamentOptions::default());
        assert!(NEIGHBOURS.iter().all(|name| GameSpec::KINDS.contains(name)));
        for kind in GameSpec::catalogue().iter().filter(|kind| !NEIGHBOURS.contains(&kind.name)) {
            assert!(games.iter().any(|entry| entry.game.kind() == kind.name), "{}", kind.name);
        }
        let of = |group| games.iter().filter(move |entry| entry.group == group).count();
        assert_eq!((of(TournamentGroup::Paper), of(TournamentGroup::Short), of(TournamentGroup::Races)), (8, 8, 10));
        assert!(games.iter().filter(|entry| entry.group == TournamentGroup::Paper).all(|entry| entry.instances >= 400));
        let mut names: Vec<_> = games.iter().map(|entry| (entry.group, &entry.name)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), games.len());
    }

    #[test]
    fn random_games_are_valid_and_cover_their_ranges() {
        let options = TournamentOptions { random_games: 300, ..TournamentOptions::default() };
        let games: Vec<TournamentGame> =
            games(&options).into_iter().filter(|entry| entry.group == TournamentGroup::Random).collect();
        let (mut arms, mut horizons, mut kinds) = (vec![], vec![], vec![0; 4]);
        for entry in &games {
            let game = entry.game.draw(&mut StreamKey::new(1, &entry.stream_name(), 0).game()).unwrap();
            let memory = game.memory() as u64;
            assert!((2..=200).contains(&game.arms().len()) && (1..=32).contains(&memory));
            assert!(memory <= entry.memory_bound && entry.memory_bound <= 256, "{}", entry.name);
            assert!((10_000..=10_000_000).contains(&entry.horizon));
            arms.push(game.arms().len());
            horizons.push(entry.horizon);
            kinds[match game.arms()[0].noise() {
                Noise::Bernoulli => 0,
                Noise::Normal { .. } => 1,
                Noise::Beta { .. } => 2,
                Noise::None => 3,
                other => panic!("{other:?} is not drawn"),
            }] += 1;
        }
        assert!(arms.iter().any(|&k| k < 4) && arms.iter().any(|&k| k > 150));
        assert!(horizons.iter().any(|&t| t < 20_000) && horizons.iter().any(|&t| t > 5_000_000));
        assert!(kinds.iter().all(|&count| count > 45), "{kinds:?}");
    }
}
