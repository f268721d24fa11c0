//! Reads statistics by minute, hour or day. What is not rolled up yet, and minutes always, are computed from results.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{LocationId, Paginated, Pagination, Rollup, RollupQuery, RollupStep, Timestamp};
use crate::store::contract::RollupSpan;

use super::pending_rollups::rollup_bounds;
use super::result_stats::{ResultRange, result_stats};
use super::stored;
use crate::store::rows::rollup::missed_series::runs_within;
use crate::store::rows::rollup::rolled_up_hours::ALL_MONITORS;
use crate::store::rows::rollup::span::{ceil_step, span_code};
use crate::store::rows::rollup::stats::RollupStats;

/// Start of a step, and a location.
type PointKey = (i64, i64);

/// Returns one page of the points that `query` selects; `None` when the account has no such monitor.
pub(in crate::store::sqlite) fn select_points(
    conn: &Connection,
    query: &RollupQuery,
    page: Pagination,
) -> rusqlite::Result<Option<Paginated<Rollup>>> {
    // Keys and their statistics must see the same state of the database.
    let tx = conn.unchecked_transaction()?;
    if !has_monitor(&tx, query)? {
        return Ok(None);
    }
    let reader = PointReader::new(&tx, query)?;
    let keys = reader.keys()?;
    let offset = usize::try_from(page.offset).unwrap_or(usize::MAX);
    let mut items = Vec::new();
    for &(start, location) in keys.iter().skip(offset).take(page.limit as usize) {
        let stats = reader.stats(query.step, start, location)?;
        items.push(stats.to_rollup(query.monitor_id, LocationId(location), Timestamp::from_micros(start)));
    }
    Ok(Some(Paginated { total: keys.len() as u64, items }))
}

fn has_monitor(conn: &Connection, query: &RollupQuery) -> rusqlite::Result<bool> {
    let found: Option<i64> = conn
        .prepare_cached("SELECT 1 FROM monitors WHERE id = ?1 AND customer = ifnull(?2, customer)")?
        .query_row(params![query.monitor_id.0, query.customer.map(|customer| customer.0)], |row| row.get(0))
        .optional()?;
    Ok(found.is_some())
}

/// Reads the points of one monitor.
struct PointReader<'a> {
    conn: &'a Connection,
    query: &'a RollupQuery,
    /// Hours and days that start earlier are rolled up.
    hours_stored_until: i64,
    days_stored_until: i64,
}

impl<'a> PointReader<'a> {
    fn new(conn: &'a Connection, query: &'a RollupQuery) -> rusqlite::Result<Self> {
        let [hours_stored_until, days_stored_until] =
            [stored_until(conn, RollupSpan::Hour)?, stored_until(conn, RollupSpan::Day)?];
        Ok(Self { conn, query, hours_stored_until, days_stored_until })
    }

    /// Returns the steps of the query that have runs, by time and location.
    fn keys(&self) -> rusqlite::Result<BTreeSet<PointKey>> {
        let step = self.query.step;
        let [from, until] = [self.query.from, self.query.until].map(|time| ceil_step(step, time.as_micros()));
        match step {
            RollupStep::Minute => self.result_keys(step, from, until),
            RollupStep::Hour => self.hour_keys(from, until),
            RollupStep::Day => {
                let mut keys = self.stored_keys(RollupSpan::Day, from, until)?;
                let day = |time| step.start_of(Timestamp::from_micros(time)).as_micros();
                let hours = self.hour_keys(from.max(self.days_stored_until), until)?;
                keys.extend(hours.into_iter().map(|(start, location)| (day(start), location)));
                Ok(keys)
            }
        }
    }

    /// Returns the hours with runs: stored rollups, then results that are not rolled up yet.
    fn hour_keys(&self, from: i64, until: i64) -> rusqlite::Result<BTreeSet<PointKey>> {
        let mut keys = self.stored_keys(RollupSpan::Hour, from, until)?;
        keys.extend(self.result_keys(RollupStep::Hour, from.max(self.hours_stored_until), until)?);
        Ok(keys)
    }

