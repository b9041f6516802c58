//! Cells: positions in a run, singly up to 16, then in ranges that grow by a sixth of a doubling.

/// The positions from 1 to a last one, divided into cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    /// The first position of each cell, and the position after the last cell.
    starts: Vec<u32>,
}

/// Up to this position every position is a cell.
const SINGLE: u32 = 16;

impl Cells {
    /// The cells of the positions below `end`.
    pub(super) fn below(end: u32) -> Self {
        let mut starts: Vec<u32> = (1..=SINGLE.min(end.saturating_sub(1))).collect();
        let wider = (1..).map(|step| (f64::from(SINGLE) * (f64::from(step) / 6.0).exp2()).round() as u32);
        starts.extend(wider.skip_while(|&start| start <= SINGLE).take_while(|&start| start < end));
        starts.dedup();
        starts.push(end.max(1));
        Self { starts }
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first position of a cell.
    pub(super) fn first(&self, cell: usize) -> u32 {
        self.starts[cell]
    }

    /// The last position of a cell.
    pub(super) fn last(&self, cell: usize) -> u32 {
        self.starts[cell + 1] - 1
    }

    /// The cell of a position below the end.
    pub(super) fn of(&self, position: u32) -> usize {
        self.starts.partition_point(|&start| start <= position) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_partition_the_positions() {
        for end in [1, 2, 5, 16, 17, 18, 19, 30, 64, 1000] {
            let cells = Cells::below(end);
            let mut next = 1;
            for cell in 0..cells.len() {
                assert_eq!(cells.first(cell), next);
                assert!(cells.last(cell) >= next);
                assert!(next <= 16 || f64::from(cells.last(cell) + 1) <= 1.26 * f64::from(next), "{end} {cell}");
                for position in next..=cells.last(cell) {
                    assert_eq!(cells.of(position), cell);
                }
                next = cells.last(cell) + 1;
            }
            assert_eq!(next, end);
        }
    }
}
