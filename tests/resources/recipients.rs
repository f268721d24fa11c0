//! Recipients: an address in the form of the method, and a sealed password that is sent to no other destination.

use serde_json::{Value, json};
use vigie::catalog::{RecipientSecrets, decrypt_recipient_password};
use vigie::clock::Clock;
use vigie::domain::{
    ConfigRecordKind, CustomerId, NewNotification, Notification, NotificationKind, NotificationMethod,
    NotificationState, RecipientId, Role,
};
use vigie::notify::MessageRenderer;
use vigie::pipeline::{AccountDestinations, DestinationLookup};
use vigie::store::{ConfigChange, ConfigRecordFilter, ConfigStore, NewConfigRecord};
use vigie::syntax::node::Node;

use crate::resources::kit::{
    Kit, admin, as_role, assert_isolated, assert_refused, assert_roles, messages, object,
};

const KIND: ConfigRecordKind = ConfigRecordKind::Recipient;

fn mail(more: Value) -> Value {
    let mut body = json!({"name": "Anna", "recipient": "anna@a.example"});
    body.as_object_mut().unwrap().extend(object(more));
    body
}

fn post(more: Value) -> Value {
    let mut body =
        mail(json!({"recipient": "https://hook.example/in", "method_id": 16, "password": "s3cret"}));
    body.as_object_mut().unwrap().extend(object(more));
    body
}

/// Returns the password as the delivery opens it.
async fn password(kit: &Kit, id: i64) -> String {
    let record = kit.record(KIND, id).await.unwrap();
    decrypt_recipient_password(&kit.vault, &record).unwrap().to_string()
}

async fn opened(kit: &Kit, id: i64) -> RecipientSecrets {
    RecipientSecrets::open(&kit.vault, &kit.record(KIND, id).await.unwrap()).unwrap()
}

#[tokio::test]
async fn the_community_of_snmp_is_sealed_and_masked_and_kept_by_its_mask() {
    let kit = Kit::new().await;
    let trap = json!({"name": "n", "recipient": "10.0.0.1", "method_id": 9, "username": "c0mmunity"});
    let id = kit.create_valid(KIND, trap).await;
    let shown = kit.get(KIND, id).await;
    assert_eq!((&shown["username"], &shown["password"]), (&json!("********"), &Value::Null));
    let record = kit.record(KIND, id).await.unwrap();
    assert_eq!(record.fields["username"], "********");
    assert_eq!(kit.patch(&admin(), KIND, id, shown).await.unwrap().revision, 1);
    kit.patch(&admin(), KIND, id, json!({"name": "m"})).await.unwrap();
    assert_eq!(opened(&kit, id).await.username.as_deref(), Some("c0mmunity"));
    // It goes to no other host, and does not become the login of a webhook.
    let elsewhere =
        "`username` must be given again, or null, when `recipient` or `method_id` changes the destination";
    for body in [
        json!({"recipient": "10.0.0.2"}),
        json!({"recipient": "10.0.0.2", "username": "********"}),
        json!({"recipient": "https://evil.example/", "method_id": 16}),
    ] {
        assert_eq!(messages(kit.patch(&admin(), KIND, id, body).await), [elsewhere]);
    }
    kit.patch(&admin(), KIND, id, json!({"recipient": "10.0.0.2", "username": "other"})).await.unwrap();
    assert_eq!(opened(&kit, id).await.username.as_deref(), Some("other"));
    let trail = format!("{:?}", kit.audit_trail().await);
    assert!(!trail.contains("c0mmunity") && !trail.contains("other\""), "{trail}");
    kit.patch(&admin(), KIND, id, json!({"username": null})).await.unwrap();
    assert_eq!(
        (opened(&kit, id).await.username, kit.get(KIND, id).await["username"].clone()),
        (None, Value::Null)
    );
}

