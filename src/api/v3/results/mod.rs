//! `GET /results`, `GET /results/{id}` and the files that a result holds (behaviour.md 1).

mod course;
mod filter;
mod handlers;
mod pages;
mod played;
mod routes;
pub(super) mod schema;

pub(super) use routes::routes;
