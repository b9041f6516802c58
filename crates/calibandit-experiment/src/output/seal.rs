//! The checksum that a manifest carries over itself: its last entry, `sha256`, over all bytes before it.

use serde_json::Value;
use sha2::{Digest, Sha256};

const BEFORE: &str = ",\n  \"sha256\": \"";
const AFTER: &str = "\"\n}\n";

/// The object as indented JSON with its checksum as the last entry.
pub(super) fn seal(object: &Value) -> String {
    let text = format!("{object:#}");
    let body = text.strip_suffix("\n}").expect("a manifest is an object with entries");
    format!("{body}{BEFORE}{}{AFTER}", hex(&Sha256::digest(body)))
}

/// Whether a text is as [`seal`] wrote it, byte for byte.
pub(super) fn is_sealed(text: &[u8]) -> bool {
    let Some(rest) = text.strip_suffix(AFTER.as_bytes()) else { return false };
    let Some((rest, digest)) = rest.split_at_checked(rest.len().saturating_sub(64)) else { return false };
    let Some(body) = rest.strip_suffix(BEFORE.as_bytes()) else { return false };
    hex(&Sha256::digest(body)).as_bytes() == digest
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_change_of_a_byte_breaks_the_seal() {
        let sealed = seal(&json!({"manifest": 2, "shard": {"index": 1, "of": 3}, "name": "a \" b"}));
        assert!(is_sealed(sealed.as_bytes()));
        let value: Value = serde_json::from_str(&sealed).unwrap();
        assert_eq!((&value["manifest"], &value["shard"]["of"]), (&2.into(), &3.into()));
        assert_eq!(value["sha256"].as_str().unwrap().len(), 64);
        for place in 0..sealed.len() {
            for bit in 0..8 {
                let mut changed = sealed.clone().into_bytes();
                changed[place] ^= 1 << bit;
                assert!(!is_sealed(&changed), "bit {bit} of byte {place}");
            }
            assert!(!is_sealed(&sealed.as_bytes()[..place]) && !is_sealed(&sealed.as_bytes()[place + 1..]));
        }
    }
}
