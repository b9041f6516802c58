//! Invalid experiment files: every error has the right position, key, suggestion and help.

#![allow(clippy::unwrap_used)]

use calibandit_experiment::Experiment;
use calibandit_experiment::spec::{Diagnostic, DiagnosticKind, Diagnostics, Position};

/// A valid file: the paper's Figure 1a.
const GOOD: &str = include_str!("data/good.toml");

/// The errors of the good file with one part of it replaced.
fn errors(from: &str, to: &str) -> Vec<Diagnostic> {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    match Experiment::from_toml("bad.toml", &text) {
        Ok(_) => panic!("accepted: {to}"),
        Err(errors) => errors.errors().to_vec(),
    }
}

/// The replaced text, the replacement, and of the first error: kind, line, column, key and suggestion.
type Row<'a> = (&'a str, &'a str, DiagnosticKind, usize, usize, &'a str, Option<&'a str>);

#[test]
fn every_error_has_its_kind_position_key_and_suggestion() {
    use DiagnosticKind::*;
    #[rustfmt::skip]
    let table: &[Row] = &[
        // Keys.
        ("memory_bound = 3\nradius", "memory_bund = 3\nradius",
         UnknownKey, 16, 1, "policy[0].memory_bund", Some("memory_bound")),
        ("memory_bound = 3\nradius", "M = 3\nradius", UnknownKey, 16, 1, "policy[0].M", Some("memory_bound")),
        ("horizon = 1_000_000", "  horizn = 1_000_000", UnknownKey, 3, 3, "horizn", Some("horizon")),
        ("horizon = 1_000_000", "T = 1_000_000", UnknownKey, 3, 1, "T", Some("horizon")),
        ("arms = 5", "arm = 5", UnknownKey, 9, 1, "game.arm", Some("arms")),
        ("delta = 0.05", "Delta = 0.05", UnknownKey, 18, 1, "policy[0].Delta", Some("delta")),
        ("seed = 1", "seed = 1\narms = 5", UnknownKey, 6, 1, "arms", None),
        ("arms = 5", "arms = 5\nseed = 5", UnknownKey, 10, 1, "game.seed", None),
        ("kind = \"exp3\"", "kind = \"exp3\"\nmemory_bound = 3", UnknownKey, 28, 1, "policy[2].memory_bound", None),
        ("seed = 1", "seed = 1\nfigure.yscale = \"log\"", UnknownKey, 6, 8, "figure.yscale", Some("y_scale")),
        ("[game]", "[gmae]", UnknownKey, 7, 2, "gmae", Some("game")),
        ("usual_loss = 0.5", "feedback.norml = { sd = 1 }", UnknownKey, 11, 10, "game.feedback.norml", Some("normal")),
        ("delta = 0.05", "memory_bound = 2", DuplicateKey, 18, 1, "", None),
        // Missing keys: at the table that they are missing from.
        ("horizon = 1_000_000\n", "", MissingKey, 1, 1, "horizon", None),
        ("kind = \"step\"", "", MissingKey, 7, 1, "game.kind", None),
        ("kind = \"epoch-ucb\"\nmemory_bound = 3", "kind = \"epoch-ucb\"",
         MissingKey, 32, 1, "policy[4].memory_bound", None),
        // Kinds.
        ("kind = \"step\"", "kind = \"steps\"", ImpossibleValue, 8, 8, "game.kind", Some("step")),
        ("kind = \"step\"", "type = \"step\"", UnknownKey, 8, 1, "game", Some("kind")),
        ("kind = \"step\"", "kind = 3", WrongType, 8, 8, "game.kind", None),
        ("kind = \"batched-exp3\"", "kind = \"batch_exp3\"",
         ImpossibleValue, 30, 8, "policy[3].kind", Some("batched-exp3")),
        // Types.
        ("arms = 5", "arms = \"5\"", WrongType, 9, 8, "game.arms", Some("5")),
        ("arms = 5", "arms = 5.5", WrongType, 9, 8, "game.arms", None),
        ("horizon = 1_000_000", "horizon = 1e6", WrongType, 3, 11, "horizon", Some("1000000")),
        ("name = \"fig1a\"", "name = 1", WrongType, 1, 8, "name", None),
        ("delta = 0.05", "delta = 1979-05-27", WrongType, 18, 9, "policy[0].delta", None),
        ("delta = 0.05", "delta = [0.05]", WrongType, 18, 9, "policy[0].delta", None),
        ("seed = 1", "seed = true", WrongType, 5, 8, "seed", None),
        ("radius = \"paper\"", "radius = true", WrongType, 17, 10, "policy[0].radius", None),
        ("title = \"CPR over time, unweighted\"", "title = {}", WrongType, 2, 9, "title", None),
        ("seed = 1", "seed = 1\n[sweep]\n\"game.memory\" = 3", WrongType, 7, 17, "sweep.game.memory", None),
        // Values.
        ("arms = 5", "arms = 0", ImpossibleValue, 9, 8, "game.arms", None),
        ("arms = 5", "arms = -1", ImpossibleValue, 9, 8, "game.arms", None),
        ("memory = 3", "memory = 0", ImpossibleValue, 10, 10, "game.memory", None),
        ("memory = 3", "memory = 99999999999", ImpossibleValue, 10, 10, "game.memory", None),
        ("best_loss = 0.35", "best_loss = 1.35", ImpossibleValue, 12, 13, "game.best_loss", None),
        ("usual_loss = 0.5", "usual_loss = nan", ImpossibleValue, 11, 14, "game.usual_loss", None),
        ("usual_loss = 0.5", "usual_loss = inf", ImpossibleValue, 11, 14, "game.usual_loss", None),
        ("usual_loss = 0.5", "feedback = \"normal\"", ImpossibleValue, 11, 12, "game.feedback", None),
        ("usual_loss = 0.5", "feedback = { normal = { sd = -1 } }",
         ImpossibleValue, 11, 30, "game.feedback.normal.sd", None),
        ("radius = \"paper\"", "radius = \"papper\"", ImpossibleValue, 17, 10, "policy[0].radius", Some("paper")),
        ("radius = \"paper\"", "radius = \"0.5\"", ImpossibleValue, 17, 10, "policy[0].radius", Some("0.5")),
        ("radius = \"paper\"", "radius = -1", ImpossibleValue, 17, 10, "policy[0].radius", None),
        ("delta = 0.05", "delta = 2", ImpossibleValue, 18, 9, "policy[0].delta", None),
        ("memory_bound = 3\nradius", "memory_bound = 0\nradius",
         ImpossibleValue, 16, 16, "policy[0].memory_bound", None),
        ("horizon = 1_000_000", "horizon = 0", ImpossibleValue, 3, 11, "horizon", None),
        ("horizon = 1_000_000", "horizon = 59", ImpossibleValue, 3, 11, "horizon", None),
        ("horizon = 1_000_000", "horizon = 9223372036854775808", ImpossibleValue, 3, 11, "", None),
        ("instances = 20", "instances = 0", ImpossibleValue, 4, 13, "instances", None),
        ("seed = 1", "seed = -1", ImpossibleValue, 5, 8, "seed", None),
        ("name = \"fig1a\"", "name = \"fig 1/a\"", ImpossibleValue, 1, 8, "name", Some("fig-1-a")),
        ("name = \"fig1a\"", "name = \"\"", ImpossibleValue, 1, 8, "name", None),
        ("name = \"fig1a\"", "name = \"../x\"", ImpossibleValue, 1, 8, "name", Some("x")),
        ("kind = \"exp3\"", "kind = \"exp3\"\nlabel = \"SE, sharp\"", ImpossibleValue, 28, 9, "policy[2].label", None),
        ("seed = 1", "checkpoints.points = 0", ImpossibleValue, 5, 22, "checkpoints.points", None),
        ("seed = 1", "checkpoints.at = [5, 0]", ImpossibleValue, 5, 22, "checkpoints.at[1]", None),
        ("seed = 1", "checkpoints.at = [2_000_000]", ImpossibleValue, 5, 18, "checkpoints.at", None),
        ("seed = 1", "checkpoints = { at = [5], points = 5 }", ImpossibleValue, 5, 22, "checkpoints.at", None),
        ("seed = 1", "figure.y_scale = \"logarithmic\"", ImpossibleValue, 5, 18, "figure.y_scale", Some("log")),
        ("seed = 1", "figure = { y_scale = \"log\", y_min = 0 }", ImpossibleValue, 5, 37, "figure.y_min", None),
        ("seed = 1", "figure.x = \"tme\"", ImpossibleValue, 5, 12, "figure.x", Some("time")),
        ("seed = 1", "figure.excess_over = \"SE, shrap\"",
         ImpossibleValue, 5, 22, "figure.excess_over", Some("SE, sharp")),
        // Sweeps: at the value in the sweep.
        ("seed = 1", "[sweep]\n\"game.memory\" = [3, 0]", ImpossibleValue, 6, 21, "game.memory", None),
        ("seed = 1", "[sweep]\n\"game.memory\" = [3, \"x\"]", WrongType, 6, 21, "game.memory", None),
        ("seed = 1", "[sweep]\n\"game.memory\" = []", ImpossibleValue, 6, 17, "sweep.game.memory", None),
        ("seed = 1", "[sweep]\ngame.memory = []", WrongType, 6, 6, "sweep.game.memory", None),
        ("seed = 1", "[sweep]\ngame.memory = 3", WrongType, 6, 6, "sweep.game.memory", None),
        ("seed = 1", "[sweep]\npoint = [{}]", ImpossibleValue, 6, 10, "sweep.point[0]", None),
        ("seed = 1", "[sweep]\ngame.memory = [3, 4, 3]", ImpossibleValue, 6, 22, "sweep", None),
        ("seed = 1", "[sweep]\nmemory = [3]", UnknownKey, 6, 1, "sweep.memory", Some("game.memory")),
        ("seed = 1", "[sweep]\n\"game.memry\" = [3]", UnknownKey, 6, 1, "sweep.game.memry", Some("game.memory")),
        ("seed = 1", "[sweep]\n\"policy.SE.radus\" = [3]",
         UnknownKey, 6, 1, "sweep.policy.SE.radus", Some("policy.SE.radius")),
        ("seed = 1", "[sweep]\n\"policy.label\" = [\"a\"]", UnknownKey, 6, 1, "sweep.policy.label", None),
        ("seed = 1", "[sweep]\nc = { keys = [\"game.arm\"], values = [3] }",
         UnknownKey, 6, 15, "sweep.game.arm", Some("game.arms")),
        ("seed = 1", "[sweep]\nc = { key = [\"game.arms\"], values = [3] }",
         UnknownKey, 6, 7, "sweep.c.key", Some("keys")),
        ("seed = 1", "[sweep]\npoint = [{ \"game.arms\" = 0 }]", ImpossibleValue, 6, 26, "game.arms", None),
        ("seed = 1", "[sweep]\n\"policy.memory_bound\" = [3, 100_000]", ImpossibleValue, 3, 11, "horizon", None),
        // Syntax errors.
        ("seed = 1", "seed = ", Syntax, 5, 8, "", None),
        ("seed = 1", "seed 1", Syntax, 5, 6, "", None),
        ("[game]", "[game", Syntax, 7, 6, "", None),
        ("title = \"CPR over time, unweighted\"", "title = \"CPR", Syntax, 2, 13, "", None),
    ];
    for (from, to, kind, line, column, key, meant) in table {
        let errors = errors(from, to);
        let first = &errors[0];
        let found = (first.kind, first.position, first.key.as_str(), first.suggestion.as_deref());
        assert_eq!(found, (*kind, Some(Position { line: *line, column: *column }), *key, *meant), "{to}:\n{first}");
    }
}

