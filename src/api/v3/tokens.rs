//! POST `/access-tokens` (behaviour.md 1 "Token").

use crate::api::routes::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
