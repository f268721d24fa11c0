//! The forms in which both engines store values: columns of rows, JSON, sketches; without SQL.

pub(in crate::store) mod captures;
pub(in crate::store) mod check_id_search;
pub(in crate::store) mod config_changes;
pub(in crate::store) mod count_changes;
pub(in crate::store) mod decode;
pub(in crate::store) mod episode_row;
pub(in crate::store) mod event_points;
pub(in crate::store) mod host_history;
pub(in crate::store) mod host_state;
pub(in crate::store) mod host_values;
pub(in crate::store) mod location_state;
pub(in crate::store) mod missed_runs;
pub(in crate::store) mod missed_series_rows;
pub(in crate::store) mod monitor_row;
pub(in crate::store) mod notification_row;
pub(in crate::store) mod prepared_alerts;
pub(in crate::store) mod prepared_batch;
pub(in crate::store) mod record_row;
pub(in crate::store) mod resealing;
pub(in crate::store) mod result_row;
pub(in crate::store) mod rollup;
pub(in crate::store) mod shared_text;
pub(in crate::store) mod stored_result;
pub(in crate::store) mod throttle_changes;
pub(in crate::store) mod token_codes;
pub(in crate::store) mod usage_changes;
