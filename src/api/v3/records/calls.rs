//! The calls that one kind of record has, each as an operation with its handler.

use axum::http::HeaderMap;
use axum::{Extension, extract::State};

use super::{filters, handlers};
use crate::api::body::JsonBody;
use crate::api::operation::{Answer, Body, Operation, Verb};
use crate::api::path::Id;
use crate::api::query::Query;
use crate::api::routes::Routes;
use crate::api::state::ApiState;
use crate::domain::{Permission, RecordKind};
use crate::schema::table::FieldTable;
use crate::service::Caller;

/// One kind of record and where it is found.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    kind: RecordKind,
    table: &'static FieldTable,
    tag: &'static str,
    all: &'static str,
    one: &'static str,
}

impl Calls {
    pub(super) const fn new(
        kind: RecordKind,
        table: &'static FieldTable,
        tag: &'static str,
        all: &'static str,
        one: &'static str,
    ) -> Self {
        Self { kind, table, tag, all, one }
    }

    pub(super) fn list(self, routes: Routes, id: &'static str, about: &'static str) -> Routes {
        let operation = Operation::new(Verb::Get, self.all, id, self.tag, about)
            .query(filters::params(self.kind))
            .paged()
            .answer(Answer::List(vec![self.table]));
        let kind = self.kind;
        routes.on(
            operation,
            move |State(state): State<ApiState>, Extension(caller): Extension<Caller>, query: Query| {
                handlers::list(kind, state, caller, query)
            },
        )
    }

    pub(super) fn one(self, routes: Routes, id: &'static str, about: &'static str) -> Routes {
        let operation =
            Operation::new(Verb::Get, self.one, id, self.tag, about).answer(Answer::One(self.table));
        let kind = self.kind;
        routes.on(
            operation,
            move |State(state): State<ApiState>, Extension(caller): Extension<Caller>, Id(id): Id| {
                handlers::one(kind, state, caller, id)
            },
        )
    }

    /// `once` is what only the answer to this call shows.
    pub(super) fn create(
        self,
        routes: Routes,
        id: &'static str,
        about: &'static str,
        right: Permission,
        once: Option<&'static FieldTable>,
    ) -> Routes {
        let operation = Operation::new(Verb::Post, self.all, id, self.tag, about)
            .right(Some(right))
            .body(Body::Create(self.table))
            .answer(Answer::Saved(once))
            .or(409, "There is one of this name already");
        let kind = self.kind;
        routes.on(
            operation,
            move |State(state): State<ApiState>, Extension(caller): Extension<Caller>, body: JsonBody| {
                handlers::create(kind, state, caller, body)
            },
        )
    }

    pub(super) fn patch(
        self,
        routes: Routes,
        id: &'static str,
        about: &'static str,
        right: Permission,
    ) -> Routes {
        let operation = Operation::new(Verb::Patch, self.one, id, self.tag, about)
            .right(Some(right))
            .body(Body::Patch(self.table))
            .answer(Answer::Saved(None))
            .or(409, "It cannot be changed like this as things stand; the message says why")
            .if_match();
        let kind = self.kind;
        routes.on(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  Id(id): Id,
                  headers: HeaderMap,
                  body: JsonBody| handlers::patch(kind, state, caller, id, headers, body),
        )
    }

    pub(super) fn delete(
        self,
        routes: Routes,
        id: &'static str,
        about: &'static str,
        right: Permission,
    ) -> Routes {
        let operation = Operation::new(Verb::Delete, self.one, id, self.tag, about)
            .right(Some(right))
            .or(409, "Something still uses it; the message says what")
            .if_match();
        let kind = self.kind;
        routes.on(
            operation,
            move |State(state): State<ApiState>,
                  Extension(caller): Extension<Caller>,
                  Id(id): Id,
                  headers: HeaderMap| handlers::delete(kind, state, caller, id, headers),
        )
    }
}
