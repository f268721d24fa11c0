//! Tests that browsers start and leave nothing behind, and that their forward proxy follows its rules. They use the
//! real browsers of this host.

mod browser_host;
mod cleanup;
mod forward_proxy;
mod isolation;
mod sessions;
pub mod test_pool;
