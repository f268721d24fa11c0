//! The settings of the export by OTLP.

use super::entry_fields::{ID, REQUEST_HEADER_FIELDS, RESOURCE_ATTRIBUTE_FIELDS, int_range};
use super::setting::Setting;
use super::setting_type::SettingType;
use crate::export::otlp::OtlpSignal;
use crate::syntax::text_format::TextFormat;

/// The settings of the section `otlp`, in the order of the file.
pub(super) const OTLP_SETTINGS: [Setting; 11] = [
    Setting::new(
        "otlp.endpoint",
        SettingType::FormattedText(TextFormat::HttpUrl),
        "null",
        "URL of the receiver, such as http://127.0.0.1:4318. Vigie posts to /v1/metrics, /v1/logs and /v1/traces\nbelow it. null: nothing is exported.",
    )
    .reloadable(),
    Setting::new(
        "otlp.headers",
        SettingType::MapList(REQUEST_HEADER_FIELDS),
        "[]",
        "Header fields of each request, [{name, value}]; value_file instead of value: the file with a secret value,\nsuch as 'Bearer TOKEN'.",
    )
    .reloadable(),
    Setting::new(
        "otlp.signals",
        SettingType::List(&SettingType::Choice(&OtlpSignal::NAMES)),
        "[metrics, logs, traces]",
        "What is exported: values of each result, a log record of each failed check, and its spans.",
    )
    .reloadable(),
    Setting::new(
        "otlp.accounts",
        SettingType::List(&ID),
        "[]",
        "Ids of the accounts whose results are exported. []: all.",
    )
    .reloadable(),
    Setting::new(
        "otlp.resource",
        SettingType::MapList(RESOURCE_ATTRIBUTE_FIELDS),
        "[]",
        "Attributes of the resource, [{name, value}], such as deployment.environment.name; service.name is vigie\nunless it is set here.",
    )
    .reloadable(),
    Setting::new("otlp.compression", SettingType::Choice(&["gzip", "none"]), "gzip", "Compression of requests.").reloadable(),
    Setting::new(
        "otlp.queue",
        int_range(1, 1_000_000),
        "10000",
        "Maximum number of results that wait for their export. More replace the oldest, which the receiver never\ngets.",
    )
    .reloadable(),
    Setting::new("otlp.batch_results", int_range(1, 10_000), "500", "Maximum number of results in a request.").reloadable(),
    Setting::new(
        "otlp.batch_seconds",
        int_range(1, 300),
        "5",
        "How long a result waits for others to share a request with.",
    )
    .reloadable(),
    Setting::new("otlp.try_seconds", int_range(1, 300), "10", "Time limit for one request.").reloadable(),
    Setting::new(
        "otlp.give_up_seconds",
        int_range(1, 86_400),
        "300",
        "How long a request is repeated that the receiver did not take; newer results wait meanwhile.",
    )
    .reloadable(),
];
