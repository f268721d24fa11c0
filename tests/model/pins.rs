//! The table against interface.md and fields.md, written down by hand: names, bounds, defaults.

use serde_json::{Value, json};
use vigie::model::MonitorType;
use vigie::model::field::{Field, Kind};
use vigie::model::table::{self, Table};

/// Kind and bounds in few words.
fn bounds(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "flag".to_owned(),
        Kind::Int { min, max } => format!("{min}..{max}").replace(&i64::MAX.to_string(), ""),
        Kind::IntOf(choices) => format!("{choices:?}").replace(' ', ""),
        Kind::Number { .. } => "number".to_owned(),
        Kind::Text { max, .. } => format!("text {max}"),
        Kind::TextOf(choices) => choices.join("|"),
        Kind::List { of, .. } => format!("list of {}", bounds(of)),
        Kind::Object(part) => part.name.to_owned(),
    }
}

/// `name: bounds [= default] [!] [ro] [secret] [x]` of every field that is not shared by all types.
fn lines(table: &'static Table) -> Vec<String> {
    let shared: Vec<_> = [table::shared::IDENTITY, table::shared::RUNNING, table::shared::REPORTED]
        .into_iter()
        .flatten()
        .map(|field| field.name)
        .collect();
    let own = |field: &&&'static Field| !shared.contains(&field.name);
    table.fields().iter().filter(own).map(|field| line(field)).collect()
}

fn line(field: &Field) -> String {
    let mut line = format!("{}: {}", field.name, bounds(&field.kind));
    if let Some(default) = field.default_value().filter(|default| !default.is_object()) {
        line.push_str(&format!(" = {default}"));
    }
    for (set, mark) in [
        (field.required, " !"),
        (!field.is_settable(), " ro"),
        (field.secret, " secret"),
        (field.extension, " x"),
    ] {
        if set {
            line.push_str(mark);
        }
    }
    line
}

#[test]
fn the_shared_fields_are_those_of_interface_2_1() {
    let lines: Vec<_> = [table::shared::IDENTITY, table::shared::RUNNING, table::shared::REPORTED]
        .into_iter()
        .flatten()
        .map(line)
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
id: 1.. ro
billing_plancode: text 255 !
name: text 255 !
enabled: flag = true
interval: [1,2,3,4,5,6,10,15,20,30,60,120] = 5
mode: Global Verify|Primary|Global Notify|Round Robin|SLA (MultiPOP) = "Global Verify"
rotate_locations: flag = false
monitor_location_count: 0..1000 = 0
notify_on_error: flag = true
home_location: 1..
retry_on_failure: flag = true
allow_internal_testing: flag = true
traceroute_on_error: flag = true
timeout: [1,2,3,4,5,6,7,8,9,10,15,20,25,30,45,60,75,90,120,150,180,240,300] = 30
alert_note: text 1000
note: text 1000
custom_properties: list of CustomProperty = []
locations: list of Location = []
access_type: View|Edit ro
blackout_ids: list of 1.. ro
customer_id: 1.. ro
has_active_performance_alerts: flag ro
has_performance_alerts: flag ro
has_sla: flag ro
monitor_uses_own_locations: flag ro
sla_id: 1.. ro
"#);
}

