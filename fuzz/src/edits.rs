//! Edits of a file, read from the bytes of a fuzzer.
//!
//! Files of a run have checksums that depend on the build, so a corpus of such files would soon be refused as a whole.
//! An input is therefore a list of edits of a file that was just written; or, if its first byte is 0, the file itself.

use crate::byte_reader::ByteReader;

/// Copies that would make the file longer are left out: a file of one line doubles with each copy of that line.
const MOST_BYTES: usize = 32 * 1024;

/// The file after the edits.
pub(crate) fn edited(file: &[u8], input: &[u8]) -> Vec<u8> {
    match input.split_first() {
        Some((0, contents)) => contents.to_vec(),
        Some((_, edits)) => {
            let mut bytes = file.to_vec();
            let mut edits = ByteReader::new(edits);
            while !edits.is_empty() {
                edit(&mut bytes, &mut edits);
            }
            bytes
        }
        None => Vec::new(),
    }
}

fn edit(bytes: &mut Vec<u8>, edits: &mut ByteReader<'_>) {
    let choice = edits.below(8);
    let at = edits.place(bytes.len());
    let end = (at + edits.below(64)).min(bytes.len());
    match choice {
        0 if at < bytes.len() => bytes[at] ^= 1 << edits.below(8),
        1 if at < bytes.len() => bytes[at] = edits.byte(),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => bytes.insert(at, edits.byte()),
        5 => {
            let copied = bytes[at..end].to_vec();
            let to = edits.place(bytes.len());
            bytes.splice(to..to, copied);
        }
        6 => {
            let (line, place) = (line_at(bytes, at), edits.place(bytes.len()));
            if bytes.len() + line.len() <= MOST_BYTES {
                let copied = bytes[line].to_vec();
                let to = line_at(bytes, place).start;
                bytes.splice(to..to, copied);
            }
        }
        _ => drop(bytes.drain(line_at(bytes, at))),
    }
}

/// The line that this place is in, with its end.
fn line_at(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = bytes[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |before| before + 1);
    let end = bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |after| at + after + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_the_only_line_stop_at_a_limit() {
        let length = edited(&[b'x'; 1000], &[6; 4096]).len();
        assert!(length > MOST_BYTES / 2 && length <= MOST_BYTES, "{length}");
    }
}
