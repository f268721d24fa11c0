//! Compares every typed struct with the field table: its fields exist there, and integers and choices agree.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, json};

use super::*;
use crate::domain::MonitorType;
use crate::schema::MonitorDocument;
use crate::schema::table::{self, agents, alerting as tables, operations, requests, shares};
use crate::schema::typed::api_steps::WebsiteApiSettings;
use crate::schema::typed::collection::CollectionSettings;
use crate::schema::typed::host_agent::HostAgentSettings;
use crate::schema::typed::project::ProjectSettings;
use crate::schema::typed::record::*;
use crate::schema::typed::security_scan::SecurityScanFields;
use crate::schema::typed::{
    alerting, browser, connection, ftp, keyword, mail, name_server, ping, request, schedule, tcp, website,
};

/// The results of comparing the typed structs with the field table.
#[derive(Default)]
struct ComparisonReport {
    structs: RefCell<BTreeSet<&'static str>>,
    errors: RefCell<Vec<String>>,
}

impl ComparisonReport {
    fn add_error(&self, place: &str, message: String) {
        self.errors.borrow_mut().push(format!("{place}: {message}"));
    }

    /// Compares `T` with the tables of `kinds`.
    fn compare_types<T: Deserialize<'static>>(&self, kinds: &[MonitorType]) {
        for kind in kinds {
            self.compare_table::<T>(table::for_type(*kind));
        }
    }

    fn compare_record<T: RecordSettings<'static>>(&self) {
        self.compare_table::<T>(T::table());
    }

    fn compare_table<T: Deserialize<'static>>(&self, table: &'static FieldTable) {
        if let Err(error) = T::deserialize(StructComparer { table, report: self }) {
            self.add_error(table.name, error.to_string());
        }
    }
}

/// Passes a struct a value for each of its fields.
struct StructComparer<'s> {
    table: &'static FieldTable,
    report: &'s ComparisonReport,
}

impl Deserializer<'static> for StructComparer<'_> {
    type Error = InvalidFieldValue;

    fn deserialize_struct<V: Visitor<'static>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.report.structs.borrow_mut().insert(name);
        for field in names.iter().filter(|field| self.table.field(field).is_none()) {
            self.report.add_error(name, format!("`{field}` is not a field of `{}`", self.table.name));
        }
        visitor.visit_map(FieldComparer { names: names.iter(), next: None, struct_comparer: self })
    }

    fn deserialize_any<V: Visitor<'static>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(InvalidFieldValue::from_reason("not a struct"))
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'static>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The fields of a struct that its table has.
struct FieldComparer<'s> {
    struct_comparer: StructComparer<'s>,
    names: std::slice::Iter<'static, &'static str>,
    next: Option<&'static Field>,
}

impl MapAccess<'static> for FieldComparer<'_> {
    type Error = InvalidFieldValue;

    fn next_key_seed<K: DeserializeSeed<'static>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Self::Error> {
        self.next = self.names.find_map(|name| self.struct_comparer.table.field(name));
        let Some(field) = self.next else { return Ok(None) };
        seed.deserialize(BorrowedStrDeserializer::new(field.name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'static>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        let field = self.next.unwrap();
        let value = ValueComparer {
            field_type: &field.field_type,
            name: field.name,
            report: self.struct_comparer.report,
        };
        seed.deserialize(value).map_err(|error| error.with_path_prefix(field.name))
    }
}

/// Passes a value of `field_type`, and compares it with the requested type.
#[derive(Clone, Copy)]
struct ValueComparer<'s> {
    field_type: &'static FieldType,
    name: &'static str,
    report: &'s ComparisonReport,
}

