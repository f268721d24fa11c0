//! Looks at the rules of all performance alerts each minute.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::alerting::{
    ActivePerformanceAlert, PerformanceChange, PerformanceRule, PerformanceThreshold,
    performance_recipients_for,
};
use crate::catalog::{AccountCache, AccountFacts, MonitorCache};
use crate::clock::Clock;
use crate::domain::{
    LocationId, MeanDuration, NewNotification, NotificationKind, Outcome, RecipientId, RecordKind, Timestamp,
};
use crate::pipeline::wakeup::Bell;
use crate::schema::Monitor;
use crate::store::{
    ConfigStore, Pagination, PerformanceAlertStore, RecordFilter, ResultStore, RollupSpan, StoreError,
    StoredPerformanceAlert,
};

use super::notice::{Told, notice};
use super::rule::rule;

/// Between two looks.
const EACH: Duration = Duration::from_mins(1);
const HOUR: i64 = 3_600_000_000;

/// What watching works with.
#[derive(Clone)]
pub struct PerformanceParts {
    /// Where the rules are.
    pub ledger: Arc<dyn ConfigStore>,
    /// Where the checks are.
    pub results: Arc<dyn ResultStore>,
    /// Where it is kept what is raised.
    pub states: Arc<dyn PerformanceAlertStore>,
    /// The monitors.
    pub roster: Arc<MonitorCache>,
    /// Who is told.
    pub directory: Arc<AccountCache>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Rung when there are messages.
    pub bell: Bell,
}

/// Watches performance alerts.
pub struct Performance {
    parts: PerformanceParts,
    raised: BTreeMap<(i64, LocationId), ActivePerformanceAlert>,
    /// Means of the days before the current hour, by rule; they change once an hour.
    bases: HashMap<i64, (i64, Vec<MeanDuration>)>,
}

/// What one look makes to be kept.
#[derive(Default)]
struct Made {
    raised: Vec<((i64, LocationId), ActivePerformanceAlert)>,
    over: Vec<(i64, LocationId)>,
    notifications: Vec<NewNotification>,
}

impl Performance {
    /// Knows what is raised from before.
    ///
    /// # Errors
    /// As the store's.
    pub async fn new(parts: PerformanceParts) -> Result<Self, StoreError> {
        let mut raised = BTreeMap::new();
        for kept in parts.states.active().await? {
            // Left out, it would be raised and told a second time.
            let alert: ActivePerformanceAlert =
                serde_json::from_str(&kept.body).map_err(|error| StoreError::Undecodable {
                    table: "raised",
                    row: format!("alert {}, location_id {}", kept.alert, kept.location),
                    column: "body",
                    reason: error.to_string(),
                })?;
            raised.insert((kept.alert, kept.location), alert);
        }
        let performance = Self { parts, raised, bases: HashMap::new() };
        performance.raised.keys().for_each(|(alert, _)| performance.show(*alert));
        Ok(performance)
    }

    /// Looks each minute until `end`.
    #[must_use]
    pub fn start(mut self, end: CancellationToken) -> JoinHandle<()> {
        tokio::spawn(async move {
            let clock = Arc::clone(&self.parts.clock);
            loop {
                tokio::select! {
                    () = end.cancelled() => return,
                    () = clock.sleep(EACH) => {}
                }
                if let Err(error) = self.look().await {
                    tracing::warn!(
                        error_kind = error.kind(),
                        "performance alerts were not looked at: {error}"
                    );
                }
            }
        })
    }

    /// Whether this alert is raised anywhere.
    #[must_use]
    pub fn is_raised(&self, alert: i64) -> bool {
        self.raised.keys().any(|(id, _)| *id == alert)
    }

    /// One look at all rules. What could not be kept is looked at again, with the same end.
    ///
    /// # Errors
    /// As the store's.
    pub async fn look(&mut self) -> Result<(), StoreError> {
        let now = self.parts.clock.now();
        let every = Pagination { limit: u32::MAX, offset: 0 };
        let filter = RecordFilter::new(RecordKind::PerformanceAlert);
        let rules: Vec<PerformanceRule> =
            self.parts.ledger.records(filter, every).await?.items.iter().filter_map(rule).collect();
        let mut made = Made::default();
        let mut watched = HashSet::new();
        for rule in &rules {
            let Some(monitor) = self.parts.roster.get(rule.monitor) else {
                // Not read yet, as just after a start. When it is removed, so are its rules.
                watched.insert(rule.id);
                continue;
            };
            if !monitor.is_planned(now) {
                // One that does not run is neither slow nor quick; what was raised of it is over.
                continue;
            }
            watched.insert(rule.id);
            let facts = self.parts.directory.facts(monitor.customer).await?;
            self.look_at(rule, &monitor, &facts, now, &mut made).await?;
        }
        made.over.extend(self.raised.keys().filter(|(alert, _)| !watched.contains(alert)).copied());
        self.bases.retain(|alert, _| watched.contains(alert));
        self.keep(made).await
    }

