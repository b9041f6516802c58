//! Fuzz targets: one function per reader of untrusted bytes.
//!
//! A target takes any bytes and returns. It panics if the reader breaks its promise: bad input is refused with a typed
//! error, and what is accepted is used, written and read back without a change. `fuzz_targets/` has the programs that
//! libFuzzer drives (`cargo xtask fuzz`); `tests/corpora.rs` runs each target on its corpus, and on changed copies of
//! it, without libFuzzer.

mod byte_reader;
mod edits;
mod experiment_files;
mod fit_tables;
pub mod fixture;
mod histories;
mod journals;
mod lane_snapshots;
mod logs;
mod manifests;
pub mod mutation;
mod parquet_tables;
mod results_csv;
mod snapshots;

pub use experiment_files::experiment_files;
pub use fit_tables::fit_tables;
pub use histories::histories;
pub use journals::journals;
pub use lane_snapshots::lane_snapshots;
pub use logs::logs;
pub use manifests::manifests;
pub use parquet_tables::parquet_tables;
pub use results_csv::results_csv;
pub use snapshots::snapshots;

/// A target with its name, which is also the name of its corpus.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// The name.
    pub name: &'static str,
    /// The target.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [FuzzTarget; 10] = [
    FuzzTarget { name: "experiment_files", run: experiment_files },
    FuzzTarget { name: "journals", run: journals },
    FuzzTarget { name: "manifests", run: manifests },
    FuzzTarget { name: "results_csv", run: results_csv },
    FuzzTarget { name: "parquet_tables", run: parquet_tables },
    FuzzTarget { name: "snapshots", run: snapshots },
    FuzzTarget { name: "lane_snapshots", run: lane_snapshots },
    FuzzTarget { name: "fit_tables", run: fit_tables },
    FuzzTarget { name: "histories", run: histories },
    FuzzTarget { name: "logs", run: logs },
];
