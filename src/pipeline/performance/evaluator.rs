//! Evaluates the rules of all performance alerts each minute.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::alerting::{
    ActivePerformanceAlert, PerformanceAlertChange, PerformanceRule, PerformanceThreshold,
    select_performance_recipients,
};
use crate::catalog::{AccountCache, AccountSnapshot, MonitorCache};
use crate::clock::Clock;
use crate::domain::{
    ConfigRecordKind, LocationId, LocationMeanDuration, NewNotification, NotificationKind, Outcome,
    RecipientId, Timestamp,
};
use crate::pipeline::wakeup::DeliveryWakeup;
use crate::schema::Monitor;
use crate::store::{
    ConfigRecordFilter, ConfigStore, Pagination, PerformanceAlertStore, ResultStore, RollupSpan, StoreError,
    StoredJson, StoredPerformanceAlert,
};
use crate::telemetry::fault_point;

use super::notification_content::{PerformanceContentSources, build_notification_content};
use super::rule::rule_from_record;

/// Panics at the same rule after which it is not evaluated any more.
const MAX_PANICS: u32 = 2;
const HOUR_MICROS: i64 = 3_600_000_000;

/// Dependencies of the evaluator.
#[derive(Clone)]
pub struct PerformanceDependencies {
    /// Stores the rules.
    pub config_store: Arc<dyn ConfigStore>,
    /// Stores the results.
    pub result_store: Arc<dyn ResultStore>,
    /// Stores the active alerts.
    pub alert_store: Arc<dyn PerformanceAlertStore>,
    /// The monitors.
    pub monitor_cache: Arc<MonitorCache>,
    /// Supplies recipients.
    pub account_cache: Arc<AccountCache>,
    /// Supplies the time.
    pub clock: Arc<dyn Clock>,
    /// Woken when there are notifications.
    pub delivery_wakeup: DeliveryWakeup,
}

/// Evaluates performance alerts.
pub struct PerformanceEvaluator {
    pub(super) dependencies: PerformanceDependencies,
    /// The rule that is being evaluated.
    rule_in_progress: Option<i64>,
    /// How often the evaluation of each rule panicked.
    panics_by_rule: HashMap<i64, u32>,
    /// By alert id, which is the id of its rule, and location.
    active_alerts: BTreeMap<(i64, LocationId), ActivePerformanceAlert>,
    /// By rule id: an hour, as hours since 1970, and the means of the days before it, which are read once in that hour.
    cached_reference_means: HashMap<i64, (i64, Vec<LocationMeanDuration>)>,
}

/// Changes of one evaluation, to be stored.
#[derive(Default)]
struct EvaluationChanges {
    /// Alerts that became active, by alert id and location.
    raised: Vec<((i64, LocationId), ActivePerformanceAlert)>,
    cleared: Vec<(i64, LocationId)>,
    notifications: Vec<NewNotification>,
}

impl PerformanceEvaluator {
    /// Creates the evaluator and loads the active alerts.
    ///
    /// # Errors
    /// Fails when the store does.
    pub async fn new(dependencies: PerformanceDependencies) -> Result<Self, StoreError> {
        let active_alerts = Self::load_active(&dependencies).await?;
        let evaluator = Self {
            dependencies,
            rule_in_progress: None,
            panics_by_rule: HashMap::new(),
            active_alerts,
            cached_reference_means: HashMap::new(),
        };
        evaluator.active_alerts.keys().for_each(|(alert, _)| evaluator.publish_active(*alert));
        Ok(evaluator)
    }

    async fn load_active(
        dependencies: &PerformanceDependencies,
    ) -> Result<BTreeMap<(i64, LocationId), ActivePerformanceAlert>, StoreError> {
        let mut active = BTreeMap::new();
        for stored_alert in dependencies.alert_store.active_alerts().await? {
            // Skipping it would raise and notify the alert a second time.
            let alert: ActivePerformanceAlert =
                serde_json::from_str(&stored_alert.state_json).map_err(|error| {
                    let row =
                        format!("alert {}, location_id {}", stored_alert.alert_id, stored_alert.location_id);
                    let json = StoredJson::PerformanceAlertState;
                    dependencies.alert_store.undecodable_json_error(json, row, error.to_string())
                })?;
            active.insert((stored_alert.alert_id, stored_alert.location_id), alert);
        }
        Ok(active)
    }

