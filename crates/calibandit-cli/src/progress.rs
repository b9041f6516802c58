//! Progress on standard error: a bar with the remaining time on a terminal, otherwise plain lines.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use calibandit_experiment::format::duration;
use calibandit_experiment::output::OutputNote;
use calibandit_experiment::schedule::{Progress, ProgressUpdate};
use indicatif::{ProgressBar, ProgressStyle};

use crate::text::visible_lines;

/// Prints a line on standard error. If it cannot be written (a closed pipe, a full disk), it is dropped: messages are
/// not worth the results of a run.
pub(crate) fn notice(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Set by the first Ctrl-C. A second Ctrl-C ends the program at once.
static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the Ctrl-C handler and returns the stop flag.
pub(crate) fn stop_on_ctrl_c() -> &'static AtomicBool {
    // If the handler cannot be installed, Ctrl-C ends the program; finished tasks are on disk all the same.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        notice("\nstopping; finished tasks are kept. Press Ctrl-C again to stop at once");
    });
    &STOP
}

/// Prints what the user should know about an output folder.
pub(crate) fn print_note(note: OutputNote) {
    notice(&format!("note: {}", visible_lines(&note.to_string())));
}

/// The progress of one experiment.
pub(crate) struct Display {
    name: String,
    bar: Option<ProgressBar>,
    last_line: Mutex<Instant>,
    start: Instant,
}

/// The least time between two lines if there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

impl Display {
    pub(crate) fn new(name: &str) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{prefix:>16} {bar:30} {percent:>3} %  {msg}");
            let bar = ProgressBar::new(1000);
            bar.set_style(style.expect("the template is valid").progress_chars("█▌ "));
            bar.set_prefix(name.to_string());
            bar
        });
        let now = Instant::now();
        Self { name: name.to_string(), bar, last_line: Mutex::new(now), start: now }
    }
}

impl Progress for Display {
    fn update(&self, update: ProgressUpdate) {
        let ProgressUpdate { done, total, work, .. } = update;
        let elapsed = self.start.elapsed().as_secs_f64();
        let left = duration(if work > 0.0 { elapsed * (1.0 - work) / work } else { f64::INFINITY });
        if let Some(bar) = &self.bar {
            bar.set_position((work * 1000.0) as u64);
            bar.set_message(format!("{done} of {total}, {left} left"));
        } else if let Ok(mut last) = self.last_line.lock()
            && last.elapsed() >= BETWEEN_LINES
        {
            *last = Instant::now();
            notice(&format!("{}: {:.0} % ({done} of {total} tasks), {left} left", self.name, work * 100.0));
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        notice(&format!("{}: done in {}", self.name, duration(self.start.elapsed().as_secs_f64())));
    }
}
