//! `GET /monitors` and `GET /monitors/{id}`.

use crate::api::routes::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
