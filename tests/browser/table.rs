//! Every field has an effect: the tests that give each field of the type two values, with a difference outside of the
//! document (fields.md 3).

use std::collections::BTreeSet;

use vigie::domain::MonitorType;
use vigie::schema::field::Access;
use vigie::schema::table;

/// Fields tested together: file below `tests/`, text where the test starts, the fields.
type CoveredFields = (&'static str, &'static str, &'static [&'static str]);

/// Fields with an effect on the browser.
const PLAYED: &[CoveredFields] = &[
    ("browser/flipped_fields.rs", "fn a_url_is_opened_alone_or_is_the_base_of_a_script", &["url", "script"]),
    (
        "browser/flipped_fields.rs",
        "fn the_browser_is_the_chosen_one_or_what_is_there",
        &["browser", "browser_type"],
    ),
    (
        "browser/flipped_fields.rs",
        "fn each_part_of_the_keyword_rule_decides",
        &[
            "keyword_string",
            "keyword_match_type",
            "keyword_match_invert",
            "keyword_match_case",
            "keyword_match_whole_word",
            "keyword_allow_line_wrap",
            "keyword_normalize_spaces",
        ],
    ),
    ("browser/fields.rs", "fn keywords_and_protected_values", &["keyword_action"]),
    (
        "browser/statuses.rs",
        "fn each_time_limit_has_its_status",
        &["timeout", "step_timeout", "continue_playback_on_timeout"],
    ),
    (
        "browser/flipped_fields.rs",
        "fn third_party_document_errors_count_when_enabled",
        &["third_party_document_errors"],
    ),
    ("browser/fields.rs", "fn user_experience_is_measured_when_enabled", &["user_experience_enabled"]),
    (
        "browser/flipped_fields.rs",
        "fn user_experience_can_be_limited_to_the_base_page",
        &["user_experience_base_page_only"],
    ),
    ("browser/fields.rs", "fn captures_are_kept_by_level", &["capture"]),
    ("browser/flipped_fields.rs", "fn captures_contain_what_the_fields_enable", &["capture"]),
    (
        "browser/fields.rs",
        "fn full_pages_views_and_changes_use_the_loaded_objects",
        &["content_views", "notify_on_fullpage_errors"],
    ),
    (
        "browser/flipped_fields.rs",
        "fn full_page_fields_take_effect",
        &[
            "interval_fullpage",
            "fullpage_object_timeout",
            "check_fullpage_missing_objects",
            "notify_on_content_change",
        ],
    ),
    ("browser/devices.rs", "fn a_site_sees_the_device_of_the_subtype", &["subtype"]),
    ("browser/tracing.rs", "async fn check_traces", &["transaction_trace"]),
    ("browser/flipped_fields.rs", "fn an_admin_allows_more_steps", &["transaction_steps_allowed"]),
    ("browser/network.rs", "fn only_addresses_of_the_enabled_family_are_used", &["ipv6_enabled"]),
    ("browser/network.rs", "fn the_browser_uses_the_proxy_of_the_monitor", &["proxy_id"]),
    (
        "browser/network.rs",
        "fn certificates_are_verified_and_sent_as_the_fields_say",
        &["verify_certificate", "ca_cert_id", "use_client_ssl_cert", "ssl_cert_id"],
    ),
];

/// Fields with an effect on monitors of every type.
const COMMON: &[CoveredFields] = &[
    (
        "monitors/plans.rs",
        "fn a_plan_never_exceeds_its_limit_under_concurrent_creates",
        &["billing_plancode"],
    ),
    ("api_v3/monitors.rs", "fn a_change_is_partial_and_a_list_replaces", &["name", "note"]),
    (
        "monitors/engine.rs",
        "fn only_monitors_with_this_location_in_their_pool_run_here",
        &["enabled", "home_location", "locations"],
    ),
    (
        "schedule/run_plan.rs",
        "fn the_slots_of_a_location_are_the_runs_in_which_it_is_expected",
        &["interval"],
    ),
    (
        "schedule/run_plan.rs",
        "fn the_plan_of_a_monitor_follows_its_mode_rotation_and_location_count",
        &["mode", "rotate_locations", "monitor_location_count"],
    ),
    ("alert/histories/simple.txt", "== a monitor without notify_on_error tells nobody", &["notify_on_error"]),
    ("api_v3/results.rs", "fn only_failures_have_captures_named_after_their_attempt", &["retry_on_failure"]),
    ("api_v3/on_demand.rs", "fn invalid_tests_are_refused", &["allow_internal_testing"]),
    (
        "alerts/content.rs",
        "fn a_notification_waits_for_the_traceroute_which_is_stored_with_the_result",
        &["traceroute_on_error"],
    ),
    ("notify/webhooks.rs", "fn a_json_post_carries_every_field_of_the_table", &["alert_note"]),
    ("monitors/shown.rs", "fn properties_are_returned_with_their_names", &["custom_properties"]),
    (
        "alerts/pages.rs",
        "fn objects_are_not_compared_when_disabled_or_when_the_run_failed",
        &["check_fullpage_missing_objects", "check_fullpage_object_sizes"],
    ),
    (
        "alerts/dependencies.rs",
        "fn errors_are_suppressed_while_the_parent_is_down_and_told_at_the_next_failing_run",
        &["depends_on"],
    ),
    ("model/scripts.rs", "fn protected_variables_need_the_password_of_the_script", &["transaction_password"]),
    ("api_fields/computed.rs", "fn follows_the_mobile_settings", &["subtype"]),
    (
        "api_v3/lists.rs",
        "fn browser_scripts_are_filtered_by_emulated_device",
        &["subtype", "subtype_application", "subtype_name"],
    ),
];

/// Fields with only one value.
const RESTING: &[&str] = &["monitor_agent"];

/// Test of every field that only Vigie sets; its list is compared with the table there.
const REPORTED: &str = "api_fields/computed.rs";

fn read(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_field_of_the_type_is_covered_by_a_test() {
    let fields = table::for_type(MonitorType::BrowserScript).fields();
    let mut covered = BTreeSet::new();
    for (file, start_text, names) in PLAYED.iter().chain(COMMON) {
        let text = read(file);
        let start = text.find(start_text).unwrap_or_else(|| panic!("`{start_text}` is not in tests/{file}"));
        // A test ends before the next attribute. Its setup may be elsewhere in the file.
        let test = text[start..].split("\n#[").next().unwrap_or_default();
        for name in *names {
            assert!(fields.iter().any(|field| field.name == *name), "`{name}` is not a field of the type");
            assert!(test.contains(name) || text.contains(name), "tests/{file} says nothing of `{name}`");
            covered.insert(*name);
        }
    }
    let reported = read(REPORTED);
    for field in fields {
        let is_covered = match field.access {
            Access::ReadOnly => reported.contains(&format!("\"{}\"", field.name)),
            _ => covered.contains(field.name) || RESTING.contains(&field.name),
        };
        assert!(is_covered, "no test flips `{}`", field.name);
    }
}
