//! The operations of one kind of record, each with its handler.

use axum::http::HeaderMap;
use axum::{Extension, extract::State};

use super::{filters, handlers};
use crate::api::body::JsonBody;
use crate::api::operation::{BodySpec, Operation, ResponseSpec, Verb};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::{Permission, RecordKind};
use crate::schema::table::FieldTable;
use crate::service::Caller;

/// One kind of record with its paths.
#[derive(Clone, Copy)]
pub(super) struct RecordOperations {
    kind: RecordKind,
    table: &'static FieldTable,
    tag: &'static str,
    list_path: &'static str,
    item_path: &'static str,
}

impl RecordOperations {
    pub(super) const fn new(
        kind: RecordKind,
        table: &'static FieldTable,
        tag: &'static str,
        list_path: &'static str,
        item_path: &'static str,
    ) -> Self {
        Self { kind, table, tag, list_path, item_path }
    }

    pub(super) fn list(
        self,
        routes: OperationRouter,
        id: &'static str,
        about: &'static str,
    ) -> OperationRouter {
        let operation = Operation::new(Verb::Get, self.list_path, id, self.tag, about)
            .with_query(filters::filter_params(self.kind))
            .with_paging()
            .with_response(ResponseSpec::List(vec![self.table]));
        let kind = self.kind;
        routes.route(
            operation,
            move |State(state): State<ApiState>, Extension(caller): Extension<Caller>, query: QueryParams| {
                handlers::list(kind, state, caller, query)
            },
        )
    }

    pub(super) fn get(
        self,
        routes: OperationRouter,
        id: &'static str,
        about: &'static str,
    ) -> OperationRouter {
        let operation = Operation::new(Verb::Get, self.item_path, id, self.tag, about)
            .with_response(ResponseSpec::One(self.table));
        let kind = self.kind;
        routes.route(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  IdParam(id): IdParam| { handlers::get(kind, state, caller, id) },
        )
    }

    /// Adds the operation that creates a record. `shown_once` has the fields that no other response contains.
    pub(super) fn create(
        self,
        routes: OperationRouter,
        id: &'static str,
        about: &'static str,
        right: Permission,
        shown_once: Option<&'static FieldTable>,
    ) -> OperationRouter {
        let operation = Operation::new(Verb::Post, self.list_path, id, self.tag, about)
            .with_right(Some(right))
            .with_body(BodySpec::Create(self.table))
            .with_response(ResponseSpec::Saved(shown_once))
            .with_status(409, "A record with this name exists already");
        let kind = self.kind;
        routes.route(
            operation,
            move |State(state): State<ApiState>, Extension(caller): Extension<Caller>, body: JsonBody| {
                handlers::create(kind, state, caller, body)
            },
        )
    }

    pub(super) fn patch(
        self,
        routes: OperationRouter,
        id: &'static str,
        about: &'static str,
        right: Permission,
    ) -> OperationRouter {
        let operation = Operation::new(Verb::Patch, self.item_path, id, self.tag, about)
            .with_right(Some(right))
            .with_body(BodySpec::Patch(self.table))
            .with_response(ResponseSpec::Saved(None))
            .with_status(409, "Conflict with the current state; the message has the reason")
            .with_if_match();
        let kind = self.kind;
        routes.route(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  IdParam(id): IdParam,
                  headers: HeaderMap,
                  body: JsonBody| handlers::patch(kind, state, caller, id, headers, body),
        )
    }

    pub(super) fn delete(
        self,
        routes: OperationRouter,
        id: &'static str,
        about: &'static str,
        right: Permission,
    ) -> OperationRouter {
        let operation = Operation::new(Verb::Delete, self.item_path, id, self.tag, about)
            .with_right(Some(right))
            .with_status(409, "Still in use; the message names what uses it")
            .with_if_match();
        let kind = self.kind;
        routes.route(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  IdParam(id): IdParam,
                  headers: HeaderMap| handlers::delete(kind, state, caller, id, headers),
        )
    }
}
