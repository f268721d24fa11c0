//! Tokens survive a round trip; changed ones and those of another kind are refused.

use nkeys::KeyPairType;
use proptest::prelude::*;

use super::*;
use crate::domain::Timestamp;

fn key(kind: KeyPairType) -> nkeys::KeyPair {
    new_key(kind).unwrap()
}

fn user_token() -> (Token<UserClaims>, nkeys::KeyPair) {
    let account = PublicKey::of(&key(KeyPairType::Account));
    let reply = Some(ReplyPermission::once_within(std::time::Duration::from_mins(5)));
    let token = Token {
        subject: PublicKey::of(&key(KeyPairType::User)),
        name: "agent 7".to_owned(),
        issued_at: Timestamp::from_seconds(1_700_000_000),
        expires_at: Some(Timestamp::from_seconds(1_700_086_400)),
        claims: UserClaims::restricted(account, vec!["a.b".to_owned()], Vec::new(), reply, 64),
    };
    (token, key(KeyPairType::Account))
}

#[test]
fn a_token_survives_and_names_its_issuer() {
    let (token, issuer) = user_token();
    let text = token.encode(&issuer).unwrap();
    assert_eq!(Token::<UserClaims>::decode(&text).unwrap(), (token, PublicKey::of(&issuer)));
}

#[test]
fn every_changed_byte_of_a_token_is_found() {
    let (token, issuer) = user_token();
    let text = token.encode(&issuer).unwrap();
    for at in 0..text.len() {
        let mut forged = text.clone().into_bytes();
        forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
        let forged = String::from_utf8(forged).unwrap();
        assert!(Token::<UserClaims>::decode(&forged).is_err(), "byte {at}");
        assert!(Token::<UserClaims>::decode(&text[..at]).is_err(), "{at} bytes");
    }
}

#[test]
fn tokens_of_another_kind_and_issuers_of_another_kind_are_refused() {
    let (token, issuer) = user_token();
    let text = token.encode(&issuer).unwrap();
    assert!(matches!(Token::<AccountClaims>::decode(&text), Err(JwtError::Malformed(_))));
    for wrong in [KeyPairType::User, KeyPairType::Operator] {
        assert!(matches!(token.encode(&key(wrong)), Err(JwtError::NotCreated(_))));
    }
}

#[test]
fn a_revocation_ends_the_tokens_up_to_its_time_and_no_later_ones() {
    let user = PublicKey::of(&key(KeyPairType::User));
    let mut account = AccountClaims::new(PublicKey::of(&key(KeyPairType::Account)));
    account.revoke(user.clone(), Timestamp::from_seconds(100));
    assert!(account.is_revoked(&user, Timestamp::from_seconds(100)));
    assert!(!account.is_revoked(&user, Timestamp::from_seconds(101)));
    assert!(!account.is_revoked(&PublicKey::of(&key(KeyPairType::User)), Timestamp::from_seconds(1)));
}

#[test]
fn a_user_without_subjects_may_use_none() {
    let account = PublicKey::of(&key(KeyPairType::Account));
    let claims = UserClaims::restricted(account, Vec::new(), vec!["a".to_owned()], None, 1);
    let json = serde_json::to_value(&claims).unwrap();
    assert_eq!(json["pub"], serde_json::json!({"deny": [">"]}));
    assert_eq!(json["sub"], serde_json::json!({"allow": ["a"]}));
}

#[test]
fn keys_of_another_kind_are_refused_and_not_repeated() {
    let account = key(KeyPairType::Account);
    let seed = account.seed().unwrap();
    let error = parse_seed(&seed, &KeyPairType::User).map(|_| ()).unwrap_err();
    assert_eq!(error, JwtError::WrongKey("user"));
    assert!(parse_seed(&seed, &KeyPairType::Account).is_ok());
    assert!(PublicKey::parse(&account.public_key(), &KeyPairType::User).is_err());
    assert!(PublicKey::parse(&seed, &KeyPairType::Account).is_err());
}

proptest! {
    #[test]
    fn no_text_breaks_the_readers(text in ".{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        use base64::Engine;
        prop_assert!(Token::<UserClaims>::decode(&text).is_err());
        let encoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
        let token = [encoded.as_str(); 3].join(".");
        prop_assert!(Token::<UserClaims>::decode(&token).is_err());
        for kind in [KeyPairType::User, KeyPairType::Account] {
            prop_assert!(PublicKey::parse(&text, &kind).is_err());
            prop_assert!(parse_seed(&text, &kind).is_err());
        }
    }

    #[test]
    fn no_key_text_of_the_right_length_breaks_the_readers(text in "[UASX][A-Z2-7]{55}", seed in "S[UAO][A-Z2-7]{56}") {
        let _ = PublicKey::parse(&text, &KeyPairType::User);
        let _ = parse_seed(&seed, &KeyPairType::User);
    }
}
