//! libFuzzer's entry to [`calibandit_fuzz::logs`].
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: {
        // libFuzzer's hook ends the program at every panic, also at those that are caught. The Parquet reader panics
        // on some damaged pages, and `parse_log` must turn that into an error; every other panic is a failure.
        let end = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !panic.location().is_some_and(|place| place.file().contains("/parquet-")) {
                end(panic);
            }
        }));
    },
    |data: &[u8]| calibandit_fuzz::logs(data)
);
