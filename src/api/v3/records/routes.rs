//! The routes of all kinds of records.

use super::record_operations::RecordOperations;
use super::rights::{ADMINISTER_PERMISSION, EDIT_PERMISSION};
use crate::api::operation::{BodySpec, Operation, OperationMethod, ResponseSpec};
use crate::api::operation_router::OperationRouter;
use crate::domain::{Permission, RecordKind};
use crate::schema::table::operations::BULK_EDIT_RESULT;
use crate::schema::table::records::{CERTIFICATE, LOCATION_RECORD, LOCATION_SECRET, PROPERTY, USER};
use crate::schema::table::requests::{BLACKOUT, BLACKOUT_BULK_EDIT, EVENT};

pub(in crate::api::v3) fn add_routes(routes: OperationRouter) -> OperationRouter {
    let routes = add_user_routes(routes);
    let routes = add_location_routes(routes);
    let routes = add_property_routes(routes);
    let routes = add_certificate_routes(routes);
    let routes = add_blackout_routes(routes);
    let routes = super::alerting::add_routes(routes);
    add_event_routes(routes)
}

fn add_user_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(RecordKind::User, &USER, "users", "/users", "/users/{id}");
    let routes = calls.add_list(routes, "listUsers", "Users of the account");
    let routes = calls.add_get(routes, "getUser", "One user");
    let routes = calls.add_create(routes, "createUser", "Create a user", ADMINISTER_PERMISSION, None);
    // Every user may change their own password.
    let about = "Change a user; every user may change their own name and password";
    let routes = calls.add_update(routes, "updateUser", about, Permission::ViewReports);
    calls.add_delete(routes, "deleteUser", "Remove a user and revoke its tokens", ADMINISTER_PERMISSION)
}

fn add_location_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Location,
        &LOCATION_RECORD,
        "locations",
        "/locations",
        "/locations/{id}",
    );
    let routes = calls.add_list(routes, "listLocations", "Locations that the account may use");
    let routes = calls.add_get(routes, "getLocation", "One location");
    let about = "Create a location; the enrolment secret of its agents is returned only here";
    let routes =
        calls.add_create(routes, "createLocation", about, ADMINISTER_PERMISSION, Some(&LOCATION_SECRET));
    let routes = calls.add_update(routes, "updateLocation", "Change a location", ADMINISTER_PERMISSION);
    calls.add_delete(routes, "deleteLocation", "Remove a location that nothing uses", ADMINISTER_PERMISSION)
}

fn add_property_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Property,
        &PROPERTY,
        "properties",
        "/properties",
        "/properties/{id}",
    );
    let routes = calls.add_list(routes, "listProperties", "Custom properties of the account");
    let routes = calls.add_get(routes, "getProperty", "One custom property");
    let routes =
        calls.add_create(routes, "createProperty", "Create a custom property", ADMINISTER_PERMISSION, None);
    let about = "Change a custom property; values that are left out of `values` are removed";
    let routes = calls.add_update(routes, "updateProperty", about, ADMINISTER_PERMISSION);
    calls.add_delete(
        routes,
        "deleteProperty",
        "Remove a custom property that no monitor has",
        ADMINISTER_PERMISSION,
    )
}

fn add_certificate_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Certificate,
        &CERTIFICATE,
        "certificates",
        "/certificates",
        "/certificates/{id}",
    );
    let routes = calls.add_list(routes, "listCertificates", "Certificates of the account, never their keys");
    let routes = calls.add_get(routes, "getCertificate", "One certificate, never its key");
    let about = "Upload a client certificate with its key, or a CA certificate; it takes effect at once";
    let routes = calls.add_create(routes, "createCertificate", about, ADMINISTER_PERMISSION, None);
    calls.add_delete(
        routes,
        "deleteCertificate",
        "Remove a certificate that no monitor names",
        ADMINISTER_PERMISSION,
    )
}

fn add_blackout_routes(routes: OperationRouter) -> OperationRouter {
    let calls =
        RecordOperations::new(RecordKind::Blackout, &BLACKOUT, "blackouts", "/blackouts", "/blackouts/{id}");
    let routes = calls.add_list(routes, "listBlackouts", "Blackouts of the account");
    let routes = calls.add_get(routes, "getBlackout", "One blackout");
    let about = "Create a blackout of a monitor, its alerts or a recipient, once or weekly";
    let routes = calls.add_create(routes, "createBlackout", about, EDIT_PERMISSION, None);
    let routes = calls.add_update(routes, "updateBlackout", "Change a weekly blackout", EDIT_PERMISSION);
    let routes =
        calls.add_delete(routes, "deleteBlackout", "Remove a blackout that is not past", EDIT_PERMISSION);
    let about = "Blackouts of several monitors at once, all or nothing";
    let bulk = Operation::new(
        OperationMethod::Post,
        "/blackouts/bulk-edit",
        "bulkEditBlackouts",
        "blackouts",
        about,
    )
    .with_permission(Some(EDIT_PERMISSION))
    .with_body(BodySpec::Create(&BLACKOUT_BULK_EDIT))
    .with_response(ResponseSpec::Object(&BULK_EDIT_RESULT))
    .with_additional_status(403, "The role lacks the right, or one of the monitors is not the account's");
    routes.route(bulk, super::handlers::bulk_edit_blackouts)
}

fn add_event_routes(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(RecordKind::Event, &EVENT, "events", "/events", "/events/{id}");
    let routes = calls.add_list(routes, "listEvents", "Events of the account, the oldest first");
    let routes = calls.add_get(routes, "getEvent", "One event");
    calls.add_create(routes, "createEvent", "Report an event", EDIT_PERMISSION, None)
}