#[tokio::test]
async fn secrets_of_earlier_versions_are_masked_and_sealed_by_the_next_change() {
    let kit = Kit::new().await;
    for (fields, secret) in [
        (json!({"name": "n", "recipient": "https://a.example/t0ken", "method_id": 101}), "t0ken"),
        (json!({"name": "n", "recipient": "10.0.0.1", "method_id": 8, "username": "c0mmunity"}), "c0mmunity"),
    ] {
        let record = NewConfigRecord {
            kind: KIND,
            customer: Some(CustomerId(1)),
            parent_id: None,
            unique_key: None,
            created_at: kit.clock.now(),
            created_by: "anna".to_owned(),
            fields: object(fields),
            private_data: None,
        };
        let id = kit.store.write_changes(vec![ConfigChange::CreateRecord(record)], vec![]).await.unwrap()[0];
        for role in [Role::Admin, Role::ReadOnly] {
            let shown = kit.resources.get(&as_role(role), KIND, id).await.unwrap().0;
            assert!(!json!(shown).to_string().contains(secret), "{shown:?}");
        }
        kit.patch(&admin(), KIND, id, json!({"name": "m"})).await.unwrap();
        let record = kit.record(KIND, id).await.unwrap();
        assert!(!json!(record.fields).to_string().contains(secret), "{:?}", record.fields);
        let opened = opened(&kit, id).await;
        let kept = opened.recipient.as_deref().or(opened.username.as_deref()).unwrap();
        assert!(kept.contains(secret), "{kept}");
        assert!(!format!("{:?}", kit.audit_trail().await).contains(secret));
    }
}

#[tokio::test]
async fn omitted_fields_have_their_defaults() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, mail(json!({}))).await;
    assert_eq!(
        kit.get(KIND, id).await,
        json!({
            "id": id, "name": "Anna", "recipient": "anna@a.example", "method_id": 12,
            "method_description": "E-mail (HTML)", "username": null, "password": null,
            "availability_alert": true, "performance_alert": false, "notify_on_clear": false,
            "start_threshold": 1, "stop_threshold": 10, "attach_screen_capture": false,
            "attach_server_response": false, "language": null, "blackout_ids": [], "notifier_groups": [],
        })
    );
    let facts = kit.accounts.account(CustomerId(1)).await.unwrap();
    assert_eq!(facts.contacts.recipients[0].method, NotificationMethod::MailHtml);
    assert_eq!(facts.contacts.recipients[0].address, "anna@a.example");
}

#[tokio::test]
async fn an_address_has_the_form_of_its_method() {
    let kit = Kit::new().await;
    assert_refused(
        &kit,
        KIND,
        &[
            (mail(json!({"recipient": "anna"})), &["`recipient` must be a mail address for `method_id` 12"]),
            (
                mail(json!({"method_id": 6})),
                &["`recipient` must be a telephone number of 3 to 20 digits for `method_id` 6"],
            ),
            (
                post(json!({"recipient": "https://u:p@hook.example/"})),
                &["`recipient` must be an http or https URL without a login, which has its own fields, for \
                   `method_id` 16"],
            ),
            (
                post(json!({"method_id": 14, "password": null})),
                &["`password` is required for `method_id` 14 (the routing key) and 15 (the token)"],
            ),
            (
                mail(json!({"username": "a\r\nb"})),
                &["`username` must be a header value without line breaks, not `a  b`"],
            ),
        ],
    )
    .await;
    for (method, address) in [
        (1, "a@b.example"),
        (6, "+49 30 1234"),
        (8, "10.0.0.1"),
        (9, "[::1]:1162"),
        (102, "http://am.example:9093/"),
    ] {
        kit.create_valid(KIND, json!({"name": "n", "recipient": address, "method_id": method})).await;
    }
}

#[tokio::test]
async fn a_password_is_sealed_and_masked_and_kept_by_its_mask() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, post(json!({}))).await;
    assert_eq!(kit.get(KIND, id).await["password"], "********");
    let record = kit.record(KIND, id).await.unwrap();
    assert!(!record.fields.contains_key("password"));
    assert!(!record.private_data.as_ref().unwrap().windows(6).any(|part| part == b"s3cret"));
    assert_eq!(password(&kit, id).await, "s3cret");
    // The read object can be sent back.
    let shown = kit.get(KIND, id).await;
    let saved = kit.patch(&admin(), KIND, id, shown).await.unwrap();
    assert_eq!((saved.revision, password(&kit, id).await.as_str()), (1, "s3cret"));
    kit.patch(&admin(), KIND, id, json!({"name": "Ben"})).await.unwrap();
    assert_eq!(password(&kit, id).await, "s3cret");
    kit.patch(&admin(), KIND, id, json!({"password": "other"})).await.unwrap();
    assert_eq!(password(&kit, id).await, "other");
    let trail = kit.audit_trail().await;
    assert!(!format!("{trail:?}").contains("s3cret") && !format!("{trail:?}").contains("other\""));
    assert_eq!(trail[0].after["password"], "********");
    kit.patch(&admin(), KIND, id, json!({"password": ""})).await.unwrap();
    assert_eq!((password(&kit, id).await.as_str(), &kit.get(KIND, id).await["password"]), ("", &Value::Null));
    assert_eq!(
        messages(kit.create(&admin(), KIND, post(json!({"password": "********"}))).await),
        ["`password` is masked, but no value is stored"]
    );
}

