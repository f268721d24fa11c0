//! The settings of the records of accounts: users, locations, recipients and the like.

mod account;
pub(super) mod agreement;
pub(super) mod blackout;
mod certificate;
mod performance;
mod read;
mod recipient;

pub use account::{
    AccountSettings, CustomerSettings, EventSettings, LocationSettings, PropertySettings,
    PropertyValueSettings, TestSettings, Threshold, UserSettings,
};
pub use agreement::{AgreementSettings, ExclusionSettings, OperatingPeriodSettings};
pub use blackout::{BlackoutKind, BlackoutSettings};
pub use certificate::{CertificateKind, CertificateSettings};
pub use performance::{AlertLevel, PerformanceAlertSettings, ThresholdKind};
pub use read::{RecordSettings, read_fields, read_record};
pub use recipient::{
    GroupMonitorSettings, GroupSettings, RecipientSettings, Reference, StatusReference, TemplateSettings,
};
