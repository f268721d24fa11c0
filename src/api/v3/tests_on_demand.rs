//! GET and POST `/tests`, GET `/tests/{id}`: checks out of schedule.

use crate::api::routes::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
