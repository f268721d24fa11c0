//! Blackout windows: examples for both clock changes, and a comparison with a minute-by-minute simulation that uses
//! only the local time.

use jiff::ToSpan as _;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use vigie::domain::{MonitorId, RecipientId, Timestamp};
use vigie::schedule::{BlackoutCalendar, BlackoutTarget, BlackoutWindow, TimeWindow};

const SHOP: BlackoutTarget = BlackoutTarget::Monitor(MonitorId(1));

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

fn once(from: &str, thru: &str) -> TimeWindow {
    TimeWindow::Once { start: from.parse().unwrap(), end: thru.parse().unwrap() }
}

/// Parses days and times such as `1 02:00`, which is Sunday two o'clock.
fn weekly(start: &str, end: &str) -> TimeWindow {
    let part = |text: &str| {
        let (day, time) = text.split_once(' ').unwrap();
        (day.parse().unwrap(), format!("{time}:00").parse::<Time>().unwrap())
    };
    let ((start_day, start), (end_day, end)) = (part(start), part(end));
    TimeWindow::Weekly { start_day, start, end_day, end }
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn calendar(zone: &TimeZone, when: TimeWindow) -> (BlackoutCalendar, BlackoutWindow) {
    let window = BlackoutWindow { id: 7, target: SHOP, time_window: when };
    (BlackoutCalendar::new(zone.clone(), vec![window.clone()]), window)
}

/// Returns the next occurrences, as text.
fn next(zone_name: &str, when: TimeWindow, after: &str, max: usize) -> Vec<(String, String)> {
    let (calendar, window) = calendar(&zone(zone_name), when);
    let found = calendar.occurrences(&window, at(after), max);
    found.into_iter().map(|(from, thru)| (from.to_string(), thru.to_string())).collect()
}

fn pairs(texts: &[(&str, &str)]) -> Vec<(String, String)> {
    texts.iter().map(|&(from, thru)| (from.to_owned(), thru.to_owned())).collect()
}

#[test]
fn a_window_includes_its_start_and_excludes_its_end() {
    let (calendar, _) = calendar(&zone("Europe/Paris"), once("2026-11-20T12:00:00", "2026-11-20T13:00:00"));
    for (moment, covered) in [
        ("2026-11-20T10:59:59.999999Z", false),
        ("2026-11-20T11:00:00Z", true),
        ("2026-11-20T11:59:59.999999Z", true),
        ("2026-11-20T12:00:00Z", false),
    ] {
        assert_eq!(
            calendar.active_window(SHOP, at(moment)).map(|window| window.id),
            covered.then_some(7),
            "{moment}"
        );
    }
}

#[test]
fn a_window_applies_only_to_its_target() {
    let (calendar, _) = calendar(&TimeZone::UTC, once("2026-11-20T12:00:00", "2026-11-20T13:00:00"));
    let noon = at("2026-11-20T12:00:00Z");
    assert!(calendar.active_window(SHOP, noon).is_some());
    for other in [
        BlackoutTarget::Alert(MonitorId(1)),
        BlackoutTarget::Monitor(MonitorId(2)),
        BlackoutTarget::Recipient(RecipientId(1)),
    ] {
        assert_eq!(calendar.active_window(other, noon), None, "{other:?}");
    }
}

#[test]
fn the_first_window_that_covers_a_time_is_returned() {
    let window =
        |id, from: &str, thru: &str| BlackoutWindow { id, target: SHOP, time_window: once(from, thru) };
    let windows = vec![
        window(1, "2026-11-20T10:00:00", "2026-11-20T11:00:00"),
        window(2, "2026-11-20T10:30:00", "2026-11-20T12:00:00"),
    ];
    let calendar = BlackoutCalendar::new(TimeZone::UTC, windows);
    let active_id = |text| calendar.active_window(SHOP, at(text)).map(|window| window.id);
    assert_eq!(active_id("2026-11-20T10:45:00Z"), Some(1));
    assert_eq!(active_id("2026-11-20T11:00:00Z"), Some(2));
    assert_eq!(
        calendar.ranges_between(SHOP, at("2026-11-20T10:45:00Z"), at("2026-11-20T13:00:00Z")),
        [
            (at("2026-11-20T10:00:00Z"), at("2026-11-20T11:00:00Z")),
            (at("2026-11-20T10:30:00Z"), at("2026-11-20T12:00:00Z"))
        ]
    );
    assert_eq!(calendar.ranges_between(SHOP, at("2026-11-20T12:00:00Z"), at("2026-11-20T13:00:00Z")), []);
}

#[test]
fn a_weekly_window_may_wrap_the_week() {
    // Saturday evening to Sunday morning; 2026-11-21 is a Saturday.
    assert_eq!(
        next("UTC", weekly("7 23:00", "1 01:00"), "2026-11-22T00:30:00Z", 2),
        pairs(&[
            ("2026-11-21T23:00:00Z", "2026-11-22T01:00:00Z"),
            ("2026-11-28T23:00:00Z", "2026-11-29T01:00:00Z"),
        ])
    );
    // From Monday to the following Sunday.
    assert_eq!(
        next("UTC", weekly("2 08:00", "1 08:00"), "2026-11-22T08:00:00Z", 1),
        pairs(&[("2026-11-23T08:00:00Z", "2026-11-29T08:00:00Z")])
    );
    // The whole week but one hour.
    assert_eq!(
        next("UTC", weekly("4 09:00", "4 08:00"), "2026-11-25T07:59:59Z", 2),
        pairs(&[
            ("2026-11-18T09:00:00Z", "2026-11-25T08:00:00Z"),
            ("2026-11-25T09:00:00Z", "2026-12-02T08:00:00Z"),
        ])
    );
}

#[test]
fn the_same_day_and_time_twice_is_a_whole_week() {
    for text in ["1 00:00", "5 13:37"] {
        let (calendar, window) = calendar(&TimeZone::UTC, weekly(text, text));
        let found = calendar.occurrences(&window, at("2026-11-20T00:00:00Z"), 3);
        assert!(found.windows(2).all(|two| two[0].1 == two[1].0), "{found:?}");
        assert!(calendar.active_window(SHOP, at("2026-11-20T00:00:00Z")).is_some());
    }
}

#[test]
fn clocks_set_ahead_lose_no_window() {
    // Berlin, 2026-03-29: 02:00 is 03:00, 01:00 UTC.
    for (start, end, from, thru) in [
        ("1 01:00", "1 04:00", "00:00", "02:00"),
        ("1 01:00", "1 02:30", "00:00", "01:30"),
        ("1 02:15", "1 02:45", "01:00", "01:45"),
        ("1 02:30", "1 03:15", "01:00", "01:15"),
        ("1 03:00", "1 03:30", "01:00", "01:30"),
        ("1 01:00", "1 02:00", "00:00", "01:00"),
        ("1 02:15", "1 03:00", "01:00", "01:45"),
        ("1 02:00", "1 03:00", "01:00", "02:00"),
    ] {
        let expected = pairs(&[(&format!("2026-03-29T{from}:00Z"), &format!("2026-03-29T{thru}:00Z"))]);
        assert_eq!(
            next("Europe/Berlin", weekly(start, end), "2026-03-28T12:00:00Z", 1),
            expected,
            "{start} to {end}"
        );
    }
    assert_eq!(
        next("Europe/Berlin", once("2026-03-29T02:10:00", "2026-03-29T02:20:00"), "2026-03-01T00:00:00Z", 5),
        pairs(&[("2026-03-29T01:00:00Z", "2026-03-29T01:20:00Z")])
    );
}

#[test]
fn a_repeated_hour_is_covered_twice() {
    // Berlin, 2026-10-25: 03:00 is 02:00, 01:00 UTC.
    for (start, end, from, thru) in [
        ("1 01:00", "1 04:00", "2026-10-24T23:00", "2026-10-25T03:00"),
        ("1 02:15", "1 02:45", "2026-10-25T00:15", "2026-10-25T01:45"),
        ("1 01:30", "1 02:30", "2026-10-24T23:30", "2026-10-25T01:30"),
        ("1 02:30", "1 03:30", "2026-10-25T00:30", "2026-10-25T02:30"),
        ("1 03:00", "1 04:00", "2026-10-25T02:00", "2026-10-25T03:00"),
        ("1 01:00", "1 02:00", "2026-10-24T23:00", "2026-10-25T00:00"),
        ("1 02:00", "1 03:00", "2026-10-25T00:00", "2026-10-25T02:00"),
    ] {
        let expected = pairs(&[(&format!("{from}:00Z"), &format!("{thru}:00Z"))]);
        assert_eq!(
            next("Europe/Berlin", weekly(start, end), "2026-10-24T12:00:00Z", 1),
            expected,
            "{start} to {end}"
        );
    }
}

#[test]
fn a_window_on_a_skipped_calendar_day_still_occurs() {
    // Samoa had no 2011-12-30.
    assert_eq!(
        next("Pacific/Apia", once("2011-12-30T10:00:00", "2011-12-30T11:00:00"), "2011-01-01T00:00:00Z", 1),
        pairs(&[("2011-12-30T10:00:00Z", "2011-12-30T21:00:00Z")])
    );
}

#[test]
fn times_beyond_the_range_of_the_calendar_are_harmless() {
    let (calendar, window) = calendar(&zone("Europe/Berlin"), weekly("1 02:00", "1 03:00"));
    for micros in [i64::MIN, i64::MAX, 253_402_000_000_000_000] {
        let moment = Timestamp::from_micros(micros);
        assert_eq!(calendar.active_window(SHOP, moment), None);
        let found = calendar.occurrences(&window, moment, 10);
        assert!(found.len() < 10 || micros < 0, "{found:?}");
    }
    assert_eq!(
        next("UTC", once("2026-01-01T00:00:00", "2026-01-01T00:00:00"), "2020-01-01T00:00:00Z", 1),
        pairs(&[])
    );
}

const DAYS: i64 = 9;

/// Returns the local time of every minute in the days around `around`.
fn local_times(zone: &TimeZone, around: Timestamp) -> Vec<(Timestamp, DateTime)> {
    let minutes = DAYS * 24 * 60;
    (-minutes..minutes)
        .map(|minute| {
            let moment = Timestamp::from_micros(around.as_micros() + minute * 60_000_000);
            let local_time = zone.to_datetime(jiff::Timestamp::from_microsecond(moment.as_micros()).unwrap());
            (moment, local_time)
        })
        .collect()
}

/// Returns the occurrence from `from` to `thru` in local time. If the clock jumps over its end, the occurrence is
/// extended by the part that was skipped. An occurrence that is skipped as a whole starts at the jump in full length.
fn simulated_occurrence(
    clock: &[(Timestamp, DateTime)],
    from: DateTime,
    thru: DateTime,
) -> Option<(Timestamp, Timestamp)> {
    let start = clock.iter().position(|(_, local_time)| *local_time >= from)?;
    let last = clock.iter().rposition(|(_, local_time)| *local_time < thru)?;
    if start == 0 || last + 1 == clock.len() {
        return None;
    }
    let before = clock[last].1.checked_add(1.minute()).unwrap();
    let skipped =
        if clock[last + 1].1 > thru { thru.duration_since(before) } else { jiff::SignedDuration::ZERO };
    let mut end = clock[last].0.as_micros() + 60_000_000 + i64::try_from(skipped.as_micros()).unwrap();
    if end <= clock[start].0.as_micros() {
        let length = thru.duration_since(from).as_micros();
        end = clock[start].0.as_micros() + i64::try_from(length).unwrap();
    }
    Some((clock[start].0, Timestamp::from_micros(end)))
}

/// Clock changes: by an hour in both directions, by half an hour, over midnight, of the zone itself, none.
const CHANGES: [(&str, &str); 10] = [
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("America/New_York", "2026-03-08T07:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Africa/Cairo", "2026-04-23T22:00:00Z"),
    ("Africa/Cairo", "2026-10-29T21:00:00Z"),
    ("Europe/Volgograd", "2020-12-26T23:00:00Z"),
    ("Asia/Kathmandu", "2026-06-01T00:00:00Z"),
];

/// Requires that the calendar agrees with the simulation in the days around a clock change.
fn assert_matches_simulation(
    clock: &[(Timestamp, DateTime)],
    zone: &TimeZone,
    start: (u8, i8),
    end: (u8, i8),
) {
    let time = |quarter: i8| Time::constant(quarter / 4, quarter % 4 * 15, 0, 0);
    let when =
        TimeWindow::Weekly { start_day: start.0, start: time(start.1), end_day: end.0, end: time(end.1) };
    let mut days = (i64::from(end.0) - i64::from(start.0)).rem_euclid(7);
    if days == 0 && end.1 <= start.1 {
        days = 7;
    }
    let mut expected = Vec::new();
    let mut date = clock[0].1.date();
    while date <= clock[clock.len() - 1].1.date() {
        if date.weekday().to_sunday_zero_offset().unsigned_abs() + 1 == start.0 {
            let thru = date.checked_add(days.days()).unwrap().to_datetime(time(end.1));
            expected.extend(simulated_occurrence(clock, date.to_datetime(time(start.1)), thru));
        }
        date = date.tomorrow().unwrap();
    }
    if expected.is_empty() {
        return;
    }
    let (calendar, window) = calendar(zone, when);
    let before = Timestamp::from_micros(expected[0].1.as_micros() - 1);
    assert_eq!(&calendar.occurrences(&window, before, expected.len()), &expected, "{start:?} to {end:?}");
    let (from, thru) = (expected[0].0, expected[expected.len() - 1].1);
    for (moment, _) in clock.iter().filter(|(moment, _)| from <= *moment && *moment < thru).step_by(11) {
        let inside = expected.iter().any(|(from, thru)| from <= moment && moment < thru);
        assert_eq!(
            calendar.active_window(SHOP, *moment).is_some(),
            inside,
            "{moment} in {start:?} to {end:?}"
        );
    }
}

/// Returns the weekday of the change; 1 is Sunday.
fn day_of(clock: &[(Timestamp, DateTime)]) -> u8 {
    clock[clock.len() / 2].1.date().weekday().to_sunday_zero_offset().unsigned_abs() + 1
}

#[test]
fn short_windows_on_the_day_of_a_clock_change_match_the_simulation() {
    for (name, moment) in CHANGES {
        let zone = zone(name);
        let clock = local_times(&zone, at(moment));
        let day = day_of(&clock);
        // From two hours before the local time after the change to one hour after it.
        let quarter_after_change = clock[clock.len() / 2].1.hour() * 4;
        for start in (quarter_after_change - 8).max(0)..=(quarter_after_change + 4).min(24 * 4 - 1) {
            for length in [1, 3, 4, 5] {
                let end = start + length;
                let end = if end < 24 * 4 { (day, end) } else { (day % 7 + 1, end - 24 * 4) };
                assert_matches_simulation(&clock, &zone, (day, start), end);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    // row: 2.4 start_day; 2.4 end_day; 2.4 start_time; 2.4 end_time
    #[test]
    fn windows_match_the_simulation_by_the_minute(
        change in 0..CHANGES.len(),
        start_day in 1_u8..=7, start in 0_i8..24 * 4, end_day in 1_u8..=7, end in 0_i8..24 * 4, near: bool,
    ) {
        let (name, moment) = CHANGES[change];
        let zone = zone(name);
        let clock = local_times(&zone, at(moment));
        // Half of the windows start on the day of the change.
        let start_day = if near { day_of(&clock) } else { start_day };
        assert_matches_simulation(&clock, &zone, (start_day, start), (end_day, end));
    }
}
