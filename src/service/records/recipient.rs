//! Recipients (behaviour.md 1 `/recipients`). The address must fit the method. Password, webhook address and
//! SNMP community (the `username`) are stored encrypted as private data; responses mask them, and the mask keeps them.

use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::record_context::RecordContext;
use super::record_draft::{
    RecordDraft, field_conflict_error, fields_with_defaults, invalid_request_error, merged_fields,
};
use crate::catalog::record_settings::settings_or_skip;
use crate::catalog::{RecipientSecrets, masked_recipient_fields, masked_webhook_url};
use crate::domain::{ConfigRecord, ConfigRecordKind, NotificationMethod};
use crate::schedule::{BlackoutTarget, TimeWindow};
use crate::schema::table::alerting::RECIPIENT;
use crate::schema::typed::record::{RecipientSettings, parse_record_fields};
use crate::service::caller::ServiceError;
use crate::store::{ConfigChange, ConfigRecordFilter, Pagination, StoreError};
use crate::syntax::node::Node;
use crate::syntax::text_format::{TextFormat, parse_service_address};
use crate::syntax::{MASK, ValidationError, ValidationErrorKind};

pub(super) fn creation_draft(cx: &RecordContext<'_>, body: &Node) -> Result<RecordDraft, ServiceError> {
    let mut fields = fields_with_defaults(&RECIPIENT, body)?;
    let password = take_password(&mut fields);
    let is_mask = |text: Option<&str>| text == Some(MASK);
    for (name, is_masked) in [
        ("password", is_mask(password.as_deref().map(String::as_str))),
        ("username", is_mask(fields.get("username").and_then(Value::as_str))),
    ] {
        if is_masked {
            return Err(masked_without_value_error(body, name));
        }
    }
    validate(&fields, body, password.is_some())?;
    let mut secrets = RecipientSecrets {
        password: password.map(|password| password.to_string()),
        ..RecipientSecrets::default()
    };
    secrets.take_and_mask(&mut fields);
    let private_data = secrets.seal(&cx.dependencies.keyring, cx.caller.customer);
    Ok(RecordDraft { private_data, ..RecordDraft::new(fields) })
}

pub(super) fn change_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
    body: &Node,
) -> Result<RecordDraft, ServiceError> {
    let old_secrets = RecipientSecrets::open(&cx.dependencies.keyring, old).map_err(|error| {
        tracing::error!(recipient_id = old.id, error = %error, "failed to decrypt the secrets of a recipient");
        ServiceError::Unavailable(
            "The secrets of the recipient cannot be decrypted; restore the key, or remove the recipient".to_owned(),
        )
    })?;
    let old_fields = old_secrets.unmasked_fields(&old.fields);
    let shown_fields = masked_recipient_fields(&old_fields);
    let mut fields = merged_fields(&RECIPIENT, &old_fields, body)?;
    // A masked address that is sent back keeps the stored one.
    if fields.get("recipient") == shown_fields.get("recipient") {
        restore_field(&mut fields, &old_fields, "recipient");
    }
    let keeps_destination = password_destination(&old_fields) == password_destination(&fields);
    let had_secret_username = shown_fields.get("username") != old_fields.get("username");
    let sends_username = body.get("username").is_some() && !is_masked_text(&fields, "username");
    if had_secret_username && !sends_username {
        if !keeps_destination {
            return Err(changed_destination_error(body, "username"));
        }
        restore_field(&mut fields, &old_fields, "username");
    } else if is_masked_text(&fields, "username") {
        return Err(masked_without_value_error(body, "username"));
    }
    let password = take_password(&mut fields).map(|password| password.to_string());
    // Null and an empty text remove the password.
    let removes_password = body.get("password").is_some() && password.is_none();
    let keeps_password = password.as_deref().is_none_or(|password| password == MASK) && !removes_password;
    if keeps_password && old_secrets.password.is_some() && !keeps_destination {
        return Err(changed_destination_error(body, "password"));
    }
    if keeps_password && password.is_some() && old_secrets.password.is_none() {
        return Err(masked_without_value_error(body, "password"));
    }
    let password = if keeps_password { old_secrets.password.clone() } else { password };
    validate(&fields, body, password.is_some())?;
    let mut secrets = RecipientSecrets { password, ..RecipientSecrets::default() };
    secrets.take_and_mask(&mut fields);
    let mut draft = RecordDraft::from_record(old, fields);
    if secrets != old_secrets {
        draft.private_data = secrets.seal(&cx.dependencies.keyring, old.customer);
        draft.changed_secrets = [
            ("password", secrets.password != old_secrets.password),
            ("recipient", secrets.recipient != old_secrets.recipient),
            ("username", secrets.username != old_secrets.username),
        ]
        .into_iter()
        .filter_map(|(name, has_changed)| has_changed.then_some(name))
        .collect();
    }
    Ok(draft)
}

