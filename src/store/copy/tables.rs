//! The logical tables of a store, with the names that SQLite has for them.
//!
//! The logical names are those of PostgreSQL. SQLite keeps the names of its first versions, shares texts by an id
//! instead of their hash, and has NULL for some flags that are not set.

use super::logical_table::{ColumnType, LogicalColumn, LogicalTable, SqliteForm};

const fn column(name: &'static str, sqlite_name: &'static str, column_type: ColumnType) -> LogicalColumn {
    LogicalColumn { name, sqlite_name, column_type, sqlite_form: SqliteForm::Plain }
}

const fn integer(name: &'static str, sqlite_name: &'static str) -> LogicalColumn {
    column(name, sqlite_name, ColumnType::Integer)
}

const fn text(name: &'static str, sqlite_name: &'static str) -> LogicalColumn {
    column(name, sqlite_name, ColumnType::Text)
}

const fn json(name: &'static str, sqlite_name: &'static str) -> LogicalColumn {
    column(name, sqlite_name, ColumnType::Json)
}

const fn bytes(name: &'static str, sqlite_name: &'static str) -> LogicalColumn {
    column(name, sqlite_name, ColumnType::Bytes)
}

const fn flag(name: &'static str, sqlite_name: &'static str) -> LogicalColumn {
    column(name, sqlite_name, ColumnType::Boolean)
}

const fn flag_or_null(name: &'static str, sqlite_name: &'static str) -> LogicalColumn {
    LogicalColumn { sqlite_form: SqliteForm::FlagOrNull, ..flag(name, sqlite_name) }
}

const fn shared_text(name: &'static str, sqlite_name: &'static str) -> LogicalColumn {
    LogicalColumn { sqlite_form: SqliteForm::SharedText, ..bytes(name, sqlite_name) }
}

