//! Where the pages of a kind of record are: below the account, or below the monitor that the records belong to.

use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::kinds::{PERFORMANCE_ALERTS, RecordPages, find_pages};
use super::state::AccountState;
use crate::domain::{ConfigRecordFilter, MonitorId, Paginated, Pagination, Revision};
use crate::service::{Caller, ConfigRecordService, SavedObject, ServiceError};
use crate::syntax::node::Node;
use crate::texts::Locale;
use crate::web::actions::{find_own, refused};
use crate::web::form::form_zones::FormZones;
use crate::web::page_frame::{Breadcrumb, PageFrame, Section, render_page};
use crate::web::responses::not_found;
use crate::web::viewer::Viewer;

/// What the path of a page names: `/account/{kind}/{id}` or `/monitors/{monitor}/performance-alerts/{id}`.
#[derive(Deserialize)]
pub(in crate::web) struct RecordPath {
    /// The kind of record, for those of the account.
    #[serde(default)]
    kind: String,
    /// The monitor that the records belong to.
    #[serde(default)]
    monitor: Option<String>,
    /// The record; empty for a list or a new one.
    #[serde(default)]
    pub(super) id: String,
}

/// A kind of record of an account or of a monitor, and who acts there.
#[derive(Clone, Debug)]
pub(super) struct RecordScope {
    /// The kind.
    pub(super) pages: &'static RecordPages,
    /// Who acts for the viewer.
    pub(super) caller: Caller,
    /// The zones of times for the viewer.
    pub(super) zones: FormZones,
    /// Id and name of the monitor that the records belong to; `None` for records of the account.
    monitor: Option<(MonitorId, String)>,
}

/// Why somebody does not see a page of records.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoPage {
    /// There is no such kind of record.
    NoSuchKind,
    /// There is no such monitor, or it is none of the viewer's.
    NoSuchMonitor,
    /// The viewer is not signed in.
    NotSignedIn,
}

impl IntoResponse for NoPage {
    fn into_response(self) -> Response {
        match self {
            Self::NoSuchKind => not_found("This page does not exist"),
            Self::NoSuchMonitor => not_found("The monitor does not exist"),
            Self::NotSignedIn => {
                refused(&ServiceError::Forbidden("Sign in to see what belongs to an account".to_owned()))
            }
        }
    }
}

/// Finds what a path names, for a viewer.
pub(super) type FindScope = fn(&AccountState, &Viewer, &RecordPath) -> Result<RecordScope, NoPage>;

impl RecordScope {
    /// Finds what `path` names, and who acts there for the viewer.
    pub(super) fn find(state: &AccountState, viewer: &Viewer, path: &RecordPath) -> Result<Self, NoPage> {
        let zones = FormZones::new(&viewer.preferences);
        let Some(monitor) = &path.monitor else {
            let pages = find_pages(&path.kind).ok_or(NoPage::NoSuchKind)?;
            let caller = viewer.caller.clone().ok_or(NoPage::NotSignedIn)?;
            return Ok(Self { pages, caller, zones, monitor: None });
        };
        let (monitor, caller) = find_own(&state.actions, viewer, monitor).ok_or(NoPage::NoSuchMonitor)?;
        let monitor = Some((monitor.id, monitor.name().to_owned()));
        Ok(Self { pages: &PERFORMANCE_ALERTS, caller, zones, monitor })
    }

    /// Like [`Self::find`], for what there can be several of.
    pub(super) fn find_listed(
        state: &AccountState,
        viewer: &Viewer,
        path: &RecordPath,
    ) -> Result<Self, NoPage> {
        let scope = Self::find(state, viewer, path)?;
        if scope.pages.is_single() { Err(NoPage::NoSuchKind) } else { Ok(scope) }
    }

    /// Whether the viewer may create, change and remove records here.
    pub(super) fn may_edit(&self, state: &AccountState, viewer: &Viewer) -> bool {
        viewer.may_edit() && state.config_record_service.may_edit(&self.caller, self.pages.kind)
    }

    /// Returns the path of the list.
    pub(super) fn list_path(&self) -> String {
        match &self.monitor {
            Some((id, _)) => format!("/monitors/{id}/{}", self.pages.path),
            None => format!("/account/{}", self.pages.path),
        }
    }

