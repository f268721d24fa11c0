//! The settings of `ftp` and `ftp-ssl`.

use serde::Deserialize;

/// An FTP session.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct FtpSettings<'a> {
    /// The server.
    pub hostname: &'a str,
    /// Whether a small file is uploaded, compared and deleted.
    pub enable_ftp_upload: bool,
    /// User name; empty for anonymous.
    pub ftp_username: &'a str,
    /// Password.
    pub ftp_password: Option<&'a str>,
}