    /// Loads the active alerts again after a panic, and counts it for the rule that was being evaluated.
    pub(super) async fn recover(&mut self) -> Result<(), StoreError> {
        if let Some(rule_id) = self.rule_in_progress.take() {
            let panics = self.panics_by_rule.entry(rule_id).or_default();
            *panics += 1;
            if *panics == MAX_PANICS {
                tracing::error!(
                    "performance alert {rule_id} is not evaluated until the next start: it panicked twice"
                );
            }
        }
        self.active_alerts = Self::load_active(&self.dependencies).await?;
        Ok(())
    }

    /// Whether this alert is active anywhere.
    #[must_use]
    pub fn is_active(&self, alert_id: i64) -> bool {
        self.active_alerts.keys().any(|(id, _)| *id == alert_id)
    }

    /// Evaluates all rules once. Changes that cannot be stored are evaluated again, with the same outcome.
    ///
    /// # Errors
    /// Fails when the store does.
    pub async fn evaluate_all(&mut self) -> Result<(), StoreError> {
        let now = self.dependencies.clock.now();
        let all_rows = Pagination::ALL;
        let filter = ConfigRecordFilter::new(ConfigRecordKind::PerformanceAlert);
        let rules: Vec<PerformanceRule> = self
            .dependencies
            .config_store
            .records(filter, all_rows)
            .await?
            .items
            .iter()
            .filter_map(rule_from_record)
            .collect();
        let mut changes = EvaluationChanges::default();
        let mut rule_ids = HashSet::new();
        for rule in &rules {
            let Some(monitor) = self.dependencies.monitor_cache.get(rule.monitor_id) else {
                // Not loaded yet, just after a start. Removing a monitor removes its rules.
                rule_ids.insert(rule.id);
                continue;
            };
            if !monitor.is_active(now) {
                // An inactive monitor has no mean; its active alerts are cleared.
                continue;
            }
            rule_ids.insert(rule.id);
            if self.panics_by_rule.get(&rule.id).is_some_and(|panics| *panics >= MAX_PANICS) {
                continue;
            }
            self.rule_in_progress = Some(rule.id);
            fault_point("performance_alerts").await?;
            let account = self.dependencies.account_cache.account(monitor.customer).await?;
            self.evaluate_rule(rule, &monitor, &account, now, &mut changes).await?;
            self.rule_in_progress = None;
        }
        changes
            .cleared
            .extend(self.active_alerts.keys().filter(|(alert, _)| !rule_ids.contains(alert)).copied());
        self.cached_reference_means.retain(|alert, _| rule_ids.contains(alert));
        self.store_changes(changes).await
    }

    /// Evaluates `rule` at each location with results in its window; adds what changed to `changes`.
    async fn evaluate_rule(
        &mut self,
        rule: &PerformanceRule,
        monitor: &Monitor,
        account: &AccountSnapshot,
        now: Timestamp,
        changes: &mut EvaluationChanges,
    ) -> Result<(), StoreError> {
        let reference_means = self.load_reference_means(rule, now).await?;
        for mean in
            self.dependencies.result_store.mean_durations(rule.monitor_id, now - rule.window, now).await?
        {
            let key = (rule.id, mean.location_id);
            let reference_mean = reference_means
                .iter()
                .find(|reference_mean| reference_mean.location_id == mean.location_id)
                .copied();
            let alert = self.active_alerts.get(&key);
            let Some(change) = rule.evaluate(alert.is_some(), Some(mean), reference_mean) else { continue };
            match change {
                PerformanceAlertChange::Raise { limit_us, .. } => {
                    let recipients = select_performance_recipients(&account.contacts, monitor.id);
                    let sources = PerformanceContentSources {
                        rule,
                        monitor,
                        account,
                        location: mean.location_id,
                        change,
                        since: now,
                        now,
                    };
                    changes.push_notifications(&sources, &recipients);
                    let notified = recipients.iter().map(|(recipient, _)| *recipient).collect();
                    changes.raised.push((
                        key,
                        ActivePerformanceAlert { raised_at: now, limit_us, notified_recipients: notified },
                    ));
                }
                PerformanceAlertChange::Clear { .. } => {
                    let since = alert.map_or(now, |alert| alert.raised_at);
                    let recipients: Vec<_> = select_performance_recipients(&account.contacts, monitor.id)
                        .into_iter()
                        .filter(|(id, _)| alert.is_some_and(|alert| alert.notified_recipients.contains(id)))
                        .filter(|(id, _)| {
                            account.contacts.recipient(*id).is_some_and(|recipient| recipient.notify_on_clear)
                        })
                        .collect();
                    changes.push_notifications(
                        &PerformanceContentSources {
                            rule,
                            monitor,
                            account,
                            location: mean.location_id,
                            change,
                            since,
                            now,
                        },
                        &recipients,
                    );
                    changes.cleared.push(key);
                }
            }
        }
        Ok(())
    }

