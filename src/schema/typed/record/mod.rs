//! The settings of the records of accounts: users, locations, recipients and the like.

mod account;
pub(super) mod blackout;
mod certificate;
mod performance_alert;
mod read;
mod recipient;
pub(super) mod sla;

pub use account::{
    AccountNameSettings, AccountSettings, AgentSettings, HostSettings, LocationKeySettings, LocationSettings,
    MultiPopThreshold, PropertySettings, PropertyValueSettings, ReportedEvent, ShareSettings, TestSettings,
    UserSettings, ViewSettings,
};
pub use blackout::{BlackoutKind, BlackoutSettings};
pub use certificate::{CertificateKind, CertificateSettings};
pub use performance_alert::{AlertLevel, PerformanceAlertSettings, ThresholdKind};
pub use read::{RecordSettings, parse_record, parse_record_fields};
pub use recipient::{
    IdReference, NotifierGroupMonitorSettings, NotifierGroupSettings, RecipientSettings, StatusReference,
    TemplateSettings,
};
pub use sla::{OperatingPeriodSettings, SlaExclusionSettings, SlaSettings};
