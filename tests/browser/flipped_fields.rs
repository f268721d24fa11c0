//! Fields of a browser monitor, each with two values, and the effect outside of the document (fields.md 3).

use serde_json::{Value, json};
use vigie::browser::{BrowserKind, BrowserPoolConfig};
use vigie::domain::Observation;

use crate::browser::check::{Check, browsers, browsers_for_common_code, one};
use crate::browser::site::Site;
use crate::support::long_tests::full;
use crate::support::side_by_side::each;

fn status(observation: &Observation) -> u16 {
    observation.failure.as_ref().map_or(0, |failure| failure.status().0)
}

// row: 2.2 browserscript.url; 2.2 browserscript.script
#[tokio::test(flavor = "multi_thread")]
async fn a_url_is_opened_alone_or_is_the_base_of_a_script() {
    let site = Site::start().await;
    let Some(kind) = one("a_url_is_opened_alone_or_is_the_base_of_a_script") else { return };
    let alone = Check::without_script(kind, json!({"url": site.url("/login")})).passes().await;
    assert_eq!(alone.details.steps.len(), 1);
    assert_eq!(alone.details.steps[0].browser_step.as_ref().unwrap().title, "Login");
    let script = r#"<script version="1"><step name="One"><open url="forms"/></step></script>"#;
    let based = Check::with_script(kind, script).with(json!({"url": site.url("/pages/stay")})).passes().await;
    assert_eq!(based.details.steps[0].browser_step.as_ref().unwrap().title, "Preferences");
    Check::with_script(kind, script).fails(96).await;
    Check::without_script(kind, json!({})).fails(96).await;
}

// row: 2.2 browserscript.browser_type
#[tokio::test(flavor = "multi_thread")]
async fn the_browser_is_the_chosen_one_or_what_is_there() {
    each(browsers("the_browser_is_the_chosen_one_or_what_is_there"), async |kind| {
        let site = Site::start().await;
        // Without a choice, the only browser that is there is used, and the result names it.
        let nowhere = || Some("/nowhere/program".into());
        let has_only = |config: &mut BrowserPoolConfig, only: BrowserKind| match only {
            BrowserKind::Firefox => config.chromium = nowhere(),
            _ => config.firefox = nowhere(),
        };
        let page = json!({"url": site.url("/login"), "browser": null, "browser_type": null});
        let check =
            Check::without_script(kind, page.clone()).with_pool_config(|config| has_only(config, kind));
        let observation = check.passes().await;
        assert_eq!(observation.details.browser.as_ref().unwrap().name, kind.name());
        // A chosen browser that is missing is not replaced, and the reason says how to get one.
        let other = if kind == BrowserKind::Firefox { BrowserKind::Chrome } else { BrowserKind::Firefox };
        let check = Check::without_script(kind, page.clone()).with(json!({"browser": other.name()}));
        let observation = check.with_pool_config(|config| has_only(config, kind)).fails(95).await;
        assert!(observation.failure.unwrap().detail.contains("is not an executable file"));
        let none = Check::without_script(kind, page).with_pool_config(|config| {
            (config.chromium, config.firefox) = (nowhere(), nowhere());
        });
        let reason = none.fails(95).await.failure.unwrap().detail;
        assert!(reason.starts_with("this location has no browser (Firefox: `browser.firefox`"), "{reason}");
        assert!(reason.contains("Google Chrome: `browser.chromium`"), "{reason}");
        let observation =
            Check::without_script(kind, json!({"url": site.url("/login"), "browser": kind.name()}))
                .passes()
                .await;
        assert_eq!(observation.details.browser.as_ref().unwrap().name, kind.name());
        let product = if kind == BrowserKind::Firefox { "Firefox/" } else { "Chrome/" };
        assert!(site.headers("/login").unwrap()["user-agent"].contains(product));
    })
    .await;
    // Only a remote endpoint could provide this browser.
    let url = Site::start().await.url("/login");
    let observation =
        Check::without_script(BrowserKind::InternetExplorer, json!({"url": url})).fails(95).await;
    assert!(observation.failure.unwrap().detail.contains("`browser.remote`"));
}

