//! libFuzzer's entry to [`calibandit_fuzz::fit_tables`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::fit_tables(data));
