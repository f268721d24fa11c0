//! Script bulk edit.

use serde_json::json;
use vigie::domain::MonitorType as T;
use vigie::service::monitors;
use vigie::syntax::MASK;

use crate::bulk::support::{create_file_monitor, create_monitor, error_texts, replacement, snapshot};
use crate::monitors::harness::{Harness, admin};
use crate::support::fields::Fields;

const SHOP: &str = "<script>\r\n <variable name='p' protected='true' value='shop.example'/>\
    <step><open url='https://shop.example/'/><open url='https://shop.example/b'/></step></script>\n";

// row: 2.5 Script bulk edit.monitors; 2.5 Script bulk edit.current_value; 2.5 Script bulk edit.new_value
#[tokio::test]
async fn every_occurrence_is_replaced_but_not_in_protected_values() {
    let harness = Harness::new();
    let browser_script =
        create_monitor(&harness, T::BrowserScript, json!({"script": SHOP, "transaction_password": "t"}))
            .await;
    let project = "<project url='https://shop.example/'/>";
    let project = create_monitor(
        &harness,
        T::ApiProject,
        json!({"script": project, "test_suite": "s", "test_case": "c"}),
    )
    .await;
    let collection =
        create_monitor(&harness, T::CollectionApi, json!({"script": "{\"u\": \"https://shop.example/\"}"}))
            .await;
    let body = replacement(&[browser_script, project, collection], "://shop.example/", "://new.example/");
    monitors::bulk_edit_scripts(&harness.monitors, &admin(), &body).await.unwrap();
    let script = |id| harness.monitor(id).document.text("script").unwrap().to_owned();
    assert_eq!(
        script(browser_script),
        SHOP.replace("://shop.example/", "://new.example/"),
        "byte-exact elsewhere"
    );
    assert_eq!(script(project), "<project url='https://new.example/'/>");
    assert_eq!(script(collection), "{\"u\": \"https://new.example/\"}");
    monitors::bulk_edit_scripts(&harness.monitors, &admin(), &replacement(&[browser_script], "/b", ""))
        .await
        .unwrap();
    assert!(script(browser_script).contains("new.example'/></step>"), "a text may go");
    let found = error_texts(
        monitors::bulk_edit_scripts(
            &harness.monitors,
            &admin(),
            &replacement(&[browser_script], "shop.example", "x"),
        )
        .await,
    );
    assert_eq!(found.len(), 1, "the value of a protected variable is not looked into: {found:?}");
    let monitor = harness.monitor(browser_script);
    assert_eq!(monitor.metadata.script_modified_by, "anna");
    let audit = format!("{:?}", harness.audit().await);
    assert!(audit.contains("bulk-edit-scripts") && !audit.contains("value='shop.example'"), "{audit}");
}

#[tokio::test]
async fn the_edited_script_must_be_valid() {
    let harness = Harness::new();
    let browser_script =
        create_monitor(&harness, T::BrowserScript, json!({"script": SHOP, "transaction_password": "t"}))
            .await;
    let project = json!({"script": "<project><a/></project>", "test_suite": "s", "test_case": "c"});
    let project = create_monitor(&harness, T::ApiProject, project).await;
    let collection = create_monitor(&harness, T::CollectionApi, json!({"script": "{\"a\": 1}"})).await;
    let jar = create_monitor(&harness, T::Selenium, json!({"script": "UEsDBAoA"})).await;
    let website = harness.create_monitor(json!({})).await;
    let filed = create_file_monitor(&harness, 77).await;
    let before = snapshot(&harness).await;
    for (id, current, new, expected) in [
        (
            browser_script,
            "<step>",
            "<stop>",
            "script: monitor `{id}`: `script` would no longer parse, line 2",
        ),
        (
            browser_script,
            "<open url='https://shop.example/b'",
            "<opne url='https://shop.example/b'",
            "script: monitor `{id}`: `script` would no longer parse, line 2, column ",
        ),
        (
            browser_script,
            "script>",
            "play>",
            "script: monitor `{id}`: `script` would no longer parse, line 1",
        ),
        (
            browser_script,
            "nowhere",
            "x",
            "current_value: monitor `{id}`: `script` does not contain `current_value`",
        ),
        (
            browser_script,
            MASK,
            "guess",
            "transaction_password: monitor `{id}`: `transaction_password` is required to change",
        ),
        (browser_script, "protected='true'", "", "transaction_password: monitor `{id}`: "),
        (project, "<a/>", "<a>", "script: monitor `{id}`: `script` would no longer parse, line 1"),
        (project, "</project>", "", "script: monitor `{id}`: `script` would no longer parse"),
        (project, "<project><a/></project>", "", "script: monitor `{id}`: "),
        (collection, "1", "x", "script: monitor `{id}`: `script` must be a text that is JSON"),
        (jar, "UEsD", "AAAA", "script: monitor `{id}`: `script` must be the Base64 of a JAR"),
        (jar, "oA", "*", "script: monitor `{id}`: `script` must be Base64"),
        (website, "a", "b", "current_value: monitor `{id}`: `script` does not contain `current_value`"),
        (filed, "a", "b", "Forbidden"),
    ] {
        let body = replacement(&[id], current, new);
        let found = error_texts(monitors::bulk_edit_scripts(&harness.monitors, &admin(), &body).await);
        let expected = expected.replace("{id}", &id.0.to_string());
        assert!(found.len() == 1 && found[0].starts_with(&expected), "{current}: {found:?}");
    }
    let both = replacement(&[collection, website], "1", "2");
    assert_eq!(error_texts(monitors::bulk_edit_scripts(&harness.monitors, &admin(), &both).await).len(), 1);
    assert_eq!(snapshot(&harness).await, before);
}

#[tokio::test]
async fn a_script_cannot_grow_beyond_its_limit() {
    let harness = Harness::new();
    let script = format!("{{\"a\": \"{}\"}}", "x".repeat(1_000_000));
    let big = create_monitor(&harness, T::CollectionApi, json!({"script": script})).await;
    let before = snapshot(&harness).await;
    let body = replacement(&[big], "x", &"y".repeat(60_000));
    let found = error_texts(monitors::bulk_edit_scripts(&harness.monitors, &admin(), &body).await);
    assert!(found[0].contains("`script` must have at most 10485760 characters"), "{found:?}");
    assert_eq!(snapshot(&harness).await, before);
}
