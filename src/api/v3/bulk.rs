//! POST `/monitors/bulk-edit`, `/monitors/bulk-edit-passwords`, `/monitors/bulk-edit-scripts` and `/apply`.

use crate::api::routes::Routes;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
}
