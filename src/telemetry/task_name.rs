//! Names of the long-running tasks, for metrics, logs and health.

/// A long-running task of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskName {
    /// Stores results and raises alerts.
    Ingest,
    /// The writing thread of the store.
    StoreWriter,
    /// A reading thread of the store.
    StoreReader,
    /// Delivers notifications.
    Delivery,
    /// Starts the checks of a location.
    Runner,
    /// Records missed runs: those of a location of this process, or those that no agent on another host reported.
    MissedRuns,
    /// Runs one check.
    Check,
    /// Resumes paused monitors and plans changed accounts again.
    Planner,
    /// Starts first checks.
    FirstChecks,
    /// Rollups, retention and removal of expired tokens.
    Housekeeping,
    /// Evaluates performance alerts.
    PerformanceAlerts,
    /// Re-checks a failure from another location.
    Verification,
    /// Accepts connections.
    Server,
    /// Probes the health of the process.
    Liveness,
    /// Requests the heartbeat URL.
    Heartbeat,
    /// Watches the files of the server certificate.
    CertificateWatch,
    /// Takes what agents on other hosts send, and tells them what to check.
    Bus,
    /// Keeps and sends the results of an agent.
    Outbox,
    /// Exports results by OTLP.
    OtlpExport,
}

impl TaskName {
    /// Every task.
    pub const ALL: [Self; 19] = [
        Self::Ingest,
        Self::StoreWriter,
        Self::StoreReader,
        Self::Delivery,
        Self::Runner,
        Self::MissedRuns,
        Self::Check,
        Self::Planner,
        Self::FirstChecks,
        Self::Housekeeping,
        Self::PerformanceAlerts,
        Self::Verification,
        Self::Server,
        Self::Liveness,
        Self::Heartbeat,
        Self::CertificateWatch,
        Self::Bus,
        Self::Outbox,
        Self::OtlpExport,
    ];

    /// Returns the stable name, used by metrics.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::StoreWriter => "store_writer",
            Self::StoreReader => "store_reader",
            Self::Delivery => "delivery",
            Self::Runner => "runner",
            Self::MissedRuns => "missed_runs",
            Self::Check => "check",
            Self::Planner => "planner",
            Self::FirstChecks => "first_checks",
            Self::Housekeeping => "housekeeping",
            Self::PerformanceAlerts => "performance_alerts",
            Self::Verification => "verification",
            Self::Server => "server",
            Self::Liveness => "liveness",
            Self::Heartbeat => "heartbeat",
            Self::CertificateWatch => "certificate_watch",
            Self::Bus => "bus",
            Self::Outbox => "outbox",
            Self::OtlpExport => "otlp_export",
        }
    }
}