fn is_masked_text(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).and_then(Value::as_str) == Some(MASK)
}

fn restore_field(fields: &mut Map<String, Value>, old_fields: &Map<String, Value>, name: &str) {
    if let Some(value) = old_fields.get(name) {
        fields.insert(name.to_owned(), value.clone());
    }
}

fn masked_without_value_error(body: &Node, name: &str) -> ServiceError {
    let message = format!("`{name}` is masked, but no value is stored");
    invalid_request_error(field_conflict_error(body, name, message))
}

/// Creates the error of a secret that would be sent to a new destination.
fn changed_destination_error(body: &Node, name: &str) -> ServiceError {
    let message = format!(
        "`{name}` must be given again, or null, when `recipient` or `method_id` changes the destination"
    );
    invalid_request_error(field_conflict_error(body, "recipient", message))
}

/// Returns where the password is sent: the method and the origin of the URL, or the whole address if it is no URL.
fn password_destination(fields: &Map<String, Value>) -> (Option<i64>, String) {
    let text = fields.get("recipient").and_then(Value::as_str).unwrap_or_default();
    let destination = match url::Url::parse(text) {
        Ok(url) if url.has_host() => url.origin().ascii_serialization(),
        _ => text.to_owned(),
    };
    (fields.get("method_id").and_then(Value::as_i64), destination)
}

fn take_password(fields: &mut Map<String, Value>) -> Option<Zeroizing<String>> {
    match fields.shift_remove("password") {
        Some(Value::String(password)) => Some(Zeroizing::new(password)),
        _ => None,
    }
}

/// Checks that the address fits the method and that required fields are present.
fn validate(fields: &Map<String, Value>, body: &Node, has_password: bool) -> Result<(), ServiceError> {
    let settings: RecipientSettings<'_> = parse_record_fields(fields)?;
    let (address, method) = (settings.recipient, settings.method);
    let mut errors: Vec<ValidationError> = Vec::new();
    if masked_webhook_url(address).as_deref() == Some(address) {
        let message = "`recipient` is masked, but no address is stored";
        errors.push(ValidationError::new(
            ValidationErrorKind::Secret,
            "recipient",
            body.position_of("recipient"),
            message,
        ));
    }
    if let Some(expected) = violated_address_format(method, address) {
        let message = format!("`recipient` must be {expected} for `method_id` {}", method.id());
        errors.push(ValidationError::new(
            ValidationErrorKind::Format,
            "recipient",
            body.position_of("recipient"),
            message,
        ));
    }
    if matches!(method, NotificationMethod::PagerDuty | NotificationMethod::SplunkHec) && !has_password {
        let message = "`password` is required for `method_id` 14 (the routing key) and 15 (the token)";
        errors.push(ValidationError::new(
            ValidationErrorKind::MissingField,
            "password",
            body.position,
            message,
        ));
    }
    if errors.is_empty() { Ok(()) } else { Err(ServiceError::Invalid(errors)) }
}

/// Returns what `address` should be for `method`, unless it is valid.
fn violated_address_format(method: NotificationMethod, address: &str) -> Option<&'static str> {
    match method {
        NotificationMethod::MailText | NotificationMethod::MailHtml => {
            (!TextFormat::Email.matches(address)).then_some("a mail address")
        }
        NotificationMethod::Sms => {
            (!is_phone_number(address)).then_some("a telephone number of 3 to 20 digits")
        }
        NotificationMethod::SnmpV1 | NotificationMethod::SnmpV2c => {
            parse_service_address(address, &[]).is_none().then_some("a host, with or without a port")
        }
        NotificationMethod::FormPost
        | NotificationMethod::PagerDuty
        | NotificationMethod::SplunkHec
        | NotificationMethod::JsonPost
        | NotificationMethod::ServiceNow
        | NotificationMethod::Slack
        | NotificationMethod::Alertmanager => (!is_url_without_login(address))
            .then_some("an http or https URL without a login, which has its own fields,"),
    }
}

/// Whether it is an HTTP URL without credentials, which responses would reveal.
fn is_url_without_login(text: &str) -> bool {
    TextFormat::HttpUrl.matches(text)
        && url::Url::parse(text).is_ok_and(|url| url.username().is_empty() && url.password().is_none())
}

/// Whether it has 3 to 20 digits, possibly grouped, with an optional plus in front.
fn is_phone_number(text: &str) -> bool {
    let rest = text.strip_prefix('+').unwrap_or(text);
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    (3..=20).contains(&digits)
        && rest.len() <= 40
        && rest.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '(' | ')' | '.'))
}

