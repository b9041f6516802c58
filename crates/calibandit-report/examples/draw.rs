//! Draws a figure from its JSON form, as SVG or PNG by the extension of the output file. For development.
//!
//! `cargo run -p calibandit-report --example draw -- FIGURE.json FIGURE.svg FIGURE.png`

use std::error::Error;
use std::fs;

use calibandit_report::chart::{Figure, Palette};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, files @ ..] = arguments.as_slice() else { return Err("usage: draw FIGURE.json FILE...".into()) };
    let figure: Figure = serde_json::from_str(&fs::read_to_string(from)?)?;
    let palette = Palette::for_figures([&figure]);
    for file in files {
        if file.ends_with(".png") {
            fs::write(file, figure.to_png(&palette, 2.0)?)?;
        } else {
            fs::write(file, figure.to_svg(&palette))?;
        }
    }
    Ok(())
}
