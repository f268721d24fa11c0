//! Recovery of the alert engine after a panic: it is loaded from the store again, since its state may be half changed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::command::IngestCommand;
use super::engine::AlertEngine;
use crate::domain::MonitorId;
use crate::schema::Monitor;
use crate::store::StoreError;

impl AlertEngine {
    /// Returns the monitor that was being processed, if any.
    pub(in crate::pipeline) fn take_monitor_in_progress(&mut self) -> Option<MonitorId> {
        self.monitor_in_progress.take()
    }

    /// Stops alerting of `monitor_id` until it is changed, in the revision of `commands` if it is among them; returns
    /// the monitor, when it is known.
    pub(in crate::pipeline) fn quarantine(
        &mut self,
        monitor_id: MonitorId,
        commands: &[IngestCommand],
    ) -> Option<Monitor> {
        let upserts = commands.iter().filter_map(|command| match command {
            IngestCommand::UpdateMonitors { upserts, .. } => Some(upserts),
            _ => None,
        });
        let changed = upserts.flatten().rfind(|monitor| monitor.id == monitor_id).cloned();
        let tracked = self.monitors.remove(&monitor_id).map(|entry| entry.monitor);
        let monitor = changed.or(tracked)?;
        self.quarantined_monitors.insert(monitor_id, monitor.revision);
        self.health_map.write().remove(&monitor_id);
        Some(monitor)
    }

    /// Loads the engine again; no monitor is tracked until the commands of [`Self::commands_after_reload`].
    ///
    /// # Errors
    /// Fails when the store does.
    pub(in crate::pipeline) async fn reload(&mut self) -> Result<Self, StoreError> {
        let reloaded = Self::load(
            self.dependencies.clone(),
            self.settings,
            self.command_sender.clone(),
            Arc::clone(&self.health_map),
        )
        .await?;
        Ok(Self {
            // Verifications and traceroutes in progress still count, and no event is recorded twice.
            verification_runner: self.verification_runner.clone(),
            traceroute_runner: std::mem::take(&mut self.traceroute_runner),
            reported_offline_locations: std::mem::take(&mut self.reported_offline_locations),
            quarantined_monitors: std::mem::take(&mut self.quarantined_monitors),
            ..reloaded
        })
    }

    /// Returns `commands` for the engine that replaces this one: its monitors first, with the changes in `commands`.
    pub(in crate::pipeline) fn commands_after_reload(
        self,
        commands: Vec<IngestCommand>,
    ) -> Vec<IngestCommand> {
        let are_monitors_known = self.states_to_restore.is_none();
        let mut monitors: BTreeMap<MonitorId, Monitor> =
            self.monitors.into_iter().map(|(id, entry)| (id, entry.monitor)).collect();
        let (mut all_removed, mut other_commands, mut has_changes) = (Vec::new(), Vec::new(), false);
        for command in commands {
            match command {
                IngestCommand::UpdateMonitors { upserts, removed } => {
                    has_changes = true;
                    for monitor_id in &removed {
                        monitors.remove(monitor_id);
                    }
                    all_removed.extend(removed);
                    monitors.extend(upserts.into_iter().map(|monitor| (monitor.id, monitor)));
                }
                other => other_commands.push(other),
            }
        }
        if are_monitors_known || has_changes {
            let upserts = monitors.into_values().collect();
            other_commands.insert(0, IngestCommand::UpdateMonitors { upserts, removed: all_removed });
        }
        other_commands
    }
}
