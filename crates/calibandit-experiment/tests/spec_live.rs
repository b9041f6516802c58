//! The table `[live]` of experiment files: what is read, swept and refused.

use calibandit::simulate::{DelayLaw, LiveSpec, SessionLaw};
use calibandit_experiment::Experiment;

fn text(live: &str, policy: &str, more: &str) -> String {
    format!(
        "name = \"x\"\nhorizon = 2000\ninstances = 3\ncheckpoints = {{ points = 4 }}\n\
         game = {{ kind = \"step\", arms = 3, memory = 3 }}\npolicy = [{{ {policy} }}]\n{more}\n{live}\n"
    )
}

const CALIBRATED: &str = "kind = \"calibrated\", memory_bound = 3";

fn read(live: &str, policy: &str, more: &str) -> Result<Experiment, String> {
    Experiment::from_toml("x.toml", &text(live, policy, more)).map_err(|errors| errors.to_string())
}

#[test]
fn every_key_is_read_and_written_back() {
    let live = "[live]\nlanes = 20\noverlap = 3\nignore_overlap = true\ndelay = 12.5\ndelay_law = \"heavy-tailed\"\n\
                lost = 0.1\nresets = 0.01\nsession = 40\nsession_law = \"geometric\"\npause = 7\narrivals = true\n\
                filler = \"leader\"\nexplorers = 4\ntimeout = 60\ntimeout_loss = 1\nmemory_bound = 5";
    let experiment = read(live, CALIBRATED, "").unwrap();
    let expected = LiveSpec::default()
        .lanes(20)
        .overlap(3)
        .ignore_overlap(true)
        .delay(12.5, DelayLaw::HeavyTailed)
        .lost(0.1)
        .resets(0.01)
        .session(40.0, SessionLaw::Geometric)
        .pause(7.0)
        .arrivals(true)
        .filler(calibandit::lanes::LaneFiller::Leader)
        .explorers(4)
        .timeout(60, Some(1.0))
        .memory_bound(5);
    assert_eq!(experiment.points()[0].live, Some(expected));
    let again = Experiment::from_toml("again.toml", &experiment.to_toml().unwrap()).unwrap();
    assert_eq!(again, experiment);
    assert_eq!(Experiment::from_json("x", &experiment.to_json().unwrap()).unwrap(), experiment);
}

#[test]
fn an_experiment_without_live_use_is_written_as_before() {
    let experiment = read("", CALIBRATED, "").unwrap();
    assert_eq!(experiment.points()[0].live, None);
    assert!(!experiment.to_toml().unwrap().contains("live"));
}

#[test]
fn keys_of_live_use_are_swept_with_columns_and_labels() {
    let sweep = "[sweep]\n\"live.lanes\" = [1, 10]\nlive.delay_law = [\"constant\", \"geometric\"]\n";
    let experiment = read("[live]\ndelay = 3", CALIBRATED, sweep).unwrap();
    let of_point = |i: usize| experiment.points()[i].live.unwrap();
    assert_eq!((of_point(0).lanes, of_point(0).delay_law), (1, DelayLaw::Constant));
    assert_eq!((of_point(3).lanes, of_point(3).delay_law), (10, DelayLaw::Geometric));
    assert!(experiment.points().iter().all(|point| point.live.unwrap().delay == 3.0));
    assert_eq!(experiment.game_labels()[3], "lanes=10, delay_law=geometric");
    let columns: Vec<String> = experiment.swept().into_iter().map(|column| column.name).collect();
    assert_eq!(columns, ["live.lanes", "live.delay_law"]);
    // A sweep over a key of live use needs no table; a point without such a key is played in one place.
    let points = "[sweep]\npoint = [{ \"live.lanes\" = 4 }, { \"game.arms\" = 5 }]";
    let experiment = read("", CALIBRATED, points).unwrap();
    assert_eq!(experiment.points()[0].live, Some(LiveSpec::default().lanes(4)));
    assert_eq!(experiment.points()[1].live, None);
}

/// Every refusal says where and why, and what to do.
#[test]
fn what_cannot_be_simulated_is_refused_where_it_is_written() {
    for (live, policy, parts) in [
        ("lanse = 3", CALIBRATED, vec!["x.toml:9:1", "lanes"]),
        ("lanes = 0", CALIBRATED, vec!["x.toml:9:9", "at least 1"]),
        ("overlap = 65", CALIBRATED, vec!["x.toml:9:11", "at most 64"]),
        ("delay = -1", CALIBRATED, vec!["x.toml:9:9", "at least 0"]),
        ("lost = 1.0", CALIBRATED, vec!["x.toml:9:8", "less than 1"]),
        ("delay_law = \"geometri\"", CALIBRATED, vec!["x.toml:9:13", "geometric"]),
        ("filler = \"stya\"", CALIBRATED, vec!["x.toml:9:10", "stay"]),
        ("arrivals = true", CALIBRATED, vec!["x.toml:9:12", "`arrivals` has no meaning without `session`"]),
        ("timeout_loss = 1", CALIBRATED, vec!["x.toml:9:16", "without `timeout`"]),
        ("overlap = 4\ntimeout = 3", CALIBRATED, vec!["x.toml:10:11", "at least `overlap`"]),
        ("lanes = 2", "kind = \"exp3\"", vec!["x.toml:6:", "probability of its own draw", "`wait`"]),
        ("delay = 2", "kind = \"batched-exp3\"", vec!["x.toml:6:", "probability of its own draw"]),
        ("lanes = 2", "kind = \"planner\", memory_bound = 2", vec!["x.toml:6:", "one window"]),
    ] {
        let message = read(&format!("[live]\n{live}"), policy, "").unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{live}, {policy}: {message}");
    }
    let rested = text("[live]\nlanes = 2", CALIBRATED, "").replace("\"step\", arms = 3, memory = 3", "\"improving\"");
    let message = Experiment::from_toml("x.toml", &rested).unwrap_err().to_string();
    assert!(message.contains("x.toml:5:") && message.contains("finite memory"), "{message}");
}

#[test]
fn wrong_values_in_a_sweep_are_refused_in_the_sweep() {
    let message = read("", CALIBRATED, "[sweep]\n\"live.lanes\" = [1, 0]").unwrap_err();
    assert!(message.contains("x.toml:8:20") && message.contains("at least 1"), "{message}");
    let message = read("", CALIBRATED, "[sweep]\n\"live.lnaes\" = [1]").unwrap_err();
    assert!(message.contains("live.lanes") && message.contains("x.toml:8:1"), "{message}");
    // EXP3 may be used on one lane that waits, and not on ten.
    let one = "[live]\nfiller = \"wait\"";
    assert!(read(one, "kind = \"exp3\"", "").is_ok());
    let message = read(one, "kind = \"exp3\"", "[sweep]\n\"live.lanes\" = [1, 10]").unwrap_err();
    assert!(message.contains("at the point lanes=10"), "{message}");
}
