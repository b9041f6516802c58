//! Policies that are told a bound on the memory which is below the memory of the game: the most common mistake.

use calibandit::{Game, Memory};

use super::{first_game, tallies};
use crate::Experiment;
use crate::experiment::LabelledPolicy;
use crate::spec::Point;

/// The memory of a game, as tables show it.
pub(super) fn of(game: &Game) -> Memory {
    if game.is_rested() { Memory::All } else { Memory::Plays(game.memory()) }
}

/// A policy whose memory bound M is below the memory m of the game at some points of the sweep.
struct ShortBound<'a> {
    policies: Vec<&'a str>,
    /// (M, m) at each point where M < m; the m of a rested game is `u64::MAX`.
    pairs: Vec<(u64, u64)>,
}

/// One sentence per group of policies that are told too small a bound on the memory, over all points of the sweep. A
/// game that is drawn at random is taken as the first instance has it. Policies of the user are left out: what they are
/// told is not known.
///
/// ```
/// use calibandit_experiment::{Experiment, preflight::memory_warnings};
/// let experiment = Experiment::from_toml("short.toml", r#"
///     name = "short"
///     horizon = 1000
///     game = { kind = "step", arms = 3, memory = 8 }
///     policy = [{ kind = "calibrated", memory_bound = 2 }, { kind = "epoch-ucb", memory_bound = 8 }]
/// "#)?;
/// assert_eq!(memory_warnings(&experiment), [
///     "calibrated is told M = 2, but the game's memory is m = 8: no guarantee holds; its burn-in may end before the \
///      arm is calibrated",
/// ]);
/// # Ok::<(), calibandit_experiment::spec::Diagnostics>(())
/// ```
pub fn memory_warnings(experiment: &Experiment) -> Vec<String> {
    let points = experiment.points();
    let games: Vec<Game> = points.iter().map(|point| first_game(experiment, point)).collect();
    let memories: Vec<u64> = games.iter().map(|game| game.memory() as u64).collect();
    let mut groups: Vec<ShortBound<'_>> = Vec::new();
    let mut models = Vec::new();
    for (i, policy) in experiment.policies().iter().enumerate() {
        if policy.policy.spec().is_some_and(tallies::models_tallies) {
            let spec = |point: &Point| point.policies[i].policy.spec().cloned();
            let note = |(point, game)| tallies::note(&policy.label, &spec(point)?, game);
            models.extend(points.iter().zip(&games).find_map(note));
            continue;
        }
        let bound = |(point, &m): (&Point, &u64)| Some((point.policies[i].policy.memory_bound()?, m));
        let pairs: Vec<(u64, u64)> =
            points.iter().zip(&memories).filter_map(bound).filter(|(told, m)| told < m).collect();
        if pairs.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|group| group.pairs == pairs) {
            Some(group) => group.policies.push(&policy.label),
            None => groups.push(ShortBound { policies: vec![&policy.label], pairs }),
        }
    }
    groups.iter().map(|group| sentence(group, points.len())).chain(models).collect()
}

/// What `calibandit check` says about a policy and the memory of the game at one point.
pub(super) fn note(entry: &LabelledPolicy, memory: Memory) -> Option<String> {
    let memory = memory.plays() as u64;
    match entry.policy.spec()?.memory_bound() {
        _ if entry.policy.spec().is_some_and(tallies::models_tallies) => None,
        Some(bound) if bound < memory => {
            Some(sentence(&ShortBound { policies: vec![&entry.label], pairs: vec![(bound, memory)] }, 1))
        }
        None if memory > 1 && memory < u64::MAX => {
            Some(format!("{} does not burn in: it never waits for an arm to be calibrated", entry.label))
        }
        _ => None,
    }
}

fn sentence(group: &ShortBound<'_>, points: usize) -> String {
    let ShortBound { policies, pairs } = group;
    let (are, their) = if policies.len() == 1 { ("is", "its") } else { ("are", "their") };
    let place = match pairs.len() {
        _ if points == 1 => String::new(),
        n if n == points => " at every point of the sweep".to_owned(),
        n => format!(" at {n} of {points} points of the sweep"),
    };
    let rested = pairs.iter().filter(|pair| pair.1 == u64::MAX).count();
    if rested == pairs.len() {
        return format!(
            "{} {are} made for arms with a finite memory, but the game is rested (memory \"all\"){place}: no guarantee \
             holds; an arm is never calibrated",
            list(policies)
        );
    }
    format!(
        "{} {are} told M = {}, but the game's memory is m = {}{place}: no guarantee holds; {their} burn-in may end \
         before the arm is calibrated",
        list(policies),
        range(pairs.iter().map(|pair| pair.0)),
        range(pairs.iter().map(|pair| pair.1)),
    )
}

/// "A, B and C".
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// "2", or "2 to 8".
fn range(values: impl Iterator<Item = u64> + Clone) -> String {
    match (values.clone().min(), values.max()) {
        (Some(least), Some(u64::MAX)) => format!("{least} to \"all\""),
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (Some(value), _) => value.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warnings(rest: &str) -> Vec<String> {
        let text = format!(
            "name = \"x\"\nhorizon = 1000\n\
             policy = [{{ kind = \"calibrated\", memory_bound = 4 }}, \
             {{ kind = \"epoch-ucb\", label = \"UCB\", memory_bound = 4 }}, {{ kind = \"exp3\" }}]\n{rest}"
        );
        memory_warnings(&Experiment::from_toml("x.toml", &text).unwrap_or_else(|errors| panic!("{errors}")))
    }

    #[test]
    fn bounds_that_are_long_enough_give_no_warning() {
        for memory in [1, 3, 4] {
            assert_eq!(warnings(&format!("game = {{ kind = \"step\", arms = 3, memory = {memory} }}")), [""; 0]);
        }
    }

    #[test]
    fn policies_and_points_with_the_same_mistake_share_a_sentence() {
        let game = "game = { kind = \"step\", arms = 3, memory = 16 }\n";
        let every = warnings(game);
        assert_eq!(every.len(), 1);
        assert!(every[0].starts_with("calibrated and UCB are told M = 4, but the game's memory is m = 16: no"));
        let some = warnings(&format!("{game}[sweep]\n\"policy.memory_bound\" = [2, 4, 8, 16, 32]"));
        assert_eq!(some.len(), 1);
        assert!(some[0].contains("told M = 2 to 8, but the game's memory is m = 16 at 3 of 5 points"), "{some:?}");
        let memories = warnings(&format!("{game}[sweep]\n\"game.memory\" = [8, 16]"));
        assert!(
            memories[0].contains("told M = 4, but the game's memory is m = 8 to 16 at every point"),
            "{memories:?}"
        );
        let one = warnings(&format!("{game}[sweep]\n\"policy.UCB.memory_bound\" = [2, 16]"));
        assert_eq!(one.len(), 2, "calibrated is wrong at both points, UCB at one: {one:?}");
    }
}
