//! GET and POST `/customers`: the accounts of the installation, for `vigie customer` on the host itself.

use axum::extract::State;
use axum::response::Response;
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::access_tokens::parse_body_fields;
use crate::api::body::JsonBody;
use crate::api::error::ApiError;
use crate::api::list_response;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::api::query::{Paging, QueryParams};
use crate::api::state::ApiState;
use crate::domain::Permission;
use crate::schema::table::records::ACCOUNT_SUMMARY;
use crate::schema::typed::record::{AccountNameSettings, parse_record, parse_record_fields};
use crate::service::{Caller, ServiceError};

const PATH: &str = "/customers";
const TAG: &str = "customers";

pub(super) fn add_routes(router: OperationRouter) -> OperationRouter {
    let summary = "The accounts of this installation; requires the host token";
    let list_operation = Operation::new(OperationMethod::Get, PATH, "listCustomers", TAG, summary);
    let list_operation = list_operation
        .with_permission(Some(Permission::ManageAdmins))
        .with_response(ResponseSpec::List(vec![&ACCOUNT_SUMMARY]));
    let create_operation = Operation::new(
        OperationMethod::Post,
        PATH,
        "createCustomer",
        TAG,
        "A new account; requires the host token",
    );
    let create_operation = create_operation
        .with_permission(Some(Permission::ManageAdmins))
        .with_body(BodySpec::Create(&ACCOUNT_SUMMARY))
        .with_response(ResponseSpec::SavedId { create_response_fields: None })
        .with_additional_status(409, "An account with this name exists already");
    router.route(list_operation, list_customers).route(create_operation, create_customer)
}

async fn list_customers(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    mut query: QueryParams,
) -> Result<Response, ApiError> {
    let paging: Paging = query.paging();
    query.into_result()?;
    let customers = state.account_service.customers(&caller).await?;
    let rows = customers.iter().map(|customer| {
        let settings = parse_record::<AccountNameSettings<'_>>(customer);
        json!({"id": customer.id, "name": settings.map(|settings| settings.name).unwrap_or_default()})
    });
    Ok(list_response::list_in_memory(caller.role, customers.len() as u64, paging, rows))
}

async fn create_customer(
    State(state): State<ApiState>,
    Extension(caller): Extension<Caller>,
    JsonBody(body): JsonBody,
) -> Result<Json<Value>, ApiError> {
    let fields = parse_body_fields(&ACCOUNT_SUMMARY, &body)?;
    let settings: AccountNameSettings<'_> = parse_record_fields(&fields).map_err(ServiceError::from)?;
    let id = state.account_service.add_customer(&caller, settings.name).await?;
    Ok(Json(json!({"id": id.to_string()})))
}
