//! The lap-time models of pairs as a figure: means, ± 2 standard deviations, and the laps as dots where they are at hand.

use super::pairs::{Pair, PairDriver};
use crate::figure::{Axis, Figure, Panel, Point, Scale, Series};

/// The name of the figure, for files and command lines.
pub const FIGURE: &str = "f1-models";

/// One panel a pair.
pub fn figure(pairs: &[Pair]) -> Figure {
    let dots = pairs.iter().any(|pair| pair.drivers.iter().any(|driver| !driver.laps.is_empty()));
    let seen = if dots { " The dots are the laps that were fitted." } else { "" };
    let mut figure = Figure::new(FIGURE, "Lap-time models of the ten pairs").caption(format!(
        "Expected loss by lap, with a band of ± 2 standard deviations. Lap times are normalised by race.{seen}"
    ));
    for pair in pairs {
        let last = pair.laps as f64;
        let x = Axis::new("lap", Scale::Linear).limits(1.0, last);
        let mut panel = Panel::new(pair.name(), title(pair), x, Axis::new("normalised lap time", Scale::Linear));
        for (driver, role) in pair.drivers.iter().zip(["first driver", "second driver"]) {
            panel = panel.series(curve(driver, role, pair.laps));
            panel = panel.note(format!(
                "{role}: {}, beta = {:.3}, alpha = {:.3}, gamma = {:.4}, sd = {:.4}, R² = {:.2}",
                driver.name(),
                driver.model.beta,
                driver.model.alpha,
                driver.model.gamma,
                driver.model.sd,
                driver.r_squared
            ));
        }
        figure = figure.panel(panel);
    }
    figure
}

fn title(pair: &Pair) -> String {
    format!("{}: {} and {}", pair.heading(), pair.drivers[0].name(), pair.drivers[1].name())
}

/// The same two labels in all panels, so that the panels share a legend.
fn curve(driver: &PairDriver, role: &str, laps: usize) -> Series {
    let points = (1..=laps).map(|k| {
        let mut point = Point::new(k as f64, driver.mean(k), 0.0);
        point.sigma = Some(driver.model.sd);
        point
    });
    let seen = driver.laps.iter().zip(1u32..).map(|(&loss, k)| (f64::from(k), loss)).collect();
    Series::new(role, points.collect()).observations(seen)
}