#[test]
fn help_says_what_to_do() {
    for (from, to, advice) in [
        ("seed = 1", "seed = 1\narms = 5", "`arms` belongs under `[game]`"),
        ("arms = 5", "arms = 5\nseed = 5", "`seed` belongs at the top of the file, before the first table"),
        ("kind = \"exp3\"", "kind = \"exp3\"\nmemory_bound = 3", "other keys of kind \"exp3\" are `gamma` or `label`"),
        ("horizon = 1_000_000\n", "", "`horizon`: The number of plays, T"),
        ("kind = \"step\"", "kind = \"nothing\"", "`learning-curves` or `custom`"),
        ("usual_loss = 0.5", "feedback = \"normal\"", "write `feedback = { normal = { ... } }`"),
        ("seed = 1", "[sweep]\n\"game.memory\" = 3", "write the values in brackets"),
        ("seed = 1", "[sweep]\n\"policy.memory_bound\" = [3, 100_000]", "at the point M=100000 of the sweep"),
        ("delta = 0.05", "memory_bound = 2", "keep one of the two"),
    ] {
        let shown = errors(from, to)[0].to_string();
        assert!(shown.contains(advice), "{advice}\n{shown}");
    }
    let single = "name = \"a\"\nhorizon = 10\n[game]\nkind = \"step\"\n[policy]\nkind = \"exp3\"\n";
    let shown = Experiment::from_toml("f", single).unwrap_err().to_string();
    assert!(shown.contains("write `[[policy]]`, with two brackets"), "{shown}");
}

