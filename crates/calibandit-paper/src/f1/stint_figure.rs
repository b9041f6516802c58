//! The effects of the laps of stints as a figure and as CSV.

use std::io;

use calibandit_report::chart::{Axis, AxisScale, CurvePoint, Figure, Panel, Series};

use super::stint_effects::{LossChange, StintEffects, StintRow};

/// The name of the figure.
pub const STINT_FIGURE: &str = "f1-stints";

/// The figure: both curves, in percent of the fastest lap.
pub fn stint_figure(effects: &StintEffects) -> Figure {
    let options = effects.options;
    let last = f64::from(options.longest);
    let x = Axis::new("lap of the stint", AxisScale::Linear).limits(1.0, last);
    let y = Axis::new("change since its third lap, % of the fastest lap", AxisScale::Linear);
    let title = format!("{} to {}, {} races", options.first_year, options.last_year, effects.races);
    let curve = |label: &str, of: fn(&StintRow) -> LossChange| {
        let point = |row: &StintRow| {
            let LossChange { change, standard_error, .. } = of(row);
            Some(CurvePoint::new(f64::from(row.lap), 100.0 * change?, 100.0 * standard_error.unwrap_or(0.0)))
        };
        Series::new(label, effects.rows.iter().filter_map(point).collect())
    };
    let panel = Panel::new("stints", title, x, y)
        .series(curve("all stints, drivers on the same lap of the race", |row| row.same_lap))
        .series(curve("before the first stop", |row| row.before_stop));
    Figure::new(STINT_FIGURE, "Lap times over a stint")
        .caption(
            "The change of the lap time since the third lap of the stint, with a band of ± 1 standard error (bootstrap \
             over races). Before the first stop, the lap of the stint is the lap of the race. Over all stints, drivers \
             are compared on the same lap of the same race, so what they share (fuel, track) cancels.",
        )
        .panel(panel)
}

impl StintEffects {
    /// Writes the effects as CSV, one row per lap of the stint. Unknown numbers are empty cells.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn write_csv(&self, to: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(to);
        let parts = ["laps", "change", "standard_error", "low", "high"];
        let mut header = vec!["lap".to_string()];
        for curve in ["same_lap", "before_stop"] {
            header.extend(parts.map(|part| format!("{curve}_{part}")));
        }
        header.push("before_stop_median".to_string());
        writer.write_record(&header)?;
        let cell = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for row in &self.rows {
            let mut cells = vec![row.lap.to_string()];
            for change in [row.same_lap, row.before_stop] {
                cells.push(change.laps.to_string());
                cells.extend([change.change, change.standard_error, change.low, change.high].map(cell));
            }
            cells.push(cell(row.median_before_stop));
            writer.write_record(&cells)?;
        }
        Ok(writer.flush()?)
    }
}
