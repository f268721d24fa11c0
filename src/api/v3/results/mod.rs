//! `GET /results`, `GET /results/{id}` and the files that a result holds (behaviour.md 1).

mod course;
mod filter;
mod handlers;
mod page_object;
mod pages;
mod played;
mod routes;
mod schema;
mod schema_parts;

pub(super) use routes::routes;
