//! The board of states follows what changes, and is what reading everything gives.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use vigie::clock::Clock;
use vigie::domain::{
    CheckId, LocationId, MonitorId, MonitorLocationState, Outcome, Role, RunId, Status, Timestamp,
};
use vigie::service::{MonitorReader, MonitorStatus, StatusOrder, StatusQuery, StatusRow};
use vigie::store::{Ingest, IngestBatch};

use crate::support::app::{App, Client, website};

const ERROR: MonitorStatus = MonitorStatus::LastOutcome(Outcome::Error);

fn state(monitor: i64, location: i64, minute: i64, outcome: Outcome) -> MonitorLocationState {
    let planned_at = Timestamp::from_seconds(1_795_176_000 + minute * 60);
    let (monitor_id, location_id) = (MonitorId(monitor), LocationId(location));
    MonitorLocationState {
        monitor_id,
        location_id,
        check_id: CheckId::new(RunId::new(monitor_id, planned_at), location_id),
        planned_at,
        outcome,
        status: Status::OK,
        duration_us: monitor.unsigned_abs() * 7_919 % 1_000,
        streak_started_at: planned_at,
        streak: 1,
        last_slot_at: Some(planned_at),
        last_full_page_at: None,
    }
}

/// Returns id, name, state and the location of the most urgent state of each row.
async fn rows(
    reader: &MonitorReader,
    now: Timestamp,
) -> Vec<(i64, String, &'static str, Option<LocationId>)> {
    let board = reader.status_board(now).await.unwrap();
    let rows = reader.matching_rows(&board, &StatusQuery::default(), now);
    let to_row = |row: &Arc<vigie::service::StatusRow>| {
        let location = row.state.as_ref().map(|state| state.location_id);
        (row.monitor.id.0, row.monitor.name().to_owned(), row.status.as_str(), location)
    };
    rows.iter().map(to_row).collect()
}

struct Boards {
    app: App,
    admin: Client,
    /// Reads what changed.
    following: MonitorReader,
}

impl Boards {
    fn reader(app: &App) -> MonitorReader {
        MonitorReader::new(app.store.clone(), Arc::clone(&app.monitors), Vec::new())
    }

    async fn commit(&self, location_states: Vec<MonitorLocationState>) {
        self.app.store.commit(IngestBatch { location_states, ..IngestBatch::default() }).await.unwrap();
    }

    /// Returns the rows of the reader that follows, which are those of one that reads everything.
    async fn rows(&self) -> Vec<(i64, String, &'static str, Option<LocationId>)> {
        // Nobody waits for new results until two seconds have passed; changes of monitors are read at once.
        tokio::time::advance(Duration::from_millis(2_001)).await;
        let now = self.app.clock.now();
        let followed = rows(&self.following, now).await;
        assert_eq!(followed, rows(&Self::reader(&self.app), now).await);
        self.check_orders(now).await;
        followed
    }

    /// Checks that each order, and each window of it, is what sorting all rows gives.
    async fn check_orders(&self, now: Timestamp) {
        let board = self.following.status_board(now).await.unwrap();
        let by_urgency = self.following.matching_rows(&board, &StatusQuery::default(), now);
        for (order, _) in StatusOrder::ALL {
            let mut expected = by_urgency.clone();
            let state = |row: &StatusRow| {
                row.state.clone().map(|state| (state.duration_us, state.planned_at, state.streak_started_at))
            };
            // What a row does not have comes last.
            match order {
                StatusOrder::Urgency => {}
                StatusOrder::Name => expected.sort_by_key(|row| row.monitor.name().to_owned()),
                StatusOrder::Type => expected.sort_by_key(|row| row.monitor.monitor_type().name()),
                StatusOrder::Duration => expected.sort_by_key(|row| Reverse(state(row).map(|state| state.0))),
                StatusOrder::LastRun => expected.sort_by_key(|row| Reverse(state(row).map(|state| state.1))),
                StatusOrder::Since => expected.sort_by_key(|row| Reverse(state(row).map(|state| state.2))),
            }
            let expected: Vec<_> = expected.iter().map(|row| row.monitor.id).collect();
            for (offset, limit) in [(0, usize::MAX), (0, 3), (7, 5), (18, 10), (40, 10)] {
                let query = StatusQuery { order, offset, limit, ..StatusQuery::default() };
                let page = self.following.status_rows(&board, &query, now).await.unwrap();
                let ids: Vec<_> = page.rows.iter().map(|row| row.monitor.id).collect();
                let window: Vec<_> = expected.iter().copied().skip(offset).take(limit).collect();
                assert_eq!((page.total, ids), (expected.len(), window), "{order:?} from {offset}");
            }
        }
    }
}

