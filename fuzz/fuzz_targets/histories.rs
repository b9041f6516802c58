//! libFuzzer's entry to [`calibandit_fuzz::histories`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::histories(data));
