//! Computes an SLA report from single results.

use std::time::Duration;

use super::agreement::Agreement;
use super::pieces::By;
use super::query::{NoReport, SlaQuery};
use super::report::{BlackoutRow, GoalReport, LocationRow, PieceRow, Row, SlaReport};
use crate::catalog::AccountFacts;
use crate::domain::{LocationId, Record, Timestamp};
use crate::evaluate::sla::{SlaAggregate, SlaAggregator, SlaStats};
use crate::schedule::BlackoutTarget;
use crate::schema::Monitor;
use crate::service::view::View;
use crate::store::StoreError;

/// Results that are read at a time.
const CHUNK: u32 = 20_000;

/// The ends of a report whose burn rates are told.
const TAILS: [Duration; 4] =
    [Duration::from_hours(1), Duration::from_hours(6), Duration::from_hours(24), Duration::from_hours(72)];

/// The report of the agreement in `record`, of the account of `facts`.
pub(in crate::service) async fn report(
    record: &Record,
    facts: &AccountFacts,
    view: &View,
    query: SlaQuery,
    now: Timestamp,
) -> Result<SlaReport, NoReport> {
    let agreement = Agreement::of(record).ok_or(NoReport::Unknown)?;
    let zone = &facts.time_zone;
    let from = query.from.unwrap_or_else(|| query.by.begin(zone, query.thru.unwrap_or(now).min(now)));
    let thru = query.thru.unwrap_or(now).min(now);
    if from >= thru {
        return Err(NoReport::Empty);
    }
    let starts = query.by.starts(zone, from, thru);
    if starts.len() > super::pieces::MOST {
        return Err(NoReport::TooLong);
    }
    let scope = agreement.scope(&facts.calendar, from, thru);
    let counted_s = scope.included.total_micros() / 1_000_000;
    let tails = TAILS.map(|length| thru - length);
    let mut tally = SlaAggregator::new(scope, starts.clone(), thru, &tails);
    count(view, &agreement, from, thru, &mut tally).await?;
    let counted = tally.finish();
    let data_from = view.samples().oldest_planned_at(agreement.monitor).await?;
    let monitor = view.monitor(agreement.monitor);
    // What is older than the monitor was never there.
    let made = monitor.as_ref().and_then(|monitor| monitor.trail.created_at);
    let complete = data_from.is_none_or(|first| {
        let grid = monitor.as_ref().map_or(Duration::ZERO, Monitor::interval);
        first <= from.max(made.unwrap_or(from)) + grid
    });
    Ok(SlaReport {
        sla_id: agreement.id,
        name: agreement.name.clone(),
        monitor_id: agreement.monitor,
        monitor_name: monitor.map(|monitor| monitor.name().to_owned()).unwrap_or_default(),
        time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        by: query.by.word(),
        from,
        thru,
        data_from,
        complete,
        counted_s,
        goals: goals(&agreement, &counted, from, &tails),
        total: Row::of(&counted.total),
        locations: counted.locations.iter().map(|(id, figures)| location(*id, figures, facts)).collect(),
        pieces: piece_rows(query.by, facts, &starts, thru, &counted.buckets),
        blackouts: blackouts(&agreement, facts, from, thru),
    })
}

/// Reads the results a piece at a time, each run as a whole.
async fn count(
    view: &View,
    agreement: &Agreement,
    from: Timestamp,
    thru: Timestamp,
    tally: &mut SlaAggregator,
) -> Result<(), StoreError> {
    let mut at = from;
    loop {
        let mut some = view.samples().samples(agreement.monitor, at, thru, CHUNK).await?;
        let full = some.len() >= CHUNK as usize;
        let last = some.last().map(|sample| sample.planned_at);
        // The last run may be cut: it comes again, whole.
        let again = last.filter(|last| full && *last > at);
        if let Some(last) = again {
            some.retain(|sample| sample.planned_at < last);
        }
        for sample in some {
            tally.add(agreement.timed(sample));
        }
        match again {
            Some(last) => at = last,
            None => return Ok(()),
        }
    }
}

fn goals(
    agreement: &Agreement,
    counted: &SlaAggregate,
    from: Timestamp,
    tails: &[Timestamp; 4],
) -> Vec<GoalReport> {
    let mut reached = tails.iter().zip(&counted.trailing);
    let tails = [(); 4].map(|()| {
        let (start, figures) = reached.next()?;
        (*start >= from).then(|| figures.clone())
    });
    let total = &counted.total;
    let availability = agreement
        .availability
        .map(|goal| GoalReport::of("availability", goal, SlaStats::availability, total, &tails));
    let uptime = agreement.uptime.map(|goal| GoalReport::of("uptime", goal, SlaStats::uptime, total, &tails));
    let response = agreement.response_time.map(|wanted| GoalReport::of_response(wanted, total));
    [availability, uptime, response].into_iter().flatten().collect()
}

fn location(id: LocationId, figures: &SlaStats, facts: &AccountFacts) -> LocationRow {
    let name = facts.locations.get(&id.0).map(|location| location.name.clone()).unwrap_or_default();
    LocationRow { location_id: id, name, row: Row::of(figures) }
}

fn piece_rows(
    by: By,
    facts: &AccountFacts,
    starts: &[Timestamp],
    thru: Timestamp,
    pieces: &[SlaStats],
) -> Vec<PieceRow> {
    let ends = starts.iter().skip(1).copied().chain([thru]);
    let row = |((from, thru), figures): ((&Timestamp, Timestamp), &SlaStats)| PieceRow {
        period: by.name(&facts.time_zone, *from),
        from: *from,
        thru,
        row: Row::of(figures),
    };
    starts.iter().zip(ends).zip(pieces).map(row).collect()
}

fn blackouts(
    agreement: &Agreement,
    facts: &AccountFacts,
    from: Timestamp,
    thru: Timestamp,
) -> Vec<BlackoutRow> {
    let monitor = agreement.monitor;
    let kinds = [("Monitor", BlackoutTarget::Monitor(monitor)), ("Alert", BlackoutTarget::Alert(monitor))];
    let mut rows: Vec<BlackoutRow> = Vec::new();
    for (kind, rests) in kinds {
        let all = facts.calendar.ranges_between(rests, from, thru).into_iter();
        rows.extend(all.map(|(from, thru)| BlackoutRow { kind, from, thru }));
    }
    rows.sort_by_key(|row| (row.from, row.thru));
    rows
}