#[tokio::test]
async fn the_address_of_a_webhook_is_sealed_and_masked_for_everybody() {
    let kit = Kit::new().await;
    let hook = "https://hook.example/services/T0/s3cret-path";
    let id = kit.create_valid(KIND, post(json!({"recipient": hook}))).await;
    let (mask, other) = ("https://hook.example/********", "https://hook.example/services/T0/another");
    let address = async |role: Role| {
        let caller = as_role(role);
        let one = kit.resources.get(&caller, KIND, id).await.unwrap().0["recipient"].clone();
        let list = kit
            .resources
            .list(&caller, ConfigRecordFilter::new(KIND), crate::resources::kit::ALL)
            .await
            .unwrap();
        assert_eq!(list.items[0]["recipient"], one);
        one
    };
    for role in [Role::Admin, Role::PowerUser, Role::ReadOnly] {
        assert_eq!(address(role).await, mask, "{role}");
    }
    // What was read can be sent back.
    let back = kit.resources.get(&as_role(Role::ReadOnly), KIND, id).await.unwrap().0;
    let saved = kit.patch(&admin(), KIND, id, json!(back)).await.unwrap();
    assert_eq!((saved.revision, opened(&kit, id).await.recipient.as_deref()), (1, Some(hook)));
    kit.patch(&admin(), KIND, id, json!({"recipient": other})).await.unwrap();
    assert_eq!(opened(&kit, id).await.recipient.as_deref(), Some(other));
    assert_eq!((address(Role::Admin).await, password(&kit, id).await.as_str()), (json!(mask), "s3cret"));
    let record = kit.record(KIND, id).await.unwrap();
    assert!(!json!(record.fields).to_string().contains("/services/"), "{:?}", record.fields);
    let refused = ["`recipient` is masked, but no address is stored"];
    let elsewhere = json!({"recipient": "https://else.example/********", "password": null});
    assert_eq!(messages(kit.patch(&admin(), KIND, id, elsewhere).await), refused);
    assert_eq!(messages(kit.create(&admin(), KIND, post(json!({"recipient": mask}))).await), refused);
    let trail = kit.audit_trail().await;
    assert_eq!((&trail[0].before["recipient"], &trail[0].after["recipient"]), (&json!(mask), &json!(mask)));
    assert!(!format!("{trail:?}").contains("/services/"), "{trail:?}");
}

#[tokio::test]
async fn a_masked_password_is_refused_for_another_host_or_method() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, post(json!({}))).await;
    let elsewhere =
        "`password` must be given again, or null, when `recipient` or `method_id` changes the destination";
    for body in [
        json!({"recipient": "https://evil.example/in"}),
        json!({"recipient": "http://hook.example/in"}),
        json!({"recipient": "https://evil.example/in", "password": "********"}),
        json!({"method_id": 101}),
    ] {
        assert_eq!(messages(kit.patch(&admin(), KIND, id, body).await), [elsewhere]);
    }
    // Another path of the same host is the same destination.
    kit.patch(&admin(), KIND, id, json!({"recipient": "https://hook.example/other"})).await.unwrap();
    assert_eq!(password(&kit, id).await, "s3cret");
    let body = json!({"recipient": "https://evil.example/in", "password": "theirs"});
    kit.patch(&admin(), KIND, id, body).await.unwrap();
    assert_eq!(password(&kit, id).await, "theirs");
}

#[tokio::test]
async fn a_new_key_reseals_passwords() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, post(json!({}))).await;
    let before = kit.record(KIND, id).await.unwrap().private_data;
    assert_eq!(
        vigie::service::count_sealed_secrets(&*kit.store).await.unwrap().count_by_key.values().sum::<u64>(),
        1
    );
    let vault = kit.vault.clone();
    let reseal = move |context: &str, sealed: &[u8]| {
        let plain = vault.open(context, sealed).ok()?;
        Some(vault.seal(context, &plain))
    };
    let changed = vigie::store::ConfigStore::reseal(&*kit.store, std::sync::Arc::new(reseal)).await.unwrap();
    assert_eq!(changed, 1);
    assert_ne!(kit.record(KIND, id).await.unwrap().private_data, before);
    assert_eq!(password(&kit, id).await, "s3cret");
}

