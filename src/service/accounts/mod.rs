//! Authentication: logins, tokens and sessions, and the users and accounts behind them.

mod account_service;
mod customers;
mod failed_logins;
mod issued_token;
mod kept_forms;
mod login;
mod login_throttle;
mod page_sessions;
mod password;
mod sign_in_links;
mod throttle_rules;
mod tokens;
mod user_tokens;
mod users;

pub use account_service::AccountService;
pub use issued_token::IssuedToken;
pub(in crate::service) use login_throttle::LoginThrottle;
pub use password::{generate_password, hash_password, login_error, password_error};
pub(in crate::service) use tokens::{generate_token, hash_token};
pub use user_tokens::TokenInfo;
pub use users::{UserChangeLock, authorize_user_change, normalize_login};
