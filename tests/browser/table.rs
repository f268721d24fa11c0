//! No field without an effect: where each field of the type is flipped, and something outside of the document differs
//! (fields.md 3).

use std::collections::BTreeSet;

use vigie::domain::MonitorType;
use vigie::schema::field::Access;
use vigie::schema::table;

/// Fields that differ in the same test: file below `tests/`, words that stand where the test begins, the fields.
type Flipped = (&'static str, &'static str, &'static [&'static str]);

/// What the player does with them.
const PLAYED: &[Flipped] = &[
    ("browser/flips.rs", "fn a_url_is_opened_alone_and_stands_under_a_script", &["url", "script"]),
    ("browser/flips.rs", "fn the_browser_is_the_one_that_is_named", &["browser_type"]),
    (
        "browser/flips.rs",
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
        "fn what_takes_too_long_says_which_limit_it_was",
        &["timeout", "step_timeout", "continue_playback_on_timeout"],
    ),
    (
        "browser/flips.rs",
        "fn documents_of_other_sites_count_where_they_are_to",
        &["third_party_document_errors"],
    ),
    ("browser/fields.rs", "fn experience_is_measured_where_it_is_wanted", &["user_experience_enabled"]),
    (
        "browser/flips.rs",
        "fn experience_is_that_of_the_page_alone_where_it_is_to",
        &["user_experience_base_page_only"],
    ),
    ("browser/fields.rs", "fn captures_are_kept_by_level", &["capture"]),
    ("browser/flips.rs", "fn captures_hold_what_the_fields_name", &["capture"]),
    (
        "browser/fields.rs",
        "fn full_pages_views_and_changes_are_judged_by_what_the_browser_loaded",
        &["content_views", "notify_on_fullpage_errors"],
    ),
    (
        "browser/flips.rs",
        "fn full_pages_are_judged_as_the_fields_say",
        &[
            "interval_fullpage",
            "fullpage_object_timeout",
            "check_fullpage_missing_objects",
            "notify_on_content_change",
        ],
    ),
    ("browser/devices.rs", "fn a_site_sees_the_device_of_the_subtype", &["subtype"]),
    ("browser/tracing.rs", "async fn traced", &["transaction_trace"]),
    ("browser/flips.rs", "fn an_admin_allows_more_steps", &["transaction_steps_allowed"]),
    ("browser/secured.rs", "fn only_addresses_of_the_wanted_family_are_gone_to", &["ipv6_enabled"]),
    ("browser/secured.rs", "fn the_browser_goes_through_the_proxy_that_is_named", &["proxy_id"]),
    (
        "browser/secured.rs",
        "fn certificates_are_verified_and_shown_as_the_fields_say",
        &["verify_certificate", "ca_cert_id", "use_client_ssl_cert", "ssl_cert_id"],
    ),
];

/// What is done with them for monitors of every type.
const COMMON: &[Flipped] = &[
    ("fleet/plans.rs", "fn a_plan_is_never_over_full_however_many_come_at_once", &["billing_plancode"]),
    ("api_v3/monitors.rs", "fn a_change_is_partial_and_a_list_replaces", &["name", "note"]),
    (
        "fleet/engine.rs",
        "fn only_what_has_this_location_in_its_pool_runs_here",
        &["enabled", "home_location", "locations"],
    ),
    ("schedule/run_plan.rs", "fn the_grid_of_a_location_is_the_runs_in_which_it_is_expected", &["interval"]),
    (
        "schedule/run_plan.rs",
        "fn the_plan_of_a_monitor_is_what_its_mode_rotation_and_count_say",
        &["mode", "rotate_locations", "monitor_location_count"],
    ),
    ("alert/histories/simple.txt", "== a monitor without notify_on_error tells nobody", &["notify_on_error"]),
    ("api_v3/results.rs", "fn only_failures_have_captures_named_after_their_attempt", &["retry_on_failure"]),
    ("api_v3/on_demand.rs", "fn invalid_tests_are_refused", &["allow_internal_testing"]),
    (
        "alarms/news.rs",
        "fn a_message_waits_for_the_traceroute_which_goes_with_result_and_message",
        &["traceroute_on_error"],
    ),
    ("notify/webhooks.rs", "fn a_json_post_carries_every_field_as_the_table_says", &["alert_note"]),
    ("fleet/shown.rs", "fn properties_have_their_names", &["custom_properties"]),
    (
        "alarms/pages.rs",
        "fn what_the_monitor_does_not_ask_for_is_not_compared_and_errors_are_no_page",
        &["check_fullpage_missing_objects", "check_fullpage_object_sizes"],
    ),
    ("model/scripts.rs", "fn protected_variables_need_the_password_of_the_script", &["transaction_password"]),
    ("api_fields/computed.rs", "fn follows_the_mobile_settings", &["subtype"]),
    (
        "api_v3/lists.rs",
        "fn browser_scripts_are_filtered_by_emulated_device",
        &["subtype", "subtype_application", "subtype_name"],
    ),
];

/// Fields with one value alone.
const RESTING: &[&str] = &["monitor_agent"];

/// Where every field that only Vigie sets follows an act; the test there holds its own list against the table.
const REPORTED: &str = "api_fields/computed.rs";

fn read(file: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_field_of_the_type_is_flipped_somewhere() {
    let fields = table::for_type(MonitorType::BrowserScript).fields();
    let mut flipped = BTreeSet::new();
    for (file, words, names) in PLAYED.iter().chain(COMMON) {
        let text = read(file);
        let begins = text.find(words).unwrap_or_else(|| panic!("`{words}` is not in tests/{file}"));
        // A test ends before the next attribute; what sets its world up may stand elsewhere in the file.
        let test = text[begins..].split("\n#[").next().unwrap_or_default();
        for name in *names {
            assert!(fields.iter().any(|field| field.name == *name), "`{name}` is no field of the type");
            assert!(test.contains(name) || text.contains(name), "tests/{file} says nothing of `{name}`");
            flipped.insert(*name);
        }
    }
    let reported = read(REPORTED);
    for field in fields {
        let known = match field.access {
            Access::ReadOnly => reported.contains(&format!("\"{}\"", field.name)),
            _ => flipped.contains(field.name) || RESTING.contains(&field.name),
        };
        assert!(known, "no test flips `{}`", field.name);
    }
}
