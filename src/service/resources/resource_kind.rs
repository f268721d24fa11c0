//! The kinds of records: field table, required permissions, and whether the account cache depends on them.

use serde_json::{Map, Value};

use crate::domain::{Permission, RecordKind};
use crate::schema::table::{FieldTable, alerting, records, requests};

/// A kind of record.
pub(super) struct ResourceKind {
    pub(super) record: RecordKind,
    pub(super) table: &'static FieldTable,
    /// Permission to view it.
    pub(super) view_right: Permission,
    /// Permission to create and remove it.
    pub(super) edit_right: Permission,
    /// Permission to change it; the rules of its kind may require more.
    pub(super) patch_right: Permission,
    /// The field that people identify it by.
    name_field: &'static str,
    /// Whether the account cache depends on it.
    pub(super) is_cached: bool,
    /// Whether monitors may refer to it. If so, monitors are locked while it is changed or removed.
    pub(super) is_referenced_by_monitors: bool,
    /// Whether it refers to monitors, which must exist until it is stored.
    pub(super) references_monitors: bool,
}

impl ResourceKind {
    /// Returns the name of the record with these fields.
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

/// Returns a kind that everyone who may edit monitors may create and change.
const fn editor_kind(record: RecordKind, table: &'static FieldTable) -> ResourceKind {
    ResourceKind {
        edit_right: Permission::Edit,
        patch_right: Permission::Edit,
        is_referenced_by_monitors: false,
        ..admin_kind(record, table)
    }
}

static CUSTOMER: ResourceKind = admin_kind(RecordKind::Customer, &records::ACCOUNT);
/// Every user may patch: `user::patch` permits others than admins their own name and password only.
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
    ResourceKind { is_cached: false, ..editor_kind(RecordKind::Test, &records::ON_DEMAND_TEST) };
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

/// Returns the kind of `record`.
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
