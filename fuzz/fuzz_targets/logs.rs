//! libFuzzer's entry to [`calibandit_fuzz::logs`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::logs(data));
