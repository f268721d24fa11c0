//! The settings of the records of accounts: users, locations, recipients and the like.

mod account;
pub(super) mod agreement;
pub(super) mod blackout;
mod certificate;
mod performance;
mod read;
mod recipient;

pub use account::{
    AccountSettings, CustomerSettings, EventSettings, LocationSettings, MultiPopThreshold, PropertySettings,
    PropertyValueSettings, TestSettings, UserSettings,
};
pub use agreement::{OperatingPeriodSettings, SlaExclusionSettings, SlaSettings};
pub use blackout::{BlackoutKind, BlackoutSettings};
pub use certificate::{CertificateKind, CertificateSettings};
pub use performance::{AlertLevel, PerformanceAlertSettings, ThresholdKind};
pub use read::{RecordSettings, read_fields, read_record};
pub use recipient::{
    IdReference, NotifierGroupMonitorSettings, NotifierGroupSettings, RecipientSettings, StatusReference,
    TemplateSettings,
};
