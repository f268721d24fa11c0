//! The kinds of records: field table, required permissions, and whether the account cache depends on them.

use serde_json::{Map, Value};

use crate::domain::{Permission, RecordKind};
use crate::schema::table::{FieldTable, alerting, records, requests};

/// A kind of record.
pub(super) struct RecordDefinition {
    pub(super) kind: RecordKind,
    pub(super) field_table: &'static FieldTable,
    /// Permission to view it.
    pub(super) view_permission: Permission,
    /// Permission to create and remove it.
    pub(super) edit_permission: Permission,
    /// Permission to change it; the rules of its kind may require more.
    pub(super) patch_permission: Permission,
    /// The field that people identify it by.
    name_field: &'static str,
    /// Whether the account cache depends on it.
    pub(super) affects_account_cache: bool,
    /// Whether monitors may refer to it. If so, monitors are locked while it is changed or removed.
    pub(super) is_referenced_by_monitors: bool,
    /// Whether it refers to monitors, which must exist until it is stored.
    pub(super) references_monitors: bool,
}

impl RecordDefinition {
    /// Returns the name of the record with these fields.
    pub(super) fn name_of<'a>(&self, fields: &'a Map<String, Value>) -> &'a str {
        fields.get(self.name_field).and_then(Value::as_str).unwrap_or_default()
    }
}

const fn admin_editable(kind: RecordKind, field_table: &'static FieldTable) -> RecordDefinition {
    RecordDefinition {
        kind,
        field_table,
        view_permission: Permission::View,
        edit_permission: Permission::Administer,
        patch_permission: Permission::Administer,
        name_field: "name",
        affects_account_cache: true,
        is_referenced_by_monitors: true,
        references_monitors: false,
    }
}

/// Returns a kind that everyone who may edit monitors may create and change.
const fn editor_editable(kind: RecordKind, field_table: &'static FieldTable) -> RecordDefinition {
    RecordDefinition {
        edit_permission: Permission::Edit,
        patch_permission: Permission::Edit,
        is_referenced_by_monitors: false,
        ..admin_editable(kind, field_table)
    }
}

static CUSTOMER: RecordDefinition = admin_editable(RecordKind::Customer, &records::ACCOUNT);
/// Every user may patch: `user::patch` permits others than admins their own name and password only.
static USER: RecordDefinition = RecordDefinition {
    name_field: "login",
    patch_permission: Permission::ViewReports,
    affects_account_cache: false,
    is_referenced_by_monitors: false,
    ..admin_editable(RecordKind::User, &records::USER)
};
static LOCATION: RecordDefinition = admin_editable(RecordKind::Location, &records::LOCATION_RECORD);
static PROPERTY: RecordDefinition = admin_editable(RecordKind::Property, &records::PROPERTY);
static CERTIFICATE: RecordDefinition = admin_editable(RecordKind::Certificate, &records::CERTIFICATE);
static BLACKOUT: RecordDefinition = RecordDefinition {
    name_field: "type",
    references_monitors: true,
    ..editor_editable(RecordKind::Blackout, &requests::BLACKOUT)
};
static EVENT: RecordDefinition = RecordDefinition {
    name_field: "event",
    affects_account_cache: false,
    ..editor_editable(RecordKind::Event, &requests::EVENT)
};
static TEST: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    ..editor_editable(RecordKind::Test, &records::ON_DEMAND_TEST)
};
static RECIPIENT: RecordDefinition = editor_editable(RecordKind::Recipient, &alerting::RECIPIENT);
static NOTIFIER_GROUP: RecordDefinition = RecordDefinition {
    references_monitors: true,
    ..editor_editable(RecordKind::NotifierGroup, &alerting::NOTIFIER_GROUP)
};
static TEMPLATE: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    ..editor_editable(RecordKind::Template, &alerting::TEMPLATE)
};
static SLA: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    references_monitors: true,
    ..editor_editable(RecordKind::Sla, &alerting::SLA)
};
static PERFORMANCE_ALERT: RecordDefinition = RecordDefinition {
    name_field: "type",
    affects_account_cache: false,
    references_monitors: true,
    ..editor_editable(RecordKind::PerformanceAlert, &alerting::PERFORMANCE_ALERT)
};

/// Returns the kind of `kind`.
pub(super) fn record_definition(kind: RecordKind) -> &'static RecordDefinition {
    match kind {
        RecordKind::Customer => &CUSTOMER,
        RecordKind::User => &USER,
        RecordKind::Location => &LOCATION,
        RecordKind::Property => &PROPERTY,
        RecordKind::Certificate => &CERTIFICATE,
        RecordKind::Blackout => &BLACKOUT,
        RecordKind::Event => &EVENT,
        RecordKind::Test => &TEST,
        RecordKind::Recipient => &RECIPIENT,
        RecordKind::NotifierGroup => &NOTIFIER_GROUP,
        RecordKind::Template => &TEMPLATE,
        RecordKind::Sla => &SLA,
        RecordKind::PerformanceAlert => &PERFORMANCE_ALERT,
    }
}
