//! Policies that model a game by tallies, `planner` and `rotation`: whether the game is one of their model.

use calibandit::policy::PlannerCells;
use calibandit::{Game, PolicySpec};

/// Whether a policy models losses by the plays among the last M, so that M must be the memory, not a bound on it.
pub(super) fn models_tallies(policy: &PolicySpec) -> bool {
    matches!(policy, PolicySpec::Planner(_) | PolicySpec::Rotation(_))
}

/// What is wrong with the model of such a policy on this game; `None` if it is right, and for other policies.
pub(super) fn note(label: &str, policy: &PolicySpec, game: &Game) -> Option<String> {
    let (told, by_window) = match policy {
        PolicySpec::Planner(spec) => (spec.memory_bound, spec.cells == PlannerCells::Window),
        PolicySpec::Rotation(spec) => (spec.memory_bound, false),
        _ => return None,
    };
    if game.is_rested() {
        return Some(format!(
            "{label} looks at the last M = {told} plays, but arms of this game remember all of theirs: no \
             guarantee holds"
        ));
    }
    let memory = game.memory() as u64;
    if by_window {
        return (told < memory).then(|| {
            format!(
                "{label} sees the last M = {told} plays, but the game's memory is m = {memory}: no guarantee holds; \
                 set `memory_bound` to {memory} or more"
            )
        });
    }
    let dependent = game.arms().iter().filter(|arm| !arm.curve().is_constant());
    let weighted = dependent.clone().any(|arm| arm.weights().as_slice().windows(2).any(|pair| pair[0] != pair[1]));
    if weighted {
        return Some(format!(
            "{label} counts plays, but this game weighs them by their age: losses are not a function of its counts, \
             and no guarantee holds; `cells = \"window\"` of `planner` is right for all weights"
        ));
    }
    let other = dependent.map(|arm| arm.memory() as u64).find(|&memory| memory != told)?;
    Some(format!(
        "{label} counts plays among the last M = {told}, but the memory of an arm is m = {other}: losses are not a \
         function of its counts, and no guarantee holds; `memory_bound` must be the memory itself"
    ))
}

#[cfg(test)]
mod tests {
    use crate::Experiment;
    use crate::preflight::memory_warnings;

    fn warnings(game: &str, policy: &str) -> Vec<String> {
        let text = format!("name = \"x\"\nhorizon = 1000\npolicy = [{policy}]\ngame = {game}");
        memory_warnings(&Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}")))
    }

    #[test]
    fn models_that_do_not_fit_the_game_are_named() {
        let step = "{ kind = \"step\", arms = 2, memory = 3 }";
        let decay = "{ kind = \"decay\", arms = 2, memory = 3 }";
        let rotation = |bound: u64| format!("{{ kind = \"rotation\", memory_bound = {bound} }}");
        let windows = |bound: u64| format!("{{ kind = \"planner\", memory_bound = {bound}, cells = \"window\" }}");
        assert_eq!(warnings(step, &rotation(3)), [""; 0]);
        for wrong in [2, 4] {
            let found = warnings(step, &rotation(wrong));
            let expected =
                format!("rotation counts plays among the last M = {wrong}, but the memory of an arm is m = 3");
            assert!(found.len() == 1 && found[0].starts_with(&expected), "{found:?}");
        }
        assert!(warnings(decay, &rotation(3))[0].contains("weighs them by their age"));
        // A longer window is no mistake.
        assert_eq!(warnings(decay, &windows(4)), [""; 0]);
        assert!(warnings(decay, &windows(2))[0].starts_with("planner (windows) sees the last M = 2 plays"));
    }
}
