//! The JSON APIs, version 3 and the legacy one, on top of the service layer.

mod body;
mod credentials;
mod error;
mod etag;
mod field_selection;
pub mod legacy;
mod list_response;
mod monitor_chunk;
mod operation;
mod operation_router;
mod path;
pub mod push;
mod query;
mod state;
mod upload_permits;
pub mod v3;

pub use error::ApiError;
pub use operation::{BodySpec, Operation, OperationMethod, Param, ParamType, ResponseSpec};
pub use state::ApiState;
pub use upload_permits::UploadPermits;
