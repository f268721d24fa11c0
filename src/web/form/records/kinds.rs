//! The kinds of records that have pages, and what their lists show.

use crate::domain::ConfigRecordKind;
use crate::schema::field::Field;
use crate::schema::table::FieldTable;
use crate::schema::table::alerting::{NOTIFIER_GROUP, PERFORMANCE_ALERT, RECIPIENT, SLA, TEMPLATE};
use crate::schema::table::hosts::HOST;
use crate::schema::table::records::{ACCOUNT, CERTIFICATE, LOCATION_RECORD, PROPERTY, USER};
use crate::schema::table::requests::BLACKOUT;
use crate::schema::table::views::VIEW;
use crate::texts::key;
use crate::web::form::form_fields::shown_fields;

/// A kind of record with pages of its own.
#[derive(Debug)]
pub(in crate::web) struct RecordPages {
    /// The kind.
    pub(super) kind: ConfigRecordKind,
    /// Name in paths: that of the API.
    pub(in crate::web) path: &'static str,
    /// What they are called together.
    pub(in crate::web) title: &'static str,
    /// What one is called, in a sentence.
    pub(super) noun: &'static str,
    /// Its fields.
    pub(in crate::web::form) table: &'static FieldTable,
    /// Fields in the list; the first one leads to the record.
    pub(super) columns: &'static [&'static str],
    /// Whether a record can be changed; otherwise only made and removed.
    pub(super) is_changeable: bool,
    /// What comes of removing one.
    pub(super) removal: &'static str,
}

impl RecordPages {
    /// Returns the fields that have an input.
    pub(super) fn fields(&self) -> Vec<&'static Field> {
        shown_fields(self.table).collect()
    }

    /// Whether there is one record only, that of the account itself: it has a form and no list.
    pub(super) fn is_single(&self) -> bool {
        self.kind == ConfigRecordKind::Customer
    }

    /// Returns the fields in the list.
    #[cfg(test)]
    pub(in crate::web::form) fn columns(&self) -> &'static [&'static str] {
        self.columns
    }
}

/// Every kind of an account, in the order of the index.
pub(in crate::web) static PAGES: [RecordPages; 12] = [
    RecordPages {
        kind: ConfigRecordKind::Recipient,
        path: "recipients",
        title: key("Recipients"),
        noun: key("recipient"),
        table: &RECIPIENT,
        columns: &["name", "recipient", "method_id", "availability_alert", "performance_alert"],
        is_changeable: true,
        removal: key("It gets no further notifications, and leaves its notifier groups."),
    },
    RecordPages {
        kind: ConfigRecordKind::NotifierGroup,
        path: "notifier-groups",
        title: key("Notifier groups"),
        noun: key("notifier group"),
        table: &NOTIFIER_GROUP,
        columns: &["name", "monitors", "recipients", "errortypes", "is_default"],
        is_changeable: true,
        removal: key(
            "Its recipients are no longer notified by it. Without any group, every recipient gets every alert.",
        ),
    },
    RecordPages {
        kind: ConfigRecordKind::Template,
        path: "templates",
        title: key("Templates"),
        noun: key("template"),
        table: &TEMPLATE,
        columns: &["name", "kind", "method_id"],
        is_changeable: true,
        removal: key("Messages have the built-in texts then."),
    },
    RecordPages {
        kind: ConfigRecordKind::Blackout,
        path: "blackouts",
        title: key("Blackouts"),
        noun: key("blackout"),
        table: &BLACKOUT,
        columns: &[
            "assoc_id",
            "type",
            "persistent",
            "start_day",
            "start_time",
            "end_day",
            "end_time",
            "from_date",
            "thru_date",
            "note",
        ],
        is_changeable: true,
        removal: key("Runs and alerts that it would have suppressed take place."),
    },
    RecordPages {
        kind: ConfigRecordKind::Sla,
        path: "slas",
        title: key("Service level agreements"),
        noun: key("service level agreement"),
        table: &SLA,
        columns: &["name", "monitor_id", "availability", "uptime", "response_time"],
        is_changeable: true,
        removal: key("Results stay; there are no further reports of it."),
    },
    RecordPages {
        kind: ConfigRecordKind::Property,
        path: "properties",
        title: key("Custom properties"),
        noun: key("custom property"),
        table: &PROPERTY,
        columns: &["name", "values"],
        is_changeable: true,
        removal: key("A property that a monitor has cannot be removed."),
    },
    RecordPages {
        kind: ConfigRecordKind::View,
        path: "views",
        title: key("Saved views"),
        noun: key("view"),
        table: &VIEW,
        columns: &["name", "query", "shared", "created_by"],
        is_changeable: true,
        removal: key("Links to it lead nowhere then. Monitors stay as they are."),
    },
    RecordPages {
        kind: ConfigRecordKind::Location,
        path: "locations",
        title: key("Locations"),
        noun: key("location"),
        table: &LOCATION_RECORD,
        columns: &["name", "region", "private", "verifies", "managed"],
        is_changeable: true,
        removal: key("A location that a monitor uses cannot be removed."),
    },
    RecordPages {
        kind: ConfigRecordKind::Host,
        path: "hosts",
        title: key("Hosts"),
        noun: key("host"),
        table: &HOST,
        columns: &["name", "address", "state", "last_report_at", "system"],
        is_changeable: true,
        removal: key("Its reports are removed too. A host that a monitor uses cannot be removed."),
    },
    RecordPages {
        kind: ConfigRecordKind::Certificate,
        path: "certificates",
        title: key("Certificates"),
        noun: key("certificate"),
        table: &CERTIFICATE,
        columns: &["name", "kind", "subject", "not_after"],
        is_changeable: false,
        removal: key("A certificate that a monitor names cannot be removed."),
    },
    RecordPages {
        kind: ConfigRecordKind::User,
        path: "users",
        title: key("Users"),
        noun: key("user"),
        table: &USER,
        columns: &["login", "name", "role", "enabled"],
        is_changeable: true,
        removal: key("The user is signed out everywhere, and the user's tokens end."),
    },
    RecordPages {
        kind: ConfigRecordKind::Customer,
        path: "settings",
        title: key("Settings"),
        noun: key("account"),
        table: &ACCOUNT,
        columns: &[],
        is_changeable: true,
        removal: "",
    },
];

/// The kind of a monitor.
pub(in crate::web::form) static PERFORMANCE_ALERTS: RecordPages = RecordPages {
    kind: ConfigRecordKind::PerformanceAlert,
    path: "performance-alerts",
    title: key("Performance alerts"),
    noun: key("performance alert"),
    table: &PERFORMANCE_ALERT,
    columns: &["type", "threshold", "days", "window", "level", "step", "enabled", "active"],
    is_changeable: true,
    removal: key("If it is active, it ends without a message."),
};

/// Finds the kind of an account with this name in paths.
pub(super) fn find_pages(path: &str) -> Option<&'static RecordPages> {
    PAGES.iter().find(|pages| pages.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_fields_of_their_kind() {
        for pages in PAGES.iter().chain([&PERFORMANCE_ALERTS]) {
            for column in pages.columns {
                assert!(pages.table.field(column).is_some(), "{}: {column}", pages.path);
            }
        }
    }
}
