//! The routes of results.

use super::filter::OUTCOMES;
use super::handlers::{file, list, one};
use crate::api::operation::{Answer, Operation, Param, ParamKind, Verb};
use crate::api::routes::Routes;
use crate::domain::Permission;

/// The number of a result.
const ID: Param = Param::new("id", ParamKind::Pattern("^[0-9a-f]{16}$"), "Number of the result");

pub(in crate::api::v3) fn routes(routes: Routes) -> Routes {
    let list_all = Operation::new(
        Verb::Get,
        "/results",
        "listResults",
        "results",
        "Check results of the account's monitors, removed ones too; newest first",
    )
    .right(Some(Permission::ViewReports))
    .query(&[
        Param::new("monitor_id", ParamKind::Ids, "Of these monitors only"),
        Param::new("location_id", ParamKind::Int(1), "Of this location only"),
        Param::new("from", ParamKind::Time, "Planned at or after"),
        Param::new("thru", ParamKind::Time, "Planned before"),
        Param::new("outcome", ParamKind::Choices(&OUTCOMES), "Of these outcomes only"),
    ])
    .paged()
    .answer(Answer::Schema(super::schema::list()));
    let get_one = Operation::new(Verb::Get, "/results/{id}", "getResult", "results", "One check result")
        .right(Some(Permission::ViewReports))
        .path_param(ID)
        .answer(Answer::Schema(super::schema::result()));
    let get_file = Operation::new(
        Verb::Get,
        "/results/{id}/captures/{name}",
        "getResultCapture",
        "results",
        "A file that a result holds, such as the body of a bad answer",
    )
    .right(Some(Permission::ViewReports))
    .path_param(ID)
    .path_param(Param::new("name", ParamKind::Text, "Name of the file, as `captures` of the result has it"))
    .answer(Answer::File);
    routes.on(list_all, list).on(get_one, one).on(get_file, file)
}
