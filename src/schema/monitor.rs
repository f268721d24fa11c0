//! A monitor: its owner, its origin, and its validated document.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::monitor_document::MonitorDocument;
use crate::domain::{
    CheckMetadata, CustomerId, EgressPrincipal, LocationId, MonitorId, MonitorType, Revision, Timestamp,
};
use crate::schema::typed::security_scan::SECURITY_SCAN_TIME_LIMIT;
use crate::script::language::Script;

/// Where a monitor is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A monitor file; `key` ties the id, slot and history of the monitor to the file (behaviour.md 9, monitor files).
    File {
        /// Unique over all files.
        key: Arc<str>,
    },
    /// A call to one of the APIs.
    Api,
    /// `vigie apply`; `key` ties the monitor to its file there, as for files of the server.
    Applied {
        /// Unique over all monitors applied for the account.
        key: Arc<str>,
    },
}

impl Origin {
    /// Returns the key that ties the monitor to its file; `None` without a file.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::File { key } | Self::Applied { key } => Some(key),
            Self::Api => None,
        }
    }
}

/// Who changed a monitor and when, and until when it is paused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MonitorMetadata {
    /// When it was created; `None` for monitors from files of an earlier version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Login of the user who created it; empty for files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub created_by: String,
    /// Login of the user who changed it last; empty for files.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub modified_by: String,
    /// When its script was first set (fields.md 3 `script_created`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script_created: Option<Timestamp>,
    /// When its script changed last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script_modified: Option<Timestamp>,
    /// Login of the user who changed its script last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub script_modified_by: String,
    /// End of the pause, during which no runs are planned (behaviour.md 1, pause).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<Timestamp>,
}

/// One revision of a monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Monitor {
    /// Its id, the same in all revisions.
    pub id: MonitorId,
    /// The account that owns it.
    pub customer: CustomerId,
    /// Where it is defined.
    pub origin: Origin,
    /// This revision.
    pub revision: Revision,
    /// When this revision was accepted.
    pub modified_at: Timestamp,
    /// Its fields.
    pub document: Arc<MonitorDocument>,
    /// Who changed it and when.
    pub metadata: Arc<MonitorMetadata>,
}

impl Monitor {
    /// Returns on whose behalf its checks connect: who writes a monitor file has access to the host anyway.
    #[must_use]
    pub fn egress_principal(&self) -> EgressPrincipal {
        match self.origin {
            Origin::File { .. } => EgressPrincipal::Operator,
            Origin::Api | Origin::Applied { .. } => EgressPrincipal::for_account(self.customer),
        }
    }

    /// Returns its type.
    #[must_use]
    pub fn monitor_type(&self) -> MonitorType {
        self.document.monitor_type()
    }

    /// Returns its name (interface.md 2.1).
    #[must_use]
    pub fn name(&self) -> &str {
        self.document.name()
    }

    /// Whether it has the content view `id` (fields.md 3).
    #[must_use]
    pub fn has_content_view(&self, id: i64) -> bool {
        self.monitor_type() == MonitorType::BrowserScript && self.document.content_view_ids().contains(&id)
    }

    /// Whether it is enabled, so that runs are planned at all.
    #[must_use]
    pub fn enabled(&self) -> bool {
        self.document.settings().schedule.enabled
    }

    /// Returns the metadata of its records at `location_id`.
    #[must_use]
    pub fn check_metadata(&self, location_id: LocationId) -> CheckMetadata {
        CheckMetadata {
            monitor_id: self.id,
            monitor_name: self.name().into(),
            revision: self.revision,
            monitor_type: self.monitor_type(),
            location_id,
        }
    }

    /// Whether it is active at `now`, so that its runs are planned: enabled and not paused.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.enabled() && self.paused_until(now).is_none()
    }

    /// Returns the end of its pause, if it is paused at `now`.
    #[must_use]
    pub fn paused_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.metadata.paused_until.filter(|until| *until > now)
    }

    /// Returns the time between two planned runs; interface.md counts it in minutes.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.document.settings().interval()
    }

    /// Returns the offset of its schedule from 00:00 UTC, if it is set (fields.md 3 `monitor_offset`, in minutes).
    #[must_use]
    pub fn schedule_offset(&self) -> Option<Duration> {
        self.document
            .settings()
            .schedule_offset_minutes
            .map(|minutes| Duration::from_secs(60 * u64::from(minutes)))
    }

    /// Returns the time limit of one attempt; interface.md counts it in seconds.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.document.settings().schedule.timeout_seconds).max(1))
    }

    /// Time allowed besides the script itself: waiting for a browser, its start and end, and captures. The probe
    /// checks its own time limits against it.
    pub const BROWSER_OVERHEAD: Duration = Duration::from_mins(6);

    /// Returns the maximum duration of one attempt: its timeout, except for scripts in a browser, whose timeout is
    /// that of one page load. The overhead around a script run counts too: waiting for the browser, its start and end,
    /// and captures.
    #[must_use]
    pub fn max_attempt_duration(&self) -> Duration {
        match self.monitor_type() {
            MonitorType::BrowserScript => {}
            MonitorType::SecurityScan => return SECURITY_SCAN_TIME_LIMIT,
            _ => return self.timeout(),
        }
        // A script that cannot run fails at once.
        self.max_script_duration()
            .map_or(self.timeout(), |script_duration| script_duration + Self::BROWSER_OVERHEAD)
    }

    /// Returns the maximum duration of its script (fields.md 3 `step_timeout`), as [`Script::max_duration`].
    /// `None` without a script that can run.
    fn max_script_duration(&self) -> Option<Duration> {
        let step_timeout_seconds = self.document.settings().step_timeout_seconds;
        let text = self.document.script().filter(|text| !text.is_empty());
        let parse = |text| Script::parse(text).ok();
        let script = text.map_or_else(|| Some(Script::from_url("")), parse)?;
        Some(script.max_duration(
            self.timeout(),
            step_timeout_seconds.map(|seconds| Duration::from_secs(seconds.into())),
        ))
    }
}
