//! What is played: the paper's games at two horizons, one game of every other kind of the zoo, the ten races, and
//! random games.

use calibandit::rng::{Stream, StreamKey};
use calibandit::zoo::{AlphaReo, CurveFamily, Darts, Decay, Fitted, RacePair, RandomReo, Span, Step, WeightFamily};
use calibandit::{GameSpec, Noise};
use rand::RngExt;
use serde::Serialize;

use super::Options;

/// Which part of the tournament a game belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The games of the paper's figures.
    Paper,
    /// The same with a hundredth of the plays.
    Short,
    /// One game of every other kind of the zoo.
    Zoo,
    /// The ten fitted pairs of drivers.
    Races,
    /// Random games with repeated exposure optimality.
    Random,
}

impl Group {
    /// All groups, in order.
    pub const ALL: [Group; 5] = [Group::Paper, Group::Short, Group::Zoo, Group::Races, Group::Random];

    /// A short name for files and links.
    pub fn name(self) -> &'static str {
        match self {
            Group::Paper => "paper",
            Group::Short => "short",
            Group::Zoo => "zoo",
            Group::Races => "races",
            Group::Random => "random",
        }
    }

    /// What it is, for headings.
    pub fn title(self) -> &'static str {
        match self {
            Group::Paper => "The paper's games",
            Group::Short => "The paper's games, a hundredth of the plays",
            Group::Zoo => "Other games of the zoo",
            Group::Races => "The ten races",
            Group::Random => "Random games",
        }
    }
}

/// One game of the tournament.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// The part of the tournament.
    pub group: Group,
    /// Its name, unique in its group.
    pub name: String,
    /// The game.
    pub game: GameSpec,
    /// What policies are told about the memory, M.
    pub memory_bound: u64,
    /// The number of plays, T.
    pub horizon: u64,
    /// The number of instances.
    pub instances: u64,
}

impl Entry {
    /// The name in the keys of this game's streams. It contains the group, so that no two games share noise.
    pub(super) fn stream_name(&self) -> String {
        format!("tournament/{}/{}", self.group.name(), self.name)
    }
}

/// All games, group by group.
pub fn games(options: &Options) -> Vec<Entry> {
    let paper = paper_games();
    let mut all = Vec::new();
    let mut add = |group, name, game, memory_bound, horizon, instances| {
        all.push(Entry { group, name, game, memory_bound, horizon, instances });
    };
    for (group, horizon) in [(Group::Paper, options.horizon), (Group::Short, (options.horizon / 100).max(1))] {
        for (game, memory_bound) in &paper {
            let name = format!("{}, M = {memory_bound}", game.title());
            add(group, name, game.clone(), *memory_bound, horizon, options.instances);
        }
    }
    for kind in GameSpec::catalogue() {
        let played = paper.iter().any(|(game, _)| *game == kind.example);
        if !played && kind.name != "fitted" {
            let memory_bound = memory(&kind.example, options.seed);
            add(
                Group::Zoo,
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
        add(Group::Races, fitted.name.into(), game, fitted.laps as u64, options.horizon, options.instances);
    }
    all.extend((0..options.random_games).map(|index| random_game(options, index)));
    all
}

/// The eight games of the paper's figures, with what policies are told about the memory.
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

/// The memory of a game; the largest it can have where that is drawn.
fn memory(game: &GameSpec, seed: u64) -> u64 {
    if let GameSpec::RandomReo(game) = game {
        return game.memory.high() as u64;
    }
    // Only random games have a memory that differs from one instance to the next.
    let drawn = game.draw(&mut StreamKey::new(seed, "tournament", 0).game());
    drawn.map_or(1, |game| game.memory() as u64)
}

/// Beta feedback is drawn play by play, so these games are not longer than this.
pub(super) const LONGEST_WITH_BETA: u64 = 300_000;

/// A random game: everything about it is drawn, most of it uniformly on a logarithmic scale.
fn random_game(options: &Options, index: u64) -> Entry {
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
    Entry { group: Group::Random, name, game: game.into(), memory_bound, horizon, instances }
}

/// A number from `low` to `high` whose logarithm is uniform.
fn logarithmic(low: f64, high: f64, from: &mut Stream) -> f64 {
    let u: f64 = from.random();
    (low * (high / low).powf(u)).clamp(low, high)
}

/// A whole number from `low` to `high`, both included, small ones as likely as on a logarithmic scale.
fn whole(low: u64, high: u64, from: &mut Stream) -> u64 {
    (logarithmic(low as f64, high as f64 + 1.0, from) as u64).min(high)
}

/// One of 0 to `n - 1`, each as likely.
fn whole_evenly(n: usize, from: &mut Stream) -> usize {
    let u: f64 = from.random();
    ((u * n as f64) as usize).min(n - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_the_zoo_is_played() {
        let games = games(&Options::default());
        for kind in GameSpec::catalogue() {
            assert!(games.iter().any(|entry| entry.game.kind() == kind.name), "{}", kind.name);
        }
        let of = |group| games.iter().filter(move |entry| entry.group == group).count();
        assert_eq!((of(Group::Paper), of(Group::Short), of(Group::Races)), (8, 8, 10));
        assert!(games.iter().filter(|entry| entry.group == Group::Paper).all(|entry| entry.instances >= 400));
        let mut names: Vec<_> = games.iter().map(|entry| (entry.group, &entry.name)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), games.len());
    }

    #[test]
    fn random_games_cover_the_ranges_and_can_be_drawn() {
        let options = Options { random_games: 300, ..Options::default() };
        let games: Vec<Entry> = games(&options).into_iter().filter(|entry| entry.group == Group::Random).collect();
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
            }] += 1;
        }
        assert!(arms.iter().any(|&k| k < 4) && arms.iter().any(|&k| k > 150));
        assert!(horizons.iter().any(|&t| t < 20_000) && horizons.iter().any(|&t| t > 5_000_000));
        assert!(kinds.iter().all(|&count| count > 45), "{kinds:?}");
    }
}
