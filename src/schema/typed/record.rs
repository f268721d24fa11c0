//! The settings of the records of accounts: users, locations, recipients and the like.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::invalid::InvalidSettings;
use super::reader::read;
use super::schedule::LocationReference;
use crate::domain::{Method, NoticeKind, Record, Role};
use crate::schema::field::Table;
use crate::schema::table::alerting::TEMPLATE_KINDS;
use crate::schema::table::{account, alerting, records};

/// Settings of one kind of records.
pub trait RecordSettings<'a>: Deserialize<'a> {
    /// The table of that kind.
    fn table() -> &'static Table;
}

/// The settings of `record`; what it does not say has the default of the field table.
///
/// # Errors
/// A field that is missing, or whose value cannot be used.
pub fn read_record<'a, T: RecordSettings<'a>>(record: &'a Record) -> Result<T, InvalidSettings> {
    read_fields(&record.fields)
}

/// As [`read_record`], of fields alone.
///
/// # Errors
/// As [`read_record`].
pub fn read_fields<'a, T: RecordSettings<'a>>(fields: &'a Map<String, Value>) -> Result<T, InvalidSettings> {
    read(T::table(), &|_, field| fields.get(field.name))
}

macro_rules! settings_of {
    ($($name:ident $(<$lifetime:lifetime>)? = $table:path;)+) => {
        $(impl<'a> RecordSettings<'a> for $name $(<$lifetime>)? {
            fn table() -> &'static Table {
                &$table
            }
        })+
    };
}

settings_of! {
    AccountSettings<'a> = records::ACCOUNT;
    CustomerSettings<'a> = records::CUSTOMER;
    UserSettings<'a> = records::USER;
    LocationSettings<'a> = records::LOCATION_RECORD;
    CertificateSettings<'a> = records::CERTIFICATE;
    PropertySettings<'a> = records::PROPERTY;
    TestSettings = records::TEST;
    BlackoutSettings<'a> = account::BLACKOUT;
    EventSettings<'a> = account::EVENT;
    RecipientSettings<'a> = alerting::RECIPIENT;
    GroupSettings<'a> = alerting::NOTIFIER_GROUP;
    TemplateSettings<'a> = alerting::TEMPLATE;
    AgreementSettings<'a> = alerting::SLA;
    PerformanceAlertSettings = alerting::PERFORMANCE_ALERT;
}

/// An account.
#[derive(Clone, Debug, Deserialize)]
pub struct AccountSettings<'a> {
    /// What people call it.
    pub name: Option<&'a str>,
    /// Zone of window times.
    pub time_zone: &'a str,
    /// Locations of monitors without their own, the home location first.
    pub default_locations: Vec<LocationReference>,
    /// Locations that have to fail before a monitor of mode SLA (MultiPOP) alerts.
    pub multipop_threshold: Threshold,
    /// Name at the start of alerts.
    pub brand: &'a str,
    /// Days before the end of a certificate at which warnings begin; without it the server's setting.
    pub certificate_days: Option<u32>,
}

/// The name of an account.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CustomerSettings<'a> {
    /// What people call it.
    #[serde(default)]
    pub name: &'a str,
}

/// How many locations have to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Threshold {
    /// One.
    #[serde(rename = "1")]
    One,
    /// Two.
    #[serde(rename = "2")]
    Two,
    /// Three.
    #[serde(rename = "3")]
    Three,
    /// All.
    #[serde(rename = "all")]
    All,
}

/// A user.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct UserSettings<'a> {
    /// What the user logs in as.
    pub login: &'a str,
    /// What people call the user.
    pub name: &'a str,
    /// Name of what the user may do.
    pub role: &'a str,
    /// Whether the user may log in.
    pub enabled: bool,
    /// Whether an admin locked the user.
    pub locked: bool,
}

