//! Content codings: gzip, deflate, br and zstd, and lists of them (RFC 9110 section 8.4).

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader, ReadBuf};

use crate::domain::{Failure, FailureKind, Phase, replace_control_chars};

/// The value of `Accept-Encoding` in requests: the supported codings.
pub const ACCEPT_ENCODING: &str = "gzip, deflate, br, zstd";

/// Maximum number of codings on top of each other.
const MAX_CODINGS: usize = 4;
/// Maximum number of members of a gzip body. Programs that write several start a new one every 64 KiB or later.
const MAX_GZIP_MEMBERS: u32 = 2000;
/// Largest window of a zstd body, as a power of two: 8 MiB (RFC 9659 section 3).
const ZSTD_WINDOW_LOG: u32 = 23;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContentCoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

/// The codings of a body, in the order in which they were applied.
#[derive(Clone, Debug, Default)]
pub(super) struct ContentCodings {
    known: Vec<ContentCoding>,
    /// The names of the others, which are left as they are.
    unknown: Vec<String>,
}

impl ContentCodings {
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns a remark about codings that are unknown and so were not decoded; `None` without any.
    pub(super) fn unknown_coding_note(&self) -> Option<String> {
        (!self.unknown.is_empty()).then(|| {
            format!(
                "the content coding `{}` is not among those requested (`{ACCEPT_ENCODING}`); what it covers was \
                 read as it came",
                self.unknown.join(", ")
            )
        })
    }
}

impl fmt::Display for ContentCodings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, coding) in self.known.iter().enumerate() {
            let name = match coding {
                ContentCoding::Gzip => "gzip",
                ContentCoding::Deflate => "deflate",
                ContentCoding::Brotli => "br",
                ContentCoding::Zstd => "zstd",
            };
            write!(f, "{}{name}", if number > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// Returns the codings that the headers declare. Servers also send names there that are no codings, such as `utf-8`,
/// `none` or the `aws-chunked` of object stores; those are not decoded.
pub(super) fn parse_content_encoding(headers: &HeaderMap) -> Result<ContentCodings, Failure> {
    let mut codings = ContentCodings::default();
    for value in headers.get_all(CONTENT_ENCODING) {
        for name in value.as_bytes().split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            let coding = match name.to_ascii_lowercase().as_slice() {
                b"" | b"identity" => None,
                b"gzip" | b"x-gzip" => Some(ContentCoding::Gzip),
                b"deflate" => Some(ContentCoding::Deflate),
                b"br" => Some(ContentCoding::Brotli),
                b"zstd" => Some(ContentCoding::Zstd),
                _ => {
                    if codings.unknown.len() < MAX_CODINGS {
                        codings.unknown.push(quotable_name(name));
                    }
                    None
                }
            };
            codings.known.extend(coding);
        }
    }
    if codings.known.len() > MAX_CODINGS {
        let detail = format!("{} nested codings, at most {MAX_CODINGS} are supported", codings.known.len());
        return Err(Failure::new(Phase::Transfer, FailureKind::EncodingInvalid, detail));
    }
    Ok(codings)
}

/// Returns a coding's name in a form that can be quoted: of bounded length, on one line.
fn quotable_name(name: &[u8]) -> String {
    replace_control_chars(&String::from_utf8_lossy(&name[..name.len().min(40)]))
}

pub(super) type Decoder<'a> = Box<dyn AsyncRead + Unpin + Send + 'a>;

/// Decodes `codings`, the last one first. No stage returns more than `max_output_bytes` bytes, so that a nested bomb
/// costs no more than a plain one.
pub(super) async fn build_decoder<'a, R>(
    source: R,
    codings: &ContentCodings,
    max_output_bytes: u64,
) -> io::Result<Decoder<'a>>
where
    R: AsyncBufRead + Unpin + Send + 'a,
{
    let Some((&outermost, rest)) = codings.known.split_last() else { return Ok(Box::new(source)) };
    let mut decoder = build_decoder_stage(source, outermost, max_output_bytes).await?;
    for &coding in rest.iter().rev() {
        decoder = build_decoder_stage(BufReader::new(decoder), coding, max_output_bytes).await?;
    }
    Ok(decoder)
}

