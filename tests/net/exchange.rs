//! Bounded reads, lines, and the timestamps of a timed stream.

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use vigie::domain::{FailureKind, Phase};
use vigie::net::{TimedStream, read_line, read_more, read_to_len, write_all};

use crate::net::{long_deadline, within};

const PHASE: Phase = Phase::FirstByte;

#[tokio::test]
async fn reading_stops_at_the_limit() {
    let (mut near, mut far) = duplex(1024);
    far.write_all(&[7; 100]).await.unwrap();
    let mut buffer = Vec::new();
    while buffer.len() < 64 {
        read_more(&mut near, &mut buffer, 64, long_deadline(), PHASE).await.unwrap();
    }
    assert_eq!(buffer.len(), 64);
    let failure = read_more(&mut near, &mut buffer, 64, long_deadline(), PHASE).await.unwrap_err();
    assert_eq!((failure.phase, failure.kind), (PHASE, FailureKind::ResponseTooLarge));
}

#[tokio::test]
async fn lines_are_read_one_by_one_and_the_rest_stays_buffered() {
    let (mut near, mut far) = duplex(1024);
    far.write_all(b"one\r\ntwo\n\r\nrest").await.unwrap();
    drop(far);
    let mut buffer = Vec::new();
    for expected in ["one", "two", ""] {
        let line = read_line(&mut near, &mut buffer, 100, long_deadline(), PHASE).await.unwrap();
        assert_eq!(line, expected.as_bytes());
    }
    let failure = read_line(&mut near, &mut buffer, 100, long_deadline(), PHASE).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::ResponseTruncated);
    assert_eq!(buffer, b"rest");
}

#[tokio::test]
async fn an_endless_line_a_close_and_silence_have_their_failure_kinds() {
    let (mut near, mut far) = duplex(1024);
    far.write_all(&[b'x'; 200]).await.unwrap();
    let failure = read_line(&mut near, &mut Vec::new(), 100, long_deadline(), PHASE).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::ResponseTooLarge);

    let (mut near, far) = duplex(1024);
    drop(far);
    let failure = read_to_len(&mut near, &mut Vec::new(), 2, long_deadline(), PHASE).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NoResponse);

    let (mut near, mut far) = duplex(1024);
    far.write_all(b"x").await.unwrap();
    let failure = read_to_len(&mut near, &mut Vec::new(), 2, within(50), PHASE).await.unwrap_err();
    assert_eq!((failure.phase, failure.kind), (PHASE, FailureKind::TimedOut));

    let (mut near, _far) = duplex(8);
    let failure = write_all(&mut near, &[0; 100], within(50)).await.unwrap_err();
    assert_eq!((failure.phase, failure.kind), (Phase::Send, FailureKind::TimedOut));
}

#[tokio::test]
async fn a_timed_stream_records_timestamps_and_byte_counts() {
    let (near, mut far) = duplex(1024);
    let mut stream = TimedStream::new(near);
    let timestamps = stream.timestamps();
    assert_eq!((timestamps.first_write(), timestamps.first_read(), timestamps.bytes_read()), (None, None, 0));
    stream.write_all(b"question").await.unwrap();
    far.write_all(b"answer").await.unwrap();
    let mut answer = [0; 6];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!((timestamps.bytes_written(), timestamps.bytes_read()), (8, 6));
    assert!(timestamps.first_write().unwrap() <= timestamps.last_write().unwrap());
    assert!(timestamps.last_write().unwrap() <= timestamps.first_read().unwrap());
    timestamps.reset();
    assert_eq!(
        (timestamps.first_write(), timestamps.last_read(), timestamps.bytes_written()),
        (None, None, 0)
    );
}
