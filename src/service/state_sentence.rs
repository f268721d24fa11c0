//! The state of a monitor, and why, in one sentence.

use std::time::Duration;

use super::monitor_reader::MonitorReader;
use super::overall_health::OverallHealth;
use super::result_view::deciding_reason;
use crate::alerting::MonitorHealth;
use crate::domain::{CheckResult, MonitorLocationState, Outcome, Timestamp};
use crate::schedule::BlackoutTarget;
use crate::schema::Monitor;
use crate::store::StoreError;
use crate::texts::{Locale, key};

/// What the sentence is made from.
struct StateFacts<'a> {
    /// Health over all locations.
    health: OverallHealth,
    /// Until when it is paused.
    paused_until: Option<Timestamp>,
    /// Until when the present blackout of its runs lasts.
    blackout_until: Option<Timestamp>,
    /// When its open outage began.
    outage_started_at: Option<Timestamp>,
    /// Its states at the locations that it has now.
    states: &'a [MonitorLocationState],
    /// Returns why the newest result with this outcome has it; empty for no reason.
    reason: &'a dyn Fn(Outcome) -> String,
}

impl StateFacts<'_> {
    /// Returns the sentence, without a full stop.
    fn sentence(&self, t: Locale) -> String {
        match self.health {
            OverallHealth::Disabled => t.text("Disabled: it is not checked").to_owned(),
            OverallHealth::Paused => match self.paused_until {
                Some(until) => {
                    t.fill("Paused until {time}: it is not checked", &[("time", &t.zoned_time(until))])
                }
                None => t.text("Paused: it is not checked").to_owned(),
            },
            OverallHealth::Active(MonitorHealth::Down) => self.down_sentence(t),
            OverallHealth::Active(_) if self.states.is_empty() => {
                t.text("Waiting for its first result").to_owned()
            }
            OverallHealth::Active(MonitorHealth::BlackedOut) => match self.blackout_until {
                Some(until) => t.fill("In a blackout until {time}", &[("time", &t.zoned_time(until))]),
                None => t.text("Its last run fell into a blackout").to_owned(),
            },
            OverallHealth::Active(MonitorHealth::Failing) => {
                let places = self.affected_locations(Outcome::Error, t);
                let text = t.fill("Failing{places}, not yet an outage", &[("places", &places)]);
                self.with_reason(&text, Outcome::Error, t)
            }
            OverallHealth::Active(MonitorHealth::Up) => self.up_sentence(t),
            OverallHealth::Active(MonitorHealth::Unknown) => self.unknown_sentence(t),
        }
    }

    fn down_sentence(&self, t: Locale) -> String {
        let failing = |state: &&MonitorLocationState| state.outcome == Outcome::Error;
        let first_failure = || self.states.iter().filter(failing).map(|state| state.streak_started_at).min();
        let since = self.outage_started_at.or_else(first_failure);
        let places = self.affected_locations(Outcome::Error, t);
        let text = match since {
            Some(since) => {
                t.fill("Down since {time}{places}", &[("time", &t.zoned_time(since)), ("places", &places)])
            }
            None => t.fill("Down{places}", &[("places", &places)]),
        };
        self.with_reason(&text, Outcome::Error, t)
    }

    fn up_sentence(&self, t: Locale) -> String {
        let is_odd = |state: &MonitorLocationState| state.outcome != Outcome::Ok;
        let odd = self.states.iter().filter(|state| is_odd(state)).max_by_key(|state| state.planned_at);
        if let Some(odd) = odd {
            let text = match odd.outcome {
                Outcome::Missed => key("Up, but the last run{places} was missed"),
                Outcome::Blackout => key("Up, but the last run{places} fell into a blackout"),
                Outcome::Warning => key("Up with a warning{places}"),
                Outcome::Unknown => key("Up, but the last run{places} had no conclusive result"),
                Outcome::Ok | Outcome::Error => key("Up, but the last run{places} failed"),
            };
            let text = t.fill(text, &[("places", &self.affected_locations(odd.outcome, t))]);
            let has_reason = !matches!(odd.outcome, Outcome::Missed | Outcome::Blackout);
            return if has_reason { self.with_reason(&text, odd.outcome, t) } else { text };
        }
        match self.states {
            [state] if state.streak == 1 => t.text("Up: the last run passed").to_owned(),
            [state] => {
                let (count, time) = (state.streak.to_string(), t.zoned_time(state.streak_started_at));
                t.fill(
                    "Up: the last {count} runs passed, since {time}",
                    &[("count", &count), ("time", &time)],
                )
            }
            states => {
                let since = states.iter().map(|state| state.streak_started_at).max();
                let time = since.map(|since| t.zoned_time(since)).unwrap_or_default();
                let values = [("count", &*states.len().to_string()), ("time", &time)];
                t.fill("Up: every check from all {count} locations passed since {time}", &values)
            }
        }
    }

    fn unknown_sentence(&self, t: Locale) -> String {
        match self.states.iter().max_by_key(|state| state.planned_at).map(|state| state.outcome) {
            Some(Outcome::Missed) => t.text("Unknown: the last run was missed").to_owned(),
            Some(Outcome::Unknown) => {
                let text = t.text("Unknown, as the last run had no conclusive result");
                self.with_reason(text, Outcome::Unknown, t)
            }
            Some(Outcome::Blackout) => t.text("Unknown: the last run fell into a blackout").to_owned(),
            Some(Outcome::Ok | Outcome::Warning | Outcome::Error) | None => {
                t.text("Unknown: its last run is not settled yet").to_owned()
            }
        }
    }

    /// Returns from how many of several locations the last check had this outcome, such as ` from 2 of 3 locations`; empty
    /// for none and for a single location.
    fn affected_locations(&self, outcome: Outcome, t: Locale) -> String {
        let count = self.states.iter().filter(|state| state.outcome == outcome).count();
        match (count, self.states.len()) {
            (0, _) | (_, 1) => String::new(),
            (count, all) if count == all => {
                format!(" {}", t.fill("from all {count} locations", &[("count", &all.to_string())]))
            }
            (count, all) => {
                let values = [("count", &*count.to_string()), ("all", &*all.to_string())];
                format!(" {}", t.fill("from {count} of {all} locations", &values))
            }
        }
    }

    fn with_reason(&self, text: &str, outcome: Outcome, t: Locale) -> String {
        let reason = (self.reason)(outcome);
        if reason.is_empty() {
            return text.to_owned();
        }
        t.fill("{text}: {reason}", &[("text", text), ("reason", &reason)])
    }
}

