//! The signed token that identifies messages of a monitor, so that sent messages need not be stored.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_lc_rs::rand;

use crate::domain::{MonitorId, Timestamp, to_hex};
use crate::vault::{Keyring, MAC_TAG_BYTES};

/// The header that carries the token.
pub(super) const TOKEN_HEADER: &str = "X-Vigie-Trip";
/// The purpose of the signatures.
const SIGNING_PURPOSE: &str = "vigie/mail-trip/1";
/// Age from which a message of an earlier check is stale.
const STALE_AFTER: Duration = Duration::from_hours(24);

/// Issues and verifies the tokens of one monitor (behaviour.md 4): the time in microseconds, a random number, and the
/// signature of both with the monitor id, in hexadecimal and separated by dots.
#[derive(Clone, Debug)]
pub(super) struct TokenSigner {
    keyring: Arc<Keyring>,
    monitor_id: MonitorId,
}

/// The owner of a message, by the value of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageOrigin {
    /// This check.
    ThisCheck,
    /// An earlier check of this monitor, more than a day ago.
    StaleCheck,
    /// Any other sender, including other monitors and recent checks.
    Other,
}

impl TokenSigner {
    /// Creates the signer of `monitor_id`. Without a keyring, tokens are signed by a key of this process alone.
    pub(super) fn new(keyring: Option<&Arc<Keyring>>, monitor_id: MonitorId) -> Self {
        static PROCESS_KEYRING: OnceLock<Arc<Keyring>> = OnceLock::new();
        let process_keyring = || PROCESS_KEYRING.get_or_init(|| Arc::new(Keyring::ephemeral()));
        Self { keyring: Arc::clone(keyring.unwrap_or_else(process_keyring)), monitor_id }
    }

    /// Issues a new token at the time `now`.
    pub(super) fn issue_token(&self, now: Timestamp) -> String {
        let mut nonce = [0; 8];
        // Two locations may send in the same microsecond. If the system has no random numbers, the time still
        // distinguishes all others.
        let _ = rand::fill(&mut nonce);
        let payload = format!("{}.{:016x}", now.as_micros(), u64::from_be_bytes(nonce));
        let signature = self.keyring.sign(SIGNING_PURPOSE, self.signed_text(&payload).as_bytes());
        format!("{payload}.{}", to_hex(&signature))
    }

    /// Returns the owner of the message with `header_value` in its header, examined at `now` by the check that sent
    /// `own_token`.
    pub(super) fn classify(&self, header_value: &str, own_token: &str, now: Timestamp) -> MessageOrigin {
        let Some(sent_at) = self.verified_issue_time(header_value) else { return MessageOrigin::Other };
        if crate::domain::constant_time_eq(header_value, own_token) {
            MessageOrigin::ThisCheck
        } else if now.since(sent_at) > STALE_AFTER {
            MessageOrigin::StaleCheck
        } else {
            MessageOrigin::Other
        }
    }

    /// Returns when the token `value` of this monitor was issued; `None` when it is invalid. The comparison takes
    /// constant time.
    fn verified_issue_time(&self, value: &str) -> Option<Timestamp> {
        let (payload, signature) = value.rsplit_once('.')?;
        let (micros, _) = payload.split_once('.')?;
        let signature = parse_hex_signature(signature)?;
        let signed = self.signed_text(payload);
        let is_valid = self.keyring.verify(SIGNING_PURPOSE, signed.as_bytes(), &signature);
        is_valid.then(|| micros.parse().ok().map(Timestamp::from_micros)).flatten()
    }

    fn signed_text(&self, payload: &str) -> String {
        format!("{} {payload}", self.monitor_id)
    }
}

