//! The test file that an FTP check uploads and downloads again.

use crate::domain::{Failure, FailureKind, Phase};
use crate::protocol::ftp::FtpClient;

/// Size of the file in bytes: small, and longer than a line.
const TEST_FILE_BYTES: usize = 1024;

/// A file with a unique name.
pub(super) struct TestFile {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

impl TestFile {
    /// Generates a file with every byte value; the rest is random. This exposes servers that treat it as text or return
    /// an older file.
    pub(super) fn generate() -> Result<Self, Failure> {
        let mut name = [0; 8];
        let mut content = vec![0; TEST_FILE_BYTES];
        let filled = aws_lc_rs::rand::fill(&mut name).and_then(|()| aws_lc_rs::rand::fill(&mut content));
        filled.map_err(|_| Failure::new(Phase::Prepare, FailureKind::Internal, "no random numbers"))?;
        for (value, byte) in (0..=u8::MAX).zip(&mut content) {
            *byte = value;
        }
        Ok(Self { name: format!("vigie-{:016x}.tmp", u64::from_be_bytes(name)), content })
    }

    /// Uploads the file, downloads it again and compares both.
    pub(super) async fn upload_and_compare(&self, client: &mut FtpClient<'_>) -> Result<(), Failure> {
        client.upload(&self.name, &self.content).await?;
        let downloaded = client.download(&self.name, self.content.len()).await?;
        match describe_difference(&self.content, &downloaded) {
            None => Ok(()),
            Some(detail) => Err(Failure::new(Phase::Download, FailureKind::FileDiffers, detail)),
        }
    }
}

/// Describes the first difference between `uploaded` and `downloaded`, if there is one.
fn describe_difference(uploaded: &[u8], downloaded: &[u8]) -> Option<String> {
    let first_difference = uploaded
        .iter()
        .zip(downloaded)
        .position(|(uploaded_byte, downloaded_byte)| uploaded_byte != downloaded_byte);
    let first_difference = first_difference
        .or_else(|| (uploaded.len() != downloaded.len()).then(|| uploaded.len().min(downloaded.len())))?;
    let received = match downloaded.len() {
        more if more > uploaded.len() => format!("more than {} bytes", uploaded.len()),
        count => format!("{count} bytes"),
    };
    Some(format!(
        "{} bytes were uploaded, {received} were downloaded; the first difference is at byte {first_difference}",
        uploaded.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_described_by_lengths_and_position() {
        assert_eq!(describe_difference(b"abc", b"abc"), None);
        let describe = |back: &[u8]| describe_difference(b"abc", back).unwrap();
        assert_eq!(
            describe(b"abd"),
            "3 bytes were uploaded, 3 bytes were downloaded; the first difference is at byte 2"
        );
        assert_eq!(
            describe(b"ab"),
            "3 bytes were uploaded, 2 bytes were downloaded; the first difference is at byte 2"
        );
        assert_eq!(
            describe(b""),
            "3 bytes were uploaded, 0 bytes were downloaded; the first difference is at byte 0"
        );
        let longer =
            "3 bytes were uploaded, more than 3 bytes were downloaded; the first difference is at byte 3";
        assert_eq!(describe(b"abcd"), longer);
    }

    #[test]
    fn two_files_share_neither_name_nor_content_and_hold_every_byte() {
        let (first, second) = (TestFile::generate().unwrap(), TestFile::generate().unwrap());
        assert_ne!(first.name, second.name);
        assert_ne!(first.content, second.content);
        assert!((0..=255).all(|byte| first.content.contains(&byte)));
        assert!(first.name.len() == 26 && first.name.starts_with("vigie-"), "{}", first.name);
    }
}