/// Prepares the removal of the recipient's blackouts and of its memberships in groups.
pub(super) async fn removal_draft(
    cx: &RecordContext<'_>,
    old: &ConfigRecord,
) -> Result<RecordDraft, ServiceError> {
    let mut changes = Vec::new();
    let filter = ConfigRecordFilter {
        parent_ids: vec![old.id],
        field_values: vec![("type", json!("Notifier"))],
        ..ConfigRecordFilter::new(ConfigRecordKind::Blackout).for_customer(old.customer)
    };
    for blackout in all_records(cx, filter).await? {
        let (kind, id) = (ConfigRecordKind::Blackout, blackout.id);
        changes.push(ConfigChange::RemoveRecord { kind, id, expected: blackout.revision });
    }
    for mut group in
        all_records(cx, ConfigRecordFilter::new(ConfigRecordKind::NotifierGroup).for_customer(old.customer))
            .await?
    {
        let Some(Value::Array(members)) = group.fields.get_mut("recipients") else { continue };
        let old_count = members.len();
        members.retain(|member| member.get("id") != Some(&json!(old.id)));
        if members.len() == old_count {
            continue;
        }
        let expected = group.revision;
        group.revision.0 += 1;
        group.modified_at = cx.now;
        changes.push(ConfigChange::UpdateRecord { record: Box::new(group), expected });
    }
    Ok(RecordDraft { additional_changes: changes, ..RecordDraft::default() })
}

async fn all_records(
    cx: &RecordContext<'_>,
    filter: ConfigRecordFilter,
) -> Result<Vec<ConfigRecord>, StoreError> {
    Ok(cx.dependencies.config_store.records(filter, Pagination::ALL).await?.items)
}

/// Returns the value of a computed field: masked password, name of the method, blackouts and groups.
pub(super) fn computed_field(cx: &RecordContext<'_>, record: &ConfigRecord, field: &str) -> Option<Value> {
    Some(match field {
        // Records of earlier versions may hold them in plain text.
        "recipient" | "username" => masked_recipient_fields(&record.fields).get(field).cloned()?,
        "password" => {
            let secrets = RecipientSecrets::open(&cx.dependencies.keyring, record);
            json!(secrets.map_or(Some(MASK), |secrets| secrets.password.map(|_| MASK)))
        }
        "method_description" => {
            let settings: Option<RecipientSettings<'_>> = settings_or_skip(record);
            json!(settings.map(|settings| settings.method.name()))
        }
        "blackout_ids" => unended_blackout_ids(cx, record),
        "notifier_groups" => {
            let has_recipient = |group: &&crate::domain::NotifierGroup| {
                group.recipient_ids.iter().any(|recipient| recipient.0 == record.id)
            };
            cx.account.contacts.groups.iter().filter(has_recipient).map(|group| group.id).collect()
        }
        _ => return None,
    })
}

/// Returns the ids of blackouts that are not past.
fn unended_blackout_ids(cx: &RecordContext<'_>, record: &ConfigRecord) -> Value {
    let now = crate::catalog::v3_time_format::to_local_time(cx.now, &cx.account.time_zone);
    let target = BlackoutTarget::Recipient(crate::domain::RecipientId(record.id));
    let current_or_future =
        cx.account.blackout_calendar.windows_for(target).iter().filter(|window| match window.time_window {
            TimeWindow::Once { end: until, .. } => until > now,
            TimeWindow::Weekly { .. } => true,
        });
    current_or_future.map(|window| window.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_has_its_address_format() {
        let cases: &[(NotificationMethod, &[&str], &[&str])] = &[
            (
                NotificationMethod::MailHtml,
                &["a@b.example"],
                &["b.example", "a@b.example,c@d.example", "a\n@b.example"],
            ),
            (
                NotificationMethod::Sms,
                &["+49 (30) 123-456", "110"],
                &["", "+", "12", "12a4", "++123", "1\n23"],
            ),
            (
                NotificationMethod::SnmpV1,
                &["127.0.0.1", "[::1]:162", "traps.example:1162"],
                &["a b", "a:0", "http://a"],
            ),
            (
                NotificationMethod::Slack,
                &["https://hooks.example/services/T/B", "http://127.0.0.1:8080/"],
                &["hooks.example", "ftp://a/", "https://user:secret@a.example/", "https://user@a.example/"],
            ),
        ];
        for (method, valid, invalid) in cases {
            for address in *valid {
                assert_eq!(violated_address_format(*method, address), None, "{address}");
            }
            for address in *invalid {
                assert!(violated_address_format(*method, address).is_some(), "{address}");
            }
        }
    }

    #[test]
    fn the_destination_of_a_password_is_method_scheme_host_and_port() {
        let destination = |method: i64, recipient: &str| {
            let fields = json!({"method_id": method, "recipient": recipient});
            password_destination(fields.as_object().unwrap())
        };
        assert_eq!(destination(16, "https://a.example/x"), destination(16, "https://a.example:443/y"));
        assert_ne!(destination(16, "https://a.example/x"), destination(16, "http://a.example/x"));
        assert_ne!(destination(16, "https://a.example/x"), destination(17, "https://a.example/x"));
        assert_ne!(destination(8, "a.example:162"), destination(8, "b.example:162"));
    }
}
