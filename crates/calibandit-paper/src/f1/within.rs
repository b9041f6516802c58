//! Least squares with fixed effects: the effects of drivers and of laps are removed exactly, race by race.
//!
//! A loss is the sum of an effect of the driver, an effect of the lap of the race, an effect of the *column* (the lap
//! of the stint) and noise. Drivers and laps of different races are different effects. So by the theorem of Frisch,
//! Waugh and Lovell the normal equations of the columns are a sum over races, and one matrix of cross products per race
//! ([`CrossProducts`]) is all that the estimate needs. A bootstrap over races only adds these matrices again, with
//! other multiplicities.
//!
//! Nothing here is iterative, so there is no criterion of convergence.

/// One loss with its driver, its lap of the race, and its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WithinRow {
    /// The driver, as a number below the number of drivers.
    pub(super) driver: usize,
    /// The lap of the race, as a number below the number of laps.
    pub(super) lap: usize,
    /// The column, as a number below the number of columns.
    pub(super) column: usize,
    pub(super) loss: f64,
}

/// The effects that are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// One effect per driver.
    Drivers,
    /// One effect per driver and one per lap of the race.
    DriversAndLaps,
}

/// A pivot counts as zero if it is no more than this share of the number of rows that it was computed from. Pivots are
/// sums and differences of shares of whole numbers, so rounding leaves about 10^-16 of that number per operation.
const ZERO_PIVOT: f64 = 1e-9;

/// A coefficient counts as zero below this. Coefficients between columns of zeros and ones are of the order of 1.
const ZERO_COEFFICIENT: f64 = 1e-6;

/// Cross products of the columns and of the loss of one race, or a sum of them over races, after the effects were
/// removed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CrossProducts {
    /// The number of columns. The loss is one more.
    columns: usize,
    /// The matrix, row by row; the loss is the last row and column.
    products: Vec<f64>,
    /// The number of rows of each column.
    counts: Vec<usize>,
}

impl CrossProducts {
    /// The sum over no races.
    pub(super) fn empty(columns: usize) -> Self {
        Self { columns, products: vec![0.0; (columns + 1) * (columns + 1)], counts: vec![0; columns] }
    }

    /// The cross products of one race.
    pub(super) fn of_race(rows: &[WithinRow], columns: usize, removed: Removed) -> Self {
        let mut all = Self::empty(columns);
        let width = columns + 1;
        let drivers = rows.iter().map(|row| row.driver + 1).max().unwrap_or(0);
        let laps = rows.iter().map(|row| row.lap + 1).max().unwrap_or(0);
        let mut by_driver = Sums::new(drivers, width);
        let mut by_lap = Sums::new(laps, width);
        for row in rows {
            all.counts[row.column] += 1;
            all.products[row.column * width + row.column] += 1.0;
            for (i, j) in [(row.column, columns), (columns, row.column)] {
                all.products[i * width + j] += row.loss;
            }
            all.products[width * width - 1] += row.loss * row.loss;
            by_driver.add(row.driver, row);
            by_lap.add(row.lap, row);
        }
        match removed {
            Removed::Drivers => {
                for driver in 0..drivers {
                    all.subtract_square(by_driver.row(driver), by_driver.counts[driver]);
                }
            }
            Removed::DriversAndLaps => {
                for lap in 0..laps {
                    all.subtract_square(by_lap.row(lap), by_lap.counts[lap]);
                }
                all.remove_drivers(rows, &by_driver, &by_lap);
            }
        }
        all
    }