    /// Renders the page of the list.
    pub(super) fn render_list_page(&self, viewer: &Viewer, body: &str) -> Response {
        let t = viewer.locale();
        render_record_page(viewer, t.text(self.pages.title), self.section(), self.above_list(t), body)
    }

    /// Renders a page below the list.
    pub(super) fn render_page(&self, viewer: &Viewer, title: &str, body: &str) -> Response {
        let t = viewer.locale();
        let list = Breadcrumb { name: t.text(self.pages.title).to_owned(), path: self.list_path() };
        let breadcrumbs = self.above_list(t).into_iter().chain([list]).collect();
        render_record_page(viewer, title, self.section(), breadcrumbs, body)
    }

    fn section(&self) -> Section {
        if self.monitor.is_some() { Section::Monitors } else { Section::Account }
    }

    /// Returns the pages above the list.
    fn above_list(&self, t: Locale) -> Vec<Breadcrumb> {
        match &self.monitor {
            Some((id, name)) => {
                vec![
                    Breadcrumb::monitors(t),
                    Breadcrumb { name: name.clone(), path: format!("/monitors/{id}") },
                ]
            }
            None => vec![account_breadcrumb(t)],
        }
    }

    /// Returns records of the kind.
    pub(super) async fn list(
        &self,
        service: &ConfigRecordService,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        match &self.monitor {
            Some((id, _)) => service.performance_alerts_of_monitor(&self.caller, *id, page).await,
            None => service.list(&self.caller, ConfigRecordFilter::new(self.pages.kind), page).await,
        }
    }

    /// Returns the record `id` and its revision.
    pub(super) async fn get(
        &self,
        service: &ConfigRecordService,
        id: i64,
    ) -> Result<(Map<String, Value>, Revision), ServiceError> {
        self.require_parent(service, id).await?;
        service.get(&self.caller, self.pages.kind, id).await
    }

    /// Creates a record.
    pub(super) async fn create(
        &self,
        service: &ConfigRecordService,
        body: &Node,
    ) -> Result<SavedObject, ServiceError> {
        let monitor = self.monitor.as_ref().map(|(id, _)| id.0);
        service.create_for_parent(&self.caller, self.pages.kind, monitor, body).await
    }

    /// Changes the record `id`, which the person saw at the revision `seen`.
    pub(super) async fn patch(
        &self,
        service: &ConfigRecordService,
        id: i64,
        body: &Node,
        seen: Revision,
    ) -> Result<SavedObject, ServiceError> {
        self.require_parent(service, id).await?;
        service.patch(&self.caller, self.pages.kind, id, body, Some(seen)).await
    }

    /// Removes the record `id`, which the person saw at the revision `seen`.
    pub(super) async fn delete(
        &self,
        service: &ConfigRecordService,
        id: i64,
        seen: Revision,
    ) -> Result<(), ServiceError> {
        self.require_parent(service, id).await?;
        service.delete(&self.caller, self.pages.kind, id, Some(seen)).await
    }

    /// Fails unless the record `id` is one of the monitor, if there is one.
    async fn require_parent(&self, service: &ConfigRecordService, id: i64) -> Result<(), ServiceError> {
        match &self.monitor {
            Some((monitor, _)) => service.require_parent(&self.caller, self.pages.kind, id, monitor.0).await,
            None => Ok(()),
        }
    }
}

/// Returns the breadcrumb of the index of an account.
pub(super) fn account_breadcrumb(t: Locale) -> Breadcrumb {
    Breadcrumb { name: t.text(Section::Account.name()).to_owned(), path: Section::Account.path().to_owned() }
}

/// Renders a page of `section` below the pages `breadcrumbs`.
pub(super) fn render_record_page(
    viewer: &Viewer,
    title: &str,
    section: Section,
    breadcrumbs: Vec<Breadcrumb>,
    body: &str,
) -> Response {
    let page_title = format!("{title} · Vigie");
    let frame = PageFrame { section: Some(section), breadcrumbs, ..PageFrame::new(&page_title, viewer) };
    render_page(frame, body).into_response()
}
