//! Counters and histograms of the service, as Prometheus reads them.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper ends of the buckets, in seconds.
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// The upper ends of the buckets, in requests.
const SIZES: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// How often values fell below the ends of buckets.
#[derive(Debug)]
pub(crate) struct Histogram<const N: usize> {
    ends: [f64; N],
    counts: [AtomicU64; N],
    count: AtomicU64,
    /// In millionths.
    sum: AtomicU64,
}

impl<const N: usize> Histogram<N> {
    fn new(ends: [f64; N]) -> Self {
        Self { ends, counts: std::array::from_fn(|_| AtomicU64::new(0)), count: 0.into(), sum: 0.into() }
    }

    fn note(&self, value: f64) {
        for (end, count) in self.ends.iter().zip(&self.counts) {
            if value <= *end {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add((value * 1e6) as u64, Ordering::Relaxed);
    }

    /// The lines of the histogram. `labels` is empty or ends with a comma.
    pub(crate) fn write(&self, text: &mut String, name: &str, labels: &str) {
        for (end, count) in self.ends.iter().zip(&self.counts) {
            line(
                text,
                &format!("{name}_bucket"),
                &format!("{labels}le=\"{end}\""),
                count.load(Ordering::Relaxed) as f64,
            );
        }
        let count = self.count.load(Ordering::Relaxed) as f64;
        line(text, &format!("{name}_bucket"), &format!("{labels}le=\"+Inf\""), count);
        let labels = labels.trim_end_matches(',');
        line(text, &format!("{name}_sum"), labels, self.sum.load(Ordering::Relaxed) as f64 / 1e6);
        line(text, &format!("{name}_count"), labels, count);
    }
}

/// What the core loop measures.
#[derive(Debug)]
pub(crate) struct EngineMetrics {
    commit_seconds: Histogram<12>,
    batch_size: Histogram<10>,
    queue: AtomicU64,
}

impl Default for EngineMetrics {
    fn default() -> Self {
        Self { commit_seconds: Histogram::new(SECONDS), batch_size: Histogram::new(SIZES), queue: 0.into() }
    }
}

impl EngineMetrics {
    pub(crate) fn add_to_queue(&self) {
        self.queue.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn take_from_queue(&self, jobs: usize) {
        let less = |queue: u64| Some(queue.saturating_sub(jobs as u64));
        let _ = self.queue.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    pub(crate) fn note_commit(&self, elapsed: Duration, jobs: usize) {
        self.commit_seconds.note(elapsed.as_secs_f64());
        self.batch_size.note(jobs as f64);
    }

    pub(crate) fn write(&self, text: &mut String) {
        head(text, "calibandit_commit_seconds", "histogram", "Time of a commit.");
        self.commit_seconds.write(text, "calibandit_commit_seconds", "");
        head(text, "calibandit_commit_batch_size", "histogram", "Requests that one commit serves.");
        self.batch_size.write(text, "calibandit_commit_batch_size", "");
        head(text, "calibandit_queue_length", "gauge", "Requests that wait for the core loop.");
        line(text, "calibandit_queue_length", "", self.queue.load(Ordering::Relaxed) as f64);
    }
}

/// The lines that introduce a metric.
pub(crate) fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// One line.
pub(crate) fn line(text: &mut String, name: &str, labels: &str, value: f64) {
    let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
    let _ = writeln!(text, "{name}{labels} {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let histogram = Histogram::new([1.0, 2.0]);
        [0.5, 1.0, 1.5, 9.0].into_iter().for_each(|value| histogram.note(value));
        let mut text = String::new();
        histogram.write(&mut text, "x", "a=\"b\",");
        let expected = "x_bucket{a=\"b\",le=\"1\"} 2\nx_bucket{a=\"b\",le=\"2\"} 3\nx_bucket{a=\"b\",le=\"+Inf\"} 4\n\
                        x_sum{a=\"b\"} 12\nx_count{a=\"b\"} 4\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_queue_never_gets_shorter_than_nothing() {
        let metrics = EngineMetrics::default();
        metrics.add_to_queue();
        metrics.take_from_queue(3);
        let mut text = String::new();
        metrics.write(&mut text);
        assert!(text.ends_with("calibandit_queue_length 0\n"), "{text}");
    }
}
