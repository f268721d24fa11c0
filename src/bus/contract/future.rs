//! The return type of calls over the bus.

use std::pin::Pin;

/// The future of one call.
pub type BusFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
