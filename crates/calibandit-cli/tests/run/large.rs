//! Large, long and hostile experiments with the real program: they end in a report, stop at once, or are refused.

use super::*;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_sweep_of_141_points_ends_in_a_report_with_one_panel() {
    let values: Vec<String> = (1..=141).map(|bound| bound.to_string()).collect();
    let folder = folder_with(&format!(
        "name = \"x\"\nhorizon = 1000\ninstances = 2\ncheckpoints = {{ points = 5 }}\n\
         game = {{ kind = \"step\", arms = 3, memory = 2 }}\n\
         policy = [{{ kind = \"epoch-ucb\", memory_bound = 2 }}, {{ kind = \"exp3\" }}]\n\
         sweep = {{ \"policy.memory_bound\" = [{}] }}\n",
        values.join(", ")
    ));
    let output = calibandit(folder.path(), &["run", "small.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = fs::read_to_string(folder.path().join("out/x/report.html")).unwrap();
    assert!(report.contains("The sweep has 141 points, so the figure shows the CPR at the horizon."));
    assert_eq!(report.matches("class=\"panel\"").count(), 1);
    assert!(fs::read(folder.path().join("out/x/figures/x.png")).unwrap().starts_with(b"\x89PNG"));
}

#[cfg(unix)]
#[test]
fn the_first_interruption_ends_a_task_of_hours_and_keeps_what_is_finished() {
    let folder = folder_with(
        "name = \"x\"\nhorizon = 1_000_000_000_000\ninstances = 1\n\
         game = { kind = \"step\", arms = 3, memory = 2 }\n\
         policy = [{ kind = \"thompson\" }, { kind = \"calibrated\", memory_bound = 2 }]\n",
    );
    let mut child = program(folder.path()).args(["run", "small.toml", "--jobs", "2"]).spawn().unwrap();
    let journal = || {
        let files = fs::read_dir(folder.path().join("out/x")).ok()?;
        let names = files.map(|entry| entry.unwrap().path());
        let journal = names.into_iter().find(|path| path.to_string_lossy().contains(".unfinished-x-"))?;
        Some(fs::read_to_string(journal).ok()?.lines().count())
    };
    // A heading and the curve of the fast policy.
    let started = Instant::now();
    while journal() != Some(2) {
        assert!(started.elapsed() < Duration::from_secs(120), "the fast policy is not done");
        std::thread::sleep(Duration::from_millis(20));
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let status = child.wait().unwrap();
    assert_eq!((status.code(), journal()), (Some(130), Some(2)));
}

#[test]
fn check_refuses_what_run_refuses() {
    // Better in doses, with a memory that makes too many states.
    let losses: Vec<&str> = (0..60).map(|plays| if plays == 20 { "0.1" } else { "0.5" }).collect();
    let folder = folder_with(&format!(
        "name = \"x\"\nhorizon = 1000\ninstances = 2\n\
         policy = [{{ kind = \"ucb1\" }}]\n[game]\nkind = \"custom\"\n\
         arm = [{{ memory = 60, loss = [{}] }}, {{ memory = 60, loss = 0.4 }}]\n",
        losses.join(", ")
    ));
    let (check, run) =
        (calibandit(folder.path(), &["check", "small.toml"]), calibandit(folder.path(), &["run", "small.toml"]));
    let reason = "there is no regret without the optimum: the game is too large for its exact optimum";
    assert!(text(&check.stderr).contains(reason), "{}", text(&check.stderr));
    assert!(text(&run.stderr).contains(reason), "{}", text(&run.stderr));
    assert_eq!((check.status.code(), run.status.code()), (Some(2), Some(2)));
    // Nothing is run, not even an experiment before it.
    let fine = "name = \"y\"\nhorizon = 1000\ngame = { kind = \"step\" }\npolicy = [{ kind = \"ucb1\" }]\n";
    fs::write(folder.path().join("y.toml"), fine).unwrap();
    let both = calibandit(folder.path(), &["run", "y.toml", "small.toml", "--out", "both"]);
    assert!(text(&both.stderr).contains(reason), "{}", text(&both.stderr));
    let journal = |path: PathBuf| fs::read_to_string(path).unwrap().lines().count();
    let files = fs::read_dir(folder.path().join("both")).unwrap().map(|file| file.unwrap().path());
    let journals: Vec<usize> =
        files.filter(|path| path.to_string_lossy().contains(".unfinished")).map(journal).collect();
    assert_eq!(journals, [1, 1], "journals have a heading and nothing else");
}

#[test]
fn control_characters_of_files_do_not_reach_the_terminal() {
    let folder = folder_with(
        "name = \"x\"\ntitle = \"\\u001b]0;owned\\u0007\"\nhorizon = 1000\ninstances = 2\n\
         game = { kind = \"step\", arms = 3, memory = 8 }\n\
         policy = [{ kind = \"epoch-ucb\", memory_bound = 2, label = \"\\u001b[2J\\u009b\" }, { kind = \"exp3\" }]\n",
    );
    for arguments in [&["check", "small.toml"][..], &["run", "small.toml"], &["run", "small.toml", "--tables"]] {
        let output = calibandit(folder.path(), arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        for stream in [text(&output.stdout), text(&output.stderr)] {
            assert!(stream.chars().all(|c| c == '\n' || !c.is_control()), "{stream:?}");
        }
    }
}
