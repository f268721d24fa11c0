//! The kinds of records that users see: field table, rights, and whether the directory knows them.

use serde_json::{Map, Value};

use crate::model::table::{Table, account, records};
use crate::model::{RecordKind, Right};

/// One kind.
pub(super) struct Kind {
    pub(super) record: RecordKind,
    pub(super) table: &'static Table,
    /// What seeing it needs.
    pub(super) see: Right,
    /// What making and removing it needs.
    pub(super) change: Right,
    /// What changing it needs before its own rules are asked.
    pub(super) patch: Right,
    /// The field that people call it by.
    name: &'static str,
    /// Whether what is known of accounts changes with it.
    pub(super) in_directory: bool,
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
        see: Right::View,
        change: Right::Administer,
        patch: Right::Administer,
        name: "name",
        in_directory: true,
    }
}

static CUSTOMER: Kind = administered(RecordKind::Customer, &records::ACCOUNT);
/// Everybody may change the own password.
static USER: Kind = Kind {
    name: "login",
    patch: Right::Report,
    in_directory: false,
    ..administered(RecordKind::User, &records::USER)
};
static LOCATION: Kind = administered(RecordKind::Location, &records::LOCATION_RECORD);
static PROPERTY: Kind = administered(RecordKind::Property, &records::PROPERTY);
static CERTIFICATE: Kind = administered(RecordKind::Certificate, &records::CERTIFICATE);
static BLACKOUT: Kind = Kind {
    change: Right::Edit,
    patch: Right::Edit,
    name: "type",
    in_directory: false,
    ..administered(RecordKind::Blackout, &account::BLACKOUT)
};
static EVENT: Kind = Kind {
    change: Right::Edit,
    patch: Right::Edit,
    name: "event",
    in_directory: false,
    ..administered(RecordKind::Event, &account::EVENT)
};
static TEST: Kind = Kind {
    change: Right::Edit,
    patch: Right::Edit,
    in_directory: false,
    ..administered(RecordKind::Test, &records::TEST)
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
        RecordKind::Recipient
        | RecordKind::NotifierGroup
        | RecordKind::Template
        | RecordKind::Sla
        | RecordKind::PerformanceAlert => todo!("h-records"),
    }
}
