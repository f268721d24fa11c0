//! The return type of store calls.

use std::pin::Pin;

use crate::domain::StoreError;

/// The future of one call.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;
