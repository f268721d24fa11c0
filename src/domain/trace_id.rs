//! The id of a trace (W3C Trace Context 3.2.2.3).

use std::fmt;

use super::text::to_hex;

/// Id of a trace; displayed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId([u8; 16]);

impl TraceId {
    /// Creates an id from `bits`. An id of zeros is invalid, so it becomes 1.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(bits.max(1).to_be_bytes())
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_never_zero() {
        assert_eq!(TraceId::from_bits(0).to_string(), "00000000000000000000000000000001");
        assert_eq!(TraceId::from_bits(0xabc).to_string(), "00000000000000000000000000000abc");
    }
}
