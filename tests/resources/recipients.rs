//! Recipients: an address as the method has it, a password that is sealed and goes nowhere else.

use serde_json::{Value, json};
use vigie::catalog::recipient_password;
use vigie::domain::{CustomerId, NotificationMethod, RecordKind, Role};
use vigie::store::RecordFilter;

use crate::resources::kit::{Kit, admin, apart, as_role, messages, object, refuses, roles};

const KIND: RecordKind = RecordKind::Recipient;

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

/// The password as delivery opens it.
async fn password(kit: &Kit, id: i64) -> String {
    let record = kit.kept(KIND, id).await.unwrap();
    recipient_password(&kit.vault, &record).unwrap().to_string()
}

#[tokio::test]
async fn what_is_not_said_has_the_defaults_of_the_interface() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, mail(json!({}))).await;
    assert_eq!(
        kit.shown(KIND, id).await,
        json!({
            "id": id, "name": "Anna", "recipient": "anna@a.example", "method_id": 12,
            "method_description": "E-mail (HTML)", "username": null, "password": null,
            "availability_alert": true, "performance_alert": false, "notify_on_clear": false,
            "start_threshold": 1, "stop_threshold": 10, "attach_screen_capture": false,
            "attach_server_response": false, "blackout_ids": [], "notifier_groups": [],
        })
    );
    let facts = kit.accounts.facts(CustomerId(1)).await.unwrap();
    assert_eq!(facts.contacts.recipients[0].method, NotificationMethod::MailHtml);
    assert_eq!(facts.contacts.recipients[0].address, "anna@a.example");
}

#[tokio::test]
async fn an_address_has_the_form_of_its_method() {
    let kit = Kit::new().await;
    refuses(
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
        kit.made(KIND, json!({"name": "n", "recipient": address, "method_id": method})).await;
    }
}

#[tokio::test]
async fn a_password_is_sealed_shown_masked_and_kept_by_its_mask() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, post(json!({}))).await;
    assert_eq!(kit.shown(KIND, id).await["password"], "********");
    let record = kit.kept(KIND, id).await.unwrap();
    assert!(!record.fields.contains_key("password"));
    assert!(!record.private_data.as_ref().unwrap().windows(6).any(|part| part == b"s3cret"));
    assert_eq!(password(&kit, id).await, "s3cret");
    // What was read can be sent back.
    let shown = kit.shown(KIND, id).await;
    let saved = kit.change(&admin(), KIND, id, shown).await.unwrap();
    assert_eq!((saved.revision, password(&kit, id).await.as_str()), (1, "s3cret"));
    kit.change(&admin(), KIND, id, json!({"name": "Ben"})).await.unwrap();
    assert_eq!(password(&kit, id).await, "s3cret");
    kit.change(&admin(), KIND, id, json!({"password": "other"})).await.unwrap();
    assert_eq!(password(&kit, id).await, "other");
    let trail = kit.trail().await;
    assert!(!format!("{trail:?}").contains("s3cret") && !format!("{trail:?}").contains("other\""));
    assert_eq!(trail[0].after["password"], "********");
    kit.change(&admin(), KIND, id, json!({"password": ""})).await.unwrap();
    assert_eq!(
        (password(&kit, id).await.as_str(), &kit.shown(KIND, id).await["password"]),
        ("", &Value::Null)
    );
    assert_eq!(
        messages(kit.make(&admin(), KIND, post(json!({"password": "********"}))).await),
        ["`password` is masked, but no value is stored"]
    );
}

#[tokio::test]
async fn the_address_of_a_hook_is_shown_to_those_who_may_change_it() {
    let kit = Kit::new().await;
    let hook = "https://hook.example/services/T0/s3cret-path";
    let id = kit.made(KIND, post(json!({"recipient": hook}))).await;
    let (mask, other) = ("https://hook.example/********", "https://hook.example/services/T0/another");
    let seen = async |role: Role| {
        let caller = as_role(role);
        let one = kit.resources.get(&caller, KIND, id).await.unwrap().0["recipient"].clone();
        let list =
            kit.resources.list(&caller, RecordFilter::new(KIND), crate::resources::kit::ALL).await.unwrap();
        assert_eq!(list.items[0]["recipient"], one);
        one
    };
    for (role, text) in [(Role::Admin, hook), (Role::PowerUser, hook), (Role::ReadOnly, mask)] {
        assert_eq!(seen(role).await, text, "{role}");
    }
    // What a viewer read can be sent back by somebody who may.
    let back = kit.resources.get(&as_role(Role::ReadOnly), KIND, id).await.unwrap().0;
    let saved = kit.change(&admin(), KIND, id, json!(back)).await.unwrap();
    assert_eq!((saved.revision, seen(Role::Admin).await), (1, json!(hook)));
    kit.change(&admin(), KIND, id, json!({"recipient": other})).await.unwrap();
    assert_eq!(seen(Role::Admin).await, other);
    let refused = ["`recipient` is masked, but no address is stored"];
    let elsewhere = json!({"recipient": "https://else.example/********", "password": null});
    assert_eq!(messages(kit.change(&admin(), KIND, id, elsewhere).await), refused);
    assert_eq!(messages(kit.make(&admin(), KIND, post(json!({"recipient": mask}))).await), refused);
    let trail = kit.trail().await;
    assert_eq!((&trail[0].before["recipient"], &trail[0].after["recipient"]), (&json!(mask), &json!(mask)));
    assert!(!format!("{trail:?}").contains("/services/"), "{trail:?}");
}

