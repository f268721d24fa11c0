//! Lists of objects through a form and back: what nobody touched stays, with its secrets.

use serde_json::{Value, json};

use super::fields_from_text::{StoredValues, body_from_texts};
use super::form_fields::settable_fields;
use super::input_names::{clear_name, count_name};
use super::item_edits::ItemEdit;
use super::nested_values::{has_too_many_items, item_count};
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
    // What stands in the form as a mask belongs to no stored step any more.
    let paths: Vec<String> = body.unwrap_err().into_iter().map(|error| error.path).collect();
    assert_eq!(paths, ["api_steps[0].url", "api_steps[0].head.headers[0].value"]);
}

#[test]
fn a_secret_header_that_is_renamed_or_copied_under_another_name_loses_its_value() {
    let (fields, document) = (settable_fields(TYPE), stored_document());
    let shown = texts_from_values(&fields, &document.to_json(SecretMode::Masked));
    for buttons in [&[][..], &["copy api_steps[0].head.headers[0]"]] {
        let mut texts = shown.clone();
        for button in buttons {
            press(&mut texts, button);
        }
        texts.insert("api_steps[0].head.headers[0].name".to_owned(), "X-B".to_owned());
        let stored = StoredValues::of(&document);
        let errors = body_from_texts(&fields, &texts, &shown, &stored, false).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].path, "api_steps[0].head.headers[0].value");
    }
}

#[test]
fn line_breaks_of_a_body_stay_when_something_else_changes() {
    let (fields, mut values) =
        (settable_fields(TYPE), stored_document().to_non_default_fields(SecretMode::Revealed));
    values["api_steps"][1]["post"]["body"] = json!("x\r\ny");
    let document = MonitorDocument::new(TYPE, values).unwrap();
    let shown = texts_from_values(&fields, &document.to_json(SecretMode::Masked));
    let mut texts = shown.clone();
    // A browser sends plain line breaks.
    texts.insert("api_steps[1].post.body".to_owned(), "x\ny".to_owned());
    texts.insert("api_steps[1].step_name".to_owned(), "renamed".to_owned());
    let stored = StoredValues::of(&document);
    let body = body_from_texts(&fields, &texts, &shown, &stored, false).unwrap().to_json();
    assert_eq!(body["api_steps"][1]["post"]["body"], "x\r\ny");
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

#[test]
fn a_form_that_claims_too_many_items_is_refused() {
    let with_counts = |counts: &[&str]| -> FormTexts {
        let to_text =
            |(index, count): (usize, &&str)| (count_name(&format!("a[{index}].b")), (*count).to_owned());
        counts.iter().enumerate().map(to_text).collect()
    };
    assert!(!has_too_many_items(&with_counts(&["2000", "3000"])));
    for counts in [&["2000", "3001"][..], &["18446744073709551615", "1"]] {
        assert!(has_too_many_items(&with_counts(counts)), "{counts:?}");
    }
    // What is no number counts nothing, and nothing is read of it.
    for count in ["99999999999999999999999", "-1", ""] {
        let texts = with_counts(&[count]);
        assert!(!has_too_many_items(&texts) && item_count("a[0].b", &texts) == 0, "{count}");
    }
}
