//! Work spread over threads: one shared list, each thread takes the next item until none is left.
//!
//! Results never depend on which thread did what, so this is all there is to it. Put the dearest items first, so that no
//! thread is left alone with one at the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// As many threads as the machine can run at once.
pub fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls `work` once for each item, on up to `threads` threads.
pub fn for_each<T: Sync>(threads: usize, items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let take = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item);
        }
    };
    let helpers = threads.min(items.len()).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(take);
        }
        take();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once_at_any_number_of_threads() {
        for threads in [0, 1, 2, 7, 100] {
            let done: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
            let items: Vec<usize> = (0..50).collect();
            for_each(threads, &items, |&item| {
                done[item].fetch_add(1, Ordering::Relaxed);
            });
            assert!(done.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
    }
}
