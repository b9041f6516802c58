//! libFuzzer's entry to [`calibandit_fuzz::manifests`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::manifests(data));
