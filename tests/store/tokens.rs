//! Access tokens and sessions.

use serde_json::json;
use vigie::domain::{ConfigRecordKind, Revision, TokenScopes, UserId};
use vigie::store::{ConfigChange, StoredToken, TokenKind, TokenUse};

use crate::store::config::new_record;
use crate::store::samples::at;
use crate::store::suite::Store;

fn token(number: u8, kind: TokenKind, user: i64, expires: i64) -> StoredToken {
    StoredToken::new([number; 32], kind, UserId(user), at(0)).expiring_at(at(expires))
}

pub async fn tokens_are_stored_extended_revoked_and_expired(store: &impl Store) {
    let access = token(1, TokenKind::Access, 7, 100);
    let session = token(2, TokenKind::LegacySession, 7, 50);
    let other = StoredToken {
        name: "Prometheus".to_owned(),
        scopes: TokenScopes::from_names(["metrics"]),
        ..token(3, TokenKind::Access, 8, 100)
    };
    let page = token(4, TokenKind::PageSession, 0, 500);
    for token in [&access, &session, &other, &page] {
        store.insert(token.clone()).await.unwrap();
    }
    let find = async |number: u8| store.token([number; 32]).await.unwrap();
    assert_eq!(find(1).await, Some(access));
    assert_eq!(find(2).await, Some(session.clone()));
    assert_eq!(find(9).await, None);
    assert_eq!((find(3).await, find(4).await), (Some(other), Some(page)));
    let of_user = store.tokens_for_user(UserId(7)).await.unwrap();
    assert_eq!(of_user.iter().map(|token| token.hash[0]).collect::<Vec<_>>(), [1, 2]);
    let last_use = |end| TokenUse { used_at: at(40), address: [192, 0, 2, 1].into(), expires_at: at(end) };
    store.record_use([2; 32], last_use(150)).await.unwrap();
    let used =
        StoredToken { expires_at: at(150), last_used_at: at(40), address: "192.0.2.1".to_owned(), ..session };
    assert_eq!(find(2).await, Some(used));
    assert_eq!(store.remove_expired(at(100)).await.unwrap(), 2, "the end itself is over");
    assert_eq!((find(1).await, find(3).await), (None, None));
    store.revoke([2; 32]).await.unwrap();
    assert_eq!(find(2).await, None);
    store.record_use([2; 32], last_use(500)).await.unwrap();
    assert_eq!(find(2).await, None, "an ended session does not come back");
}

pub async fn tokens_end_with_their_user(store: &impl Store) {
    let new = ConfigChange::CreateRecord(new_record(ConfigRecordKind::User, Some("anna"), json!({})));
    let user = store.write_changes(vec![new], vec![]).await.unwrap()[0];
    let left = async |number: u8| store.token([number; 32]).await.unwrap().is_some();
    store.insert(token(1, TokenKind::Access, user, 100)).await.unwrap();
    store.insert(token(2, TokenKind::Access, user + 1, 100)).await.unwrap();
    store.write_changes(vec![ConfigChange::RevokeTokens(UserId(user))], vec![]).await.unwrap();
    assert!(!left(1).await && left(2).await);
    store.insert(token(1, TokenKind::LegacySession, user, 100)).await.unwrap();
    let remove = ConfigChange::RemoveRecord { kind: ConfigRecordKind::User, id: user, expected: Revision(1) };
    store.write_changes(vec![remove], vec![]).await.unwrap();
    assert!(!left(1).await && left(2).await);
}
