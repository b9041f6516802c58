//! Where the curves of results are: in memory, or in a temporary file if they need more memory than there should be.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::spill::{SpillWriter, SpilledCurves};
use super::{Curve, CurveEnd, Results, Sample};

/// Curves that need more memory than this are kept in a temporary file.
const MEMORY: usize = 256 << 20;

/// The memory for the values of all instances at a block of checkpoints. In tests, blocks have few checkpoints.
const BLOCK: usize = if cfg!(test) { 100 } else { 128 << 20 };

/// Collects curves in any order, in memory as long as they are few.
#[derive(Debug)]
pub struct CurveCollector {
    memory: usize,
    folder: Option<PathBuf>,
    held: usize,
    curves: Vec<Curve>,
    spill: Option<SpillWriter>,
}

impl CurveCollector {
    /// A collector that keeps many curves in a temporary file in `folder`, or in the system's folder for temporary
    /// files.
    pub fn new(folder: Option<&Path>) -> Self {
        Self::with_memory(folder, MEMORY)
    }

    /// With another limit on the memory, in bytes.
    pub(crate) fn with_memory(folder: Option<&Path>, memory: usize) -> Self {
        Self { memory, folder: folder.map(Path::to_path_buf), held: 0, curves: Vec::new(), spill: None }
    }

    /// Adds a curve.
    ///
    /// # Errors
    /// If the temporary file cannot be written.
    pub fn push(&mut self, curve: Curve) -> io::Result<()> {
        if let Some(spill) = &mut self.spill {
            return spill.push(&curve);
        }
        self.held += size_of::<Curve>() + curve.samples.len() * size_of::<Sample>();
        self.curves.push(curve);
        if self.held > self.memory {
            let mut spill = SpillWriter::new(self.folder.as_deref())?;
            std::mem::take(&mut self.curves).iter().try_for_each(|curve| spill.push(curve))?;
            self.spill = Some(spill);
        }
        Ok(())
    }

    /// The curves, by game, policy and instance.
    pub(super) fn finish(self) -> io::Result<StoredCurves> {
        match self.spill {
            Some(spill) => Ok(StoredCurves::Spilled(spill.finish()?)),
            None => Ok(StoredCurves::in_memory(self.curves)),
        }
    }
}

impl Default for CurveCollector {
    fn default() -> Self {
        Self::new(None)
    }
}

/// Curves by game, policy and instance.
#[derive(Clone, Debug)]
pub(super) enum StoredCurves {
    Memory(Vec<Curve>),
    Spilled(SpilledCurves),
}

impl StoredCurves {
    pub(super) fn in_memory(mut curves: Vec<Curve>) -> Self {
        curves.sort_by_key(Curve::order);
        Self::Memory(curves)
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Memory(curves) => curves.len(),
            Self::Spilled(curves) => curves.len(),
        }
    }

    /// The folder of the temporary file, if there is one.
    pub(super) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Memory(_) => None,
            Self::Spilled(curves) => curves.folder(),
        }
    }

    fn key(&self, at: usize) -> (usize, usize, u64) {
        match self {
            Self::Memory(curves) => curves[at].order(),
            Self::Spilled(curves) => curves.key(at),
        }
    }

    /// The number of samples of a curve.
    pub(super) fn rows(&self, at: usize) -> usize {
        match self {
            Self::Memory(curves) => curves[at].samples.len(),
            Self::Spilled(curves) => curves.times(at).len(),
        }
    }

    pub(super) fn end(&self, at: usize) -> CurveEnd {
        match self {
            Self::Memory(curves) => curves[at].end(),
            Self::Spilled(curves) => curves.end(at),
        }
    }

    /// The curves of one policy in one game.
    pub(super) fn range(&self, game: usize, policy: usize) -> Range<usize> {
        self.partition(|of| of < (game, policy))..self.partition(|of| of <= (game, policy))
    }

    /// The number of curves whose game and policy are before a place in the order.
    fn partition(&self, is_before: impl Fn((usize, usize)) -> bool) -> usize {
        let (mut start, mut end) = (0, self.len());
        while start < end {
            let middle = start + (end - start) / 2;
            let (game, policy, _) = self.key(middle);
            if is_before((game, policy)) { start = middle + 1 } else { end = middle }
        }
        start
    }

    pub(super) fn curve(&self, at: usize) -> io::Result<Cow<'_, Curve>> {
        match self {
            Self::Memory(curves) => Ok(Cow::Borrowed(&curves[at])),
            Self::Spilled(curves) => {
                let (game, policy, instance) = curves.key(at);
                let samples = curves.samples(at, 0..usize::MAX)?;
                Ok(Cow::Owned(Curve { game, policy, instance, samples }))
            }
        }
    }

    /// The samples of a curve at these positions, as far as it has them.
    fn samples(&self, at: usize, positions: Range<usize>) -> io::Result<Cow<'_, [Sample]>> {
        match self {
            Self::Memory(curves) => {
                let samples = &curves[at].samples;
                Ok(Cow::Borrowed(&samples[positions.start.min(samples.len())..positions.end.min(samples.len())]))
            }
            Self::Spilled(curves) => Ok(Cow::Owned(curves.samples(at, positions)?)),
        }
    }

    /// Calls `visit` once per checkpoint of the first of these curves, with the time and the values of all curves that
    /// have a sample there, in order. `value` gets the sample, and that of the curve at the same place of `reference`.
    ///
    /// Several checkpoints are read at a time, so that neither the whole table is in memory nor the file is read once
    /// per checkpoint.
    pub(super) fn at_checkpoints<E: From<io::Error>>(
        &self,
        curves: Range<usize>,
        reference: Option<Range<usize>>,
        value: impl Fn(&Sample, Option<&Sample>) -> f64,
        mut visit: impl FnMut(u64, Vec<f64>) -> Result<(), E>,
    ) -> Result<(), E> {
        let rows = if curves.is_empty() { 0 } else { self.rows(curves.start) };
        let block = (BLOCK / (size_of::<f64>() * curves.len().max(1))).clamp(1, rows.max(1));
        for start in (0..rows).step_by(block) {
            let positions = start..(start + block).min(rows);
            let mut times = Vec::new();
            let mut columns = vec![Vec::with_capacity(curves.len()); positions.len()];
            let mut references = reference.clone();
            for at in curves.clone() {
                let samples = self.samples(at, positions.clone())?;
                let other = references.as_mut().and_then(Range::next);
                let others = other.map_or(Ok(Cow::Borrowed(&[][..])), |at| self.samples(at, positions.clone()))?;
                if times.is_empty() {
                    times = samples.iter().map(|sample| sample.t).collect();
                }
                for (nth, (column, sample)) in columns.iter_mut().zip(samples.iter()).enumerate() {
                    column.push(value(sample, others.get(nth)));
                }
            }
            for (t, column) in times.into_iter().zip(columns) {
                visit(t, column)?;
            }
        }
        Ok(())
    }
}