    /// Removes the effects of drivers after those of laps. Drivers that share laps are not orthogonal to each other, so
    /// their own normal equations `a · effects = b` are solved, by a Cholesky factorisation `a = l · l'`.
    fn remove_drivers(&mut self, rows: &[WithinRow], by_driver: &Sums, by_lap: &Sums) {
        let (drivers, laps, width) = (by_driver.counts.len(), by_lap.counts.len(), self.columns + 1);
        let mut present = vec![0.0; drivers * laps];
        for row in rows {
            present[row.driver * laps + row.lap] += 1.0;
        }
        let lap_counts: Vec<f64> = by_lap.counts.iter().map(|&count| count.max(1) as f64).collect();
        let mut a = vec![0.0; drivers * drivers];
        let mut b = by_driver.sums.clone();
        for one in 0..drivers {
            let own = &present[one * laps..(one + 1) * laps];
            for other in 0..=one {
                let others = &present[other * laps..(other + 1) * laps];
                let shared: f64 = own.iter().zip(others).zip(&lap_counts).map(|((x, y), count)| x * y / count).sum();
                let both = if one == other { by_driver.counts[one] as f64 } else { 0.0 };
                a[one * drivers + other] = both - shared;
            }
            for (lap, (&times, count)) in own.iter().zip(&lap_counts).enumerate() {
                if times > 0.0 {
                    for (value, sum) in b[one * width..(one + 1) * width].iter_mut().zip(by_lap.row(lap)) {
                        *value -= times * sum / count;
                    }
                }
            }
        }
        // The effects of connected drivers are known up to a constant: the last pivot of each such group is zero, and
        // its equation follows from the others.
        for i in 0..drivers {
            let dot = |x: usize, y: usize, a: &[f64]| -> f64 {
                (0..y).map(|k| a[x * drivers + k] * a[y * drivers + k]).sum()
            };
            let pivot = a[i * drivers + i] - dot(i, i, &a);
            let is_zero = pivot <= ZERO_PIVOT * by_driver.counts[i] as f64;
            let root = if is_zero { 0.0 } else { pivot.sqrt() };
            a[i * drivers + i] = root;
            for below in i + 1..drivers {
                let left = a[below * drivers + i] - dot(below, i, &a);
                a[below * drivers + i] = if is_zero { 0.0 } else { left / root };
            }
            let (before, own) = b.split_at_mut(i * width);
            let own = &mut own[..width];
            for (k, earlier) in before.chunks_exact(width).enumerate() {
                let factor = a[i * drivers + k];
                own.iter_mut().zip(earlier).for_each(|(own, earlier)| *own -= factor * earlier);
            }
            own.iter_mut().for_each(|value| *value = if is_zero { 0.0 } else { *value / root });
        }
        for row in b.chunks_exact(width) {
            self.subtract_square(row, 1);
        }
    }

    /// Subtracts `row' · row / count`.
    fn subtract_square(&mut self, row: &[f64], count: usize) {
        for (&factor, products) in row.iter().zip(self.products.chunks_exact_mut(row.len())) {
            if factor != 0.0 {
                let factor = factor / count as f64;
                products.iter_mut().zip(row).for_each(|(product, value)| *product -= factor * value);
            }
        }
    }

    /// Adds another race as many times as it was drawn.
    pub(super) fn add(&mut self, other: &Self, times: usize) {
        let factor = times as f64;
        self.products.iter_mut().zip(&other.products).for_each(|(sum, value)| *sum += factor * value);
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += times * count);
    }

    /// The number of rows of each column.
    pub(super) fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The effect of each column relative to that of the column `reference`; `None` where the rows do not determine it.
    ///
    /// Gauss–Jordan elimination with the largest remaining pivot. A column without a pivot depends on others: it is not
    /// determined, and neither are the columns on which it depends.
    pub(super) fn effects(&self, reference: usize) -> Vec<Option<f64>> {
        let width = self.columns + 1;
        let mut m = self.products.clone();
        let mut pivots: Vec<usize> = Vec::new();
        let mut free: Vec<usize> = (0..self.columns).filter(|&column| column != reference).collect();
        while let Some(place) = (0..free.len()).max_by(|&x, &y| {
            let share = |at: usize| m[free[at] * width + free[at]] / self.counts[free[at]].max(1) as f64;
            share(x).total_cmp(&share(y))
        }) {
            let p = free[place];
            let pivot = m[p * width + p];
            if pivot <= ZERO_PIVOT * self.counts[p] as f64 {
                break;
            }
            free.swap_remove(place);
            pivots.push(p);
            m[p * width..(p + 1) * width].iter_mut().for_each(|value| *value /= pivot);
            let own = m[p * width..(p + 1) * width].to_vec();
            for (i, row) in m.chunks_exact_mut(width).enumerate().take(self.columns) {
                let factor = row[p];
                if i != p && factor != 0.0 {
                    row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
                }
            }
        }
        let mut effects = vec![None; self.columns];
        if self.counts.get(reference).is_some_and(|&count| count > 0) {
            effects[reference] = Some(0.0);
        }
        for &p in &pivots {
            if free.iter().all(|&column| m[p * width + column].abs() < ZERO_COEFFICIENT) {
                effects[p] = Some(m[p * width + self.columns]);
            }
        }
        effects
    }
}

