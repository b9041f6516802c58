//! A report: figures, tables, experiment files and commands in one self-contained HTML file.
//!
//! The page contains its data, style sheet and scripts. Its content security policy forbids every request, so the page
//! does not depend on any server, and opening it sends nothing. Without JavaScript it shows the static drawings of
//! [`chart`](crate::chart) and the tables.
//!
//! The page computes nothing: it shows the numbers that it is given. Figures are drawn by plotly.js from
//! [descriptions](crate::chart::plotly) when they come near the screen.
//!
//! ```
//! use calibandit_report::chart::Figure;
//! use calibandit_report::report::{Report, ReportSection};
//!
//! let mut report = Report::new("Unweighted games");
//! report.sections.push(ReportSection::new(Figure::new("fig1a", "CPR over time")));
//! let page = report.to_html();
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("CPR over time"));
//! ```

mod data;
mod figure;
mod html;
mod table;
mod text;

use crate::chart::{Figure, Palette};
use calibandit::rng::GENERATOR;
use serde::{Deserialize, Serialize};

/// The content of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The page's title.
    pub title: String,
    /// A few sentences under the title. Blank lines separate paragraphs, backticks mark code.
    #[serde(default)]
    pub lead: String,
    /// The sections, in order.
    pub sections: Vec<ReportSection>,
    /// Seed, generator and versions.
    #[serde(default)]
    pub footer: Footer,
}

/// One figure with its tables, its experiment file and the command that reproduces it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportSection {
    /// The figure.
    pub figure: Figure,
    /// The table under it; may be empty.
    #[serde(default)]
    pub summary: Vec<PolicyRow>,
    /// The caption of the table, such as `CPR at T = 10⁶`.
    #[serde(default)]
    pub summary_caption: String,
    /// Further tables; may be empty.
    #[serde(default)]
    pub tables: Vec<DataTable>,
    /// The experiment file.
    #[serde(default)]
    pub spec: String,
    /// The command that reproduces the figure.
    #[serde(default)]
    pub command: String,
    /// A description of the figure. Blank lines separate paragraphs, backticks mark code.
    #[serde(default)]
    pub prose: String,
}

/// The statistics of one policy over all instances: a row of the table under a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRow {
    /// The title of the panel (or game) of the row; empty if the figure has only one.
    #[serde(default)]
    pub panel: String,
    /// The policy's label.
    pub policy: String,
    /// Number of instances.
    pub instances: u64,
    /// Mean over instances.
    pub mean: f64,
    /// Standard error of the mean.
    pub stderr: f64,
    /// Median over instances.
    pub median: f64,
    /// 90 % quantile.
    pub p90: f64,
    /// 99 % quantile.
    pub p99: f64,
    /// Greatest value.
    pub max: f64,
    /// Labels of the policies of the same panel whose mean is significantly greater.
    #[serde(default)]
    pub better_than: Vec<String>,
}

/// A table with columns of the caller's choice. The first column names the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataTable {
    /// The caption.
    pub caption: String,
    /// The columns' headings.
    pub columns: Vec<String>,
    /// The rows, with one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a [`DataTable`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The text of the cell.
    pub text: String,
    /// The number by which the column is sorted; `None` for a text.
    #[serde(default)]
    pub value: Option<f64>,
}

/// What a reader needs to reproduce the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// Name and version of each program or library that produced the numbers.
    pub versions: Vec<(String, String)>,
    /// The seed.
    pub seed: String,
    /// The name of the random number generator.
    pub generator: String,
    /// The command that reproduces the whole report.
    #[serde(default)]
    pub command: String,
}

impl Report {
    /// A report without sections.
    pub fn new(title: impl Into<String>) -> Self {
        Report { title: title.into(), lead: String::new(), sections: Vec::new(), footer: Footer::default() }
    }

    /// The styles of all curves of the report. Draw the static figures of the report with the same palette.
    pub fn palette(&self) -> Palette {
        Palette::for_figures(self.sections.iter().map(|section| &section.figure))
    }

    /// The page. The same report gives the same bytes.
    pub fn to_html(&self) -> String {
        html::page(self, false)
    }

    /// The page for a folder that also has the files with all results, which the page mentions.
    pub fn to_html_beside_results(&self) -> String {
        html::page(self, true)
    }
}

impl Footer {
    /// The footer of results that this version of the library computed from these seeds.
    pub fn for_seeds(seeds: impl IntoIterator<Item = u64>) -> Self {
        let mut seeds: Vec<String> = seeds.into_iter().map(|seed| seed.to_string()).collect();
        seeds.dedup();
        Footer {
            versions: vec![("calibandit".into(), env!("CARGO_PKG_VERSION").into())],
            seed: seeds.join(", "),
            generator: GENERATOR.into(),
            command: String::new(),
        }
    }
}

impl ReportSection {
    /// A section with a figure and nothing else.
    pub fn new(figure: Figure) -> Self {
        ReportSection {
            figure,
            summary: Vec::new(),
            summary_caption: String::new(),
            tables: Vec::new(),
            spec: String::new(),
            command: String::new(),
            prose: String::new(),
        }
    }
}