    async fn look_at(
        &mut self,
        rule: &PerformanceRule,
        monitor: &Monitor,
        facts: &AccountFacts,
        now: Timestamp,
        made: &mut Made,
    ) -> Result<(), StoreError> {
        let bases = self.bases(rule, now).await?;
        for mean in self.parts.results.means(rule.monitor, now - rule.window, now).await? {
            let place = (rule.id, mean.location);
            let base = bases.iter().find(|base| base.location == mean.location).copied();
            let raised = self.raised.get(&place);
            let Some(change) = rule.evaluate(raised.is_some(), Some(mean), base) else { continue };
            match change {
                PerformanceChange::Raise { limit_us, .. } => {
                    let named = performance_recipients_for(&facts.contacts, monitor.id);
                    let told =
                        Told { rule, monitor, facts, location: mean.location, change, since: now, now };
                    made.tell(&told, &named);
                    let told = named.iter().map(|(recipient, _)| *recipient).collect();
                    made.raised
                        .push((place, ActivePerformanceAlert { since: now, limit_us, notified: told }));
                }
                PerformanceChange::Clear { .. } => {
                    let since = raised.map_or(now, |raised| raised.since);
                    let named: Vec<_> = performance_recipients_for(&facts.contacts, monitor.id)
                        .into_iter()
                        .filter(|(id, _)| raised.is_some_and(|raised| raised.notified.contains(id)))
                        .filter(|(id, _)| {
                            facts.contacts.recipient(*id).is_some_and(|recipient| recipient.notify_on_clear)
                        })
                        .collect();
                    made.tell(
                        &Told { rule, monitor, facts, location: mean.location, change, since, now },
                        &named,
                    );
                    made.over.push(place);
                }
            }
        }
        Ok(())
    }

    /// The means of the days before, of whole hours that are rolled up: the newest one or two are not in it.
    async fn bases(
        &mut self,
        rule: &PerformanceRule,
        now: Timestamp,
    ) -> Result<Vec<MeanDuration>, StoreError> {
        let PerformanceThreshold::Dynamic { days, .. } = rule.threshold else { return Ok(Vec::new()) };
        let hour = now.as_micros().div_euclid(HOUR);
        if let Some((of, bases)) = self.bases.get(&rule.id)
            && *of == hour
        {
            return Ok(bases.clone());
        }
        let thru = now - rule.window;
        let from = thru - Duration::from_hours(24 * u64::from(days));
        let rollups = self.parts.results.rollups(rule.monitor, RollupSpan::Hour, from, thru).await?;
        let mut means: BTreeMap<LocationId, MeanDuration> = BTreeMap::new();
        for rollup in rollups {
            let location = rollup.location_id;
            let passed =
                [Outcome::Ok, Outcome::Warning].map(|outcome| rollup.runs[usize::from(outcome.code())]);
            let checks: u64 = passed.iter().sum();
            let mean = means.entry(location).or_insert(MeanDuration { location, checks: 0, sum_us: 0 });
            mean.checks += checks;
            mean.sum_us = mean.sum_us.saturating_add(checks * rollup.mean_us.unwrap_or(0));
        }
        let means: Vec<MeanDuration> = means.into_values().collect();
        // An hour without a rollup of it may only be late: asked again next time.
        if !means.is_empty() {
            self.bases.insert(rule.id, (hour, means.clone()));
        }
        Ok(means)
    }

    async fn keep(&mut self, made: Made) -> Result<(), StoreError> {
        if made.raised.is_empty() && made.over.is_empty() {
            return Ok(());
        }
        let kept = |((alert, location), raised): &((i64, LocationId), ActivePerformanceAlert)| {
            StoredPerformanceAlert {
                alert: *alert,
                location: *location,
                // Numbers and times: writes without fail.
                body: serde_json::to_string(raised).unwrap_or_default(),
            }
        };
        let rows = made.raised.iter().map(kept).collect();
        let messages = !made.notifications.is_empty();
        self.parts.states.commit_changes(rows, made.over.clone(), made.notifications).await?;
        let mut changed: Vec<i64> = made.over.iter().map(|(alert, _)| *alert).collect();
        changed.extend(made.raised.iter().map(|((alert, _), _)| *alert));
        for place in &made.over {
            self.raised.remove(place);
        }
        self.raised.extend(made.raised);
        for alert in changed {
            self.show(alert);
        }
        if messages {
            self.parts.bell.ring();
        }
        Ok(())
    }

    /// Lets the pages and the API know that this alert is raised somewhere, or is not any more.
    fn show(&self, alert: i64) {
        self.parts.directory.active_performance_alerts().set_active(alert, self.is_raised(alert));
    }
}

impl Made {
    fn tell(&mut self, told: &Told<'_>, named: &[(RecipientId, Option<i64>)]) {
        let kind = match told.change {
            PerformanceChange::Raise { .. } => NotificationKind::PerformanceError,
            PerformanceChange::Clear { .. } => NotificationKind::PerformanceClear,
        };
        for (recipient, group) in named {
            let (alert, location) = (told.rule.id, told.location);
            let since = told.since.as_micros();
            self.notifications.push(NewNotification {
                key: format!("{}-{alert}-{location}-{since}-{recipient}", kind.name()),
                recipient: *recipient,
                group: *group,
                content: notice(told, kind),
                created_at: told.now,
                not_before: told.now,
            });
        }
    }
}
