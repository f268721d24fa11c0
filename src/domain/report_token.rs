//! The token of a host: `vgh_<id of the host>_<secret>`.

use std::fmt;

use zeroize::Zeroizing;

use super::id::HostId;

const PREFIX: &str = "vgh_";
/// Longest token, in bytes.
const MAX_TOKEN_BYTES: usize = 200;

/// The token with which the agent of a host reports.
#[derive(Clone)]
pub struct ReportToken {
    host_id: HostId,
    secret_start: usize,
    text: Zeroizing<String>,
}

/// The text is not the token of a host. It is not part of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not the token of a host, which looks like `vgh_12_…`")]
pub struct ReportTokenError;

impl ReportToken {
    /// Returns the token of `host_id` with `secret`.
    #[must_use]
    pub fn text_of(host_id: HostId, secret: &str) -> String {
        format!("{PREFIX}{host_id}_{secret}")
    }

    /// Parses `text`, without white space around it.
    ///
    /// # Errors
    /// Fails when it is no token of a host, such as an API token.
    pub fn parse(text: &str) -> Result<Self, ReportTokenError> {
        let text = text.trim();
        let (id, secret) =
            text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or(ReportTokenError)?;
        let is_digits = id.bytes().all(|byte| byte.is_ascii_digit());
        let host_id = id.parse().ok().filter(|id| is_digits && *id > 0).ok_or(ReportTokenError)?;
        let is_secret_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if secret.is_empty() || text.len() > MAX_TOKEN_BYTES || !secret.bytes().all(is_secret_byte) {
            return Err(ReportTokenError);
        }
        let secret_start = text.len() - secret.len();
        Ok(Self { host_id: HostId(host_id), secret_start, text: Zeroizing::new(text.to_owned()) })
    }

    /// Returns the id of its host.
    #[must_use]
    pub const fn host_id(&self) -> HostId {
        self.host_id
    }

    /// Returns its secret.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.text[self.secret_start..]
    }

    /// Returns its text, a secret.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Shows the id of the host, never the secret.
impl fmt::Debug for ReportToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReportToken(host {})", self.host_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_the_host_is_read_and_the_secret_not_shown() {
        let token = ReportToken::parse(" vgh_12_aB3_x-y\n").unwrap();
        assert_eq!(
            (token.host_id(), token.as_str(), token.secret()),
            (HostId(12), "vgh_12_aB3_x-y", "aB3_x-y")
        );
        assert_eq!(format!("{token:?}"), "ReportToken(host 12)");
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("vgh_1_{}", "a".repeat(MAX_TOKEN_BYTES));
        for text in [
            "",
            "vgh_",
            "vgh_12",
            "vgh_12_",
            "vgh__a",
            "vgh_0_a",
            "vgh_-1_a",
            "vgh_+1_a",
            "vgh_x_a",
            "vgp_12_a",
            "VGH_12_a",
            "vgh_12_a b",
            "vgh_12_a\r\nx",
            "vgh_99999999999999999999_a",
            &long,
        ] {
            assert!(ReportToken::parse(text).is_err(), "{text}");
        }
    }
}
