//! The token by which a message is recognised as one's own, without keeping a list of what was sent.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_lc_rs::rand;

use crate::domain::{MonitorId, Timestamp};
use crate::vault::{Keyring, SIGNATURE_BYTES};

/// The header that carries it.
pub(super) const TOKEN_HEADER: &str = "X-Vigie-Trip";
/// What the signatures are for.
const PURPOSE: &str = "vigie/mail-trip/1";
/// After this a message of an earlier check counts as forgotten.
const STALE_AFTER: Duration = Duration::from_hours(24);

/// Makes and recognises the tokens of one monitor (behaviour.md 4): the time in microseconds, a random
/// number, and the signature of both and the monitor, in hexadecimal with points between.
#[derive(Clone, Debug)]
pub(super) struct TokenSigner {
    keyring: Arc<Keyring>,
    monitor: MonitorId,
}

/// Whose a message is, by the value of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// This check.
    Own,
    /// An earlier check of this monitor, more than a day ago.
    Stale,
    /// Anybody else, another monitor or check included.
    Other,
}

impl TokenSigner {
    /// Those of `monitor`. Without a keyring they are signed by a key of this process alone.
    pub(super) fn new(keyring: Option<&Arc<Keyring>>, monitor: MonitorId) -> Self {
        static OWN: OnceLock<Arc<Keyring>> = OnceLock::new();
        let own = || OWN.get_or_init(|| Arc::new(Keyring::ephemeral()));
        Self { keyring: Arc::clone(keyring.unwrap_or_else(own)), monitor }
    }

    /// A new one, of the time `now`.
    pub(super) fn issue(&self, now: Timestamp) -> String {
        let mut chance = [0; 8];
        // Two locations may send in the same microsecond. When the system has no random numbers, the time
        // still tells all others apart.
        let _ = rand::fill(&mut chance);
        let head = format!("{}.{:016x}", now.as_micros(), u64::from_be_bytes(chance));
        let signature = self.keyring.sign(PURPOSE, self.signed(&head).as_bytes());
        format!("{head}.{}", hexadecimal(&signature))
    }

    /// Whose message has `value` in its header, seen at `now` by the check that sent `own`.
    pub(super) fn classify(&self, value: &str, own: &str, now: Timestamp) -> Owner {
        let Some(sent_at) = self.sent_at(value) else { return Owner::Other };
        if crate::domain::constant_time_eq(value, own) {
            Owner::Own
        } else if now.since(sent_at) > STALE_AFTER {
            Owner::Stale
        } else {
            Owner::Other
        }
    }

    /// When the token `value` of this monitor was made; `None` when it is none. The comparison tells nothing
    /// of the right signature by its time.
    fn sent_at(&self, value: &str) -> Option<Timestamp> {
        let (head, signature) = value.rsplit_once('.')?;
        let (micros, _) = head.split_once('.')?;
        let signature = bytes(signature)?;
        let signed = self.signed(head);
        let known = self.keyring.verify(PURPOSE, signed.as_bytes(), &signature);
        known.then(|| micros.parse().ok().map(Timestamp::from_micros)).flatten()
    }

    fn signed(&self, head: &str) -> String {
        format!("{} {head}", self.monitor)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    let mut bytes = [0; SIGNATURE_BYTES];
    if text.len() != 2 * SIGNATURE_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
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

    fn tokens(keyring: &Arc<Keyring>, monitor: i64) -> TokenSigner {
        TokenSigner::new(Some(keyring), MonitorId(monitor))
    }

    #[test]
    fn a_check_knows_its_own_message_and_those_that_earlier_checks_forgot() {
        let keyring = Arc::new(Keyring::ephemeral());
        let tokens = tokens(&keyring, 7);
        let own = tokens.issue(NOW);
        assert_eq!(tokens.classify(&own, &own, NOW), Owner::Own);
        for (age, owner) in [
            (Duration::ZERO, Owner::Other),
            (Duration::from_hours(24), Owner::Other),
            (Duration::from_secs(24 * 3600 + 1), Owner::Stale),
            (Duration::from_hours(24 * 400), Owner::Stale),
        ] {
            assert_eq!(tokens.classify(&tokens.issue(NOW - age), &own, NOW), owner, "{age:?}");
        }
        let ahead = tokens.issue(NOW + Duration::from_hours(48));
        assert_eq!(tokens.classify(&ahead, &own, NOW), Owner::Other, "the clock may have been set back");
    }

    #[test]
    fn nobody_else_s_message_is_taken_for_one_s_own() {
        let keyring = Arc::new(Keyring::ephemeral());
        let mine = tokens(&keyring, 7);
        let own = mine.issue(NOW);
        let old = NOW - Duration::from_hours(48);
        let stranger = TokenSigner::new(Some(&Arc::new(Keyring::ephemeral())), MonitorId(7));
        for (other, reason) in [
            (tokens(&keyring, 8).issue(old), "of another monitor"),
            (stranger.issue(old), "of another installation"),
            (own.replacen("1795", "1695", 1), "its time was changed"),
            (own.to_uppercase(), "in capitals"),
            (format!("{own}00"), "longer"),
            (own[..own.len() - 2].to_owned(), "shorter"),
            (String::new(), "empty"),
            ("..".to_owned(), "points"),
            ("1.2.é".to_owned(), "not ASCII"),
        ] {
            assert_eq!(mine.classify(&other, &own, NOW), Owner::Other, "{reason}: {other}");
        }
        assert_ne!(mine.issue(NOW), own, "two messages of one microsecond are the same");
    }

    #[test]
    fn what_was_sent_before_a_rotation_of_the_keys_is_still_known() {
        let keyring = Arc::new(Keyring::ephemeral());
        let tokens = tokens(&keyring, 7);
        let before = tokens.issue(NOW - Duration::from_hours(48));
        keyring.rotate().unwrap();
        let own = tokens.issue(NOW);
        assert_eq!(tokens.classify(&before, &own, NOW), Owner::Stale);
        assert_eq!(tokens.classify(&own, &own, NOW), Owner::Own);
    }

    #[test]
    fn without_a_keyring_the_process_has_a_key_of_its_own() {
        let (one, two) = (TokenSigner::new(None, MonitorId(0)), TokenSigner::new(None, MonitorId(0)));
        let own = one.issue(NOW);
        assert_eq!(two.classify(&own, &own, NOW), Owner::Own);
    }

    proptest! {
        /// Whatever stands in a header, it is nobody's unless it was signed; also when it is what was sent.
        #[test]
        fn any_value_that_was_not_signed_belongs_to_others(value in "[0-9a-f.]{0,120}|\\PC{0,80}") {
            let tokens = TokenSigner::new(Some(&Arc::new(Keyring::ephemeral())), MonitorId(7));
            prop_assert_eq!(tokens.classify(&value, &value, NOW), Owner::Other);
        }
    }
}
