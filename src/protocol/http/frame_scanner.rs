//! Finds the first DATA frame among the bytes of an HTTP/2 connection.

/// Length, type, flags and stream of a frame (RFC 9113 4.1).
const FRAME_HEADER_BYTES: usize = 9;

/// The type of frames with content (RFC 9113 6.1), which follow the head of their response.
const DATA: u8 = 0;

/// Follows the frames that a server sends, without their payloads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameScanner {
    header: [u8; FRAME_HEADER_BYTES],
    header_bytes: usize,
    /// Bytes of the current payload that are still to come.
    payload_left: usize,
}

impl FrameScanner {
    /// Reads the next `bytes` of the connection. Returns whether a DATA frame begins among them.
    pub(super) fn contains_data(&mut self, mut bytes: &[u8]) -> bool {
        loop {
            let skipped = self.payload_left.min(bytes.len());
            self.payload_left -= skipped;
            bytes = &bytes[skipped..];
            if bytes.is_empty() {
                return false;
            }
            let taken = (FRAME_HEADER_BYTES - self.header_bytes).min(bytes.len());
            self.header[self.header_bytes..][..taken].copy_from_slice(&bytes[..taken]);
            self.header_bytes += taken;
            bytes = &bytes[taken..];
            if self.header_bytes < FRAME_HEADER_BYTES {
                return false;
            }
            let [high, middle, low, frame_type, ..] = self.header;
            if frame_type == DATA {
                return true;
            }
            self.header_bytes = 0;
            self.payload_left = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FrameScanner;

    fn frame(frame_type: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[frame_type, 0, 0, 0, 0, 1], payload].concat()
    }

    #[test]
    fn data_is_found_after_other_frames_however_the_bytes_are_cut() {
        // The payload of a ping looks like a DATA frame.
        let other = [frame(4, &[]), frame(6, &[0; 8]), frame(1, &vec![0; 70_000])].concat();
        let bytes = [other.clone(), frame(0, b"x")].concat();
        for size in [1, 2, 8, 9, 10, 4096, bytes.len()] {
            let mut scanner = FrameScanner::default();
            assert!(!other.chunks(size).any(|chunk| scanner.contains_data(chunk)), "{size}");
            let mut scanner = FrameScanner::default();
            assert!(bytes.chunks(size).any(|chunk| scanner.contains_data(chunk)), "{size}");
        }
    }
}
