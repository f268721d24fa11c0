//! A reader of DER (X.690 8 to 10), as much of it as certificates and OCSP messages need. Lengths are checked,
//! nothing is copied.

/// Tags of the universal class.
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const ENUMERATED: u8 = 0x0a;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;

/// Returns the tag of the context-specific, constructed element `number`.
pub(super) const fn context_tag(number: u8) -> u8 {
    0xa0 | number
}

/// The elements of a value, from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerReader<'a>(pub(super) &'a [u8]);

/// One element.
#[derive(Clone, Copy, Debug)]
pub(super) struct DerElement<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    /// Tag, length and content.
    pub(super) encoded: &'a [u8],
}

impl<'a> DerReader<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next element; `None` at the end, or when it cannot be read.
    pub(super) fn next_element(&mut self) -> Option<DerElement<'a>> {
        let bytes = self.0;
        let (&tag, rest) = bytes.split_first()?;
        // Tags above 30 take more bytes; none is used here.
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            if !(1..=4).contains(&count) {
                return None;
            }
            let (digits, rest) = rest.split_at_checked(count)?;
            (digits.iter().fold(0, |length, &digit| length << 8 | usize::from(digit)), rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(DerElement { tag, content, encoded: &bytes[..bytes.len() - rest.len()] })
    }

    /// Returns the next element, which must have `tag`.
    pub(super) fn next_with_tag(&mut self, tag: u8) -> Option<DerElement<'a>> {
        self.next_element().filter(|element| element.tag == tag)
    }

    /// Returns the next element if it has `tag`, and otherwise leaves it.
    pub(super) fn next_if_tag(&mut self, tag: u8) -> Option<DerElement<'a>> {
        if self.0.first() == Some(&tag) { self.next_element() } else { None }
    }
}

impl<'a> DerElement<'a> {
    /// Returns a reader of its content.
    pub(super) fn reader(self) -> DerReader<'a> {
        DerReader(self.content)
    }

    /// Returns the bytes of a BIT STRING whose length is a number of bytes.
    pub(super) fn bit_string_bytes(self) -> Option<&'a [u8]> {
        match self.content.split_first() {
            Some((0, bytes)) => Some(bytes),
            _ => None,
        }
    }
}

/// Encodes one element.
pub(super) fn encode(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => bytes.push(short),
        _ => {
            let digits: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|&digit| digit == 0).collect();
            bytes.push(0x80 | u8::try_from(digits.len()).unwrap_or(8));
            bytes.extend(digits);
        }
    }
    bytes.extend(content);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_read(content in proptest::collection::vec(any::<u8>(), 0..70_000), has_trailing_byte: bool) {
            let mut bytes = encode(SEQUENCE, &content);
            bytes.extend(has_trailing_byte.then_some(7));
            let mut reader = DerReader(&bytes);
            let element = reader.next_with_tag(SEQUENCE).unwrap();
            prop_assert_eq!(element.content, &content[..]);
            prop_assert_eq!(reader.is_empty(), !has_trailing_byte);
        }

        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut reader = DerReader(&bytes);
            while let Some(element) = reader.next_element() {
                prop_assert!(element.encoded.len() >= 2);
            }
        }
    }
}
