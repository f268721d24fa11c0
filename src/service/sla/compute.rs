//! Computes an SLA report from single results.

use std::time::Duration;

use super::agreement::Agreement;
use super::granularity::Granularity;
use super::query::{ReportError, SlaQuery};
use super::report::{BlackoutRow, GoalReport, LocationRow, PeriodRow, SlaReport, SlaStatsRow};
use super::settled_runs::SettledRunFilter;
use crate::catalog::AccountSnapshot;
use crate::domain::{ConfigRecord, LocationId, Timestamp};
use crate::evaluate::sla::{SlaAggregate, SlaAggregator, SlaStats};
use crate::schedule::BlackoutTarget;
use crate::schema::Monitor;
use crate::service::monitor_reader::MonitorReader;
use crate::store::StoreError;

/// Results read from the store at once.
const SAMPLES_PER_READ: u32 = 20_000;

/// Trailing periods of a report for which burn rates are reported.
const BURN_RATE_WINDOWS: [Duration; 4] =
    [Duration::from_hours(1), Duration::from_hours(6), Duration::from_hours(24), Duration::from_hours(72)];

/// Computes the report of the agreement in `record`, with the account data `account`.
pub(in crate::service) async fn compute_report(
    record: &ConfigRecord,
    account: &AccountSnapshot,
    monitor_reader: &MonitorReader,
    query: SlaQuery,
    now: Timestamp,
) -> Result<SlaReport, ReportError> {
    let agreement = Agreement::from_record(record).ok_or(ReportError::NotFound)?;
    let zone = &account.time_zone;
    let from = query
        .from
        .unwrap_or_else(|| query.granularity.default_start(zone, query.until.unwrap_or(now).min(now)));
    let until = query.until.unwrap_or(now).min(now);
    if from >= until {
        return Err(ReportError::EmptyRange);
    }
    let period_starts = query.granularity.period_starts(zone, from, until);
    if period_starts.len() > super::granularity::MAX_PERIODS {
        return Err(ReportError::TooManyPeriods);
    }
    let scope = agreement.counted_times(&account.blackout_calendar, from, until);
    let counted_s = scope.included_ranges.total_micros() / 1_000_000;
    let burn_rate_starts = BURN_RATE_WINDOWS.map(|length| until - length);
    let mut aggregator = SlaAggregator::new(scope, period_starts.clone(), until, &burn_rate_starts);
    let monitor = monitor_reader.monitor(agreement.monitor_id);
    let settled_run_filter = SettledRunFilter::new(monitor.as_ref(), account, now);
    aggregate_samples(monitor_reader, &agreement, (from, until), &settled_run_filter, &mut aggregator)
        .await?;
    let aggregate = aggregator.finish();
    let oldest_result_at = monitor_reader.sample_store().oldest_planned_at(agreement.monitor_id).await?;
    // No data can be older than the monitor.
    let created_at = monitor.as_ref().and_then(|monitor| monitor.metadata.created_at);
    let is_complete = oldest_result_at.is_none_or(|oldest| {
        let interval = monitor.as_ref().map_or(Duration::ZERO, Monitor::interval);
        oldest <= from.max(created_at.unwrap_or(from)) + interval
    });
    Ok(SlaReport {
        sla_id: agreement.id,
        name: agreement.name.clone(),
        monitor_id: agreement.monitor_id,
        monitor_name: monitor.map(|monitor| monitor.name().to_owned()).unwrap_or_default(),
        time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        granularity: query.granularity.as_str(),
        from,
        until,
        oldest_result_at,
        is_complete,
        counted_s,
        goals: goal_reports(&agreement, &aggregate, from, &burn_rate_starts),
        total: SlaStatsRow::from_stats(&aggregate.total_stats),
        locations: aggregate
            .stats_by_location
            .iter()
            .map(|(id, stats)| location_row(*id, stats, account))
            .collect(),
        periods: period_rows(query.granularity, account, &period_starts, until, &aggregate.bucket_stats),
        blackouts: blackout_rows(&agreement, account, from, until),
        events: monitor_reader.event_markers(account.customer_id, from, until).await?,
    })
}