impl ValueComparer<'_> {
    /// Passes an integer; all values of the field must be between `low` and `high`.
    fn visit_integer<V: Visitor<'static>>(
        self,
        low: i64,
        high: i64,
        visitor: V,
    ) -> Result<V::Value, InvalidFieldValue> {
        let (min, max) = match *self.field_type {
            FieldType::Int { min, max } => (min, max),
            FieldType::IntEnum(choices) => (*choices.iter().min().unwrap(), *choices.iter().max().unwrap()),
            other => return type_error(&format!("a whole number is read from {other:?}")),
        };
        if min < low || max > high {
            self.report.add_error(self.name, format!("{min} to {max} do not fit into {low} to {high}"));
        }
        visitor.visit_i64(match *self.field_type {
            FieldType::IntEnum(choices) => choices[0],
            _ => min.max(1),
        })
    }
}

fn type_error<T>(reason: &str) -> Result<T, InvalidFieldValue> {
    Err(InvalidFieldValue::from_reason(reason))
}

macro_rules! deserialize_integers {
    ($($method:ident: $number:ty;)+) => {
        $(fn $method<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            let high = i64::try_from(<$number>::MAX).unwrap_or(i64::MAX);
            self.visit_integer(i64::try_from(<$number>::MIN).unwrap(), high, visitor)
        })+
    };
}

impl Deserializer<'static> for ValueComparer<'_> {
    type Error = InvalidFieldValue;

    deserialize_integers! {
        deserialize_i8: i8;
        deserialize_i16: i16;
        deserialize_i32: i32;
        deserialize_i64: i64;
        deserialize_u8: u8;
        deserialize_u16: u16;
        deserialize_u32: u32;
        deserialize_u64: u64;
    }

    fn deserialize_any<V: Visitor<'static>>(self, _: V) -> Result<V::Value, Self::Error> {
        type_error("it is read as a type that the comparison does not know")
    }

    fn deserialize_bool<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.field_type {
            FieldType::Bool => visitor.visit_bool(true),
            other => type_error(&format!("a flag is read from {other:?}")),
        }
    }

    fn deserialize_f64<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.field_type {
            FieldType::Int { .. } | FieldType::Float { .. } => visitor.visit_f64(1.0),
            other => type_error(&format!("a number is read from {other:?}")),
        }
    }

    fn deserialize_str<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.field_type {
            FieldType::Text { .. } => visitor.visit_borrowed_str("text"),
            FieldType::TextEnum(choices) => visitor.visit_borrowed_str(choices[0]),
            other => type_error(&format!("a text is read from {other:?}")),
        }
    }

    fn deserialize_string<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'static>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'static>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.field_type {
            FieldType::List { item_type: entry_type, .. } => {
                visitor.visit_seq(OneItem(Some(Self { field_type: entry_type, ..self })))
            }
            other => type_error(&format!("a list is read from {other:?}")),
        }
    }

    fn deserialize_struct<V: Visitor<'static>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.field_type {
            FieldType::Object(table) => {
                StructComparer { table, report: self.report }.deserialize_struct(name, names, visitor)
            }
            other => type_error(&format!("a struct is read from {other:?}")),
        }
    }

    fn deserialize_enum<V: Visitor<'static>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let FieldType::TextEnum(choices) = self.field_type else {
            return type_error(&format!("{name} is read from {:?}", self.field_type));
        };
        let (struct_choices, table_choices) = (BTreeSet::from_iter(variants), BTreeSet::from_iter(*choices));
        if struct_choices != table_choices {
            self.report.add_error(
                self.name,
                format!("{name} takes {struct_choices:?}, the table {table_choices:?}"),
            );
        }
        StrDeserializer::new(choices[0]).deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'static>>
        i128 u128 f32 char bytes byte_buf unit unit_struct tuple tuple_struct map identifier ignored_any
    }
}

/// A list of one entry.
struct OneItem<'s>(Option<ValueComparer<'s>>);

impl SeqAccess<'static> for OneItem<'_> {
    type Error = InvalidFieldValue;

    fn next_element_seed<T: DeserializeSeed<'static>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Self::Error> {
        self.0.take().map(|item| seed.deserialize(item)).transpose()
    }
}

