//! Runs the suite over each store.

use vigie::store::{
    AlertStore, ConfigStore, Housekeeping, Ingest, MonitorStore, Outbox, ResultStore, TokenStore,
};

/// All that a store does.
pub trait Store:
    Ingest + MonitorStore + ResultStore + Housekeeping + ConfigStore + TokenStore + AlertStore + Outbox
{
}
impl<T: Ingest + MonitorStore + ResultStore + Housekeeping + ConfigStore + TokenStore + AlertStore + Outbox>
    Store for T
{
}

/// Makes a test of each function of the suite, over a new and empty store.
macro_rules! over_sqlite {
    ($($module:ident: $($name:ident),+ $(,)?;)+) => {
        mod sqlite {
            $(mod $module {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let folder = tempfile::tempdir().unwrap();
                    let store = crate::store::make::sqlite(folder.path());
                    crate::store::$module::$name(&store).await;
                    store.close().await;
                    crate::store::make::assert_whole(folder.path());
                })+
            })+
        }
    };
}

over_sqlite! {
    results:
        a_result_comes_back_as_it_was_given,
        a_real_result_replaces_a_missed_one_and_other_repeats_are_dropped,
        a_real_result_takes_the_first_of_a_series_of_missed_runs_and_leaves_the_rest,
        filters_narrow_and_pages_are_newest_first,
        states_are_replaced,
        retention_removes_each_kind_of_data_at_its_time;
    captures:
        files_come_back_by_name_and_go_with_the_details,
        too_large_files_and_those_of_repeats_are_left_out;
    rollups:
        hours_and_days_count_by_outcome_and_keep_percentiles,
        a_late_result_rolls_its_hour_and_day_up_again,
        missed_runs_count_in_the_hours_that_they_were_due_in,
        results_that_came_after_retention_leave_older_rollups_alone,
        any_order_of_results_and_calls_gives_the_same_rollups;
    monitors:
        monitors_come_back_in_their_newest_version,
        keys_keep_their_ids_also_when_they_come_back,
        removed_monitors_take_their_states_along;
    ledger:
        monitors_of_the_apis_are_kept_without_their_secrets,
        a_change_of_an_older_version_is_refused_and_does_nothing,
        an_entry_about_what_is_made_names_it_whatever_is_written_before,
        keys_are_unique_per_origin_and_free_again_after_a_removal,
        a_rest_of_a_file_monitor_survives_its_file,
        what_is_attached_to_a_monitor_goes_with_it,
        records_come_back_by_id_by_text_and_by_filter,
        the_audit_trail_is_read_newest_first,
        the_trail_ends_with_its_time,
        secrets_are_sealed_anew_in_their_context;
    alarms:
        watches_are_kept_replaced_and_forgotten,
        an_outage_goes_on_ends_and_is_found_by_filter,
        an_outage_is_acknowledged_once_and_stays_so,
        a_message_of_a_known_key_is_dropped,
        an_error_that_nobody_else_sees_turns_into_a_warning,
        other_answers_of_a_second_location_leave_the_error,
        files_may_come_after_their_result,
        retention_leaves_open_outages_and_messages_that_wait;
    outbox:
        due_messages_come_oldest_first_and_few_of_each_recipient,
        tries_end_as_they_are_noted,
        what_messages_waited_for_hastens_them,
        held_messages_go_out_with_a_digest,
        a_dead_message_is_tried_again_by_its_account_alone;
    tokens:
        tokens_are_kept_moved_ended_and_purged,
        tokens_end_with_their_user;
}
