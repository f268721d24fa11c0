//! `collection-api`: runs the requests and scripts of a Postman collection.

mod attempt;
mod options;
mod probe;
mod request_spec;
mod script_context;
mod script_process;
mod script_run;

pub use probe::build;
