//! Any bytes as what an FTP server says: replies are put together or refused, and ports and lists are read.

use vigie::protocol::ftp::{Entries, Replies, extended, passive};

pub fn run(data: &[u8]) {
    let mut replies = Replies::default();
    for line in data.split(|&byte| byte == b'\n') {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        match replies.hear(&line) {
            Ok(None) => assert!(replies.pending() > 0, "it waits for the end of nothing"),
            Ok(Some(reply)) => {
                assert!((100..700).contains(&reply.code));
                assert!(reply.text.chars().count() <= 300 && reply.first.chars().count() <= 300);
                assert!(!reply.quoted().contains(['\r', '\n', '\u{1b}']));
                assert_ne!(extended(&reply.text), Some(0));
                assert!(passive(&reply.text).is_none_or(|(_, port)| port > 0));
                assert_eq!(replies.pending(), 0);
            }
            Err(fault) => {
                assert!(!fault.in_phase(vigie::domain::Phase::Banner).detail.is_empty());
                break;
            }
        }
    }
    let (mut whole, mut pieces) = (Entries::default(), Entries::default());
    whole.feed(data);
    data.chunks(3).for_each(|piece| pieces.feed(piece));
    assert_eq!(whole.count(), pieces.count());
    assert!(whole.count() <= data.len() as u64);
}
