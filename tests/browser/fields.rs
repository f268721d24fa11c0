//! Each field of a browser monitor has an effect outside of its document (fields.md 3).

use serde_json::json;

use vigie::domain::{PageObjectKind, Phase};

use crate::browser::check::{Check, browsers, browsers_for_common_code, one};
use crate::browser::site::Site;
use crate::support::long_tests::full;
use crate::support::side_by_side::each;

// row: 2.2 browserscript.capture; 2.3 Capture.level; 2.3 Capture.mimetype
#[tokio::test(flavor = "multi_thread")]
async fn captures_are_kept_by_level() {
    let site = Site::start().await;
    let Some(kind) = one("captures_are_kept_by_level") else { return };
    let good = r#"<step name="One"><open url="/pages/stay"/><click id="grow"/></step><step name="Two"><click id="fire"/><screenshot name="wanted"/></step>"#;
    let bad = r#"<step name="One"><open url="/pages/stay"/><click id="grow"/></step><step name="Two"><click id="fire"/><assert-title equals="Go" timeout="0.1"/></step>"#;
    for (level, good_count, bad_count) in [
        ("Disabled", 0, 0),
        ("Error Only", 1, 2),
        ("All Actions on Error", 1, 4),
        ("All Actions", 5, 4),
        ("All Events on Error", 1, 8),
        ("All Events", 9, 8),
    ] {
        // A check that passes tells the most of levels that keep captures of it, one that fails of the others.
        let telling = if good_count > 1 || bad_count == 0 { good } else { bad };
        let cases = [(good, good_count), (bad, bad_count)].into_iter();
        for (steps, expected) in cases.filter(|(steps, _)| full() || *steps == telling) {
            let capture =
                json!({"capture": {"level": level, "images": true, "sources": true, "headers": false}});
            let observation = Check::new(kind, &site.url("/"), steps).with(capture).run().await;
            let names: Vec<&str> = observation.captures.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(names.len(), expected, "{level}: {names:?} {:?}", observation.failure);
        }
    }
    let png = json!({"capture": {"level": "All Actions", "mimetype": "image/png", "sources": false}});
    let observation = Check::new(kind, &site.url("/"), good).with(png).passes().await;
    let first = &observation.captures[0];
    assert_eq!((first.name.as_str(), first.media_type.as_str()), ("step-01.png", "image/png"));
    assert!(first.content.as_ref().unwrap().starts_with(b"\x89PNG"));
}

