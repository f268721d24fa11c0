//! The lease in the database: one controller at a time leads, and one that has lost the lead writes nothing more.

use std::time::Duration;

use vigie::store::{
    ControllerAddress, ControllerLease, LEASE_DURATION, PostgresSettings, PostgresStore, StoreError,
    TokenStore,
};

use crate::support::postgres::PostgresServer;

fn address(name: &str) -> ControllerAddress {
    ControllerAddress {
        name: name.to_owned(),
        url: format!("https://{name}.example.net"),
        certificate_sha256: Some([7; 32]),
    }
}

/// Returns a store that writes as the leader of `epoch`.
async fn store_of(settings: &PostgresSettings, epoch: i64) -> PostgresStore {
    PostgresStore::connect(&PostgresSettings { leader_epoch: Some(epoch), ..settings.clone() }).await.unwrap()
}

/// Writes something in a transaction.
async fn write(store: &PostgresStore) -> Result<(), StoreError> {
    store.revoke([3; 32]).await.map(drop)
}

#[tokio::test]
async fn one_controller_leads_until_its_lease_ends_and_writes_nothing_afterwards() {
    let server = PostgresServer::start();
    let settings = server.settings(&server.create_database().await);
    let mut first = ControllerLease::connect(&settings).await.unwrap();
    let mut second = ControllerLease::connect(&settings).await.unwrap();
    assert_eq!(first.leader().await.unwrap(), None);
    let (of_first, of_second) = (address("first"), address("second"));
    let both = tokio::join!(first.take(&of_first), second.take(&of_second));
    let (first_epoch, second_epoch) = (both.0.unwrap(), both.1.unwrap());
    assert_eq!(first_epoch.or(second_epoch), Some(1));
    assert!(first_epoch.is_none() || second_epoch.is_none(), "both lead");
    if second_epoch.is_some() {
        std::mem::swap(&mut first, &mut second);
    }
    let leader = second.leader().await.unwrap().unwrap();
    assert_eq!((leader.epoch, leader.is_expired), (1, false));
    assert_eq!(leader.address.certificate_sha256, Some([7; 32]));
    let store = store_of(&settings, 1).await;
    write(&store).await.unwrap();

    // A renewed lease lasts; one that is not renewed ends.
    tokio::time::sleep(LEASE_DURATION / 2).await;
    assert!(first.renew(1, &address("first")).await.unwrap());
    tokio::time::sleep(LEASE_DURATION * 3 / 4).await;
    assert_eq!(second.take(&address("next")).await.unwrap(), None, "the lease was renewed");
    tokio::time::sleep(LEASE_DURATION / 2).await;
    assert!(second.leader().await.unwrap().unwrap().is_expired);
    // While nobody else leads, the leader goes on.
    write(&store).await.unwrap();
    assert!(first.renew(1, &address("first")).await.unwrap());
    first.release(1).await.unwrap();
    assert_eq!(second.take(&address("next")).await.unwrap(), Some(2));
    assert!(!first.renew(1, &address("first")).await.unwrap());
    let error = write(&store).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::Unavailable(text) if text.contains("another controller")),
        "{error}"
    );
    write(&store_of(&settings, 2).await).await.unwrap();
}

#[tokio::test]
async fn a_transaction_of_a_leader_that_hangs_is_ended_by_the_next_one() {
    use sqlx::{Connection, PgConnection};
    let server = PostgresServer::start();
    let database = server.create_database().await;
    let settings = server.settings(&database);
    let mut first = ControllerLease::connect(&settings).await.unwrap();
    assert_eq!(first.take(&address("first")).await.unwrap(), Some(1));
    // A transaction as the leader begins one, in a process that is stopped then.
    let url =
        format!("postgres://vigie@127.0.0.1:{}/{database}?application_name=vigie%20leader", server.port);
    let mut hanging = PgConnection::connect(&url).await.unwrap();
    let mut tx = hanging.begin().await.unwrap();
    let locked: i64 = sqlx::query_scalar("SELECT epoch FROM controller_lease WHERE epoch = 1 FOR KEY SHARE")
        .fetch_one(&mut *tx)
        .await
        .unwrap();
    assert_eq!(locked, 1);
    // Renewals do not wait for it.
    assert!(first.renew(1, &address("first")).await.unwrap());
    first.release(1).await.unwrap();
    let mut second = ControllerLease::connect(&settings).await.unwrap();
    let taken = tokio::time::timeout(Duration::from_secs(3), second.take(&address("second"))).await;
    assert_eq!(taken.expect("the lease waits for the transaction").unwrap(), Some(2));
    assert!(tx.commit().await.is_err());
}

#[tokio::test]
async fn a_server_without_controllers_and_controllers_exclude_each_other() {
    let server = PostgresServer::start();
    let settings = server.settings(&server.create_database().await);
    let lease = ControllerLease::connect(&settings).await.unwrap();
    assert!(matches!(PostgresStore::connect(&settings).await, Err(StoreError::Locked(_))));
    lease.close().await;
    let _store = PostgresStore::connect(&settings).await.unwrap();
    assert!(matches!(ControllerLease::connect(&settings).await, Err(StoreError::Locked(_))));
}