impl MonitorReader {
    /// Returns the state of `monitor` and why in one sentence, without a full stop. `results` are its newest ones.
    pub async fn state_sentence(
        &self,
        monitor: &Monitor,
        results: &[CheckResult],
        now: Timestamp,
        t: Locale,
    ) -> Result<String, StoreError> {
        let health = self.overall_health(monitor, now);
        let mut states = self.states_for(vec![monitor.id]).await?;
        let mut blackout_until = None;
        if let Some(accounts) = self.account_cache() {
            let account = accounts.account(monitor.customer).await?;
            // Locations that it had before say nothing about it now.
            let pool = account.location_pool_ids(monitor);
            states.retain(|state| pool.contains(&state.location_id.0));
            let until = now + Duration::from_micros(1);
            let target = BlackoutTarget::Monitor(monitor.id);
            let present = account.blackout_calendar.ranges_between(target, now, until).into_iter();
            blackout_until = present.map(|(_, until)| until).max();
        }
        let outage_started_at = match health {
            OverallHealth::Active(MonitorHealth::Down) => self.open_outage_started_at(monitor.id).await?,
            _ => None,
        };
        let reason = |outcome: Outcome| {
            let newest = results.iter().find(|result| result.outcome == outcome);
            newest.map(deciding_reason).unwrap_or_default()
        };
        let paused_until = monitor.paused_until(now);
        let facts = StateFacts {
            health,
            paused_until,
            blackout_until,
            outage_started_at,
            states: &states,
            reason: &reason,
        };
        Ok(facts.sentence(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CheckId, LocationId, MonitorId, RunId, Status};

    /// Health, outcome and streak by location, and the sentence.
    type Case = (OverallHealth, &'static [(Outcome, u32)], &'static str);

    fn state(location: i64, outcome: Outcome, streak: u32) -> MonitorLocationState {
        let planned_at = Timestamp::from_seconds(1_000);
        MonitorLocationState {
            monitor_id: MonitorId(1),
            location_id: LocationId(location),
            check_id: CheckId::new(RunId::new(MonitorId(1), planned_at), LocationId(location)),
            planned_at,
            outcome,
            status: Status(0),
            duration_us: 1,
            streak_started_at: Timestamp::from_seconds(location * 100),
            streak,
            last_slot_at: Some(planned_at),
            last_full_page_at: None,
        }
    }

    fn sentence(health: OverallHealth, states: &[MonitorLocationState]) -> String {
        let reason = |outcome: Outcome| match outcome {
            Outcome::Error => "36: connection refused".to_owned(),
            Outcome::Warning => "slow".to_owned(),
            _ => String::new(),
        };
        let facts = StateFacts {
            health,
            paused_until: Some(Timestamp::from_seconds(2_000)),
            blackout_until: None,
            outage_started_at: Some(Timestamp::from_seconds(50)),
            states,
            reason: &reason,
        };
        let text = facts.sentence(Locale::default());
        let without_outage = StateFacts {
            blackout_until: Some(Timestamp::from_seconds(3_000)),
            outage_started_at: None,
            paused_until: None,
            ..facts
        };
        let other = without_outage.sentence(Locale::default());
        if other == text { text } else { format!("{text} | {other}") }
    }

    #[test]
    fn a_sentence_says_the_state_and_why() {
        use MonitorHealth::{BlackedOut, Down, Failing, Unknown, Up};
        use Outcome::{Blackout, Error, Missed, Ok, Warning};
        let active = OverallHealth::Active;
        let cases: [Case; 20] = [
            (OverallHealth::Disabled, &[(Ok, 1)], "Disabled: it is not checked"),
            (
                OverallHealth::Paused,
                &[],
                "Paused until 1970-01-01 00:33:20 UTC: it is not checked | Paused: it is not checked",
            ),
            (active(Unknown), &[], "Waiting for its first result"),
            (
                active(Down),
                &[(Error, 3)],
                "Down since 1970-01-01 00:00:50 UTC: 36: connection refused | Down since 1970-01-01 00:01:40 UTC: 36: connection refused",
            ),
            (
                active(Down),
                &[(Ok, 9), (Error, 3), (Error, 2)],
                "Down since 1970-01-01 00:00:50 UTC from 2 of 3 locations: 36: connection refused | Down since 1970-01-01 00:03:20 UTC from 2 of 3 \
                 locations: 36: connection refused",
            ),
            (
                active(Down),
                &[(Error, 3), (Error, 2)],
                "Down since 1970-01-01 00:00:50 UTC from all 2 locations: 36: connection refused | Down since 1970-01-01 00:01:40 UTC from all 2 \
                 locations: 36: connection refused",
            ),
            (
                active(Down),
                &[],
                "Down since 1970-01-01 00:00:50 UTC: 36: connection refused | Down: 36: connection refused",
            ),
            (active(Failing), &[(Error, 1)], "Failing, not yet an outage: 36: connection refused"),
            (
                active(Failing),
                &[(Error, 1), (Ok, 1)],
                "Failing from 1 of 2 locations, not yet an outage: 36: connection refused",
            ),
            (
                active(BlackedOut),
                &[(Blackout, 1)],
                "Its last run fell into a blackout | In a blackout until 1970-01-01 00:50:00 UTC",
            ),
            (active(Up), &[(Ok, 1)], "Up: the last run passed"),
            (active(Up), &[(Ok, 240)], "Up: the last 240 runs passed, since 1970-01-01 00:01:40 UTC"),
            (
                active(Up),
                &[(Ok, 4), (Ok, 7)],
                "Up: every check from all 2 locations passed since 1970-01-01 00:03:20 UTC",
            ),
            (active(Up), &[(Warning, 1)], "Up with a warning: slow"),
            (active(Up), &[(Warning, 1), (Ok, 5)], "Up with a warning from 1 of 2 locations: slow"),
            (active(Up), &[(Missed, 1), (Ok, 5)], "Up, but the last run from 1 of 2 locations was missed"),
            (active(Up), &[(Outcome::Unknown, 1)], "Up, but the last run had no conclusive result"),
            (active(Unknown), &[(Missed, 2)], "Unknown: the last run was missed"),
            (active(Unknown), &[(Outcome::Unknown, 2)], "Unknown, as the last run had no conclusive result"),
            (active(Unknown), &[(Ok, 1)], "Unknown: its last run is not settled yet"),
        ];
        for (health, states, expected) in cases {
            let states: Vec<_> = (1..)
                .zip(states)
                .map(|(location, (outcome, streak))| state(location, *outcome, *streak))
                .collect();
            assert_eq!(sentence(health, &states), expected);
        }
    }
}