async fn build_decoder_stage<'a, R>(
    mut source: R,
    coding: ContentCoding,
    max_output_bytes: u64,
) -> io::Result<Decoder<'a>>
where
    R: AsyncBufRead + Unpin + Send + 'a,
{
    Ok(match coding {
        ContentCoding::Gzip => limit_output(GzipMembers::new(source), max_output_bytes),
        // `deflate` means zlib (RFC 1950), but some servers send a raw deflate stream (RFC 1951).
        ContentCoding::Deflate => match source.fill_buf().await?.first() {
            Some(first) if first & 0x0f == 8 && first >> 4 <= 7 => {
                limit_output(ZlibDecoder::new(source), max_output_bytes)
            }
            _ => limit_output(DeflateDecoder::new(source), max_output_bytes),
        },
        ContentCoding::Brotli => limit_output(BrotliDecoder::new(source), max_output_bytes),
        ContentCoding::Zstd => {
            let window = [DParameter::window_log_max(ZSTD_WINDOW_LOG)];
            let mut decoder = ZstdDecoder::with_params(source, &window);
            decoder.multiple_members(true);
            limit_output(decoder, max_output_bytes)
        }
    })
}

fn limit_output<'a, R: AsyncRead + Unpin + Send + 'a>(inner: R, max_output_bytes: u64) -> Decoder<'a> {
    Box::new(LimitedReader { inner, remaining: max_output_bytes })
}

/// The members of a gzip body, one after the other (RFC 1952 2.2). They are counted: an empty one has 20 bytes on the
/// wire and costs a new decoder, so a small body could keep this host busy for long.
enum GzipMembers<R> {
    /// The decoder of a member, and the number of that member from 1.
    Decoding(Box<GzipDecoder<R>>, u32),
    /// The source after a member, and the number of members so far.
    BetweenMembers(R, u32),
    Finished,
}

impl<R: AsyncBufRead + Unpin> GzipMembers<R> {
    fn new(source: R) -> Self {
        Self::Decoding(Box::new(GzipDecoder::new(source)), 1)
    }
}

impl<R: AsyncBufRead + Unpin> AsyncRead for GzipMembers<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled_before = buf.filled().len();
        loop {
            match &mut *self {
                Self::Decoding(decoder, _) => {
                    ready!(Pin::new(decoder).poll_read(cx, buf))?;
                    if buf.filled().len() > filled_before {
                        return Poll::Ready(Ok(()));
                    }
                }
                Self::BetweenMembers(source, count) => {
                    let is_last = ready!(Pin::new(source).poll_fill_buf(cx))?.is_empty();
                    if !is_last && *count == MAX_GZIP_MEMBERS {
                        let text = format!("more than {MAX_GZIP_MEMBERS} members");
                        return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, text)));
                    }
                    if is_last {
                        *self = Self::Finished;
                    }
                }
                Self::Finished => return Poll::Ready(Ok(())),
            }
            *self = match std::mem::replace(&mut *self, Self::Finished) {
                Self::Decoding(decoder, count) => Self::BetweenMembers(decoder.into_inner(), count),
                Self::BetweenMembers(source, count) => {
                    Self::Decoding(Box::new(GzipDecoder::new(source)), count + 1)
                }
                Self::Finished => Self::Finished,
            };
        }
    }
}

/// The error of a reader that exceeded its limit.
#[derive(Debug, thiserror::Error)]
#[error("too many bytes")]
pub(super) struct SizeLimitExceeded;

impl SizeLimitExceeded {
    /// Whether `error` is this one, at any depth of a chain of decoders.
    pub(super) fn caused(error: &io::Error) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = error.get_ref().map(|inner| inner as _);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = match error.downcast_ref::<io::Error>() {
                Some(io) => io.get_ref().map(|inner| inner as _),
                None => error.source(),
            };
        }
        false
    }
}

impl From<SizeLimitExceeded> for io::Error {
    fn from(cause: SizeLimitExceeded) -> Self {
        Self::other(cause)
    }
}

struct LimitedReader<R> {
    inner: R,
    remaining: u64,
}

impl<R: AsyncRead + Unpin> AsyncRead for LimitedReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled_before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        match self.remaining.checked_sub((buf.filled().len() - filled_before) as u64) {
            Some(left) => {
                self.remaining = left;
                Poll::Ready(Ok(()))
            }
            None => Poll::Ready(Err(SizeLimitExceeded.into())),
        }
    }
}
