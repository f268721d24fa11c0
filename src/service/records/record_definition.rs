//! The kinds of records: field table, required permissions, and whether the account cache depends on them.

use serde_json::{Map, Value};

use crate::domain::{ConfigRecordKind, Permission};
use crate::schema::table::{FieldTable, agents, alerting, hosts, records, requests, shares, views};

/// A kind of record.
pub(super) struct RecordDefinition {
    pub(super) kind: ConfigRecordKind,
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
    /// Whether it refers to monitors. If so, monitors are locked until it is stored, so that none is removed meanwhile.
    pub(super) references_monitors: bool,
}

impl RecordDefinition {
    /// Returns the name of the record with these fields.
    pub(super) fn record_name<'a>(&self, fields: &'a Map<String, Value>) -> &'a str {
        fields.get(self.name_field).and_then(Value::as_str).unwrap_or_default()
    }
}

const fn admin_editable(kind: ConfigRecordKind, field_table: &'static FieldTable) -> RecordDefinition {
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
const fn editor_editable(kind: ConfigRecordKind, field_table: &'static FieldTable) -> RecordDefinition {
    RecordDefinition {
        edit_permission: Permission::Edit,
        patch_permission: Permission::Edit,
        is_referenced_by_monitors: false,
        ..admin_editable(kind, field_table)
    }
}

static CUSTOMER: RecordDefinition = admin_editable(ConfigRecordKind::Customer, &records::ACCOUNT);
/// Every user may patch: `user::change_draft` permits others than admins their own name and password only.
static USER: RecordDefinition = RecordDefinition {
    name_field: "login",
    patch_permission: Permission::ViewReports,
    affects_account_cache: false,
    is_referenced_by_monitors: false,
    ..admin_editable(ConfigRecordKind::User, &records::USER)
};
static HOST: RecordDefinition = admin_editable(ConfigRecordKind::Host, &hosts::HOST);
static LOCATION: RecordDefinition = admin_editable(ConfigRecordKind::Location, &records::LOCATION_RECORD);
static PROPERTY: RecordDefinition = admin_editable(ConfigRecordKind::Property, &records::PROPERTY);
static CERTIFICATE: RecordDefinition = admin_editable(ConfigRecordKind::Certificate, &records::CERTIFICATE);
static BLACKOUT: RecordDefinition = RecordDefinition {
    name_field: "type",
    references_monitors: true,
    ..editor_editable(ConfigRecordKind::Blackout, &requests::BLACKOUT)
};
static EVENT: RecordDefinition = RecordDefinition {
    name_field: "event",
    affects_account_cache: false,
    ..editor_editable(ConfigRecordKind::Event, &requests::EVENT)
};
static TEST: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    ..editor_editable(ConfigRecordKind::Test, &records::ON_DEMAND_TEST)
};
static SHARE: RecordDefinition = RecordDefinition {
    name_field: "monitor_name",
    affects_account_cache: false,
    ..editor_editable(ConfigRecordKind::Share, &shares::SHARE)
};
static VIEW: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    ..editor_editable(ConfigRecordKind::View, &views::VIEW)
};
static RECIPIENT: RecordDefinition = editor_editable(ConfigRecordKind::Recipient, &alerting::RECIPIENT);
static NOTIFIER_GROUP: RecordDefinition = RecordDefinition {
    references_monitors: true,
    ..editor_editable(ConfigRecordKind::NotifierGroup, &alerting::NOTIFIER_GROUP)
};
static TEMPLATE: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    ..editor_editable(ConfigRecordKind::Template, &alerting::TEMPLATE)
};
static AGENT: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    is_referenced_by_monitors: false,
    ..admin_editable(ConfigRecordKind::Agent, &agents::AGENT)
};
static LOCATION_KEY: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    is_referenced_by_monitors: false,
    ..admin_editable(ConfigRecordKind::LocationKey, &agents::LOCATION_KEY)
};
static SLA: RecordDefinition = RecordDefinition {
    affects_account_cache: false,
    references_monitors: true,
    ..editor_editable(ConfigRecordKind::Sla, &alerting::SLA)
};
static PERFORMANCE_ALERT: RecordDefinition = RecordDefinition {
    name_field: "type",
    affects_account_cache: false,
    references_monitors: true,
    ..editor_editable(ConfigRecordKind::PerformanceAlert, &alerting::PERFORMANCE_ALERT)
};

/// Returns the definition of `kind`.
pub(super) fn record_definition(kind: ConfigRecordKind) -> &'static RecordDefinition {
    match kind {
        ConfigRecordKind::Customer => &CUSTOMER,
        ConfigRecordKind::User => &USER,
        ConfigRecordKind::Host => &HOST,
        ConfigRecordKind::Location => &LOCATION,
        ConfigRecordKind::Property => &PROPERTY,
        ConfigRecordKind::Certificate => &CERTIFICATE,
        ConfigRecordKind::Blackout => &BLACKOUT,
        ConfigRecordKind::Event => &EVENT,
        ConfigRecordKind::Test => &TEST,
        ConfigRecordKind::Recipient => &RECIPIENT,
        ConfigRecordKind::NotifierGroup => &NOTIFIER_GROUP,
        ConfigRecordKind::Template => &TEMPLATE,
        ConfigRecordKind::Sla => &SLA,
        ConfigRecordKind::PerformanceAlert => &PERFORMANCE_ALERT,
        ConfigRecordKind::Agent => &AGENT,
        ConfigRecordKind::LocationKey => &LOCATION_KEY,
        ConfigRecordKind::Share => &SHARE,
        ConfigRecordKind::View => &VIEW,
    }
}
