//! The operations of one kind of record, each with its handler.

use axum::http::HeaderMap;
use axum::{Extension, extract::State};

use super::{filters, handlers};
use crate::api::body::JsonBody;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::path::IdParam;
use crate::api::query::QueryParams;
use crate::api::state::ApiState;
use crate::domain::{ConfigRecordKind, Permission};
use crate::schema::table::FieldTable;
use crate::service::Caller;

/// One kind of record with its paths.
#[derive(Clone, Copy)]
pub(super) struct RecordOperations {
    record_kind: ConfigRecordKind,
    field_table: &'static FieldTable,
    tag: &'static str,
    list_path: &'static str,
    item_path: &'static str,
}

impl RecordOperations {
    pub(super) const fn new(
        kind: ConfigRecordKind,
        table: &'static FieldTable,
        tag: &'static str,
        list_path: &'static str,
        item_path: &'static str,
    ) -> Self {
        Self { record_kind: kind, field_table: table, tag, list_path, item_path }
    }

    pub(super) fn add_list(
        self,
        router: OperationRouter,
        operation_id: &'static str,
        summary: &'static str,
    ) -> OperationRouter {
        let operation = Operation::new(OperationMethod::Get, self.list_path, operation_id, self.tag, summary)
            .with_query_params(filters::filter_params(self.record_kind))
            .with_paging()
            .with_response(ResponseSpec::List(vec![self.field_table]));
        let kind = self.record_kind;
        router.route(
            operation,
            move |State(state): State<ApiState>, Extension(caller): Extension<Caller>, query: QueryParams| {
                handlers::list(kind, state, caller, query)
            },
        )
    }

    pub(super) fn add_get(
        self,
        router: OperationRouter,
        operation_id: &'static str,
        summary: &'static str,
    ) -> OperationRouter {
        let operation = Operation::new(OperationMethod::Get, self.item_path, operation_id, self.tag, summary)
            .with_response(ResponseSpec::Object(self.field_table));
        let kind = self.record_kind;
        router.route(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  IdParam(id): IdParam| { handlers::get(kind, state, caller, id) },
        )
    }

    /// Adds the operation that creates a record. `create_response_fields` are those that only the response
    /// to a create shows, such as a generated secret.
    pub(super) fn add_create(
        self,
        router: OperationRouter,
        operation_id: &'static str,
        summary: &'static str,
        permission: Permission,
        create_response_fields: Option<&'static FieldTable>,
    ) -> OperationRouter {
        let operation =
            Operation::new(OperationMethod::Post, self.list_path, operation_id, self.tag, summary)
                .with_permission(Some(permission))
                .with_body(BodySpec::Create(self.field_table))
                .with_response(ResponseSpec::SavedId { create_response_fields })
                .with_additional_status(409, "A record with this name exists already");
        let kind = self.record_kind;
        router.route(
            operation,
            move |State(state): State<ApiState>, Extension(caller): Extension<Caller>, body: JsonBody| {
                handlers::create(kind, state, caller, body)
            },
        )
    }

    pub(super) fn add_update(
        self,
        router: OperationRouter,
        operation_id: &'static str,
        summary: &'static str,
        permission: Permission,
    ) -> OperationRouter {
        let operation =
            Operation::new(OperationMethod::Patch, self.item_path, operation_id, self.tag, summary)
                .with_permission(Some(permission))
                .with_body(BodySpec::Patch(self.field_table))
                .with_response(ResponseSpec::SavedId { create_response_fields: None })
                .with_additional_status(409, "Conflict with the current state; the message has the reason")
                .with_if_match();
        let kind = self.record_kind;
        router.route(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  IdParam(id): IdParam,
                  headers: HeaderMap,
                  body: JsonBody| handlers::patch(kind, state, caller, id, headers, body),
        )
    }

    pub(super) fn add_delete(
        self,
        router: OperationRouter,
        operation_id: &'static str,
        summary: &'static str,
        permission: Permission,
    ) -> OperationRouter {
        let operation =
            Operation::new(OperationMethod::Delete, self.item_path, operation_id, self.tag, summary)
                .with_permission(Some(permission))
                .with_additional_status(409, "Still in use; the message names what uses it")
                .with_if_match();
        let kind = self.record_kind;
        router.route(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  IdParam(id): IdParam,
                  headers: HeaderMap| handlers::delete(kind, state, caller, id, headers),
        )
    }
}