/// Adds the results of settled runs to `aggregator` in chunks, never splitting a run between two chunks.
async fn aggregate_samples(
    monitor_reader: &MonitorReader,
    agreement: &Agreement,
    (from, until): (Timestamp, Timestamp),
    settled_run_filter: &SettledRunFilter,
    aggregator: &mut SlaAggregator,
) -> Result<(), StoreError> {
    let mut read_from = from;
    loop {
        let mut samples = monitor_reader
            .sample_store()
            .samples(agreement.monitor_id, read_from, until, SAMPLES_PER_READ)
            .await?;
        let is_full_chunk = samples.len() >= SAMPLES_PER_READ as usize;
        let last_planned_at = samples.last().map(|sample| sample.planned_at);
        // The last run may be incomplete: it is read again with the next chunk.
        let incomplete_planned_at =
            last_planned_at.filter(|last_planned_at| is_full_chunk && *last_planned_at > read_from);
        if let Some(last_planned_at) = incomplete_planned_at {
            samples.retain(|sample| sample.planned_at < last_planned_at);
        }
        settled_run_filter.retain_settled(&mut samples);
        for sample in samples {
            aggregator.add(agreement.with_counted_duration(sample));
        }
        match incomplete_planned_at {
            Some(last_planned_at) => read_from = last_planned_at,
            None => return Ok(()),
        }
    }
}

fn goal_reports(
    agreement: &Agreement,
    aggregate: &SlaAggregate,
    from: Timestamp,
    burn_rate_starts: &[Timestamp; 4],
) -> Vec<GoalReport> {
    let mut starts_and_stats = burn_rate_starts.iter().zip(&aggregate.trailing_stats);
    let burn_rate_stats = [(); 4].map(|()| {
        let (start, stats) = starts_and_stats.next()?;
        (*start >= from).then(|| stats.clone())
    });
    let total = &aggregate.total_stats;
    let availability = agreement.availability.map(|objective| {
        GoalReport::from_ratio(
            "availability",
            objective,
            SlaStats::availability_counts,
            total,
            &burn_rate_stats,
        )
    });
    let uptime = agreement.uptime.map(|objective| {
        GoalReport::from_ratio("uptime", objective, SlaStats::uptime_counts, total, &burn_rate_stats)
    });
    let response = agreement.response_time.map(|goal| GoalReport::from_response_time(goal, total));
    [availability, uptime, response].into_iter().flatten().collect()
}

fn location_row(id: LocationId, stats: &SlaStats, account: &AccountSnapshot) -> LocationRow {
    let name = account.locations.get(&id.0).map(|location| location.name.clone()).unwrap_or_default();
    LocationRow { location_id: id, name, stats: SlaStatsRow::from_stats(stats) }
}

fn period_rows(
    granularity: Granularity,
    account: &AccountSnapshot,
    starts: &[Timestamp],
    until: Timestamp,
    period_stats: &[SlaStats],
) -> Vec<PeriodRow> {
    let ends = starts.iter().skip(1).copied().chain([until]);
    let to_row = |((from, until), stats): ((&Timestamp, Timestamp), &SlaStats)| PeriodRow {
        period: granularity.period_name(&account.time_zone, *from),
        from: *from,
        until,
        stats: SlaStatsRow::from_stats(stats),
    };
    starts.iter().zip(ends).zip(period_stats).map(to_row).collect()
}

fn blackout_rows(
    agreement: &Agreement,
    account: &AccountSnapshot,
    from: Timestamp,
    until: Timestamp,
) -> Vec<BlackoutRow> {
    let monitor = agreement.monitor_id;
    let targets = [("Monitor", BlackoutTarget::Monitor(monitor)), ("Alert", BlackoutTarget::Alert(monitor))];
    let mut rows: Vec<BlackoutRow> = Vec::new();
    for (kind, target) in targets {
        let ranges = account.blackout_calendar.ranges_between(target, from, until).into_iter();
        rows.extend(ranges.map(|(from, until)| BlackoutRow { kind, from, until }));
    }
    rows.sort_by_key(|row| (row.from, row.until));
    rows
}
