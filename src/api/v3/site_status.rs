//! GET `/report-sitestatus`: the last status of every monitor per location.

use crate::api::routes::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
