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

pub use accounts_service::AccountService;
pub use password::{generate_password, hash_password, validate_login, validate_password};
pub use sessions::IssuedToken;
pub use users::{UserChangeGuard, authorize_user_change, login_key};
