//! `GET /results`, `GET /results/{id}` and the files that a result holds (behaviour.md 1).

mod browser_schema;
mod details_schema;
mod handlers;
mod page_object_schema;
mod result_filter;
mod result_reader;
mod result_schema;
mod routes;
mod schema_parts;

pub(super) use result_filter::parse_check_id;
pub(super) use routes::{RESULT_ID_PARAM, add_routes};