/// Sums of the columns and of the loss, by driver or by lap.
struct Sums {
    width: usize,
    sums: Vec<f64>,
    counts: Vec<usize>,
}

impl Sums {
    fn new(groups: usize, width: usize) -> Self {
        Self { width, sums: vec![0.0; groups * width], counts: vec![0; groups] }
    }

    fn add(&mut self, group: usize, row: &WithinRow) {
        self.counts[group] += 1;
        self.sums[group * self.width + row.column] += 1.0;
        self.sums[(group + 1) * self.width - 1] += row.loss;
    }

    fn row(&self, group: usize) -> &[f64] {
        &self.sums[group * self.width..(group + 1) * self.width]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;
    use calibandit::StreamKey;
    use rand::RngExt;

    /// The effects by definition: each group of effects in turn is set to the means of what the others leave, until
    /// nothing changes. One race per slice.
    fn alternating_projections(races: &[Vec<WithinRow>], columns: usize, removed: Removed) -> Vec<f64> {
        let mut column = vec![0.0; columns];
        let mut driver = vec![vec![0.0; 50]; races.len()];
        let mut lap = vec![vec![0.0; 50]; races.len()];
        for _ in 0..200_000 {
            let before = column.clone();
            for (race, rows) in races.iter().enumerate() {
                means(
                    rows,
                    &mut driver[race],
                    |row| row.driver,
                    |row| row.loss - lap[race][row.lap] - column[row.column],
                );
                if removed == Removed::DriversAndLaps {
                    let left = |row: &WithinRow| row.loss - driver[race][row.driver] - column[row.column];
                    means(rows, &mut lap[race], |row| row.lap, left);
                }
            }
            let all: Vec<(usize, WithinRow)> =
                races.iter().enumerate().flat_map(|(race, rows)| rows.iter().map(move |row| (race, *row))).collect();
            let mut sums = vec![(0.0, 0.0); columns];
            for (race, row) in all {
                sums[row.column].0 += row.loss - driver[race][row.driver] - lap[race][row.lap];
                sums[row.column].1 += 1.0;
            }
            column = sums.iter().map(|&(sum, count): &(f64, f64)| sum / count.max(1.0)).collect();
            if column.iter().zip(&before).all(|(now, before)| (now - before).abs() < 1e-15) {
                break;
            }
        }
        column
    }

    fn means(
        rows: &[WithinRow],
        into: &mut [f64],
        group: impl Fn(&WithinRow) -> usize,
        value: impl Fn(&WithinRow) -> f64,
    ) {
        let mut sums = vec![(0.0, 0.0); into.len()];
        for row in rows {
            sums[group(row)].0 += value(row);
            sums[group(row)].1 += 1.0;
        }
        into.iter_mut().zip(sums).for_each(|(into, (sum, count))| *into = sum / f64::max(count, 1.0));
    }

    fn effects(races: &[Vec<WithinRow>], columns: usize, removed: Removed) -> Vec<Option<f64>> {
        let mut sum = CrossProducts::empty(columns);
        for rows in races {
            sum.add(&CrossProducts::of_race(rows, columns, removed), 1);
        }
        sum.effects(2)
    }

    /// Random tables with holes: two races of four drivers and twelve laps, six columns that restart at random.
    fn random_races(instance: u64) -> Vec<Vec<WithinRow>> {
        let mut stream = StreamKey::new(5, "within", instance).noise();
        (0..2)
            .map(|_| {
                let mut rows = Vec::new();
                for driver in 0..4 {
                    let mut column = 0;
                    for lap in 0..12 {
                        column = if stream.random::<f64>() < 0.2 { 0 } else { (column + 1).min(5) };
                        if stream.random::<f64>() < 0.85 {
                            rows.push(WithinRow { driver, lap, column, loss: stream.random() });
                        }
                    }
                }
                rows
            })
            .collect()
    }

    #[test]
    fn effects_equal_those_of_alternating_projections() {
        let mut compared = 0;
        for instance in 0..10 {
            let races = random_races(instance);
            for removed in [Removed::Drivers, Removed::DriversAndLaps] {
                let expected = alternating_projections(&races, 6, removed);
                for (column, found) in effects(&races, 6, removed).into_iter().enumerate() {
                    if let Some(found) = found {
                        let expected = expected[column] - expected[2];
                        assert!((found - expected).abs() < 1e-9, "{instance} {column}: {found} {expected}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 100, "{compared}");
    }

    #[test]
    fn columns_that_are_the_laps_of_the_race_are_not_determined() {
        // Nobody restarts: the column is the lap.
        let rows: Vec<WithinRow> = (0..3)
            .flat_map(|driver| {
                (0..5).map(move |lap| WithinRow { driver, lap, column: lap, loss: (lap * driver) as f64 })
            })
            .collect();
        let found = effects(std::slice::from_ref(&rows), 5, Removed::DriversAndLaps);
        assert_eq!(found, [None, None, Some(0.0), None, None]);
        assert!(effects(&[rows], 5, Removed::Drivers).iter().all(Option::is_some));
    }

    #[test]
    fn only_columns_that_are_connected_with_the_reference_are_determined() {
        // Race 0 compares columns 2 and 3, race 1 columns 0 and 1, and no race compares one pair with the other.
        let pair = |one: usize, other: usize| -> Vec<WithinRow> {
            let row = |driver, lap, column| WithinRow { driver, lap, column, loss: column as f64 };
            vec![row(0, 0, one), row(0, 1, other), row(1, 0, other), row(1, 1, one)]
        };
        let found = effects(&[pair(2, 3), pair(0, 1)], 5, Removed::DriversAndLaps);
        assert_eq!(found[..3], [None, None, Some(0.0)]);
        assert!((found[3].unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(found[4], None);
        // Without the reference, nothing is.
        assert_eq!(effects(&[pair(0, 1)], 5, Removed::DriversAndLaps), [None; 5]);
    }

    #[test]
    fn drivers_without_common_laps_are_separate_groups() {
        // Drivers 0 and 1 share laps 0 and 1, drivers 2 and 3 laps 2 and 3. Levels of 0, 5, 100 and 300 cancel.
        let row = |driver, lap, column, level: f64| WithinRow { driver, lap, column, loss: level + column as f64 };
        let rows = vec![
            row(0, 0, 2, 0.0),
            row(0, 1, 3, 0.0),
            row(1, 0, 3, 5.0),
            row(1, 1, 2, 5.0),
            row(2, 2, 2, 100.0),
            row(2, 3, 0, 100.0),
            row(3, 2, 0, 300.0),
            row(3, 3, 2, 300.0),
        ];
        let found = effects(&[rows], 4, Removed::DriversAndLaps);
        for (column, expected) in [(0, -2.0), (2, 0.0), (3, 1.0)] {
            assert!((found[column].unwrap() - expected).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(found[1], None);
    }
}
