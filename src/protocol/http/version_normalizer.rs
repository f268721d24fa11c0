//! Reads status lines of HTTP/1 as a recipient has to: any minor version is one that it knows (RFC 9110 2.5).

/// The start of a status line, whose last byte is the minor version.
const PREFIX: &[u8; 7] = b"HTTP/1.";

/// Replaces the minor version of response heads by 1 while they arrive, and remembers which it was. hyper refuses
/// HTTP/1.2, and chunks in HTTP/1.0, which browsers read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct VersionNormalizer {
    state: State,
    is_http10: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// No status line yet; empty lines before it do not count.
    #[default]
    Start,
    /// This many bytes of [`PREFIX`] have arrived.
    Prefix(usize),
    /// The version is complete; the first digit of the status follows after a space.
    Status,
    /// Inside of an informational response, whose empty line is followed by another head.
    Informational { line_is_empty: bool },
    /// The rest is left alone.
    Done,
}

impl VersionNormalizer {
    /// Whether the last status line was of HTTP/1.0.
    pub(super) fn is_http10(&self) -> bool {
        self.is_http10
    }

    /// Processes the next bytes of the peer.
    pub(super) fn normalize(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.state = match (self.state, *byte) {
                (State::Done, _) => return,
                (State::Start, b'\r' | b'\n') | (State::Informational { line_is_empty: true }, b'\n') => {
                    State::Start
                }
                (State::Start, b'H') => State::Prefix(1),
                (State::Prefix(count), byte) if PREFIX.get(count) == Some(&byte) => State::Prefix(count + 1),
                (State::Prefix(count), b'0'..=b'9') if count == PREFIX.len() => {
                    self.is_http10 = *byte == b'0';
                    *byte = b'1';
                    State::Status
                }
                (State::Status, b' ') => State::Status,
                (State::Informational { .. }, b'\n') => State::Informational { line_is_empty: true },
                (State::Informational { line_is_empty }, b'\r') => State::Informational { line_is_empty },
                (State::Status, b'1') | (State::Informational { .. }, _) => {
                    State::Informational { line_is_empty: false }
                }
                _ => State::Done,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(text: &str, chunk: usize) -> (String, bool) {
        let (mut normalizer, mut bytes) = (VersionNormalizer::default(), text.as_bytes().to_vec());
        bytes.chunks_mut(chunk).for_each(|part| normalizer.normalize(part));
        (String::from_utf8(bytes).unwrap(), normalizer.is_http10())
    }

    #[test]
    fn only_the_minor_version_of_status_lines_changes() {
        for (text, expected, is_http10) in [
            ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.0", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.0", false),
            ("HTTP/1.0 200 OK\r\n\r\nHTTP/1.0 1", "HTTP/1.1 200 OK\r\n\r\nHTTP/1.0 1", true),
            ("\r\nHTTP/1.2 200\r\n\r\n", "\r\nHTTP/1.1 200\r\n\r\n", false),
            (
                "HTTP/1.1 100 C\r\nA: 1\r\n\r\nHTTP/1.0 204 N\r\n",
                "HTTP/1.1 100 C\r\nA: 1\r\n\r\nHTTP/1.1 204 N\r\n",
                true,
            ),
            ("HTTP/1.1 103\n\nHTTP/1.2 200", "HTTP/1.1 103\n\nHTTP/1.1 200", false),
            ("HTTP/2.0 200", "HTTP/2.0 200", false),
            ("HTTP/1.x 200", "HTTP/1.x 200", false),
            ("SSH-1.2", "SSH-1.2", false),
        ] {
            for chunk in [1, 3, 100] {
                assert_eq!(normalized(text, chunk), (expected.to_owned(), is_http10), "{text:?}");
            }
        }
    }
}
