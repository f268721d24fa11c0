//! Runs the test suite of the store traits over each store.

use vigie::store::{
    AlertStore, ConfigStore, HostStore, Housekeeping, Ingest, MissedRunStore, MonitorStore, Outbox,
    PushStore, ResultStore, ThrottleStore, TokenStore,
};

/// All traits of a store.
pub trait Store:
    Ingest
    + MonitorStore
    + MissedRunStore
    + ResultStore
    + Housekeeping
    + ConfigStore
    + TokenStore
    + ThrottleStore
    + AlertStore
    + Outbox
    + HostStore
    + PushStore
{
}
impl<T> Store for T where
    T: Ingest
        + MonitorStore
        + MissedRunStore
        + MissedRunStore
        + ResultStore
        + Housekeeping
        + ConfigStore
        + TokenStore
        + ThrottleStore
        + AlertStore
        + Outbox
        + HostStore
        + PushStore
{
}

/// Defines a test for each function of the suite and each store, which is new and empty.
macro_rules! over_both_stores {
    ($($module:ident: $($name:ident),+ $(,)?;)+) => {
        mod sqlite {
            $(mod $module {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let folder = tempfile::tempdir().unwrap();
                    let store = crate::store::samples::sqlite(folder.path());
                    crate::store::$module::$name(&store).await;
                    store.close().await;
                    crate::store::samples::assert_whole(folder.path());
                })+
            })+
        }
        mod postgres {
            $(mod $module {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    use vigie::store::Store as _;
                    let database = crate::support::postgres::SharedDatabase::create().await;
                    let store = database.connect().await;
                    crate::store::$module::$name(&store).await;
                    store.close().await;
                    database.remove().await;
                })+
            })+
        }
    };
}

over_both_stores! {
    results:
        a_result_is_returned_as_it_was_stored,
        a_real_result_replaces_a_missed_one_and_other_repeats_are_dropped,
        filters_narrow_and_pages_are_newest_first,
        states_are_replaced,
        retention_removes_each_kind_of_data_at_its_time;
    missed_runs:
        a_result_takes_the_place_of_a_run_in_a_series,
        a_series_takes_only_the_runs_that_are_not_recorded,
        series_and_results_of_one_commit_leave_each_run_once,
        a_first_check_is_none_of_the_missed_runs,
        recorded_runs_are_found,
        the_end_of_the_last_sweep_of_a_location_is_kept;
    captures:
        files_are_returned_by_name_and_removed_with_the_details,
        too_large_files_and_those_of_repeated_results_are_dropped;
    rollups:
        hours_and_days_count_by_outcome_and_keep_percentiles,
        a_late_result_rolls_its_hour_and_day_up_again,
        missed_runs_count_in_the_hours_that_they_were_planned_in,
        results_that_arrive_after_retention_leave_older_rollups_alone,
        any_order_of_results_and_roll_ups_gives_the_same_rollups;
    hosts:
        reports_become_state_and_history_once,
        blocks_and_hours_are_rolled_up_and_late_reports_counted,
        old_history_is_removed_by_span,
        a_removed_host_leaves_nothing;
    pushes:
        a_token_leads_to_its_monitor_until_it_is_replaced,
        pushes_and_starts_are_kept_apart;
    monitors:
        monitors_are_returned_in_their_newest_revision,
        file_keys_keep_their_ids_after_removal_and_return,
        the_states_of_removed_monitors_are_removed;
    config:
        monitors_of_the_apis_are_stored_without_their_secrets,
        a_change_of_an_older_revision_is_refused_and_changes_nothing,
        an_audit_entry_names_the_object_created_in_its_call,
        keys_are_unique_per_origin_and_reusable_after_a_removal,
        a_pause_of_a_file_monitor_survives_changes_of_its_file,
        records_attached_to_a_monitor_are_removed_with_it,
        records_are_found_by_id_by_unique_key_and_by_filter,
        the_audit_trail_is_read_newest_first,
        audit_entries_are_removed_after_their_retention,
        secrets_are_resealed_in_their_context;
    alerting:
        alert_states_are_stored_replaced_and_removed,
        an_outage_is_updated_ended_and_found_by_filter,
        an_outage_is_acknowledged_once_and_stays_acknowledged,
        a_notification_with_a_known_key_is_dropped,
        a_refuted_error_becomes_a_warning,
        other_verification_statuses_leave_the_error,
        files_may_be_added_after_their_result,
        retention_keeps_open_outages_and_pending_notifications;
    outbox:
        due_notifications_are_oldest_first_and_limited_per_recipient,
        delivery_outcomes_set_the_state_of_a_notification,
        releasing_a_check_makes_its_notifications_due,
        held_notifications_are_sent_with_a_digest,
        only_its_account_can_retry_a_dead_notification;
    tokens:
        tokens_are_stored_extended_revoked_and_expired,
        tokens_end_with_their_user;
    throttles:
        counters_are_stored_replaced_and_removed,
        parallel_updates_come_one_after_the_other,
        counters_expire_by_their_kind,
        counters_are_limited_and_the_most_failures_are_kept;
}
