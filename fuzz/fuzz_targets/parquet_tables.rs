//! libFuzzer's entry to [`calibandit_fuzz::parquet_tables`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| calibandit_fuzz::parquet_tables(data));
