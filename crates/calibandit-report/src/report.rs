//! A report: figures, tables, specifications and commands in one HTML file that needs nothing else.
//!
//! The page carries its data, style and script; its content security policy forbids every request, so that it looks the
//! same in ten years and tells nobody that it was opened. Without JavaScript it shows the static drawings of
//! [`figure`](crate::figure) and the tables.
//!
//! The page only shows what it is given. Numbers are rounded for it (five digits for curves); the exact ones are in the result files.
//!
//! ```
//! use calibandit_report::chart::Figure;
//! use calibandit_report::report::{Report, ReportSection};
//!
//! let mut report = Report::new("Unweighted games");
//! report.sections.push(ReportSection::new(Figure::new("fig1a", "CPR over time")));
//! let page = report.to_html();
//! assert!(page.starts_with("<!doctype html>") && page.contains("CPR over time"));
//! ```

mod data;
mod html;
mod table;
mod text;

use crate::chart::{Figure, Palette};
use serde::{Deserialize, Serialize};

/// Everything on the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The page's title.
    pub title: String,
    /// A few sentences under the title. Blank lines separate paragraphs, backticks mark code.
    #[serde(default)]
    pub lead: String,
    /// The figures with all that belongs to them, in order.
    pub sections: Vec<ReportSection>,
    /// Where the numbers come from.
    #[serde(default)]
    pub footer: Footer,
}

/// One figure with its table, its specification and the way to make it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportSection {
    /// The figure.
    pub figure: Figure,
    /// The table under it; may be empty.
    #[serde(default)]
    pub summary: Vec<PolicyRow>,
    /// What the table's numbers are, such as `CPR at T = 10⁶`.
    #[serde(default)]
    pub summary_caption: String,
    /// Further tables; may be empty.
    #[serde(default)]
    pub tables: Vec<DataTable>,
    /// The experiment's specification as TOML.
    #[serde(default)]
    pub spec: String,
    /// The command that makes the figure again.
    #[serde(default)]
    pub command: String,
    /// What the figure shows, in words. Blank lines separate paragraphs, backticks mark code.
    #[serde(default)]
    pub prose: String,
}

/// One policy's numbers over all instances.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyRow {
    /// The panel (or game) that the row belongs to; empty if the figure has only one.
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
    /// Worst instance.
    pub max: f64,
    /// Labels of the policies of the same panel whose mean is significantly greater.
    #[serde(default)]
    pub better_than: Vec<String>,
}

/// A table of any columns. The first one names the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataTable {
    /// What the numbers are.
    pub caption: String,
    /// The columns' headings.
    pub columns: Vec<String>,
    /// The rows, a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a [`DataTable`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// What is shown.
    pub text: String,
    /// What it is sorted by, where it is a number.
    #[serde(default)]
    pub value: Option<f64>,
}

/// What a reader needs in order to trust and repeat the numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// Name and version of each program or library that had a part in it.
    pub versions: Vec<(String, String)>,
    /// The seed.
    pub seed: String,
    /// The random number generator's name.
    pub generator: String,
    /// The command for the whole report.
    #[serde(default)]
    pub command: String,
}

impl Report {
    /// A report without sections.
    pub fn new(title: impl Into<String>) -> Self {
        Report { title: title.into(), lead: String::new(), sections: Vec::new(), footer: Footer::default() }
    }

    /// The looks of all policies of the report. Use it for the static figures that belong to it as well.
    pub fn palette(&self) -> Palette {
        Palette::for_figures(self.sections.iter().map(|section| &section.figure))
    }

    /// The page. The same report gives the same bytes.
    pub fn to_html(&self) -> String {
        html::page(self)
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
