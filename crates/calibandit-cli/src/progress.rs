//! How far a run has come: a bar with the time left on a terminal, plain lines elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use calibandit_experiment::run::Progress;
use calibandit_report::session::Watcher;
use indicatif::{ProgressBar, ProgressStyle};

/// Set by the first Ctrl-C. A second one ends the program at once.
static STOP: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C stops runs gently.
pub(crate) fn stop_on_ctrl_c() -> &'static AtomicBool {
    // Where no handler can be set, Ctrl-C ends the program: finished pieces are on disk all the same.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping: pieces under way are finished first; Ctrl-C again to stop at once");
    });
    &STOP
}

/// Shows the progress of one experiment on standard error.
pub(crate) struct Display {
    name: String,
    bar: Option<ProgressBar>,
    last_line: Mutex<Instant>,
    start: Instant,
}

/// Where there is no terminal, a line at most this often.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Display {
    pub(crate) fn new(name: &str) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{prefix:>16} {bar:30} {percent:>3} %  {msg}");
            let bar = ProgressBar::new(1000);
            if let Ok(style) = style {
                bar.set_style(style.progress_chars("█▌ "));
            }
            bar.set_prefix(name.to_string());
            bar
        });
        let now = Instant::now();
        Self { name: name.to_string(), bar, last_line: Mutex::new(now), start: now }
    }
}

impl Watcher for Display {
    fn show(&self, progress: Progress) {
        let Progress { done, pieces, work } = progress;
        let elapsed = self.start.elapsed().as_secs_f64();
        let left = if work > 0.0 { elapsed * (1.0 - work) / work } else { 0.0 };
        if let Some(bar) = &self.bar {
            bar.set_position((work * 1000.0) as u64);
            bar.set_message(format!("{done} of {pieces}, {left:.0} s left"));
        } else if let Ok(mut last) = self.last_line.lock()
            && last.elapsed() >= BETWEEN_LINES
        {
            *last = Instant::now();
            eprintln!("{}: {:.0} % ({done} of {pieces} pieces), {left:.0} s left", self.name, work * 100.0);
        }
    }

    fn finish(&self) {
        let elapsed = self.start.elapsed().as_secs_f64();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        eprintln!("{}: done in {elapsed:.1} s", self.name);
    }
}
