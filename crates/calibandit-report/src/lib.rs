//! Figures and reports of experiments.
//!
//! [`chart`] draws a figure as SVG and PNG and knows nothing of experiments; [`figures`] decides which results become
//! which curve; [`report`] writes figures and tables as one HTML file; [`session`] runs experiments into an output
//! folder and ends with the report.

pub mod chart;
pub mod figures;
pub mod report;
pub mod session;