#[tokio::test]
async fn a_password_goes_to_no_other_host_or_method_by_its_mask() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, post(json!({}))).await;
    let elsewhere =
        "`password` must be given again, or null, when `recipient` or `method_id` changes the destination";
    for body in [
        json!({"recipient": "https://evil.example/in"}),
        json!({"recipient": "http://hook.example/in"}),
        json!({"recipient": "https://evil.example/in", "password": "********"}),
        json!({"method_id": 101}),
    ] {
        assert_eq!(messages(kit.change(&admin(), KIND, id, body).await), [elsewhere]);
    }
    // Another path of the same host is the same receiver.
    kit.change(&admin(), KIND, id, json!({"recipient": "https://hook.example/other"})).await.unwrap();
    assert_eq!(password(&kit, id).await, "s3cret");
    let body = json!({"recipient": "https://evil.example/in", "password": "theirs"});
    kit.change(&admin(), KIND, id, body).await.unwrap();
    assert_eq!(password(&kit, id).await, "theirs");
}

#[tokio::test]
async fn a_new_key_seals_passwords_anew() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, post(json!({}))).await;
    let before = kit.kept(KIND, id).await.unwrap().private_data;
    assert_eq!(vigie::service::count_sealed(&*kit.store).await.unwrap().by_key.values().sum::<u64>(), 1);
    let vault = kit.vault.clone();
    let anew = move |context: &str, sealed: &[u8]| {
        let plain = vault.open(context, sealed).ok()?;
        Some(vault.seal(context, &plain))
    };
    let changed = vigie::store::ConfigStore::reseal(&*kit.store, std::sync::Arc::new(anew)).await.unwrap();
    assert_eq!(changed, 1);
    assert_ne!(kit.kept(KIND, id).await.unwrap().private_data, before);
    assert_eq!(password(&kit, id).await, "s3cret");
}

#[tokio::test]
async fn its_blackouts_are_its_own_whatever_number_monitors_have() {
    let kit = Kit::new().await;
    let id = kit.made(KIND, mail(json!({}))).await;
    // A monitor of the same number.
    kit.monitor(id, CustomerId(1), json!({}));
    let window = json!({"assoc_id": id, "persistent": true, "start_day": 7, "start_time": "22:00", "end_day": 1,
        "end_time": "06:00"});
    let with = |kind: &str| {
        let mut body = window.clone();
        body["type"] = json!(kind);
        body
    };
    let its = kit.made(RecordKind::Blackout, with("Notifier")).await;
    let monitors = kit.made(RecordKind::Blackout, with("Alert")).await;
    let past = json!({"assoc_id": id, "type": "Notifier", "from_date": "2026-01-01 12:00:00",
        "thru_date": "2026-01-01 12:10:00"});
    let past = kit.made(RecordKind::Blackout, past).await;
    assert_eq!(kit.shown(KIND, id).await["blackout_ids"], json!([its, past]));
    kit.clock.advance(std::time::Duration::from_mins(11));
    assert_eq!(kit.shown(KIND, id).await["blackout_ids"], json!([its]));
    kit.gone(&admin(), KIND, id).await.unwrap();
    for (blackout, stays) in [(its, false), (past, false), (monitors, true)] {
        assert_eq!(kit.kept(RecordKind::Blackout, blackout).await.is_some(), stays, "{blackout}");
    }
}

#[tokio::test]
async fn it_is_taken_from_its_groups_with_it() {
    let kit = Kit::new().await;
    let (one, two) = (kit.made(KIND, mail(json!({}))).await, kit.made(KIND, mail(json!({}))).await);
    let group = json!({"name": "g", "recipients": [{"id": one}, {"id": two}]});
    let group = kit.made(RecordKind::NotifierGroup, group).await;
    assert_eq!(kit.shown(KIND, one).await["notifier_groups"], json!([group]));
    kit.gone(&admin(), KIND, one).await.unwrap();
    assert_eq!(kit.shown(RecordKind::NotifierGroup, group).await["recipients"], json!([{"id": two}]));
    let facts = kit.accounts.facts(CustomerId(1)).await.unwrap();
    assert_eq!(facts.contacts.groups[0].recipients, [vigie::domain::RecipientId(two)]);
    assert_eq!(facts.contacts.recipients.len(), 1);
}

#[tokio::test]
async fn who_may_what() {
    let kit = Kit::new().await;
    roles(&kit, KIND, |_| mail(json!({})), &[Role::Admin, Role::CoAdmin, Role::PowerUser]).await;
    let id = kit.made(KIND, post(json!({}))).await;
    apart(&kit, KIND, id, json!({"name": "x"})).await;
    let seen = kit.listed(&as_role(Role::ReadOnly), RecordFilter::new(KIND)).await;
    assert!(!format!("{seen:?}").contains("s3cret"));
}