#[test]
fn several_errors_are_reported_together_in_the_order_of_the_file() {
    let text = GOOD
        .replacen("seed = 1", "sed = 1", 1)
        .replacen("arms = 5", "arms = \"five\"", 1)
        .replacen("radius = \"hoeffding\"", "radius = \"hoefding\"", 1)
        .replacen("kind = \"epoch-ucb\"", "kind = \"epoch-ucbs\"", 1);
    let errors = Experiment::from_toml("bad.toml", &text).unwrap_err();
    let lines: Vec<_> = errors.errors().iter().filter_map(|error| Some(error.position?.line)).collect();
    assert_eq!(lines, [5, 9, 24, 33]);
}

#[test]
fn errors_of_custom_games_are_located_in_their_arms() {
    let arm = |text: &str| {
        format!(
            "name = \"a\"\nhorizon = 100\n[game]\nkind = \"custom\"\n[[game.arm]]\nmemory = 2\nloss.constant = 0.5\n\
             [[game.arm]]\n{text}\n[[policy]]\nkind = \"ucb1\"\n"
        )
    };
    assert!(
        Experiment::from_toml("f", &arm("weights = [1, 0.5]\nloss.linear = { intercept = 1, slope = -0.2 }")).is_ok()
    );
    for (text, line, column, key) in [
        ("weights = [1, 1.5]\nloss.constant = 0.5", 9, 15, "game.arm[1].weights[1]"),
        ("memory = 2\nloss.by_plays = [0.5]", 10, 17, "game.arm[1].loss.by_plays"),
        ("memory = 2\nloss = { constant = 0.5, calibrated = 2 }", 10, 39, "game.arm[1].loss.calibrated"),
        ("memory = 2\nloss = {}", 10, 8, "game.arm[1].loss"),
        ("memory = 2\nloss = 1.5", 10, 8, "game.arm[1].loss"),
        ("memory = 2\nloss = [0.5]", 10, 8, "game.arm[1].loss"),
        ("memory = 2\nloss = [0.5, \"a\"]", 10, 14, "game.arm[1].loss[1]"),
        ("loss.constant = 0.5", 8, 1, "game.arm[1]"),
        ("memory = 2\nloss.constnt = 0.5", 10, 6, "game.arm[1].loss.constnt"),
    ] {
        let errors = Experiment::from_toml("f", &arm(text)).unwrap_err();
        let first = &errors.errors()[0];
        assert_eq!((first.position, first.key.as_str()), (Some(Position { line, column }), key), "{text}:\n{first}");
    }
}

