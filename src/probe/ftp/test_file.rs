//! The file that goes there and back.

use crate::domain::{Failure, FailureKind, Phase};
use crate::protocol::ftp::FtpClient;

/// Bytes of the file: small, and more than one line of anything.
const BYTES: usize = 1024;

/// A file of a name that nobody else has.
pub(super) struct TestFile {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

impl TestFile {
    /// Every byte value stands in it, the rest is random: a server that takes it for text, or that brings an
    /// older file, is found out.
    pub(super) fn generate() -> Result<Self, Failure> {
        let mut name = [0; 8];
        let mut content = vec![0; BYTES];
        let filled = aws_lc_rs::rand::fill(&mut name).and_then(|()| aws_lc_rs::rand::fill(&mut content));
        filled.map_err(|_| Failure::new(Phase::Prepare, FailureKind::Internal, "no random numbers"))?;
        for (value, byte) in (0..=u8::MAX).zip(&mut content) {
            *byte = value;
        }
        Ok(Self { name: format!("vigie-{:016x}.tmp", u64::from_be_bytes(name)), content })
    }

    /// Uploads it, downloads it, compares.
    pub(super) async fn round_trip(&self, client: &mut FtpClient<'_>) -> Result<(), Failure> {
        client.upload(&self.name, &self.content).await?;
        let back = client.download(&self.name, self.content.len()).await?;
        match describe_difference(&self.content, &back) {
            None => Ok(()),
            Some(detail) => Err(Failure::new(Phase::Download, FailureKind::FileDiffers, detail)),
        }
    }
}

/// How `back` differs from what was `sent`, in words.
fn describe_difference(sent: &[u8], back: &[u8]) -> Option<String> {
    let at = sent.iter().zip(back).position(|(one, other)| one != other);
    let at = at.or_else(|| (sent.len() != back.len()).then(|| sent.len().min(back.len())))?;
    let came = match back.len() {
        more if more > sent.len() => format!("more than {} bytes", sent.len()),
        count => format!("{count} bytes"),
    };
    Some(format!(
        "{} bytes went there, {came} came back, and the first difference is at byte {at}",
        sent.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_told_by_lengths_and_place() {
        assert_eq!(describe_difference(b"abc", b"abc"), None);
        let told = |back: &[u8]| describe_difference(b"abc", back).unwrap();
        assert_eq!(
            told(b"abd"),
            "3 bytes went there, 3 bytes came back, and the first difference is at byte 2"
        );
        assert_eq!(
            told(b"ab"),
            "3 bytes went there, 2 bytes came back, and the first difference is at byte 2"
        );
        assert_eq!(told(b""), "3 bytes went there, 0 bytes came back, and the first difference is at byte 0");
        let longer = "3 bytes went there, more than 3 bytes came back, and the first difference is at byte 3";
        assert_eq!(told(b"abcd"), longer);
    }

    #[test]
    fn two_files_share_neither_name_nor_content_and_hold_every_byte() {
        let (one, other) = (TestFile::generate().unwrap(), TestFile::generate().unwrap());
        assert_ne!(one.name, other.name);
        assert_ne!(one.content, other.content);
        assert!((0..=255).all(|byte| one.content.contains(&byte)));
        assert!(one.name.len() == 26 && one.name.starts_with("vigie-"), "{}", one.name);
    }
}
