//! Test messages, and templates that are tried on an example.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::alerts_service::Alerting;
use crate::catalog::AccountFacts;
use crate::catalog::example::example;
use crate::catalog::object::object_of;
use crate::domain::{
    NewNotification, NotificationKind, NotificationMethod, Permission, RecipientId, RecordKind, Timestamp,
};
use crate::notify::{Composer, Template};
use crate::schema::Monitor;
use crate::schema::field::Table;
use crate::schema::table::alerting::{TEMPLATE_PREVIEW, TEST_NOTIFIER};
use crate::schema::typed::request::{ExampleRequest, TestAlertRequest, read_request};
use crate::service::caller::{Caller, Refusal, Saved};
use crate::service::resources::{body_of, conflict, template};
use crate::syntax::ValidationError;
use crate::syntax::source::Node;

impl Alerting {
    /// Puts a test message to a recipient into the outbox; answers its number. Thresholds, groups and blackouts do
    /// not hold it back.
    pub async fn test(&self, caller: &Caller, body: &Node) -> Result<Saved, Refusal> {
        caller.require(Permission::Edit)?;
        let fields = body_of(&TEST_NOTIFIER, body)?;
        let facts = self.parts.directory.facts(caller.customer).await?;
        let mut faults = Vec::new();
        let wanted: TestAlertRequest = request(&TEST_NOTIFIER, &fields)?;
        let id = wanted.recipient_id;
        if !facts.contacts.recipients.iter().any(|recipient| recipient.id.0 == id) {
            let message = format!("`recipient_id`: there is no recipient `{id}`");
            faults.push(conflict(body, "recipient_id", message).with_value(id.to_string()));
        }
        let monitor = self.named(caller, request(&TEST_NOTIFIER, &fields)?, body, &mut faults);
        if !faults.is_empty() {
            return Err(Refusal::Faults(faults));
        }
        let now = self.parts.clock.now();
        let message = message(&facts, RecipientId(id), monitor.as_ref(), now);
        let made = self.parts.outbox.enqueue(vec![message]).await?.first().copied().unwrap_or_default();
        self.parts.watchman.ring();
        self.audit(caller, "test", RecordKind::Recipient.name(), id, "").await?;
        Ok(Saved { id: made, revision: 1, ..Saved::default() })
    }

    /// What the template in `body` makes of an example.
    pub async fn preview(&self, caller: &Caller, body: &Node) -> Result<Map<String, Value>, Refusal> {
        caller.require(Permission::Edit)?;
        let fields = body_of(&TEMPLATE_PREVIEW, body)?;
        let mut faults = Vec::new();
        let monitor = self.named(caller, request(&TEMPLATE_PREVIEW, &fields)?, body, &mut faults);
        if !faults.is_empty() {
            return Err(Refusal::Faults(faults));
        }
        let facts = self.parts.directory.facts(caller.customer).await?;
        let given = crate::pipeline::template(&fields)?;
        let kind = given.kind.unwrap_or(NotificationKind::SiteError);
        let method = given.method.unwrap_or(NotificationMethod::MailHtml);
        let notice = example(&facts, kind, monitor.as_ref(), self.parts.clock.now());
        let own = Some(&given).filter(|given| **given != empty(given));
        let made = Composer::default().compose(&notice, method, own);
        let words =
            made.map_err(|fault| Refusal::Faults(vec![template::unusable(body, fault.part, &fault.reason)]))?;
        Ok(object_of(json!({
            "subject": words.subject, "text": words.text, "html": words.html, "body": words.body,
        })))
    }

    /// The monitor that the body names.
    fn named(
        &self,
        caller: &Caller,
        example: ExampleRequest,
        body: &Node,
        faults: &mut Vec<ValidationError>,
    ) -> Option<Monitor> {
        let id = example.monitor_id?;
        let found = self.own(caller, id);
        if found.is_none() {
            let message = format!("`monitor_id`: there is no monitor `{id}`");
            faults.push(conflict(body, "monitor_id", message).with_value(id.to_string()));
        }
        found
    }
}

fn request<'a, T: Deserialize<'a>>(
    table: &'static Table,
    fields: &'a Map<String, Value>,
) -> Result<T, Refusal> {
    read_request(table, fields).map_err(Refusal::from)
}

/// A template for the same that says nothing.
fn empty(of: &Template) -> Template {
    Template { kind: of.kind, method: of.method, ..Template::default() }
}

fn message(
    facts: &AccountFacts,
    recipient: RecipientId,
    monitor: Option<&Monitor>,
    now: Timestamp,
) -> NewNotification {
    let mut notice = example(facts, NotificationKind::Test, monitor, now);
    if monitor.is_none() {
        notice.monitor_name = String::new();
        notice.monitor_type = None;
        notice.target = String::new();
    }
    notice.locations.clear();
    notice.phases.clear();
    NewNotification {
        key: format!("{}-0-{}-{recipient}", NotificationKind::Test.name(), now.as_micros()),
        recipient,
        group: None,
        content: notice,
        created_at: now,
        not_before: now,
    }
}