// Each part of the keyword rule, with its default and another value, and the status of the check.
// row: 2.2 browserscript.keyword_string; 2.2 browserscript.keyword_match_type
// row: 2.2 browserscript.keyword_match_invert; 2.2 browserscript.keyword_match_case
// row: 2.2 browserscript.keyword_match_whole_word; 2.2 browserscript.keyword_allow_line_wrap
// row: 2.2 browserscript.keyword_normalize_spaces
#[tokio::test(flavor = "multi_thread")]
async fn each_part_of_the_keyword_rule_decides() {
    let site = Site::start().await;
    let Some(kind) = one("each_part_of_the_keyword_rule_decides") else { return };
    let each_field = [
        (json!({"keyword_string": "Goodbye"}), 5),
        (json!({"keyword_string": "Hello", "keyword_match_invert": true}), 5),
        (json!({"keyword_string": "hello", "keyword_match_case": false}), 0),
        (json!({"keyword_string": "ello", "keyword_match_whole_word": false}), 0),
        (json!({"keyword_string": "H.llo", "keyword_match_type": "Regular Expression"}), 0),
        (json!({"keyword_string": "two lines", "keyword_allow_line_wrap": false}), 5),
        (json!({"keyword_string": "some room", "keyword_normalize_spaces": false}), 5),
    ];
    // The rule is that of other types, which test its defaults in milliseconds: here each needs a browser.
    let defaults = [
        (json!({"keyword_string": "Hello"}), 0),
        (json!({"keyword_string": "hello"}), 5),
        (json!({"keyword_string": "ello"}), 5),
        (json!({"keyword_string": "H.llo"}), 5),
        (json!({"keyword_string": "two lines"}), 0),
        (json!({"keyword_string": "some room"}), 0),
    ];
    for (fields, expected) in each_field.into_iter().chain(defaults.into_iter().filter(|_| full())) {
        let check =
            Check::without_script(kind, json!({"url": site.url("/pages/keywords")})).with(fields.clone());
        assert_eq!(status(&check.run().await), expected, "{fields}");
    }
}

// row: 2.2 browserscript.third_party_document_errors
#[tokio::test(flavor = "multi_thread")]
async fn third_party_document_errors_count_when_enabled() {
    let site = Site::start().await;
    each(browsers_for_common_code("third_party_document_errors_count_when_enabled"), async |kind| {
        let step =
            r#"<step name="One"><open url="/pages/strangers"/><wait-for-network-quiet quiet="0.3"/></step>"#;
        let check = |counts: bool| {
            Check::new(kind, &site.url("/"), step).with(json!({"third_party_document_errors": counts}))
        };
        let observation = check(false).passes().await;
        let objects = &observation.details.steps[0].browser_step.as_ref().unwrap().objects;
        let frame = objects.iter().find(|object| object.url.ends_with("/status/503")).unwrap();
        assert!(frame.third_party && frame.failure.is_some(), "{frame:?}");
        let observation = check(true).fails(7007).await;
        assert!(observation.failure.unwrap().detail.contains("/status/503"));
    })
    .await;
}

// row: 2.2 browserscript.user_experience_base_page_only
#[tokio::test(flavor = "multi_thread")]
async fn user_experience_can_be_limited_to_the_base_page() {
    let site = Site::start().await;
    let Some(kind) = one("user_experience_can_be_limited_to_the_base_page") else { return };
    let step = r#"<step name="One"><open url="/pages/shifting"/><run-js>return new Promise((done) => setTimeout(done, 700));</run-js></step>"#;
    let shift = async |alone: bool| {
        let fields = json!({"user_experience_enabled": true, "user_experience_base_page_only": alone});
        let observation = Check::new(kind, &site.url("/"), step).with(fields).passes().await;
        observation.details.steps[0]
            .browser_step
            .as_ref()
            .unwrap()
            .timing
            .as_ref()
            .unwrap()
            .cumulative_layout_shift
            .unwrap()
    };
    let (all, page) = (shift(false).await, shift(true).await);
    assert!(all > 0.01 && page == 0.0, "{all} {page}");
}

// A full page is checked when it is due, and the fields decide which problems of its objects fail it.
// row: 2.2 browserscript.interval_fullpage; 2.2 browserscript.fullpage_object_timeout
// row: 2.2 browserscript.check_fullpage_missing_objects; 2.2 browserscript.notify_on_content_change
#[tokio::test(flavor = "multi_thread")]
async fn full_page_fields_take_effect() {
    let site = Site::start().await;
    let Some(kind) = one("full_page_fields_take_effect") else { return };
    let check =
        |page: &str, fields: Value| Check::without_script(kind, json!({"url": site.url(page)})).with(fields);
    let observation = check("/pages/tardy", json!({"interval_fullpage": -1})).passes().await;
    assert!(observation.details.page_load.is_none());
    let object = |seconds: u64| json!({"interval_fullpage": 1, "fullpage_object_timeout": seconds, "notify_on_fullpage_errors": true});
    let observation = check("/pages/tardy", object(5)).passes().await;
    assert!(observation.details.page_load.is_some());
    check("/pages/tardy", object(1)).fails(7002).await;
    let none = |enabled: bool| json!({"interval_fullpage": 1, "check_fullpage_missing_objects": enabled, "notify_on_fullpage_errors": true});
    check("/pages/stay", none(false)).passes().await;
    check("/pages/stay", none(true)).fails(7130).await;
    let change = |enabled: bool| json!({"notify_on_content_change": enabled});
    assert!(check("/pages/stay", change(false)).passes().await.facts.http.is_none());
    assert!(check("/pages/stay", change(true)).passes().await.facts.http.unwrap().text_sha256.is_some());
}

