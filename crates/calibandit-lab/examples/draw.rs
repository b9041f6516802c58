//! Draws a figure that is given as JSON: `draw FIGURE.json FIGURE.svg`.

use std::error::Error;
use std::fs;

use calibandit_lab::figure::{Figure, Palette};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = arguments.as_slice() else { return Err("usage: draw FIGURE.json FIGURE.svg".into()) };
    let figure: Figure = serde_json::from_str(&fs::read_to_string(from)?)?;
    fs::write(to, figure.to_svg(&Palette::for_figures([&figure])))?;
    Ok(())
}