fn parse_hex_signature(text: &str) -> Option<[u8; MAC_TAG_BYTES]> {
    let mut bytes = [0; MAC_TAG_BYTES];
    if text.len() != 2 * MAC_TAG_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_795_262_400);

    fn new_token_signer(keyring: &Arc<Keyring>, monitor: i64) -> TokenSigner {
        TokenSigner::new(Some(keyring), MonitorId(monitor))
    }

    #[test]
    fn own_and_stale_messages_are_recognised() {
        let keyring = Arc::new(Keyring::ephemeral());
        let token_signer = new_token_signer(&keyring, 7);
        let own_token = token_signer.issue_token(NOW);
        assert_eq!(token_signer.classify(&own_token, &own_token, NOW), MessageOrigin::ThisCheck);
        for (age, expected_origin) in [
            (Duration::ZERO, MessageOrigin::Other),
            (Duration::from_hours(24), MessageOrigin::Other),
            (Duration::from_secs(24 * 3600 + 1), MessageOrigin::StaleCheck),
            (Duration::from_hours(24 * 400), MessageOrigin::StaleCheck),
        ] {
            assert_eq!(
                token_signer.classify(&token_signer.issue_token(NOW - age), &own_token, NOW),
                expected_origin,
                "{age:?}"
            );
        }
        let future_token = token_signer.issue_token(NOW + Duration::from_hours(48));
        assert_eq!(
            token_signer.classify(&future_token, &own_token, NOW),
            MessageOrigin::Other,
            "the clock may have been set back"
        );
    }

    #[test]
    fn messages_of_others_are_not_own() {
        let keyring = Arc::new(Keyring::ephemeral());
        let token_signer = new_token_signer(&keyring, 7);
        let own_token = token_signer.issue_token(NOW);
        let old = NOW - Duration::from_hours(48);
        let foreign_signer = TokenSigner::new(Some(&Arc::new(Keyring::ephemeral())), MonitorId(7));
        for (foreign_token, reason) in [
            (new_token_signer(&keyring, 8).issue_token(old), "of another monitor"),
            (foreign_signer.issue_token(old), "of another installation"),
            (own_token.replacen("1795", "1695", 1), "its time was changed"),
            (own_token.to_uppercase(), "in capitals"),
            (format!("{own_token}00"), "longer"),
            (own_token[..own_token.len() - 2].to_owned(), "shorter"),
            (String::new(), "empty"),
            ("..".to_owned(), "points"),
            ("1.2.é".to_owned(), "not ASCII"),
        ] {
            assert_eq!(
                token_signer.classify(&foreign_token, &own_token, NOW),
                MessageOrigin::Other,
                "{reason}: {foreign_token}"
            );
        }
        assert_ne!(token_signer.issue_token(NOW), own_token, "two messages of one microsecond are the same");
    }

    #[test]
    fn tokens_from_before_a_key_rotation_stay_valid() {
        let keyring = Arc::new(Keyring::ephemeral());
        let token_signer = new_token_signer(&keyring, 7);
        let token_before_rotation = token_signer.issue_token(NOW - Duration::from_hours(48));
        keyring.add_key().unwrap();
        let own_token = token_signer.issue_token(NOW);
        assert_eq!(token_signer.classify(&token_before_rotation, &own_token, NOW), MessageOrigin::StaleCheck);
        assert_eq!(token_signer.classify(&own_token, &own_token, NOW), MessageOrigin::ThisCheck);
    }

    #[test]
    fn without_a_keyring_the_process_has_a_key_of_its_own() {
        let (first_signer, second_signer) =
            (TokenSigner::new(None, MonitorId(0)), TokenSigner::new(None, MonitorId(0)));
        let own_token = first_signer.issue_token(NOW);
        assert_eq!(second_signer.classify(&own_token, &own_token, NOW), MessageOrigin::ThisCheck);
    }

    proptest! {
        /// Any header value that was not signed belongs to others, even when it equals the own one.
        #[test]
        fn any_value_that_was_not_signed_belongs_to_others(value in "[0-9a-f.]{0,120}|\\PC{0,80}") {
            let token_signer = TokenSigner::new(Some(&Arc::new(Keyring::ephemeral())), MonitorId(7));
            prop_assert_eq!(token_signer.classify(&value, &value, NOW), MessageOrigin::Other);
        }
    }
}
