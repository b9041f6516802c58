//! Policies that are made for another class of games than the one they play.

use calibandit::{Game, GameClass, Memory};

use super::memory;
use crate::experiment::LabelledPolicy;

/// The class of a game: by its curves if it is rested, else by its memory and the smallest alpha of repeated exposure,
/// if that is known.
pub(super) fn class(game: &Game, alpha: Option<f64>) -> GameClass {
    match (game.rested_class(), game.memory(), alpha) {
        (Some(class), ..) => class,
        (None, 1, _) => GameClass::Plain,
        (None, _, Some(0.0)) => GameClass::RepeatedExposure,
        (None, ..) => GameClass::Windowed,
    }
}

/// What `calibandit check` says about a policy in a game of this class.
pub(super) fn note(entry: &LabelledPolicy, class: GameClass, memory: Memory) -> Option<String> {
    let made_for = entry.policy.spec().map_or(&[GameClass::Any][..], |spec| spec.meant_for());
    // Policies with burn-in, and references without, have notes about the memory.
    let by_memory = |made_for: &GameClass| matches!(made_for, GameClass::Plain | GameClass::RepeatedExposure);
    let windowed = matches!(class, GameClass::Plain | GameClass::RepeatedExposure | GameClass::Windowed);
    if windowed && made_for.iter().any(by_memory) {
        return memory::note(entry, memory);
    }
    // Whether each play of an improving arm changes less than the one before is not known.
    let fits = |made_for: &GameClass| {
        made_for.includes(class) || *made_for == GameClass::Rising && class == GameClass::Improving
    };
    if made_for.iter().any(fits) {
        return None;
    }
    let names: Vec<&str> = made_for.iter().map(|class| class.name()).collect();
    Some(format!(
        "{} is made for games of another class ({}); this game is {}",
        entry.label,
        names.join(", "),
        class.name()
    ))
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use crate::preflight::preflight;

    fn notes(memory: usize) -> Vec<String> {
        let text = format!(
            "name = \"x\"\nhorizon = 1000\ngame = {{ kind = \"step\", arms = 3, memory = {memory} }}\n\
             policy = [{{ kind = \"rising-ucb\" }}, {{ kind = \"sliding-ucb\" }}, {{ kind = \"ucb1\" }}, \
             {{ kind = \"epoch-ucb\", memory_bound = 4 }}]"
        );
        let experiment = Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}"));
        preflight(&experiment).remove(0).warnings
    }

    #[test]
    fn policies_of_another_class_are_named() {
        let expected = [
            "R-ed-UCB is made for games of another class (rising); this game is windowed with repeated exposure",
            "UCB1 does not burn in: it never waits for an arm to be calibrated",
        ];
        assert_eq!(notes(4), expected);
        assert_eq!(notes(1), [""; 0], "without memory, every policy fits");
    }

    #[test]
    fn rested_games_are_classified_by_their_curves() {
        let notes = |curve: &str| {
            let text = format!(
                "name = \"x\"\nhorizon = 1000\n\
                 policy = [{{ kind = \"raw-ucb\" }}, {{ kind = \"rising-ucb\" }}, {{ kind = \"spo\" }}, \
                 {{ kind = \"sliding-ucb\" }}]\n\
                 [game]\nkind = \"custom\"\n[[game.arm]]\nmemory = \"all\"\nloss = 0.5\n\
                 [[game.arm]]\nmemory = \"all\"\nloss = {curve}\n"
            );
            let experiment = Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}"));
            let warnings = preflight(&experiment).remove(0).warnings;
            let classes = warnings.into_iter().filter(|note| note.contains("another class"));
            classes.map(|note| note.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(notes("{ power = { limit = 0.1, scale = 0.8, exponent = 0.5 } }"), ["RAW-UCB"]);
        assert_eq!(notes("{ power = { limit = 0.9, scale = -0.8, exponent = 0.5 } }"), ["R-ed-UCB"]);
        assert_eq!(notes("{ table = [0.9, 0.2, 0.5] }"), ["RAW-UCB", "R-ed-UCB"]);
        assert_eq!(notes("{ table = [0.2, 0.9, 0.5] }"), ["RAW-UCB", "R-ed-UCB", "SPO"]);
    }
}
