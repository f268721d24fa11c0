//! POST, PATCH and DELETE of monitors, their copies, conversion and rest.

use crate::api::routes::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
