//! Script bulk edit.

use serde_json::json;
use vigie::domain::MonitorType as T;
use vigie::service::monitors;
use vigie::syntax::MASK;

use crate::bulk::support::{exchange, made, of_file, told, whole};
use crate::fleet::kit::{Kit, admin};
use crate::support::fields::Fields;

const SHOP: &str = "<script>\r\n <variable name='p' protected='true' value='shop.example'/>\
    <step><open url='https://shop.example/'/><open url='https://shop.example/b'/></step></script>\n";

#[tokio::test]
async fn every_occurrence_is_replaced_and_nothing_else() {
    let kit = Kit::new();
    let played = made(&kit, T::BrowserScript, json!({"script": SHOP, "transaction_password": "t"})).await;
    let project = "<project url='https://shop.example/'/>";
    let project = made(&kit, T::Api, json!({"script": project, "test_suite": "s", "test_case": "c"})).await;
    let collection =
        made(&kit, T::CollectionApi, json!({"script": "{\"u\": \"https://shop.example/\"}"})).await;
    let body = exchange(&[played, project, collection], "://shop.example/", "://new.example/");
    monitors::bulk_edit_scripts(&kit.monitors, &admin(), &body).await.unwrap();
    let script = |id| kit.monitor(id).document.text("script").unwrap().to_owned();
    assert_eq!(script(played), SHOP.replace("://shop.example/", "://new.example/"), "byte-exact elsewhere");
    assert_eq!(script(project), "<project url='https://new.example/'/>");
    assert_eq!(script(collection), "{\"u\": \"https://new.example/\"}");
    monitors::bulk_edit_scripts(&kit.monitors, &admin(), &exchange(&[played], "/b", "")).await.unwrap();
    assert!(script(played).contains("new.example'/></step>"), "a text may go");
    let found = told(
        monitors::bulk_edit_scripts(&kit.monitors, &admin(), &exchange(&[played], "shop.example", "x")).await,
    );
    assert_eq!(found.len(), 1, "the value of a protected variable is not looked into: {found:?}");
    let monitor = kit.monitor(played);
    assert_eq!(monitor.metadata.script_modified_by, "anna");
    let audit = format!("{:?}", kit.audit().await);
    assert!(audit.contains("bulk-edit-scripts") && !audit.contains("value='shop.example'"), "{audit}");
}

#[tokio::test]
async fn what_comes_out_has_to_parse() {
    let kit = Kit::new();
    let played = made(&kit, T::BrowserScript, json!({"script": SHOP, "transaction_password": "t"})).await;
    let project = json!({"script": "<project><a/></project>", "test_suite": "s", "test_case": "c"});
    let project = made(&kit, T::Api, project).await;
    let collection = made(&kit, T::CollectionApi, json!({"script": "{\"a\": 1}"})).await;
    let jar = made(&kit, T::Selenium, json!({"script": "UEsDBAoA"})).await;
    let website = kit.made(json!({})).await;
    let filed = of_file(&kit, 77).await;
    let before = whole(&kit).await;
    for (id, current, new, wanted) in [
        (played, "<step>", "<stop>", "script: monitor `{id}`: `script` would no longer parse, line 2"),
        (
            played,
            "<open url='https://shop.example/b'",
            "<opne url='https://shop.example/b'",
            "script: monitor `{id}`: `script` would no longer parse, line 2, column ",
        ),
        (played, "script>", "play>", "script: monitor `{id}`: `script` would no longer parse, line 1"),
        (played, "nowhere", "x", "current_value: monitor `{id}`: `script` does not contain `current_value`"),
        (
            played,
            MASK,
            "guess",
            "transaction_password: monitor `{id}`: `transaction_password` is required to change",
        ),
        (played, "protected='true'", "", "transaction_password: monitor `{id}`: "),
        (project, "<a/>", "<a>", "script: monitor `{id}`: `script` would no longer parse, line 1"),
        (project, "</project>", "", "script: monitor `{id}`: `script` would no longer parse"),
        (project, "<project><a/></project>", "", "script: monitor `{id}`: "),
        (collection, "1", "x", "script: monitor `{id}`: `script` must be a text that is JSON"),
        (jar, "UEsD", "AAAA", "script: monitor `{id}`: `script` must be the Base64 of a JAR"),
        (jar, "oA", "*", "script: monitor `{id}`: `script` must be Base64"),
        (website, "a", "b", "current_value: monitor `{id}`: `script` does not contain `current_value`"),
        (filed, "a", "b", "Forbidden"),
    ] {
        let body = exchange(&[id], current, new);
        let found = told(monitors::bulk_edit_scripts(&kit.monitors, &admin(), &body).await);
        let wanted = wanted.replace("{id}", &id.0.to_string());
        assert!(found.len() == 1 && found[0].starts_with(&wanted), "{current}: {found:?}");
    }
    let both = exchange(&[collection, website], "1", "2");
    assert_eq!(told(monitors::bulk_edit_scripts(&kit.monitors, &admin(), &both).await).len(), 1);
    assert_eq!(whole(&kit).await, before);
}

#[tokio::test]
async fn a_letter_does_not_become_a_library() {
    let kit = Kit::new();
    let script = format!("{{\"a\": \"{}\"}}", "x".repeat(1_000_000));
    let big = made(&kit, T::CollectionApi, json!({"script": script})).await;
    let before = whole(&kit).await;
    let body = exchange(&[big], "x", &"y".repeat(60_000));
    let found = told(monitors::bulk_edit_scripts(&kit.monitors, &admin(), &body).await);
    assert!(found[0].contains("`script` must have at most 10485760 characters"), "{found:?}");
    assert_eq!(whole(&kit).await, before);
}
