//! Lists of objects through a form and back: what nobody touched stays, with its secrets.

use serde_json::{Value, json};

use super::fields_from_text::{StoredValues, body_from_texts};
use super::form_fields::settable_fields;
use super::input_names::{clear_name, count_name};
use super::item_edits::ItemEdit;
use super::text_from_values::{FormTexts, texts_from_values};
use crate::domain::MonitorType;
use crate::schema::{MonitorDocument, SecretMode};

const TYPE: MonitorType = MonitorType::WebsiteApi;

fn stored_document() -> MonitorDocument {
    let steps = json!([
        {"step_name": "first", "url": "http://anna:pw1@a.example/", "follow_redirects": false,
         "head": {"http_basic_auth_username": "anna", "http_basic_auth_password": "secret1",
                  "headers": [{"name": "Authorization", "value": "Bearer t1"}, {"name": "X-A", "value": "b"}]},
         "assertions": [{"source": "Status Code", "comparison": "equals", "value": "200"}]},
        {"step_name": "second", "url": "http://b.example/",
         "head": {"http_basic_auth_password": "secret2"},
         "post": {"content_type": "text/plain", "body": "x\ny"}},
    ]);
    let Value::Object(values) = json!({"name": "shop", "billing_plancode": "x", "api_steps": steps}) else {
        unreachable!()
    };
    MonitorDocument::new(TYPE, values).unwrap()
}

/// Returns the body of the form of [`stored_document`] after `change`.
fn body_after(change: impl FnOnce(&mut FormTexts)) -> Value {
    let (fields, document) = (settable_fields(TYPE), stored_document());
    let shown = texts_from_values(&fields, &document.to_json(SecretMode::Masked));
    let mut texts = shown.clone();
    change(&mut texts);
    body_from_texts(&fields, &texts, &shown, &StoredValues::of(&document), false).unwrap().to_json()
}

fn press(texts: &mut FormTexts, button: &str) {
    ItemEdit::parse(button).unwrap().apply(&settable_fields(TYPE), texts);
}

#[test]
fn a_form_that_nobody_touched_changes_nothing_and_shows_no_secret() {
    assert_eq!(body_after(|_| {}), json!({}));
    let fields = settable_fields(TYPE);
    let texts = texts_from_values(&fields, &stored_document().to_json(SecretMode::Masked));
    let all: Vec<&String> = texts.values().collect();
    for secret in ["secret1", "secret2", "t1", "pw1"] {
        assert!(!all.iter().any(|text| text.contains(secret)), "{secret}");
    }
    assert_eq!(texts["api_steps[0].follow_redirects"], "false");
    assert_eq!(texts["api_steps[1].post.body"], "x\ny");
}

#[test]
fn secrets_go_with_their_step_when_steps_are_moved() {
    let body = body_after(|texts| press(texts, "down api_steps[0]"));
    let steps = body["api_steps"].as_array().unwrap();
    assert_eq!((&steps[0]["step_name"], &steps[1]["step_name"]), (&json!("second"), &json!("first")));
    assert_eq!(steps[0]["head"]["http_basic_auth_password"], "secret2");
    assert_eq!(steps[1]["head"]["http_basic_auth_password"], "secret1");
    assert_eq!(steps[1]["head"]["headers"][0], json!({"name": "Authorization", "value": "Bearer t1"}));
    assert_eq!(steps[1]["url"], "http://anna:pw1@a.example/");
}

#[test]
fn secrets_stay_when_another_step_is_removed_and_go_when_they_are_cleared() {
    let body = body_after(|texts| press(texts, "remove api_steps[0]"));
    assert_eq!(
        body["api_steps"],
        json!([{
            "step_name": "second", "url": "http://b.example/",
            "head": {"http_basic_auth_password": "secret2"},
            "post": {"content_type": "text/plain", "body": "x\ny"},
        }])
    );
    let secret = "api_steps[0].head.http_basic_auth_password";
    let body = body_after(|texts| drop(texts.insert(clear_name(secret), "true".to_owned())));
    assert!(body["api_steps"][0]["head"].get("http_basic_auth_password").is_none());
    let body = body_after(|texts| drop(texts.insert(secret.to_owned(), "new".to_owned())));
    assert_eq!(body["api_steps"][0]["head"]["http_basic_auth_password"], "new");
}

#[test]
fn the_secret_of_a_step_that_somebody_else_changed_goes_to_no_other() {
    let (fields, document) = (settable_fields(TYPE), stored_document());
    let shown = texts_from_values(&fields, &document.to_json(SecretMode::Masked));
    let Value::Object(mut values) = Value::Object(document.to_non_default_fields(SecretMode::Revealed))
    else {
        unreachable!()
    };
    values["api_steps"].as_array_mut().unwrap().reverse();
    let other = MonitorDocument::new(TYPE, values).unwrap();
    let body = body_from_texts(&fields, &shown, &FormTexts::new(), &StoredValues::of(&other), false);
    let steps = body.unwrap().to_json()["api_steps"].clone();
    assert!(steps[0]["head"].get("http_basic_auth_password").is_none(), "{steps}");
}

#[test]
fn an_emptied_list_is_unset() {
    let body = body_after(|texts| {
        press(texts, "remove api_steps[1]");
        press(texts, "remove api_steps[0]");
    });
    assert_eq!(body, json!({"api_steps": null}));
}

#[test]
fn items_of_new_monitors_have_what_was_typed_only() {
    let fields = settable_fields(TYPE);
    let shown = texts_from_values(&fields, &crate::schema::table::for_type(TYPE).defaults());
    let mut texts = shown.clone();
    press(&mut texts, "add api_steps");
    press(&mut texts, "add api_steps[0].assertions");
    texts.insert("api_steps[0].url".to_owned(), "http://a.example/".to_owned());
    texts.insert("api_steps[0].assertions[0].source".to_owned(), "Status Code".to_owned());
    // Not more items than the list may have, whatever a form claims.
    texts.insert(count_name("depends_on"), "999999999".to_owned());
    let body = body_from_texts(&fields, &texts, &shown, &StoredValues::default(), true).unwrap().to_json();
    assert_eq!(
        body["api_steps"],
        json!([{"url": "http://a.example/", "assertions": [{"source": "Status Code"}]}])
    );
}
