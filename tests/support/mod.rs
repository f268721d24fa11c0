//! What tests share: real servers, fakes, the application under test, and checks for what a test leaves behind.

pub mod alone;
pub mod app;
pub mod binary;
pub mod closed;
pub mod cutting_proxy;
pub mod daemon;
pub mod fields;
pub mod ftp_user;
pub mod geckodriver;
pub mod lacking;
pub mod long_tests;
pub mod mail_server;
pub mod name_server;
pub mod namespace;
pub mod nats;
pub mod postgres;
pub mod processes;
pub mod routers;
pub mod side_by_side;
pub mod small_disk;
pub mod tls_page;
pub mod tls_server;
