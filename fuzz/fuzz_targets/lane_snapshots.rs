//! libFuzzer's entry to [`calibandit_fuzz::lane_snapshots`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::lane_snapshots(data));