#[test]
fn losses_that_are_wrong_say_what_a_loss_can_be() {
    let arm = |loss: &str| {
        format!(
            "name = \"a\"\nhorizon = 9\npolicy = [{{ kind = \"ucb1\" }}]\n[game]\nkind = \"custom\"\n[[game.arm]]\n\
             memory = 2\n{loss}\n"
        )
    };
    for (loss, message, help) in [
        ("loss = 1.5", "the loss curve is 1.5 at 1 plays in the window", None),
        ("loss = [0.5, -1]", "the loss curve is -1 at 2 plays in the window", None),
        ("loss = [0.5]", "has 1 values, but the memory is 2: give one loss for each number of plays from 1 to 2", None),
        ("loss = []", "has 0 values, but the memory is 2", None),
        ("loss = true", "`loss` must be a number, a list of numbers or a table, but is true", None),
        ("loss = \"linear\"", "`loss` must be a number, a list", Some("write `loss = { linear = ... }`")),
        ("loss = [true, 0.5]", "`loss[0]` must be a number, but is true", None),
        (
            "[[game.arm.loss]]\nconstant = 0.5",
            "`loss` must be a number, a list of numbers or a table, but is a list of tables",
            Some("there is only one: write `[game.arm.loss]`"),
        ),
    ] {
        let errors = Experiment::from_toml("f", &arm(loss)).unwrap_err();
        assert_eq!(errors.errors().len(), 1, "{errors}");
        assert!(errors.errors()[0].message.contains(message), "{errors}");
        assert_eq!(errors.errors()[0].help.as_deref(), help, "{loss}");
    }
    let suggestion = first(Experiment::from_toml("f", &arm("loss = \"0.5\"")).unwrap_err()).suggestion;
    assert_eq!(suggestion.as_deref(), Some("0.5"));
}

