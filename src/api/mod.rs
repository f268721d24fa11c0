//! The JSON APIs: version 3 and the legacy one, over the use cases of control.

mod body;
mod caller;
mod error;
mod etag;
pub mod legacy;
mod list;
mod operation;
mod path;
mod query;
mod routes;
mod select;
mod state;
pub mod v3;

pub use error::ApiError;
pub use operation::{BodySpec, Operation, Param, ParamKind, ResponseSpec, Verb};
pub use state::ApiState;
