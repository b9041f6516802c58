//! Random damages of a file.

use serde_json::Value;

/// Random numbers (SplitMix64), so that a failure can be repeated.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n - 1`; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Changes a file in one of many ways; the name of the way says what was done.
pub(crate) fn damage(bytes: &[u8], dice: &mut Dice) -> (&'static str, Vec<u8>) {
    let mut changed = bytes.to_vec();
    let place = dice.below(bytes.len());
    let way = match dice.below(10) {
        0 => {
            changed[place] ^= 1 << dice.below(8);
            "a bit flipped"
        }
        1 => {
            changed[place] = dice.below(256) as u8;
            "a byte replaced"
        }
        2 => {
            let digits: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit()).collect();
            if !digits.is_empty() {
                changed[digits[dice.below(digits.len())]] = b'0' + dice.below(10) as u8;
            }
            "a digit replaced"
        }
        3 => {
            changed.truncate(place);
            "cut off"
        }
        4 => {
            changed.drain(place..(place + 1 + dice.below(200)).min(bytes.len()));
            "a piece removed"
        }
        5 => {
            changed.extend((0..1 + dice.below(50)).map(|_| dice.below(256) as u8));
            "garbage appended"
        }
        6 => {
            let end = (place + 1 + dice.below(4096)).min(bytes.len());
            changed[place..end].fill(0);
            "a block of zeros"
        }
        way => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
            let (one, other) = (dice.below(lines.len()), dice.below(lines.len()));
            let way = match way {
                7 => {
                    lines.remove(one);
                    "a line removed"
                }
                8 => {
                    lines.insert(other, lines[one]);
                    "a line twice"
                }
                _ => {
                    lines.swap(one, other);
                    "two lines exchanged"
                }
            };
            changed = lines.concat();
            way
        }
    };
    (way, changed)
}

/// Changes one value of a JSON document.
pub(crate) fn edit(json: &mut Value, dice: &mut Dice) {
    let mut places = Vec::new();
    collect(json, String::new(), &mut places);
    let place = json.pointer_mut(&places[dice.below(places.len())]).expect("it was just found");
    let number = dice.below(1000) as u64;
    let others = [Value::Null, 0.into(), 1.into(), number.into(), (-1).into(), 0.5.into(), 1e300.into(), "x".into()];
    *place = others[dice.below(others.len())].clone();
}

/// The pointers to all values in a document.
fn collect(json: &Value, path: String, places: &mut Vec<String>) {
    match json {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| collect(item, format!("{path}/{i}"), places));
        }
        Value::Object(fields) => {
            let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
            fields.iter().for_each(|(key, field)| collect(field, format!("{path}/{}", escaped(key)), places));
        }
        _ => {}
    }
    places.push(path);
}
