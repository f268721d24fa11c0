//! Settings, environment variables, metrics and API calls that the manual names exist.

use std::collections::BTreeSet;
use std::fs;

use vigie::domain::{MonitorType, Role};
use vigie::export::METRIC_NAMES;
use vigie::settings::{EntryField, SECTIONS, SETTINGS, Setting, SettingSources, SettingType};

use super::{inline_code, root};
use crate::support::app::App;

/// Requires that more than `least` spans were checked and none of them is in `wrong`.
fn assert_known(checked: usize, least: usize, wrong: &BTreeSet<String>) {
    assert!(checked > least, "only {checked}: is the search broken?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_setting_that_a_page_names_exists() {
    let sections: BTreeSet<&str> =
        SECTIONS.iter().map(|section| section.0).filter(|name| !name.is_empty()).collect();
    let known: BTreeSet<String> = SETTINGS.iter().flat_map(setting_paths).collect();
    let (mut wrong, mut checked) = (BTreeSet::new(), 0);
    for (page, span) in inline_code() {
        let path = span.split([':', ' ', '=']).next().unwrap();
        let Some((section, rest)) = path.split_once('.') else { continue };
        if !sections.contains(section) || rest.is_empty() {
            continue;
        }
        checked += 1;
        if rest != "*" && !known.contains(path) {
            wrong.insert(format!("{page}: {span}"));
        }
    }
    assert_known(checked, 80, &wrong);
}

/// Returns the path of a setting and, for a list of maps, those of the fields of its entries.
fn setting_paths(setting: &Setting) -> Vec<String> {
    let fields: &[EntryField] = match setting.setting_type {
        SettingType::MapList(fields) => fields,
        _ => &[],
    };
    let entries = fields.iter().map(|field| format!("{}.{}", setting.path, field.name));
    entries.chain([setting.path.to_owned()]).collect()
}

/// Environment variables that only the tests read.
const TEST_VARIABLES: &[&str] = &[
    "VIGIE_WITH_MONITORS",
    "VIGIE_RECORD_TESTSSL",
    "VIGIE_FULL",
    "VIGIE_FUZZ_SECONDS",
    "VIGIE_GECKODRIVER",
    "VIGIE_PACKAGES_BEFORE",
    "VIGIE_RENDER_SETTINGS",
    "VIGIE_SEED",
    "VIGIE_TEST_SEED",
];

#[test]
fn every_environment_variable_that_a_page_names_exists() {
    let (mut wrong, mut checked) = (BTreeSet::new(), 0);
    for (page, span) in inline_code().into_iter().filter(|(_, span)| span.starts_with("VIGIE_")) {
        let name = span.split([' ', '=']).next().unwrap();
        if matches!(name, "VIGIE_" | "VIGIE_…") {
            continue;
        }
        checked += 1;
        let environment = vec![(name.to_owned(), String::new())];
        let is_unknown =
            !SettingSources { environment, ..SettingSources::default() }.unknown_variables().is_empty();
        if is_unknown && !TEST_VARIABLES.contains(&name) {
            wrong.insert(format!("{page}: {span}"));
        }
    }
    assert_known(checked, 8, &wrong);
}

#[test]
fn every_metric_that_a_page_names_exists() {
    // The metrics endpoint lists only metrics that were counted already, so the sources are searched.
    let sources = ["agent_metrics.rs", "metrics.rs", "otlp_metrics.rs", "process_metrics.rs"]
        .map(|file| fs::read_to_string(root().join("src/telemetry").join(file)).unwrap());
    let texts = sources.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
    let of_server = texts.filter(|text| text.starts_with("vigie_"));
    let known: BTreeSet<&str> = of_server.chain(METRIC_NAMES).collect();
    let (mut wrong, mut checked) = (BTreeSet::new(), 0);
    for (page, span) in
        inline_code().into_iter().filter(|(_, span)| span.starts_with("vigie_") && *span != "vigie_")
    {
        let name = span.split('{').next().unwrap();
        let family =
            ["_total", "_info", "_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        checked += 1;
        if !known.contains(name) && !family.is_some_and(|family| known.contains(family)) {
            wrong.insert(format!("{page}: {span}"));
        }
    }
    assert_known(checked, 15, &wrong);
}

#[tokio::test]
async fn every_call_that_a_page_names_exists() {
    let app = App::start().await;
    let document = app.login(Role::Admin).await.get("/openapi.json").await.expect(200);
    let paths = document["paths"].as_object().unwrap();
    let known: BTreeSet<String> = paths
        .iter()
        .flat_map(|(path, calls)| {
            let methods = calls.as_object().unwrap().keys().map(|method| method.to_uppercase());
            methods.map(|method| format!("{method} {}", shape(path))).collect::<Vec<_>>()
        })
        .collect();
    let (mut wrong, mut checked) = (BTreeSet::new(), 0);
    for (page, span) in inline_code() {
        let Some((method, path)) = span.split_once(" /") else { continue };
        // Calls of the legacy API, which has no OpenAPI document.
        if path.starts_with("devices") || path == "login" || path == "openapi.json" {
            continue;
        }
        if !["GET", "POST", "PATCH", "PUT", "DELETE"].contains(&method) || path.starts_with("legacy-api") {
            continue;
        }
        checked += 1;
        let path = format!("/{}", path.split('?').next().unwrap());
        let path = path.strip_prefix("/api/v3").unwrap_or(&path);
        let kinds = MonitorType::ALL.iter().map(|kind| path.replace("{type}", &kind.to_string()));
        let is_known =
            kinds.chain([path.to_owned()]).any(|path| known.contains(&format!("{method} {}", shape(&path))));
        if !is_known {
            wrong.insert(format!("{page}: {span}"));
        }
    }
    assert_known(checked, 80, &wrong);
}

/// Returns `path` with `{}` for each parameter.
fn shape(path: &str) -> String {
    let parts =
        path.split('/').map(|part| if part.starts_with('{') && part.ends_with('}') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}
