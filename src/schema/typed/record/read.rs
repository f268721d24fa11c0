//! Reads the settings of records, each kind with its own table.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::account::{
    AccountNameSettings, AccountSettings, AgentSettings, HostSettings, LocationKeySettings, LocationSettings,
    PropertySettings, ReportedEvent, ShareSettings, TestSettings, UserSettings, ViewSettings,
};
use super::blackout::BlackoutSettings;
use super::certificate::CertificateSettings;
use super::performance_alert::PerformanceAlertSettings;
use super::recipient::{NotifierGroupSettings, RecipientSettings, TemplateSettings};
use super::sla::SlaSettings;
use crate::domain::ConfigRecord;
use crate::schema::field::FieldTable;
use crate::schema::table::{agents, alerting, hosts, records, requests, shares, views};
use crate::schema::typed::deserializer::deserialize_fields;
use crate::schema::typed::invalid_settings::InvalidFieldValue;

/// Typed settings of one kind of record.
pub trait RecordSettings<'a>: Deserialize<'a> {
    /// Returns the field table of that kind.
    fn table() -> &'static FieldTable;
}

/// Reads the settings of `record`; missing fields have the default of the field table.
///
/// # Errors
/// A field that is missing, or whose value cannot be used.
pub fn parse_record<'a, T: RecordSettings<'a>>(record: &'a ConfigRecord) -> Result<T, InvalidFieldValue> {
    parse_record_fields(&record.fields)
}

/// Like [`parse_record`], from fields alone.
///
/// # Errors
/// As [`parse_record`].
pub fn parse_record_fields<'a, T: RecordSettings<'a>>(
    fields: &'a Map<String, Value>,
) -> Result<T, InvalidFieldValue> {
    deserialize_fields(T::table(), &|_, field| fields.get(field.name))
}

macro_rules! impl_record_settings {
    ($($name:ident $(<$lifetime:lifetime>)? = $table:path;)+) => {
        $(impl<'a> RecordSettings<'a> for $name $(<$lifetime>)? {
            fn table() -> &'static FieldTable {
                &$table
            }
        })+
    };
}

impl_record_settings! {
    AccountSettings<'a> = records::ACCOUNT;
    AccountNameSettings<'a> = records::ACCOUNT_SUMMARY;
    UserSettings<'a> = records::USER;
    LocationSettings<'a> = records::LOCATION_RECORD;
    AgentSettings<'a> = agents::AGENT;
    HostSettings<'a> = hosts::HOST;
    LocationKeySettings = agents::LOCATION_KEY;
    CertificateSettings<'a> = records::CERTIFICATE;
    PropertySettings<'a> = records::PROPERTY;
    TestSettings = records::ON_DEMAND_TEST;
    ShareSettings<'a> = shares::SHARE;
    ViewSettings<'a> = views::VIEW;
    BlackoutSettings<'a> = requests::BLACKOUT;
    ReportedEvent<'a> = requests::EVENT;
    RecipientSettings<'a> = alerting::RECIPIENT;
    NotifierGroupSettings<'a> = alerting::NOTIFIER_GROUP;
    TemplateSettings<'a> = alerting::TEMPLATE;
    SlaSettings<'a> = alerting::SLA;
    PerformanceAlertSettings = alerting::PERFORMANCE_ALERT;
}
