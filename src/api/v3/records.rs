//! What accounts have beside monitors: users, locations, properties, certificates, blackouts, events.

use crate::api::routes::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
