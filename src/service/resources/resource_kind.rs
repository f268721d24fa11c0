//! The kinds of records that users see: field table, rights, and whether the directory knows them.

use serde_json::{Map, Value};

use crate::domain::{Permission, RecordKind};
use crate::schema::table::{FieldTable, alerting, records, requests};

/// One kind.
pub(super) struct ResourceKind {
    pub(super) record: RecordKind,
    pub(super) table: &'static FieldTable,
    /// What seeing it needs.
    pub(super) view_right: Permission,
    /// What making and removing it needs.
    pub(super) edit_right: Permission,
    /// What changing it needs before its own rules are asked.
    pub(super) patch_right: Permission,
    /// The field that people call it by.
    name_field: &'static str,
    /// Whether what is known of accounts changes with it.
    pub(super) is_cached: bool,
    /// Whether monitors may name it: nobody changes a monitor while it is changed or removed.
    pub(super) is_referenced_by_monitors: bool,
    /// Whether it names monitors, which have to stay until it is kept.
    pub(super) references_monitors: bool,
}

impl ResourceKind {
    /// What people call the record with these fields.
    pub(super) fn name_of<'a>(&self, fields: &'a Map<String, Value>) -> &'a str {
        fields.get(self.name_field).and_then(Value::as_str).unwrap_or_default()
    }
}

const fn admin_kind(record: RecordKind, table: &'static FieldTable) -> ResourceKind {
    ResourceKind {
        record,
        table,
        view_right: Permission::View,
        edit_right: Permission::Administer,
        patch_right: Permission::Administer,
        name_field: "name",
        is_cached: true,
        is_referenced_by_monitors: true,
        references_monitors: false,
    }
}

/// What whoever may edit monitors may make and change.
const fn editor_kind(record: RecordKind, table: &'static FieldTable) -> ResourceKind {
    ResourceKind {
        edit_right: Permission::Edit,
        patch_right: Permission::Edit,
        is_referenced_by_monitors: false,
        ..admin_kind(record, table)
    }
}

static CUSTOMER: ResourceKind = admin_kind(RecordKind::Customer, &records::ACCOUNT);
/// Everybody may change the own password.
static USER: ResourceKind = ResourceKind {
    name_field: "login",
    patch_right: Permission::ViewReports,
    is_cached: false,
    is_referenced_by_monitors: false,
    ..admin_kind(RecordKind::User, &records::USER)
};
static LOCATION: ResourceKind = admin_kind(RecordKind::Location, &records::LOCATION_RECORD);
static PROPERTY: ResourceKind = admin_kind(RecordKind::Property, &records::PROPERTY);
static CERTIFICATE: ResourceKind = admin_kind(RecordKind::Certificate, &records::CERTIFICATE);
static BLACKOUT: ResourceKind = ResourceKind {
    name_field: "type",
    references_monitors: true,
    ..editor_kind(RecordKind::Blackout, &requests::BLACKOUT)
};
static EVENT: ResourceKind = ResourceKind {
    name_field: "event",
    is_cached: false,
    ..editor_kind(RecordKind::Event, &requests::EVENT)
};
static TEST: ResourceKind =
    ResourceKind { is_cached: false, ..editor_kind(RecordKind::Test, &records::TEST) };
static RECIPIENT: ResourceKind = editor_kind(RecordKind::Recipient, &alerting::RECIPIENT);
static GROUP: ResourceKind = ResourceKind {
    references_monitors: true,
    ..editor_kind(RecordKind::NotifierGroup, &alerting::NOTIFIER_GROUP)
};
static TEMPLATE: ResourceKind =
    ResourceKind { is_cached: false, ..editor_kind(RecordKind::Template, &alerting::TEMPLATE) };
static SLA: ResourceKind = ResourceKind {
    is_cached: false,
    references_monitors: true,
    ..editor_kind(RecordKind::Sla, &alerting::SLA)
};
static PERFORMANCE_ALERT: ResourceKind = ResourceKind {
    name_field: "type",
    is_cached: false,
    references_monitors: true,
    ..editor_kind(RecordKind::PerformanceAlert, &alerting::PERFORMANCE_ALERT)
};

/// The kind of `record`.
pub(super) fn resource_kind(record: RecordKind) -> &'static ResourceKind {
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
