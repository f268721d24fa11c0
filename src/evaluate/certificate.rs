//! Warnings and failures from the dates of a certificate (behaviour.md 4, Certificates).

use std::time::Duration;

use crate::domain::{Certificate, Failure, FailureKind, Phase, Timestamp, TlsFacts};

/// Which dates are checked (fields.md 2 `check_ssl_expiration_dates`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpiryRule {
    /// None; a rejected certificate still fails the handshake.
    #[default]
    Disabled,
    /// The expiry of the peer's certificate, even where certificates are not verified.
    Expired,
    /// Like `Expired`, plus a warning in the last `days` of any certificate of the chain.
    Expiring {
        /// Days before expiry at which the warning starts.
        days: u32,
    },
}

/// The result of a check of dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpiryFinding {
    /// The peer's own certificate has expired.
    Expired(Failure),
    /// A certificate expires soon.
    Expiring {
        /// SHA-256 of the certificate, which identifies it.
        sha256: String,
        /// One line for people.
        message: String,
    },
}

impl ExpiryRule {
    /// Checks the chain of `tls` at `now`; `None` when there is nothing to report.
    ///
    /// Only the peer's own certificate can fail: servers send expired extras (old cross-signed issuers) that a verified
    /// chain does not need.
    #[must_use]
    pub fn evaluate(self, tls: &TlsFacts, now: Timestamp) -> Option<ExpiryFinding> {
        let days = match self {
            Self::Disabled => return None,
            Self::Expired => 0,
            Self::Expiring { days } => days,
        };
        let leaf = tls.certificates.first()?;
        if leaf.not_after < now {
            return Some(ExpiryFinding::Expired(expired_failure(leaf, now)));
        }
        let unexpired = tls.certificates.iter().filter(|certificate| certificate.not_after >= now);
        let next_to_expire = unexpired.min_by_key(|certificate| certificate.not_after)?;
        let remaining = next_to_expire.not_after.since(now);
        (remaining < Duration::from_secs(86_400 * u64::from(days))).then(|| ExpiryFinding::Expiring {
            sha256: next_to_expire.sha256.clone(),
            message: expiring_message(next_to_expire, remaining),
        })
    }

    /// Returns the certificate of the chain of `tls` whose expiry is reported at `now`: the peer's own after its
    /// expiry, or the next one to expire if that is near; as in [`ExpiryRule::evaluate`].
    #[must_use]
    pub fn reported_certificate(self, tls: &TlsFacts, now: Timestamp) -> Option<&Certificate> {
        match self.evaluate(tls, now)? {
            ExpiryFinding::Expired(_) => tls.certificates.first(),
            ExpiryFinding::Expiring { .. } => {
                let unexpired = tls.certificates.iter().filter(|certificate| certificate.not_after >= now);
                unexpired.min_by_key(|certificate| certificate.not_after)
            }
        }
    }
}

fn expired_failure(certificate: &Certificate, now: Timestamp) -> Failure {
    let detail = format!(
        "`{}` expired {}, {} ago",
        certificate.subject,
        certificate.not_after,
        format_days(now.since(certificate.not_after))
    );
    Failure::new(Phase::Validate, FailureKind::CertificateExpired, detail)
}

fn expiring_message(certificate: &Certificate, remaining: Duration) -> String {
    format!(
        "the certificate `{}` expires {}, in {}",
        certificate.subject,
        certificate.not_after,
        format_days(remaining)
    )
}

fn format_days(duration: Duration) -> String {
    match duration.as_secs() / 86_400 {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;

    /// Builds a chain whose certificates expire at these days from the epoch.
    fn chain(ends: &[i64]) -> TlsFacts {
        let certificates = ends.iter().map(|&end| Certificate {
            subject: format!("CN=end {end}"),
            issuer: "CN=issuer".to_owned(),
            subject_alt_names: Vec::new(),
            not_before: Timestamp::from_seconds(0),
            not_after: Timestamp::from_seconds(end * DAY),
            sha256: String::new(),
        });
        TlsFacts { certificates: certificates.collect(), ..TlsFacts::default() }
    }

    #[test]
    fn a_certificate_keeps_its_fingerprint_while_its_message_changes() {
        let (rule, mut chain) = (ExpiryRule::Expiring { days: 30 }, chain(&[120]));
        chain.certificates[0].sha256 = "ab".repeat(32);
        let on = |day: i64| match rule.evaluate(&chain, Timestamp::from_seconds(day * DAY)) {
            Some(ExpiryFinding::Expiring { sha256, message: line }) => (sha256, line),
            other => panic!("{other:?}"),
        };
        let ((today, before), (tomorrow, after)) = (on(100), on(101));
        assert_eq!((today, before != after), (tomorrow, true), "{before} {after}");
    }

    #[test]
    fn the_dates_of_a_chain_are_judged() {
        let expiring = ExpiryRule::Expiring { days: 30 };
        // Rule, expiry of each certificate in days, and the finding on day 100.
        for (rule, ends, found) in [
            (ExpiryRule::Disabled, &[1][..], "nothing"),
            (ExpiryRule::Expired, &[99], "expired"),
            (ExpiryRule::Expired, &[101], "nothing"),
            (ExpiryRule::Expired, &[], "nothing"),
            (ExpiryRule::Expired, &[200, 99], "nothing"),
            (expiring, &[99], "expired"),
            (expiring, &[100], "in less than a day"),
            (expiring, &[101], "in 1 day"),
            (expiring, &[129], "in 29 days"),
            (expiring, &[130], "nothing"),
            (expiring, &[400, 110], "end 110"),
            (expiring, &[400, 99, 500], "nothing"),
            (expiring, &[120, 110], "end 110"),
        ] {
            let (chain, now) = (chain(ends), Timestamp::from_seconds(100 * DAY));
            let reported = rule.reported_certificate(&chain, now).map(|certificate| certificate.not_after);
            assert_eq!(reported.is_some(), found != "nothing", "{rule:?} {ends:?}");
            assert_eq!(reported.is_some_and(|end| end < now), found == "expired", "{rule:?} {ends:?}");
            let text = match rule.evaluate(&chain, now) {
                None => "nothing".to_owned(),
                Some(ExpiryFinding::Expired(failure)) => {
                    assert_eq!(failure.kind, FailureKind::CertificateExpired);
                    format!("expired: {failure}")
                }
                Some(ExpiryFinding::Expiring { message: line, .. }) => line,
            };
            assert!(text.contains(found), "{rule:?} {ends:?}: {text}");
        }
    }
}