#[tokio::test]
async fn blackouts_of_a_monitor_with_the_same_id_are_not_its_own() {
    let kit = Kit::new().await;
    let id = kit.create_valid(KIND, mail(json!({}))).await;
    // A monitor with the same id.
    kit.monitor(id, CustomerId(1), json!({}));
    let window = json!({"assoc_id": id, "persistent": true, "start_day": 7, "start_time": "22:00", "end_day": 1,
        "end_time": "06:00"});
    let body = |kind: &str| {
        let mut body = window.clone();
        body["type"] = json!(kind);
        body
    };
    let own = kit.create_valid(ConfigRecordKind::Blackout, body("Notifier")).await;
    let monitors = kit.create_valid(ConfigRecordKind::Blackout, body("Alert")).await;
    let past = json!({"assoc_id": id, "type": "Notifier", "from_date": "2026-01-01 12:00:00",
        "thru_date": "2026-01-01 12:10:00"});
    let past = kit.create_valid(ConfigRecordKind::Blackout, past).await;
    assert_eq!(kit.get(KIND, id).await["blackout_ids"], json!([own, past]));
    kit.clock.advance(std::time::Duration::from_mins(11));
    assert_eq!(kit.get(KIND, id).await["blackout_ids"], json!([own]));
    kit.delete(&admin(), KIND, id).await.unwrap();
    for (blackout, stays) in [(own, false), (past, false), (monitors, true)] {
        assert_eq!(kit.record(ConfigRecordKind::Blackout, blackout).await.is_some(), stays, "{blackout}");
    }
}

#[tokio::test]
async fn a_deleted_recipient_is_removed_from_its_groups() {
    let kit = Kit::new().await;
    let (one, two) =
        (kit.create_valid(KIND, mail(json!({}))).await, kit.create_valid(KIND, mail(json!({}))).await);
    let group = json!({"name": "g", "recipients": [{"id": one}, {"id": two}]});
    let group = kit.create_valid(ConfigRecordKind::NotifierGroup, group).await;
    assert_eq!(kit.get(KIND, one).await["notifier_groups"], json!([group]));
    kit.delete(&admin(), KIND, one).await.unwrap();
    assert_eq!(kit.get(ConfigRecordKind::NotifierGroup, group).await["recipients"], json!([{"id": two}]));
    let facts = kit.accounts.account(CustomerId(1)).await.unwrap();
    assert_eq!(facts.contacts.groups[0].recipient_ids, [vigie::domain::RecipientId(two)]);
    assert_eq!(facts.contacts.recipients.len(), 1);
}

#[tokio::test]
async fn roles_limit_access() {
    let kit = Kit::new().await;
    assert_roles(&kit, KIND, |_| mail(json!({})), &[Role::Admin, Role::CoAdmin, Role::PowerUser]).await;
    let id = kit.create_valid(KIND, post(json!({}))).await;
    assert_isolated(&kit, KIND, id, json!({"name": "x"})).await;
    let listed = kit.list(&as_role(Role::ReadOnly), ConfigRecordFilter::new(KIND)).await;
    assert!(!format!("{listed:?}").contains("s3cret"));
}

#[tokio::test]
async fn messages_are_in_the_language_of_the_recipient_or_else_of_the_account() {
    let kit = Kit::new().await;
    let anna = kit.create_valid(KIND, mail(json!({}))).await;
    let luc = kit.create_valid(KIND, mail(json!({"name": "Luc", "language": "fr"}))).await;
    let destinations = AccountDestinations {
        account_cache: kit.accounts.clone(),
        config_store: kit.store.clone(),
        keyring: kit.vault.clone(),
    };
    let language = async |recipient: i64| {
        let now = kit.clock.now();
        let message = NewNotification {
            idempotency_key: "key".to_owned(),
            recipient_id: RecipientId(recipient),
            group_id: None,
            content: MessageRenderer::default().example_content(NotificationKind::Test),
            created_at: now,
            not_before: now,
        };
        let notification = Notification {
            id: 1,
            message,
            state: NotificationState::Pending,
            attempts: 0,
            next_attempt_at: now,
            sent_at: None,
            error: String::new(),
            digest_id: None,
        };
        destinations.find(&notification).await.unwrap().unwrap().recipient.language
    };
    assert_eq!((language(anna).await.as_str(), language(luc).await.as_str()), ("en", "fr"));
    let german = Node::from(json!({"language": "de"}));
    kit.resources.update_account(&admin(), &german, None).await.unwrap();
    assert_eq!((language(anna).await.as_str(), language(luc).await.as_str()), ("de", "fr"));
}
