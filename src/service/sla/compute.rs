//! Computes an SLA report from single results.

use std::time::Duration;

use super::agreement::Agreement;
use super::granularity::Granularity;
use super::query::{ReportError, SlaQuery};
use super::report::{BlackoutRow, GoalReport, LocationRow, PeriodRow, SlaReport, SlaStatsRow};
use crate::catalog::AccountFacts;
use crate::domain::{LocationId, Record, Timestamp};
use crate::evaluate::sla::{SlaAggregate, SlaAggregator, SlaStats};
use crate::schedule::BlackoutTarget;
use crate::schema::Monitor;
use crate::service::status_queries::StatusQueries;
use crate::store::StoreError;

/// Results read from the store at once.
const SAMPLES_PER_READ: u32 = 20_000;

/// Trailing periods of a report for which burn rates are reported.
const BURN_RATE_WINDOWS: [Duration; 4] =
    [Duration::from_hours(1), Duration::from_hours(6), Duration::from_hours(24), Duration::from_hours(72)];

/// Computes the report of the agreement in `record`, with the account data `facts`.
pub(in crate::service) async fn compute_report(
    record: &Record,
    facts: &AccountFacts,
    view: &StatusQueries,
    query: SlaQuery,
    now: Timestamp,
) -> Result<SlaReport, ReportError> {
    let agreement = Agreement::from_record(record).ok_or(ReportError::NotFound)?;
    let zone = &facts.time_zone;
    let from = query
        .from
        .unwrap_or_else(|| query.granularity.default_start(zone, query.until.unwrap_or(now).min(now)));
    let thru = query.until.unwrap_or(now).min(now);
    if from >= thru {
        return Err(ReportError::EmptyRange);
    }
    let starts = query.granularity.period_starts(zone, from, thru);
    if starts.len() > super::granularity::MAX_PERIODS {
        return Err(ReportError::TooManyPeriods);
    }
    let scope = agreement.counted_times(&facts.calendar, from, thru);
    let counted_s = scope.included.total_micros() / 1_000_000;
    let tails = BURN_RATE_WINDOWS.map(|length| thru - length);
    let mut aggregator = SlaAggregator::new(scope, starts.clone(), thru, &tails);
    aggregate_samples(view, &agreement, from, thru, &mut aggregator).await?;
    let counted = aggregator.finish();
    let data_from = view.sample_store().oldest_planned_at(agreement.monitor_id).await?;
    let monitor = view.monitor(agreement.monitor_id);
    // No data can be older than the monitor.
    let created_at = monitor.as_ref().and_then(|monitor| monitor.metadata.created_at);
    let complete = data_from.is_none_or(|first| {
        let grid = monitor.as_ref().map_or(Duration::ZERO, Monitor::interval);
        first <= from.max(created_at.unwrap_or(from)) + grid
    });
    Ok(SlaReport {
        sla_id: agreement.id,
        name: agreement.name.clone(),
        monitor_id: agreement.monitor_id,
        monitor_name: monitor.map(|monitor| monitor.name().to_owned()).unwrap_or_default(),
        time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        granularity: query.granularity.as_str(),
        from,
        until: thru,
        oldest_result_at: data_from,
        is_complete: complete,
        counted_s,
        goals: goal_reports(&agreement, &counted, from, &tails),
        total: SlaStatsRow::from_stats(&counted.total),
        locations: counted.locations.iter().map(|(id, stats)| location_row(*id, stats, facts)).collect(),
        periods: period_rows(query.granularity, facts, &starts, thru, &counted.buckets),
        blackouts: blackout_rows(&agreement, facts, from, thru),
    })
}

/// Adds the results to `aggregator` in chunks, never splitting a run between two chunks.
async fn aggregate_samples(
    view: &StatusQueries,
    agreement: &Agreement,
    from: Timestamp,
    thru: Timestamp,
    aggregator: &mut SlaAggregator,
) -> Result<(), StoreError> {
    let mut at = from;
    loop {
        let mut samples =
            view.sample_store().samples(agreement.monitor_id, at, thru, SAMPLES_PER_READ).await?;
        let full = samples.len() >= SAMPLES_PER_READ as usize;
        let last = samples.last().map(|sample| sample.planned_at);
        // The last run may be incomplete: it is read again with the next chunk.
        let incomplete = last.filter(|last| full && *last > at);
        if let Some(last) = incomplete {
            samples.retain(|sample| sample.planned_at < last);
        }
        for sample in samples {
            aggregator.add(agreement.with_counted_duration(sample));
        }
        match incomplete {
            Some(last) => at = last,
            None => return Ok(()),
        }
    }
}

fn goal_reports(
    agreement: &Agreement,
    counted: &SlaAggregate,
    from: Timestamp,
    tails: &[Timestamp; 4],
) -> Vec<GoalReport> {
    let mut reached = tails.iter().zip(&counted.trailing);
    let tails = [(); 4].map(|()| {
        let (start, stats) = reached.next()?;
        (*start >= from).then(|| stats.clone())
    });
    let total = &counted.total;
    let availability = agreement.availability.map(|objective| {
        GoalReport::from_ratio("availability", objective, SlaStats::availability, total, &tails)
    });
    let uptime = agreement
        .uptime
        .map(|objective| GoalReport::from_ratio("uptime", objective, SlaStats::uptime, total, &tails));
    let response = agreement.response_time.map(|goal| GoalReport::from_response_time(goal, total));
    [availability, uptime, response].into_iter().flatten().collect()
}

fn location_row(id: LocationId, stats: &SlaStats, facts: &AccountFacts) -> LocationRow {
    let name = facts.locations.get(&id.0).map(|location| location.name.clone()).unwrap_or_default();
    LocationRow { location_id: id, name, stats: SlaStatsRow::from_stats(stats) }
}

fn period_rows(
    by: Granularity,
    facts: &AccountFacts,
    starts: &[Timestamp],
    thru: Timestamp,
    pieces: &[SlaStats],
) -> Vec<PeriodRow> {
    let ends = starts.iter().skip(1).copied().chain([thru]);
    let row = |((from, thru), stats): ((&Timestamp, Timestamp), &SlaStats)| PeriodRow {
        period: by.period_name(&facts.time_zone, *from),
        from: *from,
        until: thru,
        stats: SlaStatsRow::from_stats(stats),
    };
    starts.iter().zip(ends).zip(pieces).map(row).collect()
}

fn blackout_rows(
    agreement: &Agreement,
    facts: &AccountFacts,
    from: Timestamp,
    thru: Timestamp,
) -> Vec<BlackoutRow> {
    let monitor = agreement.monitor_id;
    let kinds = [("Monitor", BlackoutTarget::Monitor(monitor)), ("Alert", BlackoutTarget::Alert(monitor))];
    let mut rows: Vec<BlackoutRow> = Vec::new();
    for (kind, target) in kinds {
        let all = facts.calendar.ranges_between(target, from, thru).into_iter();
        rows.extend(all.map(|(from, thru)| BlackoutRow { kind, from, until: thru }));
    }
    rows.sort_by_key(|row| (row.from, row.until));
    rows
}