    /// Returns the means of the last days over rolled-up whole hours, without the newest one or two.
    async fn load_reference_means(
        &mut self,
        rule: &PerformanceRule,
        now: Timestamp,
    ) -> Result<Vec<LocationMeanDuration>, StoreError> {
        let PerformanceThreshold::Dynamic { days, .. } = rule.threshold else { return Ok(Vec::new()) };
        let hour = now.as_micros().div_euclid(HOUR_MICROS);
        if let Some((cached_hour, reference_means)) = self.cached_reference_means.get(&rule.id)
            && *cached_hour == hour
        {
            return Ok(reference_means.clone());
        }
        let until = now - rule.window;
        let from = until - Duration::from_hours(24 * u64::from(days));
        let rollups =
            self.dependencies.result_store.rollups(rule.monitor_id, RollupSpan::Hour, from, until).await?;
        let mut means: BTreeMap<LocationId, LocationMeanDuration> = BTreeMap::new();
        for rollup in rollups {
            let location = rollup.location_id;
            let passed = [Outcome::Ok, Outcome::Warning]
                .map(|outcome| rollup.runs_by_outcome[usize::from(outcome.code())]);
            let checks: u64 = passed.iter().sum();
            let mean = means.entry(location).or_insert(LocationMeanDuration {
                location_id: location,
                check_count: 0,
                sum_us: 0,
            });
            mean.check_count += checks;
            mean.sum_us = mean.sum_us.saturating_add(checks * rollup.mean_duration_us.unwrap_or(0));
        }
        let means: Vec<LocationMeanDuration> = means.into_values().collect();
        // No rollup at all may only mean that it is late: read it again next time.
        if !means.is_empty() {
            self.cached_reference_means.insert(rule.id, (hour, means.clone()));
        }
        Ok(means)
    }

    /// Stores `changes`, then applies them to the active alerts and wakes the delivery.
    async fn store_changes(&mut self, changes: EvaluationChanges) -> Result<(), StoreError> {
        if changes.raised.is_empty() && changes.cleared.is_empty() {
            return Ok(());
        }
        let to_row = |((alert, location), raised): &((i64, LocationId), ActivePerformanceAlert)| {
            StoredPerformanceAlert {
                alert_id: *alert,
                location_id: *location,
                // Serialization cannot fail: only numbers and times.
                state_json: serde_json::to_string(raised).unwrap_or_default(),
            }
        };
        let rows = changes.raised.iter().map(to_row).collect();
        let has_notifications = !changes.notifications.is_empty();
        self.dependencies
            .alert_store
            .commit_changes(rows, changes.cleared.clone(), changes.notifications)
            .await?;
        let mut changed_alerts: Vec<i64> = changes.cleared.iter().map(|(alert, _)| *alert).collect();
        changed_alerts.extend(changes.raised.iter().map(|((alert, _), _)| *alert));
        for key in &changes.cleared {
            self.active_alerts.remove(key);
        }
        self.active_alerts.extend(changes.raised);
        for alert in changed_alerts {
            self.publish_active(alert);
        }
        if has_notifications {
            self.dependencies.delivery_wakeup.wake();
        }
        Ok(())
    }

    /// Publishes to the pages and the API whether this alert is active anywhere.
    fn publish_active(&self, alert_id: i64) {
        self.dependencies
            .account_cache
            .active_performance_alerts()
            .set_active(alert_id, self.is_active(alert_id));
    }
}

impl EvaluationChanges {
    fn push_notifications(
        &mut self,
        sources: &PerformanceContentSources<'_>,
        recipients: &[(RecipientId, Option<i64>)],
    ) {
        let kind = match sources.change {
            PerformanceAlertChange::Raise { .. } => NotificationKind::PerformanceError,
            PerformanceAlertChange::Clear { .. } => NotificationKind::PerformanceClear,
        };
        for (recipient, group) in recipients {
            let (alert, location) = (sources.rule.id, sources.location);
            let since = sources.since.as_micros();
            self.notifications.push(NewNotification {
                idempotency_key: format!("{}-{alert}-{location}-{since}-{recipient}", kind.name()),
                recipient_id: *recipient,
                group_id: *group,
                content: build_notification_content(sources, kind),
                created_at: sources.now,
                not_before: sources.now,
            });
        }
    }
}
