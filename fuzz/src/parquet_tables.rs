//! `results.parquet`: results made of arbitrary numbers and texts, written and read back.

use calibandit_experiment::results::{Curve, Results, Sample, write_parquet};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use crate::byte_reader::ByteReader;

/// The table that is read back has the rows that were written, bit for bit.
pub fn parquet_tables(data: &[u8]) {
    let results = arbitrary_results(&mut ByteReader::new(data));
    let mut written = Vec::new();
    write_parquet(std::slice::from_ref(&results), &mut written).expect("any results can be written");
    let bytes = bytes::Bytes::from(written);
    let reader = SerializedFileReader::new(bytes).expect("a table that was written can be read");
    let mut rows = reader.get_row_iter(None).expect("the table has rows");
    for curve in results.curves() {
        let curve = curve.expect("few curves are in memory");
        for sample in &curve.samples {
            let row = rows.next().expect("as many rows as samples").expect("a row that was written can be read");
            assert_eq!(row.get_string(0).ok(), Some(&results.experiment));
            assert_eq!(row.get_string(1).ok(), Some(&results.games[curve.game]));
            assert_eq!(row.get_string(2).ok(), Some(&results.policies[curve.policy]));
            assert_eq!(row.get_long(3).ok(), Some(curve.instance as i64));
            assert_eq!(row.get_long(4).ok(), Some(sample.t as i64));
            assert_eq!(row.get_double(5).map(f64::to_bits).ok(), Some(sample.loss.to_bits()));
            assert_eq!(row.get_double(6).map(f64::to_bits).ok(), Some(sample.cpr.to_bits()));
            assert_eq!(row.get_long(7).ok(), Some(sample.switches as i64));
        }
    }
    assert!(rows.next().is_none(), "no more rows than samples");
}

fn arbitrary_results(bytes: &mut ByteReader<'_>) -> Results {
    let labels = |bytes: &mut ByteReader<'_>| (0..=bytes.below(4)).map(|_| label(bytes)).collect::<Vec<_>>();
    let (games, policies) = (labels(bytes), labels(bytes));
    let mut curves = Vec::new();
    while !bytes.is_empty() {
        let samples = (0..=bytes.below(4)).map(|_| Sample {
            t: bytes.word() >> 1,
            loss: bytes.number(),
            cpr: bytes.number(),
            switches: bytes.word() >> 1,
        });
        let samples = samples.collect();
        let (game, policy) = (bytes.below(games.len()), bytes.below(policies.len()));
        curves.push(Curve { game, policy, instance: bytes.word() >> 1, samples });
    }
    Results::new(label(bytes), games, policies, curves)
}

fn label(bytes: &mut ByteReader<'_>) -> String {
    let length = bytes.below(12);
    let text: Vec<u8> = (0..length).map(|_| bytes.byte()).collect();
    String::from_utf8_lossy(&text).into_owned()
}
