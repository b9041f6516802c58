//! Figures and HTML reports of calibandit experiments.
//!
//! | module | purpose |
//! |---|---|
//! | [`chart`] | draws a figure as SVG and PNG; does not depend on experiments |
//! | [`figures`] | decides which results become which curve |
//! | [`diagnosis`] | says what the diagnosis of a log says: sentences, figures and a page |
//! | [`report`] | writes figures and tables as one self-contained HTML file |
//! | [`session`] | runs experiments into an output folder, with tables, figures and the report |
//!
//! A figure of one experiment:
//!
//! ```
//! use calibandit_experiment::Experiment;
//! use calibandit_report::report::Report;
//! use calibandit_report::session::{ReportTexts, default_command, report};
//! # use calibandit_experiment::results::Results;
//! # fn run(experiment: &Experiment) -> Results {
//! #     use calibandit_experiment::results::{Curve, Sample};
//! #     let samples = (1..=10).map(|i| Sample { t: i * 1000, loss: 0.0, cpr: i as f64, switches: 0 }).collect();
//! #     let (games, policies) = (experiment.game_labels(), experiment.policy_labels());
//! #     let curve = Curve { game: 0, policy: 0, instance: 0, samples };
//! #     Results::new(experiment.name().into(), games, policies, vec![curve])
//! # }
//!
//! let experiment = Experiment::from_toml("first.toml", r#"
//!     name = "first"
//!     title = "A first experiment"
//!     horizon = 10_000
//!     game = { kind = "step", arms = 5, memory = 3 }
//!     policy = [{ kind = "calibrated", memory_bound = 3 }]
//! "#)?;
//! let results = run(&experiment); // calibandit_experiment::run
//! let texts = ReportTexts { title: "Experiments", lead: "", caption: &|_| None, command: &default_command };
//! let report: Report = report(texts, &[experiment], &[results])?;
//!
//! let figure = &report.sections[0].figure;
//! assert!(figure.to_svg(&report.palette()).contains("A first experiment"));
//! assert!(report.to_html().contains("A first experiment"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With the cargo feature `png` (on by default) figures can also be drawn as PNG images.

pub mod chart;
pub mod diagnosis;
pub mod figures;
pub mod report;
pub mod session;
