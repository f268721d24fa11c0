//! Test notifications, and previews of templates with example content.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::alert_service::AlertService;
use crate::catalog::AccountSnapshot;
use crate::catalog::example_notification::example_notification;
use crate::domain::{
    ConfigRecordKind, NewNotification, NotificationKind, NotificationMethod, Permission, RecipientId,
    Timestamp,
};
use crate::notify::{AccountTemplate, MessageRenderer};
use crate::schema::Monitor;
use crate::schema::field::FieldTable;
use crate::schema::table::alerting::{TEMPLATE_PREVIEW_REQUEST, TEST_NOTIFICATION};
use crate::schema::typed::request::{ExampleMonitorRequest, TestAlertRequest, parse_request_fields};
use crate::service::caller::{Caller, SavedObject, ServiceError};
use crate::service::records::{field_conflict_error, fields_with_defaults, template};
use crate::syntax::ValidationError;
use crate::syntax::json_object::into_object;
use crate::syntax::node::Node;

impl AlertService {
    /// Enqueues a test notification to a recipient and returns its id. Thresholds, groups and blackouts do not hold it
    /// back.
    pub async fn send_test_notification(
        &self,
        caller: &Caller,
        body: &Node,
    ) -> Result<SavedObject, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        let fields = fields_with_defaults(&TEST_NOTIFICATION, body)?;
        let account = self.dependencies.account_cache.account(caller.customer).await?;
        let mut errors = Vec::new();
        let request: TestAlertRequest = parse_request(&TEST_NOTIFICATION, &fields)?;
        let id = request.recipient_id;
        if !account.contacts.recipients.iter().any(|recipient| recipient.id.0 == id) {
            let message = format!("`recipient_id`: recipient `{id}` does not exist");
            errors.push(field_conflict_error(body, "recipient_id", message).with_value(id.to_string()));
        }
        let monitor =
            self.requested_monitor(caller, parse_request(&TEST_NOTIFICATION, &fields)?, body, &mut errors);
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        let now = self.dependencies.clock.now();
        let message = test_notification(&account, RecipientId(id), monitor.as_ref(), now);
        let notification_id =
            self.dependencies.outbox.enqueue(vec![message]).await?.first().copied().unwrap_or_default();
        self.dependencies.alert_pipeline_handle.wake_delivery();
        self.write_audit_entry(caller, "test", ConfigRecordKind::Recipient.name(), id, "").await?;
        Ok(SavedObject { id: notification_id, revision: 1, ..SavedObject::default() })
    }

    /// Renders the template in `body` with example content.
    pub async fn preview_template(
        &self,
        caller: &Caller,
        body: &Node,
    ) -> Result<Map<String, Value>, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        let fields = fields_with_defaults(&TEMPLATE_PREVIEW_REQUEST, body)?;
        let mut errors = Vec::new();
        let monitor = self.requested_monitor(
            caller,
            parse_request(&TEMPLATE_PREVIEW_REQUEST, &fields)?,
            body,
            &mut errors,
        );
        if !errors.is_empty() {
            return Err(ServiceError::Invalid(errors));
        }
        let account = self.dependencies.account_cache.account(caller.customer).await?;
        let template = crate::pipeline::template_from_fields(&fields)?;
        let kind = template.kind.unwrap_or(NotificationKind::SiteError);
        let method = template.method.unwrap_or(NotificationMethod::MailHtml);
        let content = example_notification(&account, kind, monitor.as_ref(), self.dependencies.clock.now());
        let custom_template =
            Some(&template).filter(|template| **template != template_without_texts(template));
        let rendered = MessageRenderer::default().in_language(account.language).render(
            &content,
            method,
            custom_template,
        );
        let message = rendered.map_err(|error| {
            ServiceError::Invalid(vec![template::template_error(body, error.part, &error.reason)])
        })?;
        Ok(into_object(json!({
            "subject": message.subject, "text": message.text, "html": message.html, "body": message.json_body,
        })))
    }

    /// Returns the monitor that the request names; adds an error if it does not exist.
    fn requested_monitor(
        &self,
        caller: &Caller,
        request: ExampleMonitorRequest,
        body: &Node,
        errors: &mut Vec<ValidationError>,
    ) -> Option<Monitor> {
        let id = request.monitor_id?;
        let found = self.own_monitor(caller, id);
        if found.is_none() {
            let message = format!("`monitor_id`: monitor `{id}` does not exist");
            errors.push(field_conflict_error(body, "monitor_id", message).with_value(id.to_string()));
        }
        found
    }
}

fn parse_request<'a, T: Deserialize<'a>>(
    table: &'static FieldTable,
    fields: &'a Map<String, Value>,
) -> Result<T, ServiceError> {
    parse_request_fields(table, fields).map_err(ServiceError::from)
}

/// Returns an empty template of the same kind and method.
fn template_without_texts(template: &AccountTemplate) -> AccountTemplate {
    AccountTemplate { kind: template.kind, method: template.method, ..AccountTemplate::default() }
}

fn test_notification(
    account: &AccountSnapshot,
    recipient: RecipientId,
    monitor: Option<&Monitor>,
    now: Timestamp,
) -> NewNotification {
    let mut content = example_notification(account, NotificationKind::Test, monitor, now);
    if monitor.is_none() {
        content.monitor_name = String::new();
        content.monitor_type = None;
        content.target = String::new();
    }
    content.location_reports.clear();
    content.phases.clear();
    NewNotification {
        idempotency_key: format!("{}-0-{}-{recipient}", NotificationKind::Test.name(), now.as_micros()),
        recipient_id: recipient,
        group_id: None,
        content,
        created_at: now,
        not_before: now,
    }
}
