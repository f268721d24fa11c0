//! Partitions by day. They are made before the first row of their day, and removed as a whole.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::store::contract::StoreError;
use crate::store::rows::usage_changes::DAY_US;

use super::error::{PgError, PgResult};
use super::store::PostgresStore;

/// Number of the advisory lock that is held while partitions are made or removed, "Vgip".
const PARTITION_LOCK: i64 = 0x5667_6970;

/// A table with a partition per day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DailyTable {
    Results,
    DetailsOk,
    DetailsFailed,
    CapturesOk,
    CapturesFailed,
    HourlyRollups,
}

impl DailyTable {
    /// The tables of results, which get the partition of a day together.
    const OF_RESULTS: [Self; 5] =
        [Self::Results, Self::DetailsOk, Self::DetailsFailed, Self::CapturesOk, Self::CapturesFailed];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Results => "results",
            Self::DetailsOk => "result_details_ok",
            Self::DetailsFailed => "result_details_failed",
            Self::CapturesOk => "result_captures_ok",
            Self::CapturesFailed => "result_captures_failed",
            Self::HourlyRollups => "rollups_hourly",
        }
    }

    /// Returns the name of the partition of the day that starts at `day`.
    fn partition_name(self, day: i64) -> String {
        // Days before 1970 get names too.
        let number = day.div_euclid(DAY_US);
        let sign = if number < 0 { "m" } else { "" };
        format!("{}_d{sign}{}", self.name(), number.unsigned_abs())
    }

    /// Returns the day of the partition with this name.
    fn day_of(self, partition: &str) -> Option<i64> {
        let number = partition.strip_prefix(self.name())?.strip_prefix("_d")?;
        let number = match number.strip_prefix('m') {
            Some(number) => -number.parse::<i64>().ok()?,
            None => number.parse().ok()?,
        };
        number.checked_mul(DAY_US)
    }
}

/// Returns the tables whose partitions the table with this name needs; `None` for one without partitions.
pub(super) fn tables_of_partitioned(name: &str) -> Option<&'static [DailyTable]> {
    match name {
        "results" | "result_details" | "result_captures" => Some(&DailyTable::OF_RESULTS),
        "rollups" => Some(&[DailyTable::HourlyRollups]),
        _ => None,
    }
}

/// Returns the start of the day that contains `time_us`.
pub(super) const fn day_start(time_us: i64) -> i64 {
    time_us.saturating_sub(time_us.rem_euclid(DAY_US))
}

impl PostgresStore {
    /// Makes the partitions for results planned at these times.
    pub(super) async fn ensure_result_days(
        &self,
        planned_at: impl Iterator<Item = i64> + Send,
    ) -> Result<(), StoreError> {
        self.ensure_days(&DailyTable::OF_RESULTS, planned_at).await
    }

    /// Makes the partition for hourly rollups of this hour.
    pub(super) async fn ensure_rollup_day(&self, hour: i64) -> Result<(), StoreError> {
        self.ensure_days(&[DailyTable::HourlyRollups], std::iter::once(hour)).await
    }

    async fn ensure_days(
        &self,
        tables: &'static [DailyTable],
        times: impl Iterator<Item = i64> + Send,
    ) -> Result<(), StoreError> {
        let known_days = &self.caches.days;
        let days: BTreeSet<i64> = times.map(day_start).collect();
        for day in days {
            if tables.iter().all(|table| known_days.contains(table.name(), day)) {
                continue;
            }
            self.write(move |conn| Box::pin(create_partitions(conn, tables, day))).await?;
            for table in tables {
                known_days.insert(table.name(), day);
            }
        }
        Ok(())
    }

    /// Removes the partitions of `table` whose days end at or before `cutoff`; returns the days and how many rows they
    /// had.
    pub(super) async fn drop_days_before(
        &self,
        table: DailyTable,
        cutoff: i64,
    ) -> Result<Vec<(i64, u64)>, StoreError> {
        let partitions = self.read(move |conn| Box::pin(partitions(conn, table))).await?;
        let mut dropped = Vec::new();
        for partition in partitions {
            if partition.day.saturating_add(DAY_US) > cutoff {
                continue;
            }
            let day = partition.day;
            let row_count = self.read(move |conn| Box::pin(drop_partition(conn, table, partition))).await?;
            self.caches.days.clear();
            dropped.push((day, row_count));
        }
        Ok(dropped)
    }
}

