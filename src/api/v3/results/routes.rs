//! The routes of results.

use super::handlers::{get_capture, get_result, list_results};
use super::result_filter::OUTCOME_NAMES;
use crate::api::operation::{Operation, OperationMethod, Param, ParamType, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::domain::Permission;

/// Path parameter with the id of a result.
pub(in crate::api::v3) const RESULT_ID_PARAM: Param =
    Param::new("id", ParamType::Pattern("^[0-9a-f]{16}$"), "Id of the result");

pub(in crate::api::v3) fn add_routes(router: OperationRouter) -> OperationRouter {
    let list_operation = Operation::new(
        OperationMethod::Get,
        "/results",
        "listResults",
        "results",
        "Check results of the account's monitors, removed ones too; newest first",
    )
    .with_permission(Some(Permission::ViewReports))
    .with_query_params(&[
        Param::new("monitor_id", ParamType::IdList, "Of these monitors only"),
        Param::new("location_id", ParamType::Int(1), "Of this location only"),
        Param::new("from", ParamType::Time, "Planned at or after"),
        Param::new("thru", ParamType::Time, "Planned before"),
        Param::new("outcome", ParamType::ChoiceList(&OUTCOME_NAMES), "Of these outcomes only"),
    ])
    .with_paging()
    .with_response(ResponseSpec::JsonSchema(super::result_schema::result_list_schema()));
    let get_operation =
        Operation::new(OperationMethod::Get, "/results/{id}", "getResult", "results", "One check result")
            .with_permission(Some(Permission::ViewReports))
            .with_path_param(RESULT_ID_PARAM)
            .with_response(ResponseSpec::JsonSchema(super::result_schema::result_schema()));
    let get_capture_operation = Operation::new(
        OperationMethod::Get,
        "/results/{id}/captures/{name}",
        "getResultCapture",
        "results",
        "A capture of a result, such as the body of a failed response",
    )
    .with_permission(Some(Permission::ViewReports))
    .with_path_param(RESULT_ID_PARAM)
    .with_path_param(Param::new(
        "name",
        ParamType::Text,
        "Name of the file, as `captures` of the result has it",
    ))
    .with_response(ResponseSpec::File);
    router
        .route(list_operation, list_results)
        .route(get_operation, get_result)
        .route(get_capture_operation, get_capture)
}
