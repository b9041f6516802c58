//! libFuzzer's entry to [`calibandit_fuzz::results_csv`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::results_csv(data));