/// A partition in the catalog.
struct Partition {
    day: i64,
    attachment: Attachment,
}

/// How far an interrupted removal came.
enum Attachment {
    Attached,
    DetachPending,
    Detached,
}

async fn partitions(conn: &mut PgConnection, table: DailyTable) -> PgResult<Vec<Partition>> {
    let rows: Vec<(String, Option<bool>)> = sqlx::query_as(
        "SELECT c.relname::text, i.inhdetachpending FROM pg_class AS c LEFT JOIN pg_inherits AS i ON i.inhrelid = c.oid
         WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND starts_with(c.relname::text, $1)
         ORDER BY 1",
    )
    .bind(table.name())
    .fetch_all(conn)
    .await?;
    let to_partition = |(name, is_detach_pending): (String, Option<bool>)| {
        let attachment = match is_detach_pending {
            Some(false) => Attachment::Attached,
            Some(true) => Attachment::DetachPending,
            None => Attachment::Detached,
        };
        table.day_of(&name).map(|day| Partition { day, attachment })
    };
    Ok(rows.into_iter().filter_map(to_partition).collect())
}

/// Makes the partitions of a day, in the transaction of `conn`. A new table is attached, which blocks neither readers
/// nor writers of the other days.
pub(super) async fn create_partitions(
    conn: &mut PgConnection,
    tables: &[DailyTable],
    day: i64,
) -> PgResult<()> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(PARTITION_LOCK).execute(&mut *conn).await?;
    for table in tables {
        let (parent, partition) = (table.name(), table.partition_name(day));
        let exists: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = $1::regclass AND inhrelid = to_regclass($2))",
        )
        .bind(parent)
        .bind(&partition)
        .fetch_one(&mut *conn)
        .await?;
        if exists {
            continue;
        }
        let end = day.saturating_add(DAY_US);
        // All parts of the statements come from Vigie. A table of this name that is not attached is the rest of an
        // interrupted removal.
        let sql = format!(
            "DROP TABLE IF EXISTS {partition};
             CREATE TABLE {partition} (LIKE {parent} INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
             ALTER TABLE {parent} ATTACH PARTITION {partition} FOR VALUES FROM ({day}) TO ({end})"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *conn).await?;
    }
    Ok(())
}

/// Detaches a partition without blocking readers, then drops it; returns how many rows it had. May be interrupted at
/// any moment and is continued by the next call.
async fn drop_partition(conn: &mut PgConnection, table: DailyTable, partition: Partition) -> PgResult<u64> {
    let (parent, name) = (table.name(), table.partition_name(partition.day));
    sqlx::query("SET statement_timeout = 0").execute(&mut *conn).await?;
    let outcome = async {
        let count = AssertSqlSafe(format!("SELECT count(*) FROM {name}"));
        let row_count: i64 = sqlx::query_scalar(count).fetch_one(&mut *conn).await?;
        let how = match partition.attachment {
            Attachment::Attached => Some("CONCURRENTLY"),
            Attachment::DetachPending => Some("FINALIZE"),
            Attachment::Detached => None,
        };
        if let Some(how) = how {
            let detach = AssertSqlSafe(format!("ALTER TABLE {parent} DETACH PARTITION {name} {how}"));
            sqlx::raw_sql(detach).execute(&mut *conn).await?;
        }
        let mut tx = conn.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(PARTITION_LOCK).execute(&mut *tx).await?;
        sqlx::raw_sql(AssertSqlSafe(format!("DROP TABLE IF EXISTS {name}"))).execute(&mut *tx).await?;
        tx.commit().await?;
        Ok::<_, PgError>(row_count.unsigned_abs())
    }
    .await;
    sqlx::query("RESET statement_timeout").execute(conn).await?;
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_partition_leads_to_its_day() {
        for day in [-3 * DAY_US, 0, 20_000 * DAY_US] {
            for table in DailyTable::OF_RESULTS {
                assert_eq!(table.day_of(&table.partition_name(day)), Some(day));
            }
        }
        assert_eq!(DailyTable::Results.day_of("result_details_ok_d5"), None);
        assert_eq!((day_start(-1), day_start(DAY_US)), (-DAY_US, DAY_US));
    }
}
