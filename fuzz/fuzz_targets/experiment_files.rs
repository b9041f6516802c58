//! libFuzzer's entry to [`calibandit_fuzz::experiment_files`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::experiment_files(data));
