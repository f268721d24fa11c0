//! Any bytes as the output of an FTP server: replies are assembled or refused, and ports and listings are parsed.

use vigie::protocol::ftp::{ListEntryCounter, FtpReplyParser, parse_epsv_reply, parse_pasv_reply};

pub fn run(data: &[u8]) {
    let mut replies = FtpReplyParser::default();
    for line in data.split(|&byte| byte == b'\n') {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        match replies.push_line(&line) {
            Ok(None) => assert!(replies.pending_bytes() > 0, "it waits for the end of nothing"),
            Ok(Some(reply)) => {
                assert!((100..700).contains(&reply.code));
                assert!(reply.text.chars().count() <= 300 && reply.first_line.chars().count() <= 300);
                assert!(!reply.to_quoted().contains(['\r', '\n', '\u{1b}']));
                assert_ne!(parse_epsv_reply(&reply.text), Some(0));
                assert!(parse_pasv_reply(&reply.text).is_none_or(|(_, port)| port > 0));
                assert_eq!(replies.pending_bytes(), 0);
            }
            Err(error) => {
                assert!(!error.into_failure(vigie::domain::Phase::Banner).detail.is_empty());
                break;
            }
        }
    }
    let (mut whole, mut chunked) = (ListEntryCounter::default(), ListEntryCounter::default());
    whole.push(data);
    data.chunks(3).for_each(|chunk| chunked.push(chunk));
    assert_eq!(whole.count(), chunked.count());
    assert!(whole.count() <= data.len() as u64);
}
