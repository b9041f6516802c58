//! Writes figures of synthetic data (also as descriptions for plotly) and a report with them into a folder. For
//! development: to see the effect of a change of the drawing code.
//!
//! `cargo run -p calibandit-report --example gallery -- target/gallery`

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use calibandit_report::chart::Palette;
use calibandit_report::chart::plotly::{ViewOptions, description};
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/gallery".to_owned()));
    std::fs::create_dir_all(&folder)?;
    let figures = fixture::all();
    let palette = Palette::for_figures(&figures);
    for figure in &figures {
        std::fs::write(folder.join(format!("{}.svg", figure.id)), figure.to_svg(&palette))?;
        std::fs::write(folder.join(format!("{}.png", figure.id)), figure.to_png(&palette, 2.0)?)?;
        let plot = description(figure, &palette, &ViewOptions::default());
        std::fs::write(folder.join(format!("{}.plotly.json", figure.id)), plot.to_string())?;
    }
    std::fs::write(folder.join("report.html"), fixture::report::report().to_html())?;
    Ok(())
}
