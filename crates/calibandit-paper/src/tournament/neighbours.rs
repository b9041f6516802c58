//! The parts of the tournament: the main one, and one for each family of neighbouring models, with the policies that
//! are made for it and a few references. Each part is a tournament of its own, with its own policies and its own
//! folder.

use calibandit::zoo::{
    Congestion, CongestionGrowth, CurveFamily, Improving, RandomReo, SinglePeaked, Span, WeightFamily,
};
use calibandit::{GameClass, GameSpec, PolicySpec};
use serde::Serialize;

use super::games::memory;
use super::{TournamentGame, TournamentGroup, TournamentOptions};

/// A part of the tournament.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TournamentPart {
    /// Games with repeated exposure optimality.
    #[default]
    Main,
    /// Rested arms: rotting, improving, single-peaked, rising.
    Rested,
    /// Windowed games without repeated exposure optimality: congestion, fatigue, recovery, random losses.
    Windowed,
}

impl TournamentPart {
    /// All parts with their names on the command line.
    pub const NAMES: [(&'static str, TournamentPart); 3] =
        [("main", TournamentPart::Main), ("rested", TournamentPart::Rested), ("windowed", TournamentPart::Windowed)];

    /// The part with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(of, _)| *of == name).map(|(_, part)| part)
    }

    /// The groups of games, in order.
    pub fn groups(self) -> &'static [TournamentGroup] {
        match self {
            TournamentPart::Main => &[
                TournamentGroup::Paper,
                TournamentGroup::Short,
                TournamentGroup::Zoo,
                TournamentGroup::Races,
                TournamentGroup::Random,
            ],
            TournamentPart::Rested => &[TournamentGroup::Rested, TournamentGroup::RestedLong],
            TournamentPart::Windowed => &[TournamentGroup::Windowed],
        }
    }

    /// Whether a kind of policy takes part: those that are made for its games, and references. `pilot` looks for a
    /// memory bound that every policy is told here.
    pub fn admits(self, kind: &str) -> bool {
        let Some(entry) = PolicySpec::catalogue().iter().find(|entry| entry.name == kind) else { return false };
        let made_for = |class: &GameClass| match self {
            TournamentPart::Main => matches!(class, GameClass::RepeatedExposure | GameClass::Plain),
            TournamentPart::Rested => matches!(
                class,
                GameClass::Rotting
                    | GameClass::Improving
                    | GameClass::SinglePeaked
                    | GameClass::Rising
                    | GameClass::Any
            ),
            TournamentPart::Windowed => matches!(class, GameClass::Windowed),
        };
        let reference = match self {
            TournamentPart::Main => false,
            TournamentPart::Rested => kind == "ucb1",
            TournamentPart::Windowed => matches!(kind, "calibrated" | "batched-exp3" | "ucb1"),
        };
        kind != "pilot" && (reference || entry.meant_for.iter().any(made_for))
    }
}

/// The rested games, at two horizons.
pub(super) fn rested_games(options: &TournamentOptions) -> Vec<TournamentGame> {
    let example = |kind: &str| {
        let entry = GameSpec::catalogue().iter().find(|entry| entry.name == kind);
        entry.map(|entry| entry.example.clone()).expect("the kind is in the catalogue")
    };
    let mut games: Vec<GameSpec> = ["rotting-two", "rotting-ten", "plateaus", "recommender"].map(example).to_vec();
    games.extend((1..=3).map(|variant| Improving { variant, ..Improving::default() }.into()));
    games.extend((1..=3).map(|variant| SinglePeaked { variant, ..SinglePeaked::default() }.into()));
    games.extend(["rising-two", "rising-fifteen", "learning-curves"].map(example));
    let horizons = [(TournamentGroup::Rested, 10_000), (TournamentGroup::RestedLong, 50_000)];
    let at = |(group, horizon): (TournamentGroup, u64)| {
        let horizon = horizon.min(options.horizon);
        let entry = move |game: &GameSpec| entry(group, game.title(), game.clone(), 1, horizon, options.instances);
        games.iter().map(entry).collect::<Vec<_>>()
    };
    horizons.into_iter().flat_map(at).collect()
}

/// The windowed games without repeated exposure optimality, with at most 3^6 windows.
pub(super) fn windowed_games(options: &TournamentOptions) -> Vec<TournamentGame> {
    let mut games: Vec<(String, GameSpec)> = Vec::new();
    for growth in [CongestionGrowth::Linear, CongestionGrowth::Convex] {
        let game = GameSpec::from(Congestion { growth, ..Congestion::default() });
        games.push((format!("{}, {growth:?}", game.title()).to_lowercase(), game));
    }
    for kind in ["sweet-spot", "recovering", "last-switch"] {
        let entry = GameSpec::catalogue().iter().find(|entry| entry.name == kind);
        let game = entry.map(|entry| entry.example.clone()).expect("the kind is in the catalogue");
        games.push((game.title(), game));
    }
    for alpha in [0.1, 0.2, 0.3, 0.4] {
        let game = RandomReo {
            arms: 3,
            memory: Span::One(4),
            alpha,
            best_loss: Some(Span::One(0.5)),
            weights: WeightFamily::Unit,
            curve: CurveFamily::Rough,
            ..RandomReo::default()
        };
        games.push((format!("random losses, alpha = {alpha}"), game.into()));
    }
    let horizon = options.horizon.min(100_000);
    let entry = |(name, game)| {
        let memory_bound = memory(&game, options.seed);
        entry(TournamentGroup::Windowed, name, game, memory_bound, horizon, options.instances)
    };
    games.into_iter().map(entry).collect()
}

fn entry(
    group: TournamentGroup,
    name: String,
    game: GameSpec,
    memory_bound: u64,
    horizon: u64,
    instances: u64,
) -> TournamentGame {
    TournamentGame { group, name, game, memory_bound, horizon, instances }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use calibandit::StreamKey;

    #[test]
    fn every_policy_takes_part_somewhere_and_every_part_has_its_games() {
        let parts = TournamentPart::NAMES.map(|(_, part)| part);
        for kind in PolicySpec::KINDS.iter().filter(|kind| **kind != "pilot") {
            assert!(parts.iter().any(|part| part.admits(kind)), "{kind}");
        }
        for (part, own) in [(TournamentPart::Rested, "raw-ucb"), (TournamentPart::Windowed, "rotation")] {
            assert!(part.admits(own) && !TournamentPart::Main.admits(own) && !part.admits("pilot"));
            let options = TournamentOptions { part, ..TournamentOptions::default() };
            let games = super::super::games(&options);
            assert!(games.iter().all(|game| part.groups().contains(&game.group)));
            for entry in &games {
                let game = entry.game.draw(&mut StreamKey::new(1, "parts", 0).game()).unwrap();
                assert_eq!(game.is_rested(), part == TournamentPart::Rested, "{}", entry.name);
                let memory = if game.is_rested() { 1 } else { game.memory() as u64 };
                assert_eq!(memory, entry.memory_bound, "{}", entry.name);
            }
        }
        assert_eq!(TournamentPart::named("windowed"), Some(TournamentPart::Windowed));
        assert_eq!(TournamentPart::named("other"), None);
    }
}