// row: 2.2 browserscript.keyword_action
#[tokio::test(flavor = "multi_thread")]
async fn keywords_and_protected_values() {
    let site = Site::start().await;
    each(browsers_for_common_code("keywords_and_protected_values"), async |kind| {
        let late = r#"<step name="One" timeout="12"><open url="/pages/patient"/></step>"#;
        let check = |fields| Check::new(kind, &site.url("/"), late).with(fields);
        check(json!({"keyword_string": "Worth the wait"})).fails(5).await;
        check(json!({"keyword_string": "Worth the wait", "keyword_action": "Continue waiting"}))
            .passes()
            .await;
        let secret = r#"<variable name="word" value="hidden-4711" protected="true"/><step name="One"><open url="/pages/secret"/><type id="field" text="{{word}}"/><assert-text id="out" equals="{{word}}"/></step>"#;
        let capture = json!({"capture": {"level": "All Events", "images": false, "sources": true}});
        let observation = Check::new(kind, &site.url("/"), secret).with(capture).passes().await;
        let last = observation.captures.iter().rfind(|file| file.media_type.starts_with("text/html")).unwrap();
        let text = String::from_utf8_lossy(last.content.as_ref().unwrap()).into_owned();
        assert!(text.contains("id=\"out\"") && !text.contains("4711"), "{text}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_records_loaded_objects_and_the_console() {
    each(browsers("a_step_records_loaded_objects_and_the_console"), async |kind| {
        let site = Site::start().await;
        let steps = r#"<step name="Objects"><open url="/pages/objects"/><wait-for-network-quiet quiet="0.3"/></step><step name="Errors"><open url="/pages/errors"/><wait-for-network-quiet quiet="0.3"/></step>"#;
        let observation = Check::new(kind, &site.url("/"), steps).passes().await;
        let browser_step = |at: usize| observation.details.steps[at].browser_step.as_ref().unwrap();
        let objects = &browser_step(0).objects;
        for (path, object_kind) in [
            ("/pages/style", PageObjectKind::StyleSheet),
            ("/pages/script", PageObjectKind::Script),
            ("/pages/image", PageObjectKind::Image),
        ] {
            let url = site.url(path);
            let object = objects
                .iter()
                .find(|object| object.url == url)
                .unwrap_or_else(|| panic!("{path}: {objects:#?}"));
            assert_eq!(
                (object.http_status, object.kind, object.http_version.as_str()),
                (200, object_kind, "HTTP/1.1")
            );
            assert!(object.body_bytes > 0 && object.body_wire_bytes > 0, "{object:?}");
            assert!(site.paths().contains(&path.to_owned()));
        }
        let console = &browser_step(1).console;
        for (level, text) in [("error", "worrying"), ("warning", "careful"), ("error", "thrown")] {
            assert!(
                console.iter().any(|line| line.level == level && line.text.contains(text)),
                "{text}: {console:#?}"
            );
        }
        let missing = browser_step(1).objects.iter().find(|object| object.url.ends_with("/missing.png")).unwrap();
        assert_eq!((missing.http_status, missing.failure.is_some()), (404, true));
    })
    .await;
}

// row: 2.2 browserscript.content_views; 2.2 browserscript.notify_on_fullpage_errors; 2.3 Content View.id
// row: 2.3 Content View.notify_on_error; 2.3 Content View.inherit_global_errors
#[tokio::test(flavor = "multi_thread")]
async fn full_pages_views_and_changes_use_the_loaded_objects() {
    let site = Site::start().await;
    let Some(kind) = one("full_pages_views_and_changes_use_the_loaded_objects") else {
        return;
    };
    let step =
        r#"<step name="Errors"><open url="/pages/errors"/><wait-for-network-quiet quiet="0.3"/></step>"#;
    let check = |fields| Check::new(kind, &site.url("/"), step).with(fields);
    let observation = check(json!({"interval_fullpage": 5, "notify_on_content_change": true})).passes().await;
    assert!(
        observation
            .details
            .page_load
            .as_ref()
            .unwrap()
            .objects
            .iter()
            .any(|object| object.url.ends_with("/missing.png"))
    );
    assert!(!observation.warnings.is_empty());
    assert!(observation.facts.http.as_ref().unwrap().text_sha256.is_some());
    check(json!({"interval_fullpage": 5, "notify_on_fullpage_errors": true})).fails(7007).await;
    let view = |notify: bool, pattern: &str| json!({"content_views": [{"id": 7, "name": "Pictures", "notify_on_error": notify, "inherit_global_errors": false, "url_patterns": [pattern]}]});
    let observation = check(view(false, "*.png")).passes().await;
    assert_eq!(
        (observation.details.content_views[0].status.0, observation.details.content_views[0].object_count),
        (7007, 1)
    );
    check(view(true, "*.png")).fails(7007).await;
    let observation = check(view(true, "*.gif")).passes().await;
    assert_eq!(observation.details.content_views[0].status.0, 0);
}

// row: 2.2 browserscript.user_experience_enabled
#[tokio::test(flavor = "multi_thread")]
async fn user_experience_is_measured_when_enabled() {
    let site = Site::start().await;
    each(browsers("user_experience_is_measured_when_enabled"), async |kind| {
        let step =
            r#"<step name="One"><open url="/pages/objects"/><wait-for-network-quiet quiet="0.3"/></step>"#;
        let timing = async |fields| {
            let observation = Check::new(kind, &site.url("/"), step).with(fields).passes().await;
            observation.details.steps[0].browser_step.as_ref().unwrap().timing.clone().unwrap()
        };
        let plain = timing(json!({})).await;
        assert!(plain.phases.micros(vigie::domain::Phase::PageLoad).is_some(), "{plain:?}");
        assert_eq!(plain.first_contentful_paint_us, None);
        let full = timing(json!({"user_experience_enabled": true})).await;
        assert!(full.first_contentful_paint_us.is_some(), "{full:?}");
        assert!(full.largest_contentful_paint_us.is_some(), "{full:?}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exchanges_are_recorded_for_har_files_without_secrets() {
    let site = Site::start().await;
    each(browsers("exchanges_are_recorded_for_har_files_without_secrets"), async |kind| {
        let steps = r#"<variable name="word" value="s3cret!" protected="true"/>
<step name="Log in"><open url="/login"/><type id="user" text="anna"/><type name="password" text="{{word}}"/><click id="go" expect="location"/></step>
<step name="Ask"><open url="/data?word={{word}}"/></step>"#;
        let mut check = Check::new(kind, &site.url("/"), steps);
        check.record = true;
        let observation = check.passes().await;
        let [first, second] = &observation.details.steps[..] else { panic!("{:?}", observation.details.steps.len()) };
        let exchanges: Vec<(&str, &str, u16)> = first
            .exchanges
            .iter()
            .filter(|exchange| !exchange.url.ends_with("/favicon.ico"))
            .map(|exchange| (exchange.method.as_str(), exchange.url.as_str(), exchange.http_status))
            .collect();
        let (login, account) = (site.url("/login"), site.url("/account"));
        assert_eq!(exchanges, [("GET", login.as_str(), 200), ("POST", &login, 303), ("GET", &account, 200)]);
        let post = first.exchanges.iter().find(|exchange| exchange.method == "POST").unwrap();
        // Chromium does not report this header.
        assert!(post.response_headers.get("set-cookie").is_none_or(|cookie| cookie == "********"));
        assert_eq!(post.response_headers.get("location"), Some("/account"));
        let document = &second.exchanges[0];
        assert!(
            document.start_offset_us >= second.start_offset_us && document.phases.micros(Phase::FirstByte).is_some()
        );
        assert!(document.url.contains("/data?word=") && !document.url.contains("s3cret"), "{}", document.url);
        let all = serde_json::to_string(&observation.details).unwrap();
        assert!(!all.contains("s3cret") && !all.contains("session=anna"), "{all}");
        let steps = steps.replace(
            "/data?word={{word}}\"/>",
            "/data\"/><assert-text contains=\"{{word}}\" timeout=\"0.1\"/>",
        );
        let failed = Check::new(kind, &site.url("/"), &steps).fails(5).await;
        let detail = failed.failure.unwrap().detail;
        assert!(detail.contains("********") && !detail.contains("s3cret"), "{detail}");
        check.record = false;
        assert!(check.passes().await.details.steps.iter().all(|step| step.exchanges.is_empty()));
    })
    .await;
}