/// The curves of results in order, read from a temporary file if they are there.
#[derive(Clone, Debug)]
pub struct CurveIter<'a> {
    pub(super) results: &'a Results,
    pub(super) left: Range<usize>,
}

impl<'a> Iterator for CurveIter<'a> {
    type Item = io::Result<Cow<'a, Curve>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left.next().map(|at| Ok(self.results.shown_curve(self.results.curves.curve(at)?)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for CurveIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Results;

    /// Curves of 2 games, 2 policies and 3 instances in a mixed order; one of them is shorter.
    fn curves() -> Vec<Curve> {
        let mut curves = Vec::new();
        for (nth, (game, policy, instance)) in
            (0..2).flat_map(|g| (0..2).flat_map(move |p| (0..3).map(move |i| (g, p, i)))).enumerate()
        {
            let last = if nth == 4 { 5 } else { 9 };
            let sample = |t: u64| Sample { t, loss: 0.1 * t as f64, cpr: nth as f64 - 0.3 * t as f64, switches: t / 2 };
            curves.push(Curve { game, policy, instance, samples: (1..=last).map(sample).collect() });
        }
        curves.swap(0, 7);
        curves.swap(3, 11);
        curves
    }

    fn results(memory: usize) -> Results {
        let mut collector = CurveCollector::with_memory(None, memory);
        curves().into_iter().for_each(|curve| collector.push(curve).unwrap());
        assert_eq!(collector.spill.is_some(), memory < 10_000);
        let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
        Results::collected("x".into(), names(["g", "h"]), names(["A", "B"]), collector).unwrap()
    }

    #[test]
    fn curves_in_a_file_are_those_in_memory() {
        let expected = Results::new("x".into(), results(0).games, results(0).policies, curves());
        for memory in [0, 1000, 1_000_000] {
            let results = results(memory);
            assert_eq!(results, expected);
            assert_eq!((results.rows(), results.end_time()), (12 * 9 - 4, 9));
            for (game, policy) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)] {
                let read: Vec<Curve> = results.of(game, policy).map(|curve| curve.unwrap().into_owned()).collect();
                let mut own: Vec<Curve> =
                    curves().into_iter().filter(|c| (c.game, c.policy) == (game, policy)).collect();
                own.sort_by_key(|curve| curve.instance);
                assert_eq!(read, own);
                assert!(results.ends(game, policy).eq(own.iter().map(Curve::end)));
            }
        }
    }

    #[test]
    fn values_at_checkpoints_are_those_of_the_samples() {
        for memory in [0, 1_000_000] {
            let results = results(memory);
            for reference in [None, Some(0)] {
                let value = |own: &Sample, other: Option<&Sample>| own.cpr - other.map_or(0.0, |other| other.cpr);
                let mut seen = Vec::new();
                let visit = |t, values| {
                    seen.push((t, values));
                    Ok::<_, io::Error>(())
                };
                results.at_checkpoints(0, 1, reference, value, visit).unwrap();
                assert_eq!(seen.len(), 9);
                for (nth, (t, values)) in seen.into_iter().enumerate() {
                    let samples = |policy| {
                        let of = curves().into_iter().filter(move |c| (c.game, c.policy) == (0, policy));
                        let mut of: Vec<Curve> = of.collect();
                        of.sort_by_key(|curve| curve.instance);
                        of
                    };
                    let expected: Vec<f64> = samples(1)
                        .iter()
                        .zip(samples(0))
                        .filter_map(|(own, other)| {
                            Some(value(own.samples.get(nth)?, reference.map(|_| &other.samples[nth])))
                        })
                        .collect();
                    assert_eq!((t, values), (nth as u64 + 1, expected));
                }
            }
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_replaced_by_that_of_the_system() {
        let mut collector = CurveCollector::with_memory(Some(Path::new("/does/not/exist")), 0);
        collector.push(curves().remove(0)).unwrap();
        assert_eq!(collector.finish().unwrap().len(), 1);
    }
}
