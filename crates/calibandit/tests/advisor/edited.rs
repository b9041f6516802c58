//! Snapshots edited by hand, of the policies for neighbouring models: each edit is refused, with its reason.
//!
//! `damaged.rs` changes places at random; here each case is a specific contradiction.

use calibandit::{Advisor, AnyPolicy};
use serde_json::{Value, json};

use super::damaged::changed;

/// The policy, the place in its state, the new value, and the reason of the refusal.
type Case = (&'static str, &'static str, Value, &'static str);

/// JSON has no NaN: it is written as `null`, which is not a number.
const NOT_A_NUMBER: &str = "invalid type: null";
const OTHER_ARMS: &str = "the policy has another number of arms";
const OTHER_PLAYS: &str = "the plays of an arm differ from its recorded plays";

fn cases() -> Vec<Case> {
    vec![
        ("fewa", "windows/arms", json!([]), OTHER_ARMS),
        ("fewa", "windows/arms/0/plays", json!(7777), OTHER_PLAYS),
        ("fewa", "windows/arms/0/means", json!([]), "the windows of an arm do not fit its plays"),
        ("fewa", "windows/arms/0/total", json!(1e9), "the sum of the losses of an arm is out of range"),
        ("fewa", "windows/arms/0/total", Value::Null, NOT_A_NUMBER),
        ("fewa", "plays", json!(1), "the plays of the arms do not add up"),
        ("raw-ucb", "windows/arms", json!([]), OTHER_ARMS),
        ("raw-ucb", "windows/arms/1/plays", json!(7777), OTHER_PLAYS),
        ("raw-ucb", "windows/arms/0/means/0", json!(-3.0), "the mean of a window is out of range"),
        ("raw-ucb", "windows/arms/0/starts", json!([]), "the pending windows of an arm do not fit its plays"),
        ("raw-ucb", "windows/grid", json!(1.0), "the grid is out of range"),
        ("raw-ucb", "plays", json!(u64::MAX), "the plays of the arms do not add up"),
        ("planner", "follower/losses/counts", json!([]), "the number of cells differs"),
        ("planner", "follower/losses/sums/0", json!(1e9), "the sum of the losses of a cell is out of range"),
        ("planner", "follower/losses/sums/0", Value::Null, NOT_A_NUMBER),
        ("planner", "follower/cycle", json!([9]), "the plan has an arm that does not exist"),
        ("planner", "follower/at", json!(7777), "the position is not in the plan"),
        ("planner", "follower/plays", json!(1), "there are more plans than plays"),
        ("planner", "follower/grid/memory", json!(64), "there are more windows than can be planned over"),
        ("rotation", "follower/losses/planned", json!([]), "the number of cells differs"),
        ("rotation", "follower/losses/sums/0", json!(-1.0), "the sum of the losses of a cell is out of range"),
        ("rotation", "follower/cycle", json!([9]), "the plan has an arm that does not exist"),
        ("rotation", "follower/cycle", json!([0, 1, 0, 1]), "the plan is not a block cycle"),
        ("rotation", "follower/recent/plays/0", json!(9), "a recent play is of an arm that does not exist"),
        ("rotation", "longest_period", json!(0), "the longest period is too long"),
        ("rising-ucb", "arms", json!([]), OTHER_ARMS),
        ("rising-ucb", "arms/0/plays", json!(7777), OTHER_PLAYS),
        ("rising-ucb", "arms/0/losses", json!([]), "the recent losses of an arm do not fit its plays"),
        ("rising-ucb", "arms/0/newer", json!(1e9), "the sums of the recent losses of an arm are not theirs"),
        ("rising-ucb", "share", json!(0.5), "the share of the plays is not in (0, 1/2)"),
        ("rising-ucbe", "arms", json!([]), OTHER_ARMS),
        ("rising-ucbe", "arms/0/largest", json!(7.0), "the largest loss is out of range"),
        ("rising-ucbe", "arms/0/older_weighted", json!(-1e9), "the sums of the recent losses of an arm are not theirs"),
        ("rising-ucbe", "plays", json!(1), "the plays of the arms do not add up"),
        ("rising-ucbe", "horizon", json!(0), "the horizon is 0"),
        ("rising-halving", "sums", json!([]), OTHER_ARMS),
        ("rising-halving", "lengths", json!([0]), "the lengths of the phases are not those of the horizon"),
        ("rising-halving", "left", json!([0, 9]), "the arms left and dropped are not all arms"),
        ("rising-halving", "best", json!(9), "the best arm was dropped"),
        ("rising-halving", "at", json!(9), "the arms left are not in order"),
        ("rising-halving", "played", json!(7777), "the plays of the arm in play do not fit the phase"),
        ("swa", "sums", json!([]), OTHER_ARMS),
        ("swa", "learnt/0", json!(7777), OTHER_PLAYS),
        ("swa", "losses/0", json!([]), "the last losses of an arm do not fit its plays"),
        ("swa", "sums/0", json!(1e9), "the sum of the last losses of an arm is not theirs"),
        ("swa", "window", json!(0), "the window is 0"),
        ("wswa", "plays", json!([]), OTHER_ARMS),
        ("wswa", "plays/0", json!(7777), OTHER_PLAYS),
        ("wswa", "recommended", json!(9), "an arm is recommended that does not exist"),
        ("wswa", "horizon", json!(100), "the horizon of a start is not a power of 2"),
        ("wswa", "recent/largest", json!(7.0), "the largest loss is out of range"),
        ("spo", "futures", json!([]), OTHER_ARMS),
        ("spo", "plays/0", json!(7777), OTHER_PLAYS),
        ("spo", "futures/0/0", json!(7.0), "the last loss of an arm is out of range"),
        ("spo", "left/0", json!(7777), "more plays are left than there can be"),
        ("spo", "band", json!(0.1), "the losses of the arms do not fit the band"),
        ("spo", "played", json!(1), "the plays of the arms do not add up"),
        ("heidari", "falls", json!([]), OTHER_ARMS),
        ("heidari", "plays/0", json!(7777), OTHER_PLAYS),
        ("heidari", "left", json!([0, 9]), "the arms left are not arms in order"),
        ("heidari", "left", json!([]), "the arms left are not arms in order"),
        ("heidari", "next", json!(9), "the next arm is not one that is left"),
        ("heidari", "sums/0", json!(1e9), "the losses of an arm are out of range"),
        ("greedy", "last", json!([]), OTHER_ARMS),
        ("greedy", "plays/0", json!(7777), OTHER_PLAYS),
        ("greedy", "opened", json!(9), "an arm was skipped at the start"),
        ("greedy", "last/0", json!(7.0), "the last loss of an arm is out of range"),
        ("greedy", "last/0", Value::Null, NOT_A_NUMBER),
        ("discounted-ucb", "counts", json!([]), OTHER_ARMS),
        ("discounted-ucb", "plays/0", json!(7777), OTHER_PLAYS),
        ("discounted-ucb", "counts/0", json!(1e9), "the discounted numbers of plays do not add up"),
        ("discounted-ucb", "sums/0", json!(1e9), "the discounted sum of losses is out of range"),
        ("discounted-ucb", "opened", json!(9), "an arm was skipped at the start"),
        ("discounted-ucb", "discount", json!(1.0), "the discount is not in (0, 1)"),
        ("sliding-ucb", "sums", json!([]), OTHER_ARMS),
        ("sliding-ucb", "plays/0", json!(7777), OTHER_PLAYS),
        ("sliding-ucb", "arms/0", json!(9), "a play is of an arm that does not exist"),
        ("sliding-ucb", "losses", json!([]), "the last plays do not fit the plays of the arms"),
        ("sliding-ucb", "counts/0", json!(7777), "the counts of the last plays are not theirs"),
        ("sliding-ucb", "sums/0", json!(1e9), "the sums of the last plays are not theirs"),
        ("sliding-ucb", "age", json!(7777), "the window or its age is out of range"),
    ]
}

#[test]
fn contradictions_of_the_policies_for_neighbouring_models_are_refused() {
    let mut wrong = Vec::new();
    for (kind, place, value, reason) in cases() {
        let spec = match kind {
            "planner" | "rotation" => json!({"kind": kind, "memory_bound": 3}),
            _ => json!({"kind": kind}),
        };
        let text = changed(spec, 200, &format!("/policy/{kind}/{place}"), value.clone());
        match Advisor::<AnyPolicy>::from_edited_json(&text) {
            Err(error) if error.to_string().contains(reason) => {}
            Err(error) => wrong.push(format!("{kind}/{place} = {value}: {error}, not: {reason}")),
            Ok(_) => wrong.push(format!("{kind}/{place} = {value}: accepted")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
