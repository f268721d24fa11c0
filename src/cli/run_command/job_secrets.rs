//! Masks secrets in what is reported of a job: those that are known, and those whose names say so.

use std::borrow::Cow;

use crate::redaction::named_values::{is_sensitive_name, named_values};
use crate::redaction::redactor::{Redactor, SecretSet};
use crate::redaction::sensitive_names::is_sensitive_header;
use crate::redaction::urls::redact_credentials;
use crate::syntax::MASK;

/// Shortest value of a variable that is taken for a secret, in bytes: shorter ones occur by chance.
const MIN_VARIABLE_BYTES: usize = 8;
/// Variables of every session whose names look like secrets.
const HARMLESS_VARIABLES: [&str; 4] = ["XDG_", "DBUS_", "SSH_AUTH_SOCK", "XAUTHORITY"];

/// Masks the secrets of one job.
#[derive(Debug)]
pub(super) struct JobSecrets {
    known: Redactor,
}

impl JobSecrets {
    /// Creates one that knows `push_secrets`, the values of variables such as `DB_PASSWORD`, and those in arguments such
    /// as `--password=…` of the command.
    pub(super) fn new<'a>(
        push_secrets: &[String],
        variables: impl Iterator<Item = (String, String)>,
        arguments: impl Iterator<Item = &'a str>,
    ) -> Self {
        let mut secrets = SecretSet::default();
        for secret in push_secrets {
            secrets.add(secret);
        }
        for (name, value) in variables {
            let is_harmless = HARMLESS_VARIABLES.iter().any(|prefix| name.starts_with(prefix));
            if value.len() >= MIN_VARIABLE_BYTES && !is_harmless && is_sensitive_name(&name) {
                secrets.add(&value);
            }
        }
        let mut follows_sensitive_option = false;
        for argument in arguments {
            if follows_sensitive_option {
                secrets.add(argument);
            }
            named_values(argument).for_each(|value| secrets.add(&value));
            follows_sensitive_option =
                argument.starts_with('-') && !argument.contains('=') && is_sensitive_name(argument);
        }
        Self { known: secrets.into_redactor() }
    }

    /// Masks the secrets in `text`.
    pub(super) fn redact(&self, text: &str) -> String {
        let text = self.known.redact(text);
        text.split('\n').map(redact_line).collect::<Vec<_>>().join("\n")
    }
}

/// Masks what names mark as secret: headers, members of JSON, words such as `password=…`, logins in URLs.
fn redact_line(line: &str) -> Cow<'_, str> {
    if let Some((name, _)) = line.split_once(": ")
        && let name_only = name.trim_start_matches(['<', '>', '*', ' ', '\t'])
        && name_only.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && is_sensitive_header(name_only)
    {
        return Cow::Owned(format!("{name}: {MASK}"));
    }
    let redacted = redact_credentials(line);
    // Pairs are recognised at the beginning of a text.
    let words = redacted.split_inclusive([' ', '\t']).map(redact_credentials);
    let by_words: String = words.collect();
    if by_words == line { Cow::Borrowed(line) } else { Cow::Owned(by_words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_job_knows_is_masked_wherever_it_occurs() {
        let variables = [
            ("DB_PASSWORD", "correct-horse"),
            ("XDG_SESSION_CLASS", "background"),
            ("SHORT_TOKEN", "abc"),
            ("HOME", "/home/backup"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let arguments = ["--password=staple-7", "--api-key", "battery", "--all", "/home"];
        let secrets =
            JobSecrets::new(&["pu5h-t0ken".to_owned()], variables.into_iter(), arguments.into_iter());
        assert_eq!(
            secrets.redact("in the background: correct-horse, abc\n/home/backup staple-7 battery pu5h-t0ken"),
            "in the background: ********, abc\n/home/backup ******** ******** ********"
        );
    }

    #[test]
    fn names_mark_secrets() {
        let secrets = JobSecrets::new(&[], std::iter::empty(), std::iter::empty());
        for (text, masked) in [
            ("> Authorization: Basic dTpw", "> Authorization: ********"),
            ("connecting with user=me password=abc now", "connecting with user=me password=******** now"),
            ("mysql --password=abc\tdb", "mysql --password=********\tdb"),
            (r#"{"token": "abc d", "n": 1}"#, r#"{"token": "********", "n": 1}"#),
            ("https://u:p@host/x?token=1", "https://********@host/x?token=********"),
            ("error: password is wrong", "error: password is wrong"),
            ("nothing  to\thide ", "nothing  to\thide "),
        ] {
            assert_eq!(secrets.redact(text), masked);
        }
    }
}