/// Every table, in the order of a copy: results refer to texts by their hash.
pub static TABLES: &[LogicalTable] = &[
    LogicalTable {
        name: "monitors",
        sqlite_name: "monitors",
        key_len: 1,
        has_sequence: true,
        columns: &[
            integer("id", "id"),
            integer("customer", "customer"),
            integer("origin", "origin"),
            text("key", "key"),
            text("type", "type"),
            integer("revision", "revision"),
            integer("modified_at", "modified_at"),
            integer("removed_at", "removed_at"),
            json("document", "document"),
            bytes("sealed_secrets", "sealed"),
            text("metadata", "trail"),
        ],
    },
    LogicalTable {
        name: "shared_texts",
        sqlite_name: "shared",
        key_len: 1,
        has_sequence: false,
        columns: &[bytes("hash", "hash"), integer("last_used", "last_used"), text("text", "text")],
    },
    LogicalTable {
        name: "results",
        sqlite_name: "results",
        key_len: 3,
        has_sequence: false,
        columns: &[
            integer("planned_at", "planned_at"),
            integer("monitor_id", "monitor_id"),
            integer("location_id", "location_id"),
            integer("start_delay_us", "started_after"),
            integer("duration_us", "total_us"),
            integer("revision", "revision"),
            integer("body_wire_bytes", "body_wire_bytes"),
            integer("body_bytes", "body_bytes"),
            integer("last_planned_at", "last_planned_at"),
            integer("full_page_us", "page_us"),
            integer("missed_run_count", "missed_slots"),
            integer("status", "status"),
            integer("warning_status", "warning_status"),
            integer("prepare_us", "prepare_us"),
            integer("resolve_us", "resolve_us"),
            integer("connect_us", "connect_us"),
            integer("tls_us", "tls_us"),
            integer("send_us", "send_us"),
            integer("first_byte_us", "first_byte_us"),
            integer("transfer_us", "transfer_us"),
            integer("validate_us", "validate_us"),
            integer("outcome", "outcome"),
            integer("last_attempt", "attempts"),
            integer("missed_reason", "missed_reason"),
            flag_or_null("is_first_check", "first_check"),
            flag_or_null("is_suppressed", "suppressed"),
            bytes("address", "address"),
            shared_text("label_hash", "label"),
            shared_text("facts_hash", "facts"),
            shared_text("chain_hash", "chain"),
            text("uncommon_phases", "session"),
        ],
    },
    LogicalTable {
        name: "result_details",
        sqlite_name: "details",
        key_len: 4,
        has_sequence: false,
        columns: &[
            flag("is_failed", "failed"),
            integer("planned_at", "planned_at"),
            integer("monitor_id", "monitor_id"),
            integer("location_id", "location_id"),
            text("body", "body"),
        ],
    },
    LogicalTable {
        name: "result_captures",
        sqlite_name: "captures",
        key_len: 6,
        has_sequence: false,
        columns: &[
            flag("is_failed", "failed"),
            integer("planned_at", "planned_at"),
            integer("monitor_id", "monitor_id"),
            integer("location_id", "location_id"),
            text("name", "name"),
            integer("chunk_index", "piece"),
            bytes("content", "body"),
        ],
    },
    LogicalTable {
        name: "monitor_locations",
        sqlite_name: "marks",
        key_len: 2,
        has_sequence: false,
        columns: &[integer("location_id", "location_id"), integer("monitor_hash", "mark")],
    },
    LogicalTable {
        name: "location_states",
        sqlite_name: "states",
        key_len: 2,
        has_sequence: false,
        columns: &[
            integer("monitor_id", "monitor_id"),
            integer("location_id", "location_id"),
            integer("check_id", "check_id"),
            integer("planned_at", "planned_at"),
            integer("outcome", "outcome"),
            integer("status", "status"),
            integer("duration_us", "total_us"),
            integer("streak_started_at", "since"),
            integer("streak", "streak"),
            integer("last_full_page_at", "full_page_at"),
            flag_or_null("last_was_first_check", "first_check"),
            integer("last_slot_at", "slot_at"),
        ],
    },
    LogicalTable {
        name: "result_counts",
        sqlite_name: "counts",
        key_len: 4,
        has_sequence: false,
        columns: &[
            integer("minute", "minute"),
            integer("customer", "customer"),
            integer("location_id", "location_id"),
            integer("outcome", "outcome"),
            integer("row_count", "rows"),
        ],
    },
    LogicalTable {
        name: "usage",
        sqlite_name: "usage",
        key_len: 5,
        has_sequence: false,
        columns: &[
            integer("customer", "customer"),
            integer("day", "day"),
            text("plan", "plan"),
            text("type", "type"),
            integer("location_id", "location_id"),
            integer("checks", "checks"),
        ],
    },
    LogicalTable {
        name: "rollups",
        sqlite_name: "rollups",
        key_len: 4,
        has_sequence: false,
        columns: &[
            integer("span", "span"),
            integer("start", "start"),
            integer("monitor_id", "monitor_id"),
            integer("location_id", "location_id"),
            integer("ok", "ok"),
            integer("warning", "warning"),
            integer("error", "error"),
            integer("unknown", "unknown"),
            integer("missed", "missed"),
            integer("blackout", "blackout"),
            integer("duration_sum_us", "sum_us"),
            bytes("sketch", "sketch"),
            bytes("sums", "parts"),
        ],
    },
    LogicalTable {
        name: "pending_rollups",
        sqlite_name: "late",
        key_len: 4,
        has_sequence: false,
        columns: &[
            integer("span", "span"),
            integer("start", "start"),
            integer("monitor_id", "monitor_id"),
            integer("location_id", "location_id"),
        ],
    },
    LogicalTable {
        name: "rollup_bounds",
        sqlite_name: "spans",
        key_len: 1,
        has_sequence: false,
        columns: &[
            integer("span", "span"),
            integer("rolled_until", "rolled_until"),
            integer("sources_complete_from", "sources_from"),
        ],
    },
    LogicalTable {
        name: "records",
        sqlite_name: "records",
        key_len: 1,
        has_sequence: true,
        columns: &[
            integer("id", "id"),
            text("kind", "kind"),
            integer("customer", "customer"),
            integer("parent_id", "assoc"),
            text("unique_key", "unique_text"),
            integer("revision", "revision"),
            integer("created_at", "created_at"),
            text("created_by", "created_by"),
            integer("modified_at", "modified_at"),
            json("fields", "fields"),
            bytes("private_data", "private"),
        ],
    },
    LogicalTable {
        name: "tokens",
        sqlite_name: "tokens",
        key_len: 1,
        has_sequence: false,
        columns: &[
            bytes("hash", "hash"),
            integer("kind", "kind"),
            integer("user_id", "user"),
            integer("issued_at", "issued_at"),
            integer("expires_at", "expires_at"),
            text("name", "name"),
            integer("scopes", "scopes"),
            text("address", "address"),
            integer("last_used_at", "last_used_at"),
        ],
    },
    LogicalTable {
        name: "login_throttles",
        sqlite_name: "login_throttles",
        key_len: 2,
        has_sequence: false,
        columns: &[
            integer("kind", "kind"),
            bytes("hash", "hash"),
            integer("failures", "failures"),
            integer("last_at", "last_at"),
        ],
    },
    LogicalTable {
        name: "missed_run_sweeps",
        sqlite_name: "missed_run_sweeps",
        key_len: 1,
        has_sequence: false,
        columns: &[integer("location_id", "location_id"), integer("swept_until", "swept_until")],
    },
    LogicalTable {
        name: "audit_entries",
        sqlite_name: "audit",
        key_len: 1,
        has_sequence: true,
        columns: &[
            integer("id", "id"),
            integer("customer", "customer"),
            integer("occurred_at", "at"),
            text("login", "login"),
            text("address", "address"),
            text("entry_point", "via"),
            text("action", "action"),
            text("object_kind", "object"),
            integer("object_id", "object_id"),
            text("object_name", "object_name"),
            text("before", "before"),
            text("after", "after"),
        ],
    },
    LogicalTable {
        name: "alert_states",
        sqlite_name: "watches",
        key_len: 1,
        has_sequence: false,
        columns: &[integer("monitor_id", "monitor_id"), text("state", "body")],
    },
    LogicalTable {
        name: "episodes",
        sqlite_name: "episodes",
        key_len: 1,
        has_sequence: false,
        columns: &[
            integer("id", "id"),
            integer("customer", "customer"),
            integer("monitor_id", "monitor_id"),
            text("monitor_name", "monitor_name"),
            integer("started_at", "since"),
            integer("ended_at", "ended_at"),
            text("acknowledged_by", "acknowledged_by"),
            integer("acknowledged_at", "acknowledged_at"),
            text("snapshot_fields", "body"),
        ],
    },
    LogicalTable {
        name: "notifications",
        sqlite_name: "notifications",
        key_len: 1,
        has_sequence: true,
        columns: &[
            integer("id", "id"),
            text("idempotency_key", "key"),
            integer("customer", "customer"),
            integer("recipient_id", "recipient"),
            integer("group_id", "group_id"),
            integer("monitor_id", "monitor_id"),
            integer("episode_id", "episode"),
            integer("check_id", "check_id"),
            integer("created_at", "created_at"),
            integer("not_before", "not_before"),
            integer("state", "state"),
            integer("attempts", "attempts"),
            integer("next_attempt_at", "next_at"),
            integer("sent_at", "sent_at"),
            text("error", "error"),
            integer("digest_id", "digest"),
            text("content", "notice"),
        ],
    },
    LogicalTable {
        name: "performance_alerts",
        sqlite_name: "raised",
        key_len: 2,
        has_sequence: false,
        columns: &[
            integer("alert_id", "alert"),
            integer("location_id", "location_id"),
            text("state", "body"),
        ],
    },
    LogicalTable {
        name: "host_states",
        sqlite_name: "host_states",
        key_len: 1,
        has_sequence: false,
        columns: &[
            integer("host_id", "host_id"),
            integer("sequence", "sequence"),
            integer("measured_at", "measured_at"),
            integer("received_at", "received_at"),
            text("agent_version", "agent_version"),
            text("system", "system"),
            integer("interval_s", "interval_s"),
            text("reported_values", "reported_values"),
        ],
    },
    LogicalTable {
        name: "host_layouts",
        sqlite_name: "host_layouts",
        key_len: 2,
        has_sequence: false,
        columns: &[
            integer("host_id", "host_id"),
            integer("layout", "layout"),
            integer("last_used", "last_used"),
            text("series", "series"),
        ],
    },
    LogicalTable {
        name: "host_history",
        sqlite_name: "host_history",
        key_len: 3,
        has_sequence: false,
        columns: &[
            integer("host_id", "host_id"),
            integer("span", "span"),
            integer("position", "position"),
            integer("start", "start"),
            integer("layout", "layout"),
            bytes("packed", "packed"),
        ],
    },
    LogicalTable {
        name: "host_rollups_due",
        sqlite_name: "host_rollups_due",
        key_len: 3,
        has_sequence: false,
        columns: &[
            integer("host_id", "host_id"),
            integer("span", "span"),
            integer("start", "start"),
            integer("length", "length"),
        ],
    },
    LogicalTable {
        name: "push_states",
        sqlite_name: "push_states",
        key_len: 1,
        has_sequence: false,
        columns: &[
            integer("monitor_id", "monitor_id"),
            integer("customer", "customer"),
            bytes("token_hash", "token_hash"),
            integer("token_created_at", "token_created_at"),
            integer("started_at", "started_at"),
            integer("received_at", "received_at"),
            integer("status", "status"),
            text("message", "message"),
            integer("duration_us", "duration_us"),
            integer("exit_code", "exit_code"),
            text("output", "output"),
        ],
    },
];
