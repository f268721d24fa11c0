//! The routes of results.

use super::handlers::{get, get_capture, list};
use super::result_filter::OUTCOMES;
use crate::api::operation::{Operation, Param, ParamKind, ResponseSpec, Verb};
use crate::api::operation_router::OperationRouter;
use crate::domain::Permission;

/// Path parameter with the id of a result.
const ID_PARAM: Param = Param::new("id", ParamKind::Pattern("^[0-9a-f]{16}$"), "Id of the result");

pub(in crate::api::v3) fn routes(routes: OperationRouter) -> OperationRouter {
    let list_all = Operation::new(
        Verb::Get,
        "/results",
        "listResults",
        "results",
        "Check results of the account's monitors, removed ones too; newest first",
    )
    .with_right(Some(Permission::ViewReports))
    .with_query(&[
        Param::new("monitor_id", ParamKind::Ids, "Of these monitors only"),
        Param::new("location_id", ParamKind::Int(1), "Of this location only"),
        Param::new("from", ParamKind::Time, "Planned at or after"),
        Param::new("thru", ParamKind::Time, "Planned before"),
        Param::new("outcome", ParamKind::Choices(&OUTCOMES), "Of these outcomes only"),
    ])
    .with_paging()
    .with_response(ResponseSpec::Schema(super::result_schema::result_list_schema()));
    let get_one = Operation::new(Verb::Get, "/results/{id}", "getResult", "results", "One check result")
        .with_right(Some(Permission::ViewReports))
        .with_path_param(ID_PARAM)
        .with_response(ResponseSpec::Schema(super::result_schema::result_schema()));
    let get_file = Operation::new(
        Verb::Get,
        "/results/{id}/captures/{name}",
        "getResultCapture",
        "results",
        "A capture of a result, such as the body of a failed response",
    )
    .with_right(Some(Permission::ViewReports))
    .with_path_param(ID_PARAM)
    .with_path_param(Param::new(
        "name",
        ParamKind::Text,
        "Name of the file, as `captures` of the result has it",
    ))
    .with_response(ResponseSpec::File);
    routes.route(list_all, list).route(get_one, get).route(get_file, get_capture)
}