#[test]
fn a_kind_in_the_place_of_its_table_is_answered_with_the_table() {
    let game = "[game]\nkind = \"step\"\narms = 3\nmemory = 2\n";
    let policy = "[[policy]]\nkind = \"ucb1\"\n";
    for (parts, message, help) in [
        (
            format!("game = \"step\"\n{policy}"),
            "`game` must be a table, but is the text \"step\"",
            "write `[game]`, and `kind = \"step\"` below it",
        ),
        (
            format!("game = \"stepp\"\n{policy}"),
            "`game` must be a table, but is the text \"stepp\"",
            "write `[game]`, and `kind = \"step\"` below it",
        ),
        (
            format!("policy = \"ucb1\"\n{game}"),
            "`policy` must be a list, but is the text \"ucb1\"",
            "write `[[policy]]`, and `kind = \"ucb1\"` below it",
        ),
        (
            format!("policy = [\"ucb1\"]\n{game}"),
            "`policy[0]` must be a table, but is the text \"ucb1\"",
            "write `[[policy]]`, and `kind = \"ucb1\"` below it",
        ),
    ] {
        let error = first(Experiment::from_toml("f", &format!("name = \"a\"\nhorizon = 9\n{parts}")).unwrap_err());
        assert_eq!((error.message.as_str(), error.help.as_deref()), (message, Some(help)));
    }
    let none = format!("name = \"a\"\nhorizon = 9\ngame = \"\"\n{policy}");
    let help = first(Experiment::from_toml("f", &none).unwrap_err()).help.unwrap();
    assert!(help.starts_with("write `[game]`, and its `kind` below it: `") && help.contains("`darts`"), "{help}");
}

fn first(errors: Diagnostics) -> Diagnostic {
    errors.errors()[0].clone()
}

#[test]
fn line_ends_byte_order_marks_and_tabs_do_not_move_columns() {
    let windows = GOOD.replace('\n', "\r\n");
    assert!(Experiment::from_toml("f", &windows).is_ok());
    let error = first(Experiment::from_toml("f", &windows.replacen("arms = 5", "\tarms = 0", 1)).unwrap_err());
    assert_eq!(error.position, Some(Position { line: 9, column: 9 }));
    assert!(error.to_string().contains("\n9 |     arms = 0\n  |            ^"), "{error}");
    let marked = format!("\u{feff}{GOOD}");
    assert!(Experiment::from_toml("f", &marked).is_ok());
    let error = first(Experiment::from_toml("f", &marked.replacen("name", "nam", 1)).unwrap_err());
    assert_eq!((error.position, error.suggestion.as_deref()), (Some(Position { line: 1, column: 1 }), Some("name")));
    let error = first(Experiment::from_toml("f", &GOOD.replacen("title", "tïtle", 1)).unwrap_err());
    assert_eq!((error.kind, error.position), (DiagnosticKind::Syntax, Some(Position { line: 2, column: 2 })));
}

#[test]
fn unreadable_files_are_reported_with_the_reason() {
    let error = first(Experiment::read("no/such/file.toml").unwrap_err());
    assert_eq!((error.kind, error.position), (DiagnosticKind::Unreadable, None));
    assert!(error.to_string().starts_with("error: there is no such file\n"), "{error}");
    assert!(error.to_string().ends_with("--> no/such/file.toml"), "{error}");
    let latin = GOOD.replacen("CPR over time", "CPR \u{1}ber Zeit", 1).into_bytes();
    let latin: Vec<u8> = latin.iter().map(|&byte| if byte == 1 { 0xfc } else { byte }).collect();
    let error = first(Experiment::from_bytes("f", &latin).unwrap_err());
    assert_eq!((error.kind, error.position), (DiagnosticKind::Encoding, Some(Position { line: 2, column: 14 })));
    assert!(error.message.contains("0xfc"), "{error}");
}

#[test]
fn overrides_are_validated_like_files() {
    use calibandit_experiment::spec::Overrides;
    let spec = Experiment::from_toml("fig1a.toml", GOOD).unwrap();
    let other = Overrides { seed: Some(7), instances: Some(3), horizon: Some(1000) };
    let changed = spec.clone().with(other).unwrap();
    assert_eq!((changed.seed(), changed.instances(), changed.horizon()), (7, 3, 1000));
    assert_eq!(changed.grid().times().last(), Some(&1000));
    for (overrides, key) in [
        (Overrides { instances: Some(0), ..Overrides::default() }, "instances"),
        (Overrides { seed: Some(u64::MAX), ..Overrides::default() }, "seed"),
        (Overrides { horizon: Some(0), ..Overrides::default() }, "horizon"),
        (Overrides { horizon: Some(59), ..Overrides::default() }, "horizon"),
    ] {
        let error = first(spec.clone().with(overrides).unwrap_err());
        assert_eq!((error.key.as_str(), error.position), (key, None), "{error}");
    }
}
