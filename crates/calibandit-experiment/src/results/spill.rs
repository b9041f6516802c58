//! Curves in a temporary file, with an index of them in memory.
//!
//! A record has the numbers of one curve: the CPRs, then the losses, then the switches, eight bytes each. The times are
//! not in it: nearly all curves have the same ones, which are kept once. The file has no name where the system allows
//! that, so nothing is left behind when the program ends in any way.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Curve, CurveEnd, Sample};

/// The numbers of a sample that are stored, and their bytes.
const NUMBERS: usize = 3;
const BYTES: usize = 8;

/// Where a curve is in the file.
#[derive(Clone, Copy, Debug)]
struct SpillEntry {
    game: u32,
    policy: u32,
    instance: u64,
    offset: u64,
    /// Index into the lists of times.
    times: u32,
    last: Sample,
}

/// A temporary file to which curves are appended, in any order.
#[derive(Debug)]
pub(super) struct SpillWriter {
    file: BufWriter<File>,
    offset: u64,
    times: Vec<Arc<[u64]>>,
    known_times: HashMap<Arc<[u64]>, u32>,
    entries: Vec<SpillEntry>,
    folder: Option<PathBuf>,
}

/// Curves in a temporary file, by game, policy and instance.
#[derive(Clone, Debug)]
pub(super) struct SpilledCurves {
    file: Arc<Mutex<File>>,
    times: Vec<Arc<[u64]>>,
    entries: Arc<[SpillEntry]>,
    folder: Option<PathBuf>,
}

impl SpillWriter {
    /// A new file in `folder`, or in the system's folder for temporary files if none can be made there.
    pub(super) fn new(folder: Option<&Path>) -> io::Result<Self> {
        let here = folder.and_then(|folder| tempfile::tempfile_in(folder).ok());
        let file = here.map_or_else(tempfile::tempfile, Ok).map_err(named)?;
        Ok(Self {
            file: BufWriter::with_capacity(1 << 20, file),
            offset: 0,
            times: Vec::new(),
            known_times: HashMap::new(),
            entries: Vec::new(),
            folder: folder.map(Path::to_path_buf),
        })
    }

    /// Appends a curve.
    pub(super) fn push(&mut self, curve: &Curve) -> io::Result<()> {
        let columns: [fn(&Sample) -> u64; NUMBERS] =
            [|sample| sample.cpr.to_bits(), |sample| sample.loss.to_bits(), |sample| sample.switches];
        for column in columns {
            for sample in &curve.samples {
                self.file.write_all(&column(sample).to_le_bytes()).map_err(named)?;
            }
        }
        let too_many = || io::Error::other("the results have more than 2^32 games or policies");
        let entry = SpillEntry {
            game: u32::try_from(curve.game).map_err(|_| too_many())?,
            policy: u32::try_from(curve.policy).map_err(|_| too_many())?,
            instance: curve.instance,
            offset: self.offset,
            times: self.times_of(curve),
            last: curve.end().last,
        };
        self.entries.push(entry);
        self.offset += (curve.samples.len() * NUMBERS * BYTES) as u64;
        Ok(())
    }

    fn times_of(&mut self, curve: &Curve) -> u32 {
        let is_same = |times: &Arc<[u64]>| times.iter().copied().eq(curve.samples.iter().map(|sample| sample.t));
        if let Some(entry) = self.entries.last().filter(|entry| is_same(&self.times[entry.times as usize])) {
            return entry.times;
        }
        let times: Arc<[u64]> = curve.samples.iter().map(|sample| sample.t).collect();
        let next = self.times.len() as u32;
        let list = *self.known_times.entry(times.clone()).or_insert(next);
        if list == next {
            self.times.push(times);
        }
        list
    }

    /// The curves, sorted.
    pub(super) fn finish(self) -> io::Result<SpilledCurves> {
        let Self { file, times, mut entries, folder, .. } = self;
        let file = file.into_inner().map_err(|error| named(error.into_error()))?;
        entries.sort_by_key(|entry| (entry.game, entry.policy, entry.instance));
        Ok(SpilledCurves { file: Arc::new(Mutex::new(file)), times, entries: entries.into(), folder })
    }
}

impl SpilledCurves {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The folder in which the file was to be.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Game, policy and instance of a curve.
    pub(super) fn key(&self, at: usize) -> (usize, usize, u64) {
        let entry = &self.entries[at];
        (entry.game as usize, entry.policy as usize, entry.instance)
    }

    /// The times of a curve.
    pub(super) fn times(&self, at: usize) -> &[u64] {
        &self.times[self.entries[at].times as usize]
    }

    pub(super) fn end(&self, at: usize) -> CurveEnd {
        CurveEnd { instance: self.entries[at].instance, last: self.entries[at].last }
    }

    /// The samples of a curve at these positions, as far as it has them.
    pub(super) fn samples(&self, at: usize, positions: Range<usize>) -> io::Result<Vec<Sample>> {
        let times = self.times(at);
        let (start, end) = (positions.start.min(times.len()), positions.end.min(times.len()));
        let count = end - start;
        let mut bytes = vec![0; NUMBERS * count * BYTES];
        let offset = self.entries[at].offset;
        if count == times.len() {
            self.read(offset, &mut bytes).map_err(named)?;
        } else if count > 0 {
            for (column, bytes) in bytes.chunks_mut(count * BYTES).enumerate() {
                let place = (column * times.len() + start) * BYTES;
                self.read(offset + place as u64, bytes).map_err(named)?;
            }
        }
        let number = |column: usize, i: usize| {
            let place = (column * count + i) * BYTES;
            u64::from_le_bytes(bytes[place..place + BYTES].try_into().expect("a number has eight bytes"))
        };
        let sample = |i: usize| Sample {
            t: times[start + i],
            cpr: f64::from_bits(number(0, i)),
            loss: f64::from_bits(number(1, i)),
            switches: number(2, i),
        };
        Ok((0..count).map(sample).collect())
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}

/// The error with the file that it is about, which has no name of its own.
fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the temporary file for results: {error}"))
}
