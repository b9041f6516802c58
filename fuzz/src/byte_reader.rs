//! Bytes of a fuzzer, read as numbers and choices.

/// Reads values from bytes; zeros once the bytes are used up.
pub(crate) struct ByteReader<'a> {
    bytes: &'a [u8],
}

impl<'a> ByteReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((&first, rest)) => {
                self.bytes = rest;
                first
            }
            None => 0,
        }
    }

    /// A number below `limit`, which is at most 256.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.byte() as usize % limit
    }

    /// A place in a sequence of this length, its end included.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        let number = u32::from_le_bytes([self.byte(), self.byte(), self.byte(), 0]);
        number as usize % (length + 1)
    }

    pub(crate) fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    /// Any number, NaN and infinities included; short choices give the values that matter most.
    pub(crate) fn number(&mut self) -> f64 {
        match self.byte() {
            0 => 0.0,
            1 => 1.0,
            2 => f64::NAN,
            3 => f64::INFINITY,
            4 => -0.0,
            5 => f64::MIN_POSITIVE,
            6 => 1.0 + f64::EPSILON,
            7 => -1e300,
            8 => f64::from_bits(self.word()),
            other => f64::from(other) / 255.0,
        }
    }
}
