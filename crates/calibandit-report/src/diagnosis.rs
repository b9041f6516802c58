//! What a diagnosis of a log says to people: sentences, figures, and one page.
//!
//! The program, the page and Python use the same sentences. The diagnosis itself is made by
//! [`calibandit_fit::diagnose`]; nothing is computed here.

mod figures;
mod page;
mod texts;

pub use figures::{difference_figure, forgetting_figure, price_figure, warm_up_figure};
pub use page::diagnosis_report;
pub use texts::{DiagnosisSource, DiagnosisTexts, PilotAdvice, eventual_text, price_text, settled_text, stopped_text};
