//! The preview of a change of many monitors, and the change.

use std::collections::BTreeSet;

use askama::Template;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};

use super::bulk_form::{chosen_action, chosen_monitors};
use crate::domain::MonitorId;
use crate::service::monitors::{BulkAction, BulkEffect, BulkPlan, do_bulk_action, plan_bulk_action};
use crate::service::{Caller, ServiceError};
use crate::texts::{Locale, key};
use crate::web::actions::{ActionsState, MAX_MONITOR_FORM_BYTES, OwnForm, read_own_form, refused};
use crate::web::csrf::FORM_TOKEN_FIELD;
use crate::web::forms::see_other;
use crate::web::monitors::{ids_of_list, path_of_list};
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};

/// Most monitors that a preview shows one by one, those with a problem first.
const MAX_SHOWN: usize = 200;

/// What an action would do.
#[derive(Template)]
#[template(path = "bulk_preview.html", config = "src/web/askama.toml")]
struct Preview<'a> {
    /// What the person chose, in words.
    action: &'a str,
    action_value: &'a str,
    is_removal: bool,
    effects: &'a [BulkEffect],
    changed: usize,
    problems: usize,
    fingerprint: &'a str,
    ids: String,
    query: &'a str,
    /// Path of the list.
    back: String,
    form_token: &'a str,
    t: Locale,
}

impl Preview<'_> {
    fn heading(&self) -> String {
        let (changed, all) = (self.changed.to_string(), self.effects.len().to_string());
        let values = [("action", self.action), ("changed", &changed), ("all", &all)];
        self.t.fill("{action}: {changed} of {all} monitors", &values)
    }

    fn problems_text(&self) -> String {
        let values = [("problems", &*self.problems.to_string())];
        self.t.fill("It cannot be done with {problems} of them, so it would be done with none. Leave them out and try again.", &values)
    }

    fn button_text(&self) -> String {
        let text =
            self.t.count("{action}: {count} monitor", "{action}: {count} monitors", self.changed as u64);
        text.replace("{action}", self.action)
    }

    fn rest_text(&self) -> String {
        let rest = self.effects.len().saturating_sub(self.shown().len()).to_string();
        self.t.fill("and {rest} more", &[("rest", &rest)])
    }

    fn shown(&self) -> Vec<&BulkEffect> {
        let mut effects: Vec<_> = self.effects.iter().collect();
        effects.sort_by_key(|effect| (effect.problem.is_none(), !effect.is_change));
        effects.truncate(MAX_SHOWN);
        effects
    }
}

/// What a form asks for.
struct BulkRequest {
    form: OwnForm,
    caller: Caller,
    ids: Vec<MonitorId>,
    action: BulkAction,
    /// The action in words.
    text: String,
}

/// `POST /monitors/bulk`: shows what would change; with the fingerprint of what was shown, does it.
pub(in crate::web) async fn post_bulk(State(state): State<ActionsState>, request: Request) -> Response {
    let bulk = match read_request(&state, request).await {
        Ok(bulk) => bulk,
        Err(response) => return response,
    };
    let field = |name: &str| bulk.form.fields.get(name).map(String::as_str).unwrap_or_default();
    let back = path_of_list(field("query"), &bulk.form.viewer);
    let (service, fingerprint) = (&state.monitor_service, field("fingerprint"));
    if !fingerprint.is_empty() {
        return match do_bulk_action(service, &bulk.caller, bulk.ids.clone(), bulk.action.clone(), fingerprint)
            .await
        {
            Ok(_) => see_other(&back, None),
            Err(error) => refused(&error),
        };
    }
    let plan = match plan_bulk_action(service, &bulk.caller, &bulk.ids, &bulk.action).await {
        Ok(plan) => plan,
        Err(error) => return refused(&error),
    };
    render_preview(&bulk, &plan, back)
}

fn render_preview(bulk: &BulkRequest, plan: &BulkPlan, back: String) -> Response {
    let field = |name: &str| bulk.form.fields.get(name).map(String::as_str).unwrap_or_default();
    let viewer = &bulk.form.viewer;
    let ids: Vec<_> = plan.effects.iter().map(|effect| effect.monitor.id.to_string()).collect();
    let preview = Preview {
        action: &bulk.text,
        action_value: field("action"),
        is_removal: bulk.action == BulkAction::Remove,
        effects: &plan.effects,
        changed: plan.effects.iter().filter(|effect| effect.is_change).count(),
        problems: plan.effects.iter().filter(|effect| effect.problem.is_some()).count(),
        fingerprint: &plan.fingerprint,
        ids: ids.join(","),
        query: field("query"),
        back,
        form_token: viewer.form_token().unwrap_or_default(),
        t: viewer.locale(),
    };
    let title = format!("{} · Vigie", bulk.text);
    let frame = PageFrame {
        section: Some(Section::Monitors),
        breadcrumbs: vec![Breadcrumb::monitors(viewer.locale())],
        ..PageFrame::new(&title, viewer)
    };
    // Writing into a string cannot fail.
    render_page(frame, &preview.render().unwrap_or_default()).into_response()
}

async fn read_request(state: &ActionsState, request: Request) -> Result<BulkRequest, Response> {
    let form = read_own_form(&state.auth, request, MAX_MONITOR_FORM_BYTES).await?;
    let field = |name: &str| form.fields.get(name).map(String::as_str).unwrap_or_default();
    let conflict = |message: &str| refused(&ServiceError::Conflict(message.to_owned()));
    let named: BTreeSet<MonitorId> = match (field("ids"), field("scope")) {
        ("", "all") => ids_of_list(&state.pages, &form.viewer, field("query"))
            .await
            .map_err(|error| refused(&ServiceError::from(error)))?
            .into_iter()
            .collect(),
        ("", _) => chosen_monitors(&form.fields),
        (ids, _) => ids.split(',').filter_map(|id| id.parse().ok().map(MonitorId)).collect(),
    };
    let reader = &state.pages.monitor_reader;
    // A monitor of another account is one that does not exist.
    let own = named.into_iter().filter_map(|id| {
        let customer = reader.monitor(id)?.customer;
        form.viewer.caller_for(customer).map(|caller| (id, customer, caller))
    });
    let own: Vec<_> = own.collect();
    let Some((_, customer, caller)) = own.first().cloned() else {
        return Err(conflict(key("Choose at least one monitor first")));
    };
    if own.iter().any(|(_, other, _)| *other != customer) {
        return Err(conflict(key("Choose monitors of one account only")));
    }
    let ids: Vec<MonitorId> = own.into_iter().map(|(id, ..)| id).collect();
    let account =
        reader.account_choices(customer).await.map_err(|error| refused(&ServiceError::from(error)))?;
    let chosen = chosen_action(field("action"), &account, state.pages.clock.now(), form.viewer.locale());
    let (action, text) = chosen.ok_or_else(|| conflict(key("Choose what to do")))?;
    Ok(BulkRequest { form, caller, ids, action, text })
}