#[test]
fn the_fields_of_each_type_are_those_of_interface_2_2_and_fields_2() {
    let types: Vec<_> = MonitorType::ALL
        .iter()
        .map(|kind| format!("[{kind}]\n{}", lines(table::of(*kind)).join("\n")))
        .collect();
    insta::assert_snapshot!(types.join("\n"), @r#"
[api]
script: text 10485760 !
test_suite: text 255 !
test_case: text 255 !
capture: Capture
transaction_steps_allowed: 1..1000 = 50
[mobilecloud]
api_key: text 1024 ! secret
hostname: text 255 !
run_configuration: text 65535 !
monitor_offset: 1..120
device_group_id: 1.. ro
framework_id: 1.. ro
project_id: 1.. ro
device_group_name: text 255 ro
framework_name: text 255 ro
project_name: text 255 ro
[browserscript]
url: text 65535
script: text 10485760
browser_type: Firefox|Google Chrome|Internet Explorer = "Firefox"
content_views: list of ContentView = []
continue_playback_on_timeout: flag = false
keyword_action: Generate an error|Continue waiting = "Generate an error"
step_timeout: 0..300
subtype: [0,1,2,3]
subtype_application: text 255
subtype_name: text 255
monitor_agent:  = ""
third_party_document_errors: flag = false
transaction_trace: flag = false
transaction_password: text 255 secret
user_experience_enabled: flag = false
user_experience_base_page_only: flag = false
capture: Capture
transaction_steps_allowed: 1..1000 = 50
keyword_string: text 255 = ""
keyword_match_type: Plain Text|Regular Expression = "Plain Text"
keyword_match_invert: flag = false
keyword_match_case: flag = true
keyword_match_whole_word: flag = true
keyword_allow_line_wrap: flag = true
keyword_normalize_spaces: flag = true
interval_fullpage: [-1,1,2,3,4,5,6,10,15,20,30,60,120] = -1
fullpage_object_timeout: [1,2,3,4,5,6,7,8,9,10,15,20,25,30,45,60,75,90,120,150,180,240,300] = 10
check_fullpage_missing_objects: flag = false
check_fullpage_object_sizes: flag = false
notify_on_fullpage_errors: flag = false
notify_on_content_change: flag = false
ssl_cert_id: 1..
ssl_cert_format: text 32 ro
ssl_cert_name: text 255 ro
use_client_ssl_cert: flag = false
use_ssl_version: |2|3|10|11|12 = ""
verify_certificate: flag = true x
ca_cert_id: 1.. x
ipv6_enabled: Disabled|Preferred|Enforced = "Disabled"
last_modified: text 255 ro
script_created: text 255 ro
script_modified: text 255 ro
script_modified_by_user: text 255 ro
script_status: text 255 ro
mobile_type: text 255 ro
transaction_events: 0.. ro
mobile_location_count: 0.. ro
transaction_steps: 1..50 ro
has_capture: flag ro
has_content_views: flag ro
has_mobile_locations: flag ro
has_multipop: flag ro
has_user_experience: flag ro
is_content_view: flag ro
is_transaction: flag ro
script_replayed_successfully: flag ro
[email-imap]
hostname: text 255 !
imap_username: text 255
imap_password: text 255 secret
port: 1..65535
ipv4: text 15
resolve_dns: flag = true
require_tls: flag = false x
auth_method: auto|plain|login|cram-md5|xoauth2 = "auto" x
verify_certificate: flag = true x
ca_cert_id: 1.. x
[email-pop]
hostname: text 255 !
pop_username: text 255
pop_password: text 255 secret
port: 1..65535
ipv4: text 15
resolve_dns: flag = true
require_tls: flag = false x
auth_method: auto|plain|login|cram-md5|xoauth2 = "auto" x
verify_certificate: flag = true x
ca_cert_id: 1.. x
[email-round-trip]
smtp_hostname: text 255 !
pop3_hostname: text 255 !
email: text 255 !
email_username: text 255
email_password: text 255 secret
require_tls: flag = false x
auth_method: auto|plain|login|cram-md5|xoauth2 = "auto" x
verify_certificate: flag = true x
ca_cert_id: 1.. x
[email-smtp]
hostname: text 255 !
smtp_username: text 255
smtp_password: text 255 secret
port: 1..65535
ipv4: text 15
resolve_dns: flag = true
require_tls: flag = false x
auth_method: auto|plain|login|cram-md5|xoauth2 = "auto" x
verify_certificate: flag = true x
ca_cert_id: 1.. x
[ftp]
hostname: text 255 !
enable_ftp_upload: flag = false
ftp_username: text 255 = ""
ftp_password: text 255 secret
port: 1..65535
ipv4: text 15
resolve_dns: flag = true
[ftp-ssl]
hostname: text 255 !
enable_ftp_upload: flag = false
ftp_username: text 255 = ""
ftp_password: text 255 secret
port: 1..65535
ipv4: text 15
resolve_dns: flag = true
ssl_cert_id: 1..
ssl_cert_format: text 32 ro
ssl_cert_name: text 255 ro
use_client_ssl_cert: flag = false
use_ssl_version: |2|3|10|11|12 = ""
verify_certificate: flag = true x
ca_cert_id: 1.. x
[name-server]
hostname: text 255 !
name_to_resolve: text 255
name_to_resolve_id: 0..1000000 = 0
record_type: A|AAAA|CAA|CNAME|DNSKEY|DS|MX|NS|PTR|SOA|SRV|TXT = "A" x
expected_answers: list of text 1024 = [] x
transport: udp|tcp|tls|https = "udp" x
require_dnssec: flag = false x
port: 1..65535
ipv4: text 15
resolve_dns: flag = true
verify_certificate: flag = true x
ca_cert_id: 1.. x
[mobilelab]
api_key: text 1024 ! secret
hostname: text 255 !
run_configuration: text 65535 !
monitor_offset: 1..120
device_group_id: 1.. ro
framework_id: 1.. ro
project_id: 1.. ro
device_group_name: text 255 ro
framework_name: text 255 ro
project_name: text 255 ro
[ping]
hostname: text 255 !
ipv4: text 15
resolve_dns: flag = true
ping_count: 1..20 = 5 x
ping_size: 8..65000 = 56 x
loss_threshold: 1..100 = 100 x
[collection-api]
script: text 10485760 !
environment: text 10485760 x
data: text 10485760 x
[security-scan]
hostname: text 255
url: text 65535
[selenium]
script: text 69905068 !
[hostagent]
host_id: text 255 !
thresholds: list of Threshold = []
[tcp]
hostname: text 255 !
port: 1..65535 !
ipv4: text 15
resolve_dns: flag = true
tls: none|implicit|starttls-smtp|starttls-imap|starttls-pop3|starttls-ftp|starttls-postgres = "none" x
dialogue: list of DialogueLine = [] x
verify_certificate: flag = true x
ca_cert_id: 1.. x
[website]
url: text 65535 !
http_method: GET|POST|HEAD = "GET"
post_body: text 65535 x
post_content_type: text 255 = "application/x-www-form-urlencoded" x
http_headers: list of Header = [] x
http_version: 1.1|1.0|2 = "1.1"
resolve_dns: flag = true
ip_address: text 45
http_follow_redirects: flag = true
http_302_is_error: flag = false
http_401_is_error: flag = true
http_caching: Disabled|Enabled = "Disabled"
check_ssl_expiration_dates: Disabled|Expired|Expiring = "Disabled"
realm_userid: text 255 secret
realm_password: text 255 secret
port: 1..65535
keyword_string: text 255 = ""
keyword_match_type: Plain Text|Regular Expression = "Plain Text"
keyword_match_invert: flag = false
keyword_match_case: flag = true
keyword_match_whole_word: flag = true
keyword_allow_line_wrap: flag = true
keyword_normalize_spaces: flag = true
interval_fullpage: [-1,1,2,3,4,5,6,10,15,20,30,60,120] = -1
fullpage_object_timeout: [1,2,3,4,5,6,7,8,9,10,15,20,25,30,45,60,75,90,120,150,180,240,300] = 10
check_fullpage_missing_objects: flag = false
check_fullpage_object_sizes: flag = false
notify_on_fullpage_errors: flag = false
notify_on_content_change: flag = false
ssl_cert_id: 1..
ssl_cert_format: text 32 ro
ssl_cert_name: text 255 ro
use_client_ssl_cert: flag = false
use_ssl_version: |2|3|10|11|12 = ""
verify_certificate: flag = true x
ca_cert_id: 1.. x
ipv6_enabled: Disabled|Preferred|Enforced = "Disabled"
proxy_id: 1.. x
[website-api]
api_steps: list of ApiStep
url: text 65535
http_method: GET|POST|HEAD
assertions: list of Assertion
ssl_cert_id: 1..
ssl_cert_format: text 32 ro
ssl_cert_name: text 255 ro
use_client_ssl_cert: flag = false
use_ssl_version: |2|3|10|11|12 = ""
verify_certificate: flag = true x
ca_cert_id: 1.. x
ipv6_enabled: Disabled|Preferred|Enforced = "Disabled"
proxy_id: 1.. x
[website-ssl]
url: text 65535 !
http_method: GET|POST|HEAD = "GET"
post_body: text 65535 x
post_content_type: text 255 = "application/x-www-form-urlencoded" x
http_headers: list of Header = [] x
http_version: 1.1|1.0|2 = "1.1"
resolve_dns: flag = true
ip_address: text 45
http_follow_redirects: flag = true
http_302_is_error: flag = false
http_401_is_error: flag = true
http_caching: Disabled|Enabled = "Disabled"
check_ssl_expiration_dates: Disabled|Expired|Expiring = "Disabled"
realm_userid: text 255 secret
realm_password: text 255 secret
port: 1..65535
keyword_string: text 255 = ""
keyword_match_type: Plain Text|Regular Expression = "Plain Text"
keyword_match_invert: flag = false
keyword_match_case: flag = true
keyword_match_whole_word: flag = true
keyword_allow_line_wrap: flag = true
keyword_normalize_spaces: flag = true
interval_fullpage: [-1,1,2,3,4,5,6,10,15,20,30,60,120] = -1
fullpage_object_timeout: [1,2,3,4,5,6,7,8,9,10,15,20,25,30,45,60,75,90,120,150,180,240,300] = 10
check_fullpage_missing_objects: flag = false
check_fullpage_object_sizes: flag = false
notify_on_fullpage_errors: flag = false
notify_on_content_change: flag = false
ssl_cert_id: 1..
ssl_cert_format: text 32 ro
ssl_cert_name: text 255 ro
use_client_ssl_cert: flag = false
use_ssl_version: |2|3|10|11|12 = ""
verify_certificate: flag = true x
ca_cert_id: 1.. x
ipv6_enabled: Disabled|Preferred|Enforced = "Disabled"
proxy_id: 1.. x
[website-ssl-api]
api_steps: list of ApiStep
url: text 65535
http_method: GET|POST|HEAD
assertions: list of Assertion
ssl_cert_id: 1..
ssl_cert_format: text 32 ro
ssl_cert_name: text 255 ro
use_client_ssl_cert: flag = false
use_ssl_version: |2|3|10|11|12 = ""
verify_certificate: flag = true x
ca_cert_id: 1.. x
ipv6_enabled: Disabled|Preferred|Enforced = "Disabled"
proxy_id: 1.. x
"#);
}

#[test]
fn the_sub_objects_are_those_of_interface_2_3_and_fields_2() {
    use vigie::model::table::{parts, steps};
    let tables = [
        &parts::LOCATION,
        &parts::CUSTOM_PROPERTY,
        &parts::CAPTURE,
        &parts::CONTENT_VIEW,
        &parts::ASSERTION,
        &parts::HEADER,
        &parts::DIALOGUE_LINE,
        &parts::THRESHOLD,
        &steps::API_STEP,
        &steps::HEAD,
        &steps::POST,
        &steps::VARIABLE,
    ];
    let all: Vec<_> = tables
        .iter()
        .map(|table| {
            let lines: Vec<_> = table.fields().iter().map(|field| line(field)).collect();
            format!("[{}]\n{}", table.name, lines.join("\n"))
        })
        .collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
[Location]
id: 1.. !
name: text 255 ro
region: -9223372036854775808.. ro
[CustomProperty]
id: 1.. !
value_id: 1.. !
name: text 255 ro
value: text 1000 ro
[Capture]
level: Disabled|Error Only|All Actions on Error|All Actions|All Events on Error|All Events = "Error Only"
mimetype: image/jpeg|image/png = "image/jpeg"
headers: flag = true
images: flag = true
sources: flag = true
[ContentView]
id: 1.. !
notify_on_error: flag !
inherit_global_errors: flag !
name: text 80
url_patterns: list of text 1000 = [] x
steps: list of 1..50 = [] x
[Assertion]
source: Response|JSON Response|XML Response|Timeout|Status Code|Header !
property: text 256
comparison: equals|does not equal|less than or equal|contains|does not contain|count|exists|does not exist|regular expression includes|regular expression excludes !
value: text 256 = "1"
[Header]
name: text 256 !
value: text 8192 = ""
[DialogueLine]
send: text 4096
expect: text 4096
[Threshold]
metric: text 255 !
warning: number
error: number
[ApiStep]
url: text 65535 !
http_method: GET|POST|HEAD|CUSTOM = "GET"
custom_method: text 64
head: Head
step_name: text 255 !
step_number: 1..50
post: Post
assertions: list of Assertion = []
variables: list of Variable = []
follow_redirects: flag = true x
[Head]
headers: list of Header = []
http_basic_auth_username: text 255
http_basic_auth_password: text 255 secret
preemptive_authentication: flag = false
bearer_token: text 8192 secret x
[Post]
content_type: text 255 = "application/x-www-form-urlencoded"
body: text 65535 = ""
[Variable]
name: text 255 !
property: text 1024 !
source: JSON Response|XML Response|Header|Response
"#);
}

#[test]
fn the_inputs_are_those_of_interface_2_4_to_2_7() {
    let all: Vec<_> = table::account::INPUTS
        .iter()
        .map(|table| {
            let lines: Vec<_> = table.fields().iter().map(|field| line(field)).collect();
            format!("[{}]\n{}", table.name, lines.join("\n"))
        })
        .collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
[Blackout]
id: 1.. ro
assoc_id: 1.. !
type: Monitor|Alert|Notifier !
persistent: flag = false
start_day: 1..7
start_time: text 5
end_day: 1..7
end_time: text 5
from_date: text 19
thru_date: text 19
note: text 255
date_added: text 255 ro
login: text 255 ro
[OneTimeBlackout]
type: Monitor|Alert !
from_date: text 19 !
thru_date: text 19 !
note: text 255
[PersistentBlackout]
type: Monitor|Alert !
start_day: 1..7 !
start_time: text 5 !
end_day: 1..7 !
end_time: text 5 !
[BlackoutBulkEdit]
monitors: list of 1.. !
update_one_time: flag !
update_one_time_action: append|replace
one_time_blackouts: list of OneTimeBlackout = []
update_persistent: flag !
update_persistent_action: append|replace
persistent_blackouts: list of PersistentBlackout = []
[MonitorBulkEdit]
monitors: list of 1.. !
enabled: flag !
interval: [1,2,3,4,5,6,10,15,20,30,60,120] !
mode: Global Verify|Primary|Global Notify|Round Robin|SLA (MultiPOP) !
rotate_locations: flag !
monitor_location_count: 0..1000 !
notify_on_error: flag !
home_location: 1.. !
retry_on_failure: flag !
allow_internal_testing: flag !
traceroute_on_error: flag !
timeout: [1,2,3,4,5,6,7,8,9,10,15,20,25,30,45,60,75,90,120,150,180,240,300] !
alert_note: text 1000
note: text 1000
custom_properties: list of CustomProperty = []
locations: list of Location = []
billing_plancode: text 255 !
update_locations_action: append|replace = "replace"
[PasswordBulkEdit]
monitors: list of 1.. !
current_value: text 255 ! secret
new_value: text 255 ! secret
[ScriptBulkEdit]
monitors: list of 1.. !
current_value: text 65535 !
new_value: text 65535 !
[MonitorClone]
name: text 255
[Event]
event: text 255 !
description: text 65535 !
value: text 8
quantity: 0.. = 1
name: text 255 ro
login: text 255 ro
timestamp: text 255 ro
[Login]
username: text 255 !
password: text 1024 ! secret
"#);
}

#[test]
fn every_type_has_the_shared_fields() {
    for kind in MonitorType::ALL {
        for field in
            [table::shared::IDENTITY, table::shared::RUNNING, table::shared::REPORTED].into_iter().flatten()
        {
            assert!(table::of(*kind).field(field.name).is_some(), "{kind} has no {}", field.name);
        }
    }
}

#[test]
fn the_limits_are_those_of_interface_8() {
    let limit = |kind: MonitorType, name: &str| match table::of(kind).field(name).unwrap().kind {
        Kind::Text { max, .. } => json!(max),
        Kind::Int { min, max } => json!([min, max]),
        other => panic!("{name}: {other:?}"),
    };
    let website = |name| limit(MonitorType::Website, name);
    assert_eq!(website("name"), 255);
    assert_eq!((website("note"), website("alert_note")), (json!(1000), json!(1000)));
    assert_eq!(website("url"), 65535);
    assert_eq!(website("port"), json!([1, 65535]));
    for (kind, name) in [
        (MonitorType::EmailImap, "imap_password"),
        (MonitorType::EmailPop, "pop_username"),
        (MonitorType::EmailSmtp, "smtp_password"),
        (MonitorType::EmailRoundTrip, "email_username"),
    ] {
        assert_eq!(limit(kind, name), 255);
    }
    assert_eq!(limit(MonitorType::BrowserScript, "step_timeout"), json!([0, 300]));
    assert_eq!(limit(MonitorType::MobileCloud, "monitor_offset"), json!([1, 120]));
}

#[test]
fn mobile_monitors_change_the_shared_fields() {
    for kind in [MonitorType::MobileCloud, MonitorType::MobileLab] {
        let default = |name: &str| table::of(kind).field(name).unwrap().default_value();
        assert_eq!(default("interval"), Some(json!(30)));
        assert_eq!(default("mode"), Some(Value::from("One Handset (Rotated)")));
        assert!(!table::of(kind).field("locations").unwrap().is_settable());
    }
}
