//! The figure of lap-time models: means, ± 2 standard deviations, and the laps as dots if they are available.

use super::pairs::{DriverPair, PairDriver};
use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};

/// The name of the figure, for files and command lines.
pub const FIGURE: &str = "f1-models";

/// The labels of the two drivers. They are the same in all panels, so that the panels share a legend.
const ROLES: [&str; 2] = ["first driver", "second driver"];

/// The figure, with one panel per pair.
pub fn figure(pairs: &[DriverPair]) -> Figure {
    let dots = pairs.iter().any(|pair| pair.drivers.iter().any(|driver| !driver.laps.is_empty()));
    let seen = if dots { " The dots are the fitted laps." } else { "" };
    let mut figure = Figure::new(FIGURE, "Lap-time models of the ten pairs").caption(format!(
        "Expected loss by lap, with a band of ± 2 standard deviations. Lap times are normalised by race.{seen}"
    ));
    for pair in pairs {
        let last = pair.laps as f64;
        let x = Axis::new("lap", AxisScale::Linear).limits(1.0, last);
        let mut panel = Panel::new(pair.name(), pair.heading(), x, Axis::new("normalised lap time", AxisScale::Linear));
        for (driver, role) in pair.drivers.iter().zip(ROLES) {
            panel = panel.series(curve(driver, role, pair.laps));
        }
        let who = pair.drivers.iter().zip(ROLES).map(|(driver, role)| {
            format!("{role} {}, R² = {:.2}, standard deviation {:.3}", driver.name(), driver.r_squared, driver.model.sd)
        });
        panel = panel.note(who.collect::<Vec<_>>().join("; "));
        figure = figure.panel(panel);
    }
    figure
}

fn curve(driver: &PairDriver, role: &str, laps: usize) -> Series {
    let points = (1..=laps).map(|k| {
        let mut point = CurvePoint::new(k as f64, driver.mean(k), 0.0);
        point.sigma = Some(driver.model.sd);
        point
    });
    let seen = driver.laps.iter().zip(1u32..).map(|(&loss, k)| (f64::from(k), loss)).collect();
    Series::new(role, points.collect()).observations(seen)
}
