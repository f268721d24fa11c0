//! Who may in: logins, tokens, sessions, and the users and accounts behind them.

mod accounts_service;
mod customers;
mod failed_logins;
mod login;
mod password;
mod sessions;
mod throttle;
mod tokens;
mod users;

pub use accounts_service::Accounts;
pub use password::{hash_password, login_fault, password_fault, readable_password};
pub use sessions::Issued;
pub use users::{UserPermit, login_key, permit_user_change};