#[tokio::test]
async fn what_changed_is_read_and_the_rest_stays() {
    let app = App::start().await;
    let admin = app.login(Role::Admin).await;
    let mut ids = Vec::new();
    for number in 0..20 {
        ids.push(admin.post("/monitors/website", website(&format!("m{number:02}"), json!({}))).await.id());
    }
    let following = Boards::reader(&app);
    let boards = Boards { app, admin, following };
    tokio::time::pause();
    assert!(boards.rows().await.iter().all(|row| row.2 == "waiting"));

    boards.commit(ids.iter().map(|id| state(*id, 1, 0, Outcome::Ok)).collect()).await;
    assert!(boards.rows().await.iter().all(|row| row.2 == "ok" && row.3 == Some(LocationId(1))));
    // The most urgent location counts, whichever came last.
    boards.commit(vec![state(ids[7], 2, 1, Outcome::Error), state(ids[7], 3, 2, Outcome::Ok)]).await;
    let rows = boards.rows().await;
    assert_eq!((rows[0].0, rows[0].2, rows[0].3), (ids[7], "error", Some(LocationId(2))));
    boards.commit(vec![state(ids[7], 2, 3, Outcome::Ok), state(ids[3], 1, 3, Outcome::Warning)]).await;
    let rows = boards.rows().await;
    assert_eq!((rows[0].0, rows[0].2), (ids[3], "warning"));
    assert_eq!(rows[1..].iter().filter(|row| row.2 == "ok").count(), 19);

    boards
        .admin
        .patch(&format!("/monitors/website/{}", ids[5]), json!({"name": "a first one"}))
        .await
        .expect(200);
    assert_eq!(boards.rows().await[1].1, "a first one");
    boards.admin.delete(&format!("/monitors/{}", ids[3])).await.expect(204);
    let added = boards.admin.post("/monitors/website", website("zz", json!({}))).await.id();
    let rows = boards.rows().await;
    assert_eq!((rows.len(), rows[0].0, rows[0].2), (20, added, "waiting"));
    let until = boards.app.clock.now() + Duration::from_hours(1);
    let pause = json!({"until": until.to_string()});
    boards.admin.post(&format!("/monitors/{}/pause", ids[0]), pause).await.expect(200);
    assert_eq!(boards.rows().await.last().unwrap().2, "paused");
    // A second later the old board is shown, and the next one is read beside it.
    let now = boards.app.clock.now();
    boards.commit(vec![state(ids[9], 1, 4, Outcome::Error)]).await;
    tokio::time::advance(Duration::from_millis(1_001)).await;
    assert_eq!(boards.following.status_board(now).await.unwrap().count(ERROR), 0);
    while boards.following.status_board(now).await.unwrap().count(ERROR) == 0 {
        tokio::task::yield_now().await;
    }
    boards.commit(vec![state(ids[9], 1, 5, Outcome::Ok)]).await;
    // The end of a pause is no change of the monitor.
    boards.app.clock.advance(Duration::from_mins(61));
    assert!(boards.rows().await.iter().all(|row| row.2 != "paused"));
}
