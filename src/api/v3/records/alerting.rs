//! The calls on what alerting is set up with: recipients, their groups.

use super::EDIT;
use super::calls::Calls;
use crate::api::routes::Routes;
use crate::model::RecordKind;
use crate::model::table::alerting::{NOTIFIER_GROUP, RECIPIENT};

pub(super) fn routes(routes: Routes) -> Routes {
    let routes = recipients(routes);
    groups(routes)
}

fn recipients(routes: Routes) -> Routes {
    let calls =
        Calls::new(RecordKind::Recipient, &RECIPIENT, "recipients", "/recipients", "/recipients/{id}");
    let routes = calls.list(routes, "listRecipients", "Who is told, and how");
    let routes = calls.one(routes, "getRecipient", "One recipient");
    let routes = calls.create(routes, "createRecipient", "Make a recipient", EDIT, None);
    let about = "Change a recipient; a password goes nowhere else by its mask";
    let routes = calls.patch(routes, "updateRecipient", about, EDIT);
    let about = "Remove a recipient, with its blackouts and its place in groups";
    calls.delete(routes, "deleteRecipient", about, EDIT)
}

fn groups(routes: Routes) -> Routes {
    let calls = Calls::new(
        RecordKind::NotifierGroup,
        &NOTIFIER_GROUP,
        "notifier-groups",
        "/notifier-groups",
        "/notifier-groups/{id}",
    );
    let routes = calls.list(routes, "listNotifierGroups", "Who is told of which monitors, steps and errors");
    let routes = calls.one(routes, "getNotifierGroup", "One group");
    let about = "Make a group; once there is one, only groups say who is told";
    let routes = calls.create(routes, "createNotifierGroup", about, EDIT, None);
    let routes = calls.patch(routes, "updateNotifierGroup", "Change a group", EDIT);
    calls.delete(routes, "deleteNotifierGroup", "Remove a group", EDIT)
}
