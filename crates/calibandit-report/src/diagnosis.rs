//! What a diagnosis of a log says to people: sentences, figures, and one page.
//!
//! The program, the page and Python use the same sentences. The diagnosis itself is made by
//! [`calibandit_fit::diagnose`]; nothing is computed here.

mod texts;

pub use texts::{DiagnosisSource, DiagnosisTexts, PilotAdvice, eventual_text, settled_text, stopped_text};