    fn stored_keys(&self, span: RollupSpan, from: i64, until: i64) -> rusqlite::Result<BTreeSet<PointKey>> {
        self.conn
            .prepare_cached(
                "SELECT start, location_id FROM rollups INDEXED BY rollups_by_monitor
                 WHERE span = ?1 AND monitor_id = ?2 AND start >= ?3 AND start < ?4
                     AND location_id = ifnull(?5, location_id)",
            )?
            .query_map(
                params![span_code(span), self.query.monitor_id.0, from, until, self.queried_location()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?
            .collect()
    }

    /// Returns the steps with planned runs in `from..until`.
    fn result_keys(&self, step: RollupStep, from: i64, until: i64) -> rusqlite::Result<BTreeSet<PointKey>> {
        let (monitor, width) = (self.query.monitor_id.0, step.width_us());
        let start_of = |time: i64| time.saturating_sub(time.rem_euclid(width));
        let mut keys: BTreeSet<PointKey> = self
            .conn
            .prepare_cached(
                "SELECT DISTINCT planned_at - (planned_at % ?5 + ?5) % ?5, location_id
                 FROM results INDEXED BY results_by_monitor
                 WHERE monitor_id = ?1 AND planned_at >= ?2 AND planned_at < ?3
                     AND location_id = ifnull(?4, location_id) AND first_check IS NULL",
            )?
            .query_map(params![monitor, from, until, self.queried_location(), width], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<Result<_, _>>()?;
        // One row may stand for missed runs of many steps.
        let mut statement = self.conn.prepare_cached(
            "SELECT planned_at, last_planned_at, missed_slots, location_id FROM results INDEXED BY results_missed_of
             WHERE monitor_id = ?1 AND last_planned_at >= ?2 AND planned_at < ?3
                 AND location_id = ifnull(?4, location_id)",
        )?;
        let mut rows = statement.query(params![monitor, from, until, self.queried_location()])?;
        while let Some(row) = rows.next()? {
            let (first, last, run_count, location): (i64, i64, i64, i64) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let mut start = start_of(first.max(from));
            while start < until && start <= last {
                if runs_within(first, last, run_count, start, start.saturating_add(width)) > 0 {
                    keys.insert((start, location));
                }
                start = start.saturating_add(width);
            }
        }
        Ok(keys)
    }

    fn stats(&self, step: RollupStep, start: i64, location: i64) -> rusqlite::Result<RollupStats> {
        let monitor_and_location = (self.query.monitor_id.0, location);
        let stored_stats = |span| stored::select_stats(self.conn, span, start, monitor_and_location);
        match step {
            RollupStep::Minute => self.result_stats(step, start, location),
            RollupStep::Hour => match stored_stats(RollupSpan::Hour)? {
                Some(stats) => Ok(stats),
                None => self.result_stats(step, start, location),
            },
            RollupStep::Day => match stored_stats(RollupSpan::Day)? {
                Some(stats) => Ok(stats),
                None => self.day_stats(start, location),
            },
        }
    }

    /// Merges the stored hours of a day and those that are not rolled up yet.
    fn day_stats(&self, start: i64, location: i64) -> rusqlite::Result<RollupStats> {
        let mut stats = stored::merge_hours(self.conn, start, (self.query.monitor_id.0, location))?;
        let hour_us = RollupStep::Hour.width_us();
        for hour in (0..24).map(|number| start + number * hour_us) {
            if hour >= self.hours_stored_until
                && stored::select_stats(
                    self.conn,
                    RollupSpan::Hour,
                    hour,
                    (self.query.monitor_id.0, location),
                )?
                .is_none()
            {
                stats.merge(&self.result_stats(RollupStep::Hour, hour, location)?);
            }
        }
        Ok(stats)
    }

    fn result_stats(&self, step: RollupStep, start: i64, location: i64) -> rusqlite::Result<RollupStats> {
        let until = start.saturating_add(step.width_us());
        let range = ResultRange { monitor: self.query.monitor_id.0, location, from: start, until };
        result_stats(self.conn, range, self.query.with_browser_figures)
    }

    /// Returns the only location of the query; `None` for all.
    fn queried_location(&self) -> Option<i64> {
        self.query.location.map(|location| location.0)
    }
}

/// Returns the time before which all hours or days are stored. Those that are being written are not.
fn stored_until(conn: &Connection, span: RollupSpan) -> rusqlite::Result<i64> {
    let (rolled_until, _) = rollup_bounds(conn, span)?;
    let first_unwritten: Option<i64> = conn
        .prepare_cached("SELECT min(start) FROM late WHERE span = ?1 AND monitor_id = ?2")?
        .query_row([span_code(span), ALL_MONITORS], |row| row.get(0))?;
    Ok(rolled_until.min(first_unwritten.unwrap_or(i64::MAX)))
}
