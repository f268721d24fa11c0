//! In which order results are stored: an agent that was cut off sends the newest of each monitor first.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use sqlx::Row;
use vigie::domain::Timestamp;

use super::world::{INTERVAL, World};

const TRIGGERS: [&str; 3] = [
    "CREATE TABLE noted_results (transaction BIGINT, monitor_id BIGINT, location_id BIGINT, planned_at BIGINT)",
    "CREATE FUNCTION note_result() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO noted_results VALUES (pg_current_xact_id()::text::bigint, NEW.monitor_id, NEW.location_id, NEW.planned_at);
         RETURN NULL;
     END $$",
    "CREATE TRIGGER note_result AFTER INSERT ON results FOR EACH ROW
         WHEN (NEW.missed_run_count IS NULL AND NOT NEW.is_first_check) EXECUTE FUNCTION note_result()",
];

/// How long a connection may take to notice that it is cut. What was sent on it before comes as soon as it goes on.
const NOTICED_WITHIN: Duration = Duration::from_mins(1);

/// A time in which all agents of a location were cut off, for minutes.
pub struct CutOff {
    pub location: usize,
    pub time: Range<Timestamp>,
}

/// Begins to note in which order results are stored.
pub fn note_results(world: &World) {
    for statement in TRIGGERS {
        world.rows(statement);
    }
}

/// Describes the monitors whose newest result of a time without NATS was stored after older ones of it.
pub fn examine(world: &World, cut_offs: &[CutOff]) -> Vec<String> {
    let mut wrong = Vec::new();
    for CutOff { location, time } in cut_offs {
        let sql = format!(
            "SELECT monitor_id, planned_at, transaction FROM noted_results
             WHERE location_id = {} AND planned_at BETWEEN {} AND {}",
            world.locations[*location],
            (time.start + NOTICED_WITHIN).as_micros(),
            (time.end - INTERVAL / 2).as_micros()
        );
        // When each was planned, and the transaction that stored it.
        let mut results: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        for row in world.rows(&sql) {
            results.entry(row.get(0)).or_default().push((row.get(1), row.get(2)));
        }
        for (monitor, mut results) in results {
            results.sort_unstable();
            let first = results.iter().map(|(_, transaction)| *transaction).min();
            if results.last().map(|(_, transaction)| *transaction) > first {
                wrong.push(format!("monitor {monitor} at location {location}: {results:?}"));
            }
        }
    }
    wrong
}