const HANDSETS: &[MonitorType] = &[MonitorType::MobileCloud, MonitorType::MobileLab];
const WEBSITES: &[MonitorType] = &[MonitorType::Website, MonitorType::WebsiteSsl];
const API_STEP_TYPES: &[MonitorType] = &[MonitorType::WebsiteApi, MonitorType::WebsiteSslApi];
const BROWSER_TYPES: &[MonitorType] = &[MonitorType::BrowserScript];
const MAIL_SESSION_TYPES: &[MonitorType] =
    &[MonitorType::EmailImap, MonitorType::EmailPop, MonitorType::EmailSmtp];
const ROUND_TRIP_TYPES: &[MonitorType] = &[MonitorType::EmailRoundTrip];
const FTP: &[MonitorType] = &[MonitorType::Ftp, MonitorType::FtpSsl];
const SECURE_FTP: &[MonitorType] = &[MonitorType::FtpSsl];
const TCP: &[MonitorType] = &[MonitorType::Tcp];
const PING: &[MonitorType] = &[MonitorType::Ping];
const NAME_SERVERS: &[MonitorType] = &[MonitorType::NameServer];

fn compare_all_structs() -> ComparisonReport {
    let report = ComparisonReport::default();
    let types_with_location_mode: Vec<_> =
        MonitorType::ALL.iter().copied().filter(|kind| !HANDSETS.contains(kind)).collect();
    report.compare_types::<schedule::ScheduleSettings>(MonitorType::ALL);
    report.compare_types::<schedule::LocationModeSettings>(&types_with_location_mode);
    report.compare_types::<schedule::HandsetSettings>(HANDSETS);
    report.compare_types::<schedule::ShortIntervalSettings>(
        &[WEBSITES, API_STEP_TYPES, TCP, PING, NAME_SERVERS, MAIL_SESSION_TYPES, ROUND_TRIP_TYPES, FTP]
            .concat(),
    );
    report.compare_types::<alerting::AlertingSettings>(MonitorType::ALL);
    report.compare_types::<alerting::FullPageSettings>(&[WEBSITES, BROWSER_TYPES].concat());
    report.compare_types::<alerting::CertificateDateSettings>(WEBSITES);
    report.compare_types::<keyword::KeywordSettings<'_>>(&[WEBSITES, BROWSER_TYPES].concat());
    report.compare_types::<connection::PortSettings>(
        &[WEBSITES, TCP, NAME_SERVERS, MAIL_SESSION_TYPES, FTP].concat(),
    );
    report.compare_types::<connection::AddressSettings<'_>>(
        &[TCP, PING, NAME_SERVERS, MAIL_SESSION_TYPES, FTP].concat(),
    );
    let types_with_tls = [
        WEBSITES,
        API_STEP_TYPES,
        BROWSER_TYPES,
        TCP,
        NAME_SERVERS,
        MAIL_SESSION_TYPES,
        ROUND_TRIP_TYPES,
        SECURE_FTP,
    ]
    .concat();
    report.compare_types::<connection::TrustSettings>(&types_with_tls);
    report.compare_types::<connection::RevocationSettings>(
        &[WEBSITES, API_STEP_TYPES, TCP, NAME_SERVERS, MAIL_SESSION_TYPES, ROUND_TRIP_TYPES, SECURE_FTP]
            .concat(),
    );
    report.compare_types::<connection::ClientCertificateSettings>(
        &[WEBSITES, API_STEP_TYPES, BROWSER_TYPES, SECURE_FTP].concat(),
    );
    report.compare_types::<connection::TlsVersionSettings>(&[WEBSITES, API_STEP_TYPES, SECURE_FTP].concat());
    report.compare_types::<connection::AddressFamilySettings>(
        &[WEBSITES, API_STEP_TYPES, BROWSER_TYPES].concat(),
    );
    report.compare_types::<connection::ProxySettings>(&[WEBSITES, API_STEP_TYPES, BROWSER_TYPES].concat());
    report.compare_types::<website::WebsiteSettings<'_>>(WEBSITES);
    report.compare_types::<WebsiteApiSettings<'_>>(API_STEP_TYPES);
    report.compare_types::<CollectionSettings<'_>>(&[MonitorType::CollectionApi]);
    report.compare_types::<ProjectSettings<'_>>(&[MonitorType::ApiProject]);
    report.compare_types::<HostAgentSettings<'_>>(&[MonitorType::HostAgent]);
    report.compare_types::<browser::BrowserSettings<'_>>(BROWSER_TYPES);
    report.compare_types::<browser::StepTimeoutSettings>(BROWSER_TYPES);
    report.compare_types::<tcp::TcpSettings<'_>>(TCP);
    report.compare_types::<SecurityScanFields<'_>>(&[MonitorType::SecurityScan]);
    report.compare_types::<ping::PingSettings<'_>>(PING);
    report.compare_types::<name_server::NameServerSettings<'_>>(NAME_SERVERS);
    report.compare_types::<ftp::FtpSettings<'_>>(FTP);
    report.compare_types::<mail::MailSessionSettings>(&[MAIL_SESSION_TYPES, ROUND_TRIP_TYPES].concat());
    report.compare_types::<mail::ImapSettings<'_>>(&[MonitorType::EmailImap]);
    report.compare_types::<mail::PopSettings<'_>>(&[MonitorType::EmailPop]);
    report.compare_types::<mail::SmtpSettings<'_>>(&[MonitorType::EmailSmtp]);
    report.compare_types::<mail::RoundTripSettings<'_>>(ROUND_TRIP_TYPES);
    report.compare_record::<AccountSettings<'_>>();
    report.compare_record::<AccountNameSettings<'_>>();
    report.compare_record::<UserSettings<'_>>();
    report.compare_record::<LocationSettings<'_>>();
    report.compare_record::<AgentSettings<'_>>();
    report.compare_record::<HostSettings<'_>>();
    report.compare_record::<LocationKeySettings>();
    report.compare_record::<CertificateSettings<'_>>();
    report.compare_record::<PropertySettings<'_>>();
    report.compare_record::<TestSettings>();
    report.compare_record::<ShareSettings<'_>>();
    report.compare_record::<ViewSettings<'_>>();
    report.compare_record::<BlackoutSettings<'_>>();
    report.compare_record::<ReportedEvent<'_>>();
    report.compare_record::<RecipientSettings<'_>>();
    report.compare_record::<NotifierGroupSettings<'_>>();
    report.compare_record::<TemplateSettings<'_>>();
    report.compare_record::<SlaSettings<'_>>();
    report.compare_record::<PerformanceAlertSettings>();
    report.compare_table::<request::LoginRequest<'_>>(&requests::LOGIN);
    report.compare_table::<request::ProgramTokenRequest<'_>>(&requests::PROGRAM_TOKEN);
    report.compare_table::<request::ShareRequest>(&shares::SHARE_REQUEST);
    report.compare_table::<request::ReplaceTextRequest<'_>>(&requests::PASSWORD_BULK_EDIT);
    report.compare_table::<request::ReplaceTextRequest<'_>>(&requests::SCRIPT_BULK_EDIT);
    report.compare_table::<request::UpdateLocationsRequest>(&requests::MONITOR_BULK_EDIT);
    report.compare_table::<request::CloneRequest<'_>>(&requests::MONITOR_CLONE);
    report.compare_table::<request::TestAlertRequest>(&tables::TEST_NOTIFICATION);
    report.compare_table::<request::ExampleMonitorRequest>(&tables::TEST_NOTIFICATION);
    report.compare_table::<request::ExampleMonitorRequest>(&tables::TEMPLATE_PREVIEW_REQUEST);
    report.compare_table::<request::ApplyRequest>(&operations::APPLY);
    report.compare_table::<request::TestOrderRequest>(&operations::TEST_ORDER);
    report.compare_table::<request::AgentEnrolmentRequest<'_>>(&agents::AGENT_ENROLMENT);
    report.compare_table::<request::AgentRenewalRequest<'_>>(&agents::AGENT_RENEWAL);
    report
}

