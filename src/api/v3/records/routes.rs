//! The routes of all kinds of records.

use super::record_operations::RecordOperations;
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::domain::{ConfigRecordKind, Permission};
use crate::schema::table::agents::AGENT;
use crate::schema::table::hosts::{HOST, HOST_TOKEN};
use crate::schema::table::operations::BULK_EDIT_RESULT;
use crate::schema::table::records::{CERTIFICATE, LOCATION_ENROLMENT, LOCATION_RECORD, PROPERTY, USER};
use crate::schema::table::requests::{BLACKOUT, BLACKOUT_BULK_EDIT, EVENT};
use crate::schema::table::views::VIEW;

pub(in crate::api::v3) fn add_routes(router: OperationRouter) -> OperationRouter {
    let router = add_user_routes(router);
    let router = add_location_routes(router);
    let router = add_agent_routes(router);
    let router = add_host_routes(router);
    let router = add_property_routes(router);
    let router = add_certificate_routes(router);
    let router = add_view_routes(router);
    let router = add_blackout_routes(router);
    let router = super::alerting::add_routes(router);
    add_event_routes(router)
}

fn add_user_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(ConfigRecordKind::User, &USER, "users", "/users", "/users/{id}");
    let router = operations.add_list(router, "listUsers", "Users of the account");
    let router = operations.add_get(router, "getUser", "One user");
    let router = operations.add_create(router, "createUser", "Create a user", Permission::Administer, None);
    // Every user may change their own password.
    let summary = "Change a user; every user may change their own name and password";
    let router = operations.add_update(router, "updateUser", summary, Permission::ViewReports);
    operations.add_delete(router, "deleteUser", "Remove a user and revoke its tokens", Permission::Administer)
}

fn add_location_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(
        ConfigRecordKind::Location,
        &LOCATION_RECORD,
        "locations",
        "/locations",
        "/locations/{id}",
    );
    let router = operations.add_list(router, "listLocations", "Locations that the account may use");
    let router = operations.add_get(router, "getLocation", "One location");
    let summary = "Create a location; the enrolment secret of its agents is returned only here";
    let router = operations.add_create(
        router,
        "createLocation",
        summary,
        Permission::Administer,
        Some(&LOCATION_ENROLMENT),
    );
    let router = operations.add_update(router, "updateLocation", "Change a location", Permission::Administer);
    operations.add_delete(
        router,
        "deleteLocation",
        "Remove a location that nothing uses",
        Permission::Administer,
    )
}

/// Enrolment and revocation are in `api::v3::agents`.
fn add_agent_routes(router: OperationRouter) -> OperationRouter {
    let operations =
        RecordOperations::new(ConfigRecordKind::Agent, &AGENT, "agents", "/agents", "/agents/{id}");
    let router =
        operations.add_list(router, "listAgents", "Agents of locations on other hosts, revoked ones too");
    let router = operations.add_get(router, "getAgent", "One agent");
    operations.add_update(router, "updateAgent", "Change the name of an agent", Permission::Administer)
}

/// Tokens, reports and history are in `api::v3::hosts`.
fn add_host_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(ConfigRecordKind::Host, &HOST, "hosts", "/hosts", "/hosts/{id}");
    let router = operations.add_list(router, "listHosts", "Hosts that report metrics");
    let router = operations.add_get(router, "getHost", "One host");
    let summary = "Create a host; the token of its agent is returned only here";
    let router =
        operations.add_create(router, "createHost", summary, Permission::Administer, Some(&HOST_TOKEN));
    let router = operations.add_update(router, "updateHost", "Change a host", Permission::Administer);
    operations.add_delete(
        router,
        "deleteHost",
        "Remove a host that no monitor uses, with all of its reports",
        Permission::Administer,
    )
}

fn add_property_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(
        ConfigRecordKind::Property,
        &PROPERTY,
        "properties",
        "/properties",
        "/properties/{id}",
    );
    let router = operations.add_list(router, "listProperties", "Custom properties of the account");
    let router = operations.add_get(router, "getProperty", "One custom property");
    let router = operations.add_create(
        router,
        "createProperty",
        "Create a custom property",
        Permission::Administer,
        None,
    );
    let summary = "Change a custom property; values that are left out of `values` are removed";
    let router = operations.add_update(router, "updateProperty", summary, Permission::Administer);
    operations.add_delete(
        router,
        "deleteProperty",
        "Remove a custom property that no monitor has",
        Permission::Administer,
    )
}

fn add_certificate_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(
        ConfigRecordKind::Certificate,
        &CERTIFICATE,
        "certificates",
        "/certificates",
        "/certificates/{id}",
    );
    let router =
        operations.add_list(router, "listCertificates", "Certificates of the account, never their keys");
    let router = operations.add_get(router, "getCertificate", "One certificate, never its key");
    let summary = "Upload a client certificate with its key, or a CA certificate; it takes effect at once";
    let router = operations.add_create(router, "createCertificate", summary, Permission::Administer, None);
    operations.add_delete(
        router,
        "deleteCertificate",
        "Remove a certificate that no monitor names",
        Permission::Administer,
    )
}

fn add_view_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(ConfigRecordKind::View, &VIEW, "views", "/views", "/views/{id}");
    let router = operations.add_list(
        router,
        "listViews",
        "Saved views of the list of monitors: shared ones, and your own",
    );
    let router = operations.add_get(router, "getView", "One view");
    let summary = "Save a view; a part of `query` that the list does not know is an error";
    let router = operations.add_create(router, "createView", summary, Permission::Edit, None);
    let summary = "Change a view; only who made it can stop sharing it";
    let router = operations.add_update(router, "updateView", summary, Permission::Edit);
    operations.add_delete(router, "deleteView", "Remove a view", Permission::Edit)
}

fn add_blackout_routes(router: OperationRouter) -> OperationRouter {
    let operations = RecordOperations::new(
        ConfigRecordKind::Blackout,
        &BLACKOUT,
        "blackouts",
        "/blackouts",
        "/blackouts/{id}",
    );
    let router = operations.add_list(router, "listBlackouts", "Blackouts of the account");
    let router = operations.add_get(router, "getBlackout", "One blackout");
    let summary = "Create a blackout of a monitor, its alerts or a recipient, once or weekly";
    let router = operations.add_create(router, "createBlackout", summary, Permission::Edit, None);
    let router =
        operations.add_update(router, "updateBlackout", "Change a weekly blackout", Permission::Edit);
    let router = operations.add_delete(
        router,
        "deleteBlackout",
        "Remove a blackout that is not past",
        Permission::Edit,
    );
    let summary = "Blackouts of several monitors at once, all or nothing";
    let bulk = Operation::new(
        OperationMethod::Post,
        "/blackouts/bulk-edit",
        "bulkEditBlackouts",
        "blackouts",
        summary,
    )
    .with_permission(Some(Permission::Edit))
    .with_body(BodySpec::Create(&BLACKOUT_BULK_EDIT))
    .with_response(ResponseSpec::Object(&BULK_EDIT_RESULT))
    .with_additional_status(403, "The role lacks the right, or one of the monitors is not the account's");
    router.route(bulk, super::handlers::bulk_edit_blackouts)
}

fn add_event_routes(router: OperationRouter) -> OperationRouter {
    let operations =
        RecordOperations::new(ConfigRecordKind::Event, &EVENT, "events", "/events", "/events/{id}");
    let router = operations.add_list(router, "listEvents", "Events of the account, the oldest first");
    let router = operations.add_get(router, "getEvent", "One event");
    operations.add_create(router, "createEvent", "Report an event", Permission::Edit, None)
}