impl UserSettings<'_> {
    /// What the user may do.
    ///
    /// # Errors
    /// A role that this build does not know.
    pub fn role(&self) -> Result<Role, InvalidSettings> {
        let wanted = || format!("it must be one of `{}`", Role::NAMES.join("`, `"));
        Role::from_name(self.role).ok_or_else(|| InvalidSettings::new("role", Some(self.role), &wanted()))
    }

    /// Whether the user may log in now.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.enabled && !self.locked
    }
}

/// A monitoring location.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct LocationSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Code of its region.
    pub region: i64,
    /// Whether it is for its account alone.
    pub private: bool,
}

/// A client certificate or an authority.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct CertificateSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// What it is for.
    pub kind: CertificateKind,
    /// `PEM` or `PKCS#12`: as it came in.
    pub format: Option<&'a str>,
}

/// What a certificate is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CertificateKind {
    /// Monitors show it.
    Client,
    /// Servers are checked against it.
    Authority,
}

/// A custom property with its values.
#[derive(Clone, Debug, Deserialize)]
pub struct PropertySettings<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its values.
    #[serde(borrow)]
    pub values: Vec<PropertyValueSettings<'a>>,
}

/// A value of a property.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PropertyValueSettings<'a> {
    /// Its id; a new one has none yet.
    pub id: Option<i64>,
    /// Its text.
    pub value: &'a str,
}

/// A test on demand.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TestSettings {
    /// 1 running, 2 succeeded, 3 failed.
    pub progress: u8,
}

/// A blackout.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct BlackoutSettings<'a> {
    /// What rests.
    #[serde(rename = "type")]
    pub kind: BlackoutKind,
    /// Whether it comes back each week.
    pub persistent: bool,
    /// First day of the week, 1 is Sunday.
    pub start_day: Option<u8>,
    /// Start, `hh:mm`.
    pub start_time: Option<&'a str>,
    /// Last day of the week, 1 is Sunday.
    pub end_day: Option<u8>,
    /// End, `hh:mm`.
    pub end_time: Option<&'a str>,
    /// Start of one that comes once.
    pub from_date: Option<&'a str>,
    /// End of one that comes once.
    pub thru_date: Option<&'a str>,
}

/// What a blackout is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum BlackoutKind {
    /// A monitor does not run.
    Monitor,
    /// A monitor does not alert.
    Alert,
    /// A recipient gets nothing.
    Notifier,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct EventSettings<'a> {
    /// Its type.
    pub event: &'a str,
}

/// A recipient of alerts.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct RecipientSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Mail address, URL, host:port or telephone number, as its method has it.
    pub recipient: &'a str,
    /// How it is reached.
    #[serde(deserialize_with = "method", rename = "method_id")]
    pub method: Method,
    /// Login of the target, or community of SNMP.
    pub username: Option<&'a str>,
    /// Whether it gets errors and what belongs to them.
    pub availability_alert: bool,
    /// Whether it gets performance alerts.
    pub performance_alert: bool,
    /// Whether it gets the end of an error that it got.
    pub notify_on_clear: bool,
    /// Consecutive failing runs from which on it gets them.
    pub start_threshold: u32,
    /// Errors of one outage that it gets; 0 is all.
    pub stop_threshold: u32,
    /// Whether screenshots go with mail.
    pub attach_screen_capture: bool,
    /// Whether the answer of the target goes with mail.
    pub attach_server_response: bool,
}

fn method<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Method, D::Error> {
    let id = i64::deserialize(deserializer)?;
    Method::of_id(id).ok_or_else(|| {
        let ids: Vec<_> = Method::ALL.iter().map(|(_, id, _)| format!("`{id}`")).collect();
        serde::de::Error::custom(format!("it must be one of {}", ids.join(", ")))
    })
}

fn method_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Method>, D::Error> {
    method(deserializer).map(Some)
}

fn notice_kind_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NoticeKind>, D::Error> {
    let word = <&str>::deserialize(deserializer)?;
    let kind = NoticeKind::of_word(word);
    kind.map(Some).ok_or_else(|| serde::de::Error::unknown_variant(word, TEMPLATE_KINDS))
}