#[test]
fn typed_settings_agree_with_the_field_table() {
    let errors = compare_all_structs().errors.into_inner();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn every_typed_struct_is_compared() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema/typed");
    let compared_structs = compare_all_structs().structs.into_inner();
    let mut struct_count = 0;
    let record_folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/schema/typed/record");
    let files = [folder, record_folder].into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    for path in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(path).unwrap();
        for (at, _) in text.match_indices("Deserialize)]\npub struct ") {
            let name = text[at..].split("pub struct ").nth(1).unwrap();
            let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            assert!(compared_structs.contains(name), "{name} is not compared with the field table");
            struct_count += 1;
        }
    }
    assert!(struct_count > 30, "{struct_count}");
}

fn website(fields: Value) -> Result<MonitorDocument, InvalidFieldValue> {
    let Value::Object(fields) = fields else { unreachable!() };
    MonitorDocument::new(MonitorType::Website, fields)
}

#[test]
fn an_invalid_value_is_an_error_with_its_path() {
    for (fields, expected) in [
        (json!({"mode": "Foo"}), "`mode` is `Foo`: it must be one of `Global Verify`, `Primary`"),
        (json!({"interval": 7}), "`interval` is `7`: it must be one of 1, 2, 3"),
        (json!({"enabled": "yes"}), "`enabled` is `yes`: it must be `true` or `false`"),
        (
            json!({"locations": [{"id": 1}, {"id": "x"}]}),
            "`locations[1].id` is `x`: it must be a whole number",
        ),
        (json!({"realm_password": 7}), "`realm_password` is `********`: it must be a text"),
    ] {
        let error = website(fields.clone()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{fields}: {error}");
    }
}

#[test]
fn an_unset_field_has_the_default_of_the_table() {
    let document = website(json!({"url": "http://a/", "mode": "Primary", "timeout": null})).unwrap();
    let settings = document.settings();
    assert_eq!(
        (settings.location_mode, settings.schedule.timeout_seconds),
        (crate::domain::LocationMode::Primary, 30)
    );
    assert!(settings.schedule.enabled && settings.alerting.notify_on_error);
    let typed: website::WebsiteSettings<'_> = document.deserialize().unwrap();
    assert_eq!((typed.url, typed.http_version), ("http://a/", website::HttpVersion::Http11));
    assert_eq!(typed.post_content_type, "application/x-www-form-urlencoded");
}

#[test]
fn missing_and_unknown_fields_are_errors() {
    let document = website(json!({})).unwrap();
    let error = document.deserialize::<website::WebsiteSettings<'_>>().unwrap_err();
    assert_eq!(error.to_string(), "`url`: it is missing");
    let error = document.deserialize::<ftp::FtpSettings<'_>>().unwrap_err();
    assert_eq!(error.to_string(), "`hostname`: `website` has no such field");
}

#[test]
fn a_record_is_read_with_the_defaults_of_its_table() {
    let fields = |fields: Value| -> Map<String, Value> { fields.as_object().cloned().unwrap() };
    let bare = fields(json!({"name": "n", "recipient": "a@b.example"}));
    let read: RecipientSettings<'_> = parse_record_fields(&bare).unwrap();
    assert_eq!(
        (read.method, read.start_threshold, read.stop_threshold),
        (crate::domain::NotificationMethod::MailHtml, 1, 10)
    );
    let other = fields(json!({"name": "n", "recipient": "a@b.example", "method_id": 99}));
    let error = parse_record_fields::<RecipientSettings<'_>>(&other).unwrap_err().to_string();
    assert!(error.starts_with("`method_id` is `99`: it must be one of `1`"), "{error}");
}
