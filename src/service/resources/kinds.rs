//! The kinds of records that users see: field table, rights, and whether the directory knows them.

use serde_json::{Map, Value};

use crate::domain::{Permission, RecordKind};
use crate::schema::table::{Table, account, alerting, records};

/// One kind.
pub(super) struct Kind {
    pub(super) record: RecordKind,
    pub(super) table: &'static Table,
    /// What seeing it needs.
    pub(super) see: Permission,
    /// What making and removing it needs.
    pub(super) change: Permission,
    /// What changing it needs before its own rules are asked.
    pub(super) patch: Permission,
    /// The field that people call it by.
    name: &'static str,
    /// Whether what is known of accounts changes with it.
    pub(super) in_directory: bool,
    /// Whether monitors may name it: nobody changes a monitor while it is changed or removed.
    pub(super) named_by_monitors: bool,
    /// Whether it names monitors, which have to stay until it is kept.
    pub(super) names_monitors: bool,
}

impl Kind {
    /// What people call the record with these fields.
    pub(super) fn name_of<'a>(&self, fields: &'a Map<String, Value>) -> &'a str {
        fields.get(self.name).and_then(Value::as_str).unwrap_or_default()
    }
}

const fn administered(record: RecordKind, table: &'static Table) -> Kind {
    Kind {
        record,
        table,
        see: Permission::View,
        change: Permission::Administer,
        patch: Permission::Administer,
        name: "name",
        in_directory: true,
        named_by_monitors: true,
        names_monitors: false,
    }
}

/// What whoever may edit monitors may make and change.
const fn edited(record: RecordKind, table: &'static Table) -> Kind {
    Kind {
        change: Permission::Edit,
        patch: Permission::Edit,
        named_by_monitors: false,
        ..administered(record, table)
    }
}

static CUSTOMER: Kind = administered(RecordKind::Customer, &records::ACCOUNT);
/// Everybody may change the own password.
static USER: Kind = Kind {
    name: "login",
    patch: Permission::ViewReports,
    in_directory: false,
    named_by_monitors: false,
    ..administered(RecordKind::User, &records::USER)
};
static LOCATION: Kind = administered(RecordKind::Location, &records::LOCATION_RECORD);
static PROPERTY: Kind = administered(RecordKind::Property, &records::PROPERTY);
static CERTIFICATE: Kind = administered(RecordKind::Certificate, &records::CERTIFICATE);
static BLACKOUT: Kind =
    Kind { name: "type", names_monitors: true, ..edited(RecordKind::Blackout, &account::BLACKOUT) };
static EVENT: Kind =
    Kind { name: "event", in_directory: false, ..edited(RecordKind::Event, &account::EVENT) };
static TEST: Kind = Kind { in_directory: false, ..edited(RecordKind::Test, &records::TEST) };
static RECIPIENT: Kind = edited(RecordKind::Recipient, &alerting::RECIPIENT);
static GROUP: Kind =
    Kind { names_monitors: true, ..edited(RecordKind::NotifierGroup, &alerting::NOTIFIER_GROUP) };
static TEMPLATE: Kind = Kind { in_directory: false, ..edited(RecordKind::Template, &alerting::TEMPLATE) };
static SLA: Kind =
    Kind { in_directory: false, names_monitors: true, ..edited(RecordKind::Sla, &alerting::SLA) };
static PERFORMANCE_ALERT: Kind = Kind {
    name: "type",
    in_directory: false,
    names_monitors: true,
    ..edited(RecordKind::PerformanceAlert, &alerting::PERFORMANCE_ALERT)
};

/// The kind of `record`.
pub(super) fn kind_of(record: RecordKind) -> &'static Kind {
    match record {
        RecordKind::Customer => &CUSTOMER,
        RecordKind::User => &USER,
        RecordKind::Location => &LOCATION,
        RecordKind::Property => &PROPERTY,
        RecordKind::Certificate => &CERTIFICATE,
        RecordKind::Blackout => &BLACKOUT,
        RecordKind::Event => &EVENT,
        RecordKind::Test => &TEST,
        RecordKind::Recipient => &RECIPIENT,
        RecordKind::NotifierGroup => &GROUP,
        RecordKind::Template => &TEMPLATE,
        RecordKind::Sla => &SLA,
        RecordKind::PerformanceAlert => &PERFORMANCE_ALERT,
    }
}
