//! A checksum of a table that does not depend on the order of its rows.

use aws_lc_rs::digest;

use super::value::CopyRow;

/// Number of rows and the sum of their SHA-256 hashes modulo 2^256. Unlike with an exclusive or, a row that is there
/// twice counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableChecksum {
    /// Number of rows.
    pub row_count: u64,
    /// The sum, least significant part first.
    sum: [u64; 4],
}

impl TableChecksum {
    /// Adds a row.
    pub fn add(&mut self, row: &CopyRow) {
        let mut canonical = Vec::with_capacity(256);
        for value in row {
            value.write_canonical(&mut canonical);
        }
        let hash = digest::digest(&digest::SHA256, &canonical);
        let mut carry = false;
        for (part, bytes) in self.sum.iter_mut().zip(hash.as_ref().chunks_exact(8)) {
            let mut word = [0; 8];
            word.copy_from_slice(bytes);
            let (with_word, overflows) = part.overflowing_add(u64::from_le_bytes(word));
            let (with_carry, overflows_again) = with_word.overflowing_add(u64::from(carry));
            (*part, carry) = (with_carry, overflows || overflows_again);
        }
        self.row_count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::copy::CopyValue;

    fn checksum(rows: &[&[CopyValue]]) -> TableChecksum {
        let mut checksum = TableChecksum::default();
        for row in rows {
            checksum.add(&row.to_vec());
        }
        checksum
    }

    #[test]
    fn the_order_does_not_count_and_everything_else_does() {
        let text = |text: &str| CopyValue::Text(text.to_owned());
        let (a, b) = ([CopyValue::Integer(1), text("a")], [CopyValue::Integer(2), text("b")]);
        assert_eq!(checksum(&[&a, &b]), checksum(&[&b, &a]));
        let others: [&[&[CopyValue]]; 7] = [
            &[&a],
            &[&a, &b, &b],
            &[&a, &a],
            &[&[CopyValue::Integer(1), text("b")], &[CopyValue::Integer(2), text("a")]],
            &[&[CopyValue::Integer(1), CopyValue::Bytes(b"a".to_vec())], &b],
            &[&[CopyValue::Integer(1), text("a"), CopyValue::Null], &b],
            &[&[CopyValue::Boolean(true), text("a")], &b],
        ];
        for other in others {
            assert_ne!(checksum(&[&a, &b]), checksum(other), "{other:?}");
        }
        assert_ne!(checksum(&[&[text("ab"), text("c")]]), checksum(&[&[text("a"), text("bc")]]));
        // An exclusive or would cancel a pair.
        assert_ne!(checksum(&[&a, &a, &b]).sum, checksum(&[&b]).sum);
    }
}
