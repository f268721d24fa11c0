//! Push tokens, and what is pushed.

use vigie::domain::{CustomerId, MonitorId, Push, PushMonitor, PushStatus};
use vigie::store::NewPushToken;

use crate::store::samples::at;
use crate::store::suite::Store;

const MONITOR: MonitorId = MonitorId(12);

fn token(byte: Option<u8>, seconds: i64) -> NewPushToken {
    NewPushToken {
        monitor_id: MONITOR,
        customer_id: CustomerId(3),
        hash: byte.map(|byte| [byte; 32]),
        created_at: at(seconds),
    }
}

fn push(status: PushStatus, seconds: i64) -> Push {
    Push {
        status,
        received_at: at(seconds),
        message: "backup of 3 tables".to_owned(),
        duration_us: Some(1_500_000),
        exit_code: Some(2),
        output: "line 1\nline 2".to_owned(),
    }
}

pub async fn a_token_leads_to_its_monitor_until_it_is_replaced(store: &impl Store) {
    let of = PushMonitor { monitor_id: MONITOR, customer_id: CustomerId(3) };
    assert_eq!(store.push_monitor([1; 32]).await.unwrap(), None);
    store.set_push_token(token(Some(1), 0)).await.unwrap();
    assert_eq!(store.push_monitor([1; 32]).await.unwrap(), Some(of));
    store.set_push_token(token(Some(2), 10)).await.unwrap();
    assert_eq!(store.push_monitor([1; 32]).await.unwrap(), None, "the old token");
    assert_eq!(store.push_monitor([2; 32]).await.unwrap(), Some(of));
    store.set_push_token(token(None, 20)).await.unwrap();
    assert_eq!(store.push_monitor([2; 32]).await.unwrap(), None, "revoked");
}

pub async fn pushes_and_starts_are_kept_apart(store: &impl Store) {
    assert_eq!(store.push_state(MONITOR).await.unwrap(), None);
    store.set_push_token(token(Some(1), 0)).await.unwrap();
    let state = store.push_state(MONITOR).await.unwrap().unwrap();
    assert_eq!((state.last, state.started_at, state.token_created_at), (None, None, Some(at(0))));
    let down = push(PushStatus::Down, 60);
    store.record_push(MONITOR, down.clone()).await.unwrap();
    store.record_push(MONITOR, push(PushStatus::Started, 70)).await.unwrap();
    let state = store.push_state(MONITOR).await.unwrap().unwrap();
    assert_eq!((state.last, state.started_at), (Some(down), Some(at(70))));
    let up = push(PushStatus::Up, 80);
    store.record_push(MONITOR, up.clone()).await.unwrap();
    let state = store.push_state(MONITOR).await.unwrap().unwrap();
    assert_eq!((state.last, state.started_at), (Some(up), None), "the job has ended");
}
