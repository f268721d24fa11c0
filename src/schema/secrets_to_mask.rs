//! The secrets of a monitor, to be masked wherever its checks meet them again.

use serde_json::{Map, Value};

use super::field::{Field, FieldTable, FieldType};
use super::monitor_document::MonitorDocument;
use super::secret_values::SecretMode;
use super::table::sub_objects;
use super::{table, url_credentials};
use crate::redaction::named_values::named_values;
use crate::redaction::redactor::SecretSet;
use crate::syntax::template::{TemplatePart, has_placeholders, parse_template};

/// Shortest part of a secret that is masked without the rest, in bytes; shorter ones occur by chance.
const MIN_PART_BYTES: usize = 8;

impl MonitorDocument {
    /// Returns the secrets in this document, with those that only their names reveal: values of `token=` in a URL, of
    /// `"password":` in a body.
    #[must_use]
    pub fn secrets_to_mask(&self) -> SecretSet {
        let mut secrets = SecretSet::default();
        add_object(
            table::for_type(self.monitor_type()),
            &self.to_non_default_fields(SecretMode::Revealed),
            &mut secrets,
        );
        secrets
    }
}

fn add_object(table: &FieldTable, values: &Map<String, Value>, secrets: &mut SecretSet) {
    let users: Vec<&str> = values
        .iter()
        .filter(|(name, _)| name.contains("user"))
        .filter_map(|(_, user)| user.as_str())
        .collect();
    let is_secret_header = sub_objects::is_secret_header(table, values);
    for (name, value) in values {
        let Some(field) = table.field(name) else { continue };
        match value.as_str() {
            Some(header) if is_secret_header && name == "value" => add_header(header, secrets),
            Some(text) => add_text(field, text, &users, secrets),
            None => add_nested(&field.field_type, value, secrets),
        }
    }
}

fn add_nested(field_type: &FieldType, value: &Value, secrets: &mut SecretSet) {
    match (field_type, value) {
        (FieldType::List { item_type, .. }, Value::Array(items)) => {
            for item in items {
                add_nested(item_type, item, secrets);
            }
        }
        (FieldType::Object(table), Value::Object(values)) => add_object(table, values, secrets),
        _ => {}
    }
}

fn add_text(field: &Field, text: &str, users: &[&str], secrets: &mut SecretSet) {
    if field.secret && has_placeholders(text) {
        // What takes their place is masked by the steps.
        for part in parse_template(text) {
            if let TemplatePart::Text(part) = part
                && part.len() >= MIN_PART_BYTES
            {
                secrets.add(part);
            }
        }
    } else if field.secret {
        secrets.add(text);
        for user in users {
            secrets.add_login(user, text);
        }
    } else if let Some(embedded) = field.embedded_secrets() {
        for value in &embedded.values_in(text) {
            secrets.add(value);
        }
    } else {
        if field.is_url()
            && let Some((user, password)) = url_credentials::login(text)
        {
            // A user without a password is a token.
            secrets.add(if password.is_empty() { &user } else { &password });
            secrets.add_login(&user, &password);
        }
        named_values(text).filter(|value| !value.contains("{{")).for_each(|value| secrets.add(&value));
    }
}

/// Adds the value of a header such as `Authorization`, and its parts: what follows the scheme, and each cookie.
fn add_header(value: &str, secrets: &mut SecretSet) {
    if has_placeholders(value) {
        return;
    }
    secrets.add(value);
    let parts = value.split([';', ',']).flat_map(|part| {
        let part = part.trim();
        [part.split_once(' ').map(|(_, token)| token), part.split_once('=').map(|(_, value)| value)]
    });
    parts.flatten().map(str::trim).filter(|part| part.len() >= MIN_PART_BYTES).for_each(|part| {
        secrets.add(part);
        let quoted = part.trim_matches('"');
        if quoted != part {
            secrets.add(quoted);
        }
    });
    if let Some(login) = decode_basic(value) {
        let (user, password) = login.split_once(':').unwrap_or(("", &login));
        secrets.add_login(user, password);
    }
}

/// Returns the login in the value of an `Authorization: Basic` header.
fn decode_basic(value: &str) -> Option<String> {
    use base64::Engine as _;
    let (scheme, token) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    String::from_utf8(base64::engine::general_purpose::STANDARD.decode(token.trim()).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::MonitorType;

    fn masked(monitor_type: MonitorType, values: Value, text: &str) -> String {
        let Value::Object(values) = values else { panic!("no object") };
        let document = MonitorDocument::new(monitor_type, values).unwrap();
        document.secrets_to_mask().into_redactor().redact(text).into_owned()
    }

    #[test]
    fn secrets_of_every_place_are_masked() {
        let website = json!({
            "name": "a", "url": "https://us%3Aer:p4ssw%2Ford@a.test/?token=t0k3n%21&x=visible",
            "realm_userid": "operator", "realm_password": "s3cret", "post_body": r#"{"password":"b0dy","a":"visible"}"#,
            "http_headers": [
                {"name": "Authorization", "value": "Basic am9lOmg0bnRlcjI="},
                {"name": "Cookie", "value": "a=short; sid=longenough"},
                {"name": "X-A", "value": "visible"},
            ],
        });
        for secret in [
            "p4ssw/ord",
            "p4ssw%2ford",
            "us:er:p4ssw/ord",
            "t0k3n!",
            "operator",
            "s3cret",
            "operator:s3cret",
            "b0dy",
            "h4nter2",
            "am9lOmg0bnRlcjI=",
            "longenough",
            "Basic am9lOmg0bnRlcjI=",
            "b3BlcmF0b3I6czNjcmV0",
        ] {
            let text = masked(MonitorType::Website, website.clone(), &format!("x {secret} y"));
            assert!(text == "x ******** y" || text == "x ********= y", "{secret}: {text}");
        }
        assert_eq!(masked(MonitorType::Website, website, "visible short"), "visible short");
    }

    #[test]
    fn secrets_of_steps_and_scripts_are_masked() {
        let steps = json!({"name": "a", "api_steps": [{
            "url": "https://a.test/", "step_name": "b",
            "head": {"http_basic_auth_username": "joe", "http_basic_auth_password": "pw", "bearer_token": "b34rer"},
        }]});
        assert_eq!(masked(MonitorType::WebsiteApi, steps, "pw joe:pw b34rer"), "pw ******** ********");
    }
}
