//! libFuzzer's entry to [`calibandit_fuzz::snapshots`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::snapshots(data));