/// A group of recipients.
#[derive(Clone, Debug, Deserialize)]
pub struct GroupSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Whether it is for monitors that no group names.
    pub is_default: bool,
    /// Its monitors, steps and content views.
    pub monitors: Vec<GroupMonitorSettings>,
    /// Its recipients.
    pub recipients: Vec<Reference>,
    /// Status codes that it is limited to; empty is all.
    pub errortypes: Vec<StatusReference>,
    /// Templates of its messages.
    pub templates: Vec<Reference>,
}

/// A monitor of a group, or one of its steps or content views.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct GroupMonitorSettings {
    /// The monitor.
    pub id: i64,
    /// Only this step of it.
    pub step_number: Option<u32>,
    /// Only errors of this content view of it.
    pub content_view_id: Option<i64>,
}

/// Something that is named by its id.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Reference {
    /// The id.
    pub id: i64,
}

/// A status code of a group.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct StatusReference {
    /// The code.
    pub id: u16,
}

/// A template of messages.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct TemplateSettings<'a> {
    /// What the messages are about; without it, anything.
    #[serde(default, deserialize_with = "notice_kind_if_any")]
    pub kind: Option<NoticeKind>,
    /// How they are sent; without it, any way.
    #[serde(default, deserialize_with = "method_if_any", rename = "method_id")]
    pub method: Option<Method>,
    /// Title or subject; empty is the built-in one.
    pub subject: &'a str,
    /// Plain text, or the whole JSON body; empty is the built-in one.
    pub text: &'a str,
    /// HTML; empty is the built-in one.
    pub html: &'a str,
}

/// A service level agreement.
#[derive(Clone, Debug, Deserialize)]
pub struct AgreementSettings<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Percent of checks that pass.
    pub availability: Option<f64>,
    /// Percent of intervals in which any location passes.
    pub uptime: Option<f64>,
    /// Mean seconds of a check.
    pub response_time: Option<f64>,
    /// Whether `response_time` counts the full page.
    pub use_fullpage_time: bool,
    /// When it holds; empty is always.
    #[serde(borrow)]
    pub operating_periods: Vec<OperatingPeriodSettings<'a>>,
    /// Times that do not count.
    #[serde(borrow)]
    pub exclusions: Vec<ExclusionSettings<'a>>,
}

/// A period of each week.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct OperatingPeriodSettings<'a> {
    /// Whether it is left out, rather than that which alone counts.
    pub exclude: bool,
    /// Day of its start, 1 is Sunday.
    pub from_day: u8,
    /// Its start, `hh:mm`.
    pub from_time: &'a str,
    /// Day of its end, 1 is Sunday.
    pub thru_day: u8,
    /// Its end, `hh:mm`.
    pub thru_time: &'a str,
}

/// A time that does not count.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ExclusionSettings<'a> {
    /// Its start.
    pub from_date: &'a str,
    /// Its end.
    pub thru_date: &'a str,
    /// At this location only.
    pub location_id: Option<i64>,
}

/// A performance alert of a monitor.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct PerformanceAlertSettings {
    /// What the mean is compared with.
    #[serde(rename = "type")]
    pub kind: ThresholdKind,
    /// Static: mean seconds; dynamic: percent over the mean of the last days.
    pub threshold: f64,
    /// Dynamic: over the mean of so many days.
    pub days: u32,
    /// Minutes that the mean is taken over.
    pub window: u32,
    /// How bad it is.
    pub level: AlertLevel,
    /// The time of this step; without it of the whole check.
    pub step: Option<u32>,
    /// Whether it is evaluated.
    pub enabled: bool,
}

/// What a mean is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThresholdKind {
    /// A fixed time.
    Static,
    /// The mean of the last days.
    Dynamic,
}

/// How bad a performance alert is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertLevel {
    /// An error.
    Error,
    /// A warning.
    Warning,
}
