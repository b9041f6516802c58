//! Runs the programs of `examples/` that users read first. Their `main` is visible in the whole crate, so that it can
//! be called from here.

#[path = "../examples/compare.rs"]
mod compare;
#[path = "../examples/live.rs"]
mod live;
#[path = "../examples/own_game.rs"]
mod own_game;
#[path = "../examples/own_policy.rs"]
mod own_policy;

#[test]
fn compare_runs() {
    compare::main().expect("the example succeeds");
}

#[test]
fn live_runs() {
    live::main().expect("the example succeeds");
}

#[test]
fn own_game_runs() {
    own_game::main().expect("the example succeeds");
}

#[test]
fn own_policy_runs() {
    own_policy::main().expect("the example succeeds");
}