// row: 2.3 Capture.headers; 2.3 Capture.images; 2.3 Capture.sources
#[tokio::test(flavor = "multi_thread")]
async fn captures_contain_what_the_fields_enable() {
    let site = Site::start().await;
    each(browsers_for_common_code("captures_contain_what_the_fields_enable"), async |kind| {
        let names = async |headers: bool, images: bool, sources: bool| {
            let capture = json!({"capture": {"level": "All Actions", "headers": headers, "images": images, "sources": sources}});
            let observation = Check::without_script(kind, json!({"url": site.url("/login")})).with(capture).passes().await;
            let names: Vec<String> = observation.captures.iter().map(|file| file.name.clone()).collect();
            (names, observation)
        };
        let (all, observation) = names(true, true, true).await;
        assert_eq!(all, ["step-01.jpg", "step-01.html", "step-01-headers.txt"]);
        let text = String::from_utf8_lossy(observation.captures[2].content.as_ref().unwrap()).into_owned();
        assert!(text.starts_with("GET http://") && text.contains("HTTP/1.1 200"), "{text}");
        assert_eq!(names(false, false, true).await.0, ["step-01.html"]);
    })
    .await;
}

/// The header fields of an event are those of the document that the page shows at that event.
#[tokio::test(flavor = "multi_thread")]
async fn the_captures_of_an_event_are_of_one_document() {
    let site = Site::start().await;
    each(browsers("the_captures_of_an_event_are_of_one_document"), async |kind| {
        let steps = r#"<step name="One"><open url="/pages/stay"/></step>
<step name="Two"><open url="/login"/><scroll y="1"/></step>
<step name="Three"><run-js>history.pushState({}, '', '/elsewhere')</run-js><open url="/pages/forms"/></step>"#;
        let capture = json!({"capture": {"level": "All Events", "headers": true, "images": false, "sources": true}});
        let observation = Check::new(kind, &site.url("/"), steps).with(capture).passes().await;
        let text = |name: &str| {
            let file = observation.captures.iter().find(|file| file.name == name);
            let file = file.unwrap_or_else(|| panic!("{name}: {:?}", observation.captures));
            String::from_utf8_lossy(file.content.as_ref().unwrap()).into_owned()
        };
        for (event, path, title) in [
            ("step-01-act-01", "/pages/stay", "Stay"),
            ("step-02-act-01", "/login", "Login"),
            ("step-02-act-02", "/login", "Login"),
            ("step-03-act-01", "/login", "Login"),
            ("step-03-act-02", "/pages/forms", "Preferences"),
        ] {
            let headers = text(&format!("{event}-headers.txt"));
            assert!(headers.starts_with(&format!("GET {}\r\n", site.url(path))), "{event}: {headers}");
            assert!(headers.contains("HTTP/1.1 200"), "{event}: {headers}");
            assert!(text(&format!("{event}.html")).contains(&format!("<title>{title}</title>")), "{event}");
        }
    })
    .await;
}

// row: 2.2 browserscript.transaction_steps_allowed
#[tokio::test(flavor = "multi_thread")]
async fn an_admin_allows_more_steps() {
    let site = Site::start().await;
    let Some(kind) = one("an_admin_allows_more_steps") else { return };
    let steps = r#"<step name="x"><scroll y="1"/></step>"#.repeat(51);
    let allowed = |steps_allowed: u64| json!({"transaction_steps_allowed": steps_allowed});
    let check = |fields| Check::new(kind, &site.url("/"), &steps).with(fields);
    let observation = check(allowed(50)).fails(94).await;
    assert!(observation.failure.unwrap().detail.contains("it has 51 steps; 50 are allowed"));
    assert_eq!(check(allowed(51)).passes().await.details.steps.len(), 51);
}
