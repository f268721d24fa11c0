//! Reads the numbers and vectors of TLS messages (RFC 8446 3) from bytes that are complete.

/// The bytes that are still to be read. Every method returns `None` when there are too few.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByteReader<'a>(pub(super) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.uint(1).map(|value| value as u8)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.uint(2).map(|value| value as u16)
    }

    /// Reads a vector after its length in one byte.
    pub(super) fn vector8(&mut self) -> Option<&'a [u8]> {
        let length = self.uint(1)?;
        self.take(length)
    }

    /// Reads a vector after its length in two bytes.
    pub(super) fn vector16(&mut self) -> Option<&'a [u8]> {
        let length = self.uint(2)?;
        self.take(length)
    }

    /// Reads a vector after its length in three bytes.
    pub(super) fn vector24(&mut self) -> Option<&'a [u8]> {
        let length = self.uint(3)?;
        self.take(length)
    }

    /// Returns the number in the next three bytes without moving on.
    pub(super) fn peek_u24(&self) -> Option<usize> {
        let mut reader = *self;
        reader.uint(3)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn uint(&mut self, bytes: usize) -> Option<usize> {
        Some(self.take(bytes)?.iter().fold(0, |value, &byte| value << 8 | usize::from(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_vectors_are_read_and_never_beyond_the_end() {
        let mut reader = ByteReader(&[7, 1, 2, 1, 9, 0, 1, 8, 0, 0, 2, 5, 6]);
        assert_eq!((reader.u8(), reader.u16()), (Some(7), Some(0x0102)));
        assert_eq!((reader.vector8(), reader.vector16()), (Some(&[9][..]), Some(&[8][..])));
        assert_eq!(reader.vector24(), Some(&[5, 6][..]));
        assert!(reader.is_empty() && reader.u8().is_none());
        assert_eq!(ByteReader(&[0, 3, 1, 2]).vector16(), None);
    }
}
