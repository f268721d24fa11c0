//! The routes of all kinds of records.

use super::record_operations::RecordOperations;
use super::rights::{ADMINISTER, EDIT};
use crate::api::operation::{BodySpec, Operation, ResponseSpec, Verb};
use crate::api::operation_router::OperationRouter;
use crate::domain::{Permission, RecordKind};
use crate::schema::table::operations::BULK_EDIT_RESULT;
use crate::schema::table::records::{CERTIFICATE, LOCATION_RECORD, LOCATION_SECRET, PROPERTY, USER};
use crate::schema::table::requests::{BLACKOUT, BLACKOUT_BULK_EDIT, EVENT};

pub(in crate::api::v3) fn routes(routes: OperationRouter) -> OperationRouter {
    let routes = users(routes);
    let routes = locations(routes);
    let routes = properties(routes);
    let routes = certificates(routes);
    let routes = blackouts(routes);
    let routes = super::alerting::routes(routes);
    events(routes)
}

fn users(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(RecordKind::User, &USER, "users", "/users", "/users/{id}");
    let routes = calls.list(routes, "listUsers", "Users of the account");
    let routes = calls.get(routes, "getUser", "One user");
    let routes = calls.create(routes, "createUser", "Create a user", ADMINISTER, None);
    // Every user may change their own password.
    let about = "Change a user; every user may change their own name and password";
    let routes = calls.patch(routes, "updateUser", about, Permission::ViewReports);
    calls.delete(routes, "deleteUser", "Remove a user and revoke its tokens", ADMINISTER)
}

fn locations(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Location,
        &LOCATION_RECORD,
        "locations",
        "/locations",
        "/locations/{id}",
    );
    let routes = calls.list(routes, "listLocations", "Locations that the account may use");
    let routes = calls.get(routes, "getLocation", "One location");
    let about = "Create a location; the enrolment secret of its agents is returned only here";
    let routes = calls.create(routes, "createLocation", about, ADMINISTER, Some(&LOCATION_SECRET));
    let routes = calls.patch(routes, "updateLocation", "Change a location", ADMINISTER);
    calls.delete(routes, "deleteLocation", "Remove a location that nothing uses", ADMINISTER)
}

fn properties(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Property,
        &PROPERTY,
        "properties",
        "/properties",
        "/properties/{id}",
    );
    let routes = calls.list(routes, "listProperties", "Custom properties of the account");
    let routes = calls.get(routes, "getProperty", "One custom property");
    let routes = calls.create(routes, "createProperty", "Create a custom property", ADMINISTER, None);
    let about = "Change a custom property; values that are left out of `values` are removed";
    let routes = calls.patch(routes, "updateProperty", about, ADMINISTER);
    calls.delete(routes, "deleteProperty", "Remove a custom property that no monitor has", ADMINISTER)
}

fn certificates(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(
        RecordKind::Certificate,
        &CERTIFICATE,
        "certificates",
        "/certificates",
        "/certificates/{id}",
    );
    let routes = calls.list(routes, "listCertificates", "Certificates of the account, never their keys");
    let routes = calls.get(routes, "getCertificate", "One certificate, never its key");
    let about = "Upload a client certificate with its key, or a CA certificate; it takes effect at once";
    let routes = calls.create(routes, "createCertificate", about, ADMINISTER, None);
    calls.delete(routes, "deleteCertificate", "Remove a certificate that no monitor names", ADMINISTER)
}

fn blackouts(routes: OperationRouter) -> OperationRouter {
    let calls =
        RecordOperations::new(RecordKind::Blackout, &BLACKOUT, "blackouts", "/blackouts", "/blackouts/{id}");
    let routes = calls.list(routes, "listBlackouts", "Blackouts of the account");
    let routes = calls.get(routes, "getBlackout", "One blackout");
    let about = "Create a blackout of a monitor, its alerts or a recipient, once or weekly";
    let routes = calls.create(routes, "createBlackout", about, EDIT, None);
    let routes = calls.patch(routes, "updateBlackout", "Change a weekly blackout", EDIT);
    let routes = calls.delete(routes, "deleteBlackout", "Remove a blackout that is not past", EDIT);
    let about = "Blackouts of several monitors at once, all or nothing";
    let bulk = Operation::new(Verb::Post, "/blackouts/bulk-edit", "bulkEditBlackouts", "blackouts", about)
        .with_right(Some(EDIT))
        .with_body(BodySpec::Create(&BLACKOUT_BULK_EDIT))
        .with_response(ResponseSpec::One(&BULK_EDIT_RESULT))
        .with_status(403, "The role lacks the right, or one of the monitors is not the account's");
    routes.route(bulk, super::handlers::bulk_edit_blackouts)
}

fn events(routes: OperationRouter) -> OperationRouter {
    let calls = RecordOperations::new(RecordKind::Event, &EVENT, "events", "/events", "/events/{id}");
    let routes = calls.list(routes, "listEvents", "Events of the account, the oldest first");
    let routes = calls.get(routes, "getEvent", "One event");
    calls.create(routes, "createEvent", "Report an event", EDIT, None)
}
