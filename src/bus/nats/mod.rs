//! The bus over NATS JetStream: its subjects, and the keys and tokens that limit who may use them.

mod account_push;
mod credential;
mod grant;
pub mod jwt;
mod login;
pub mod subjects;

pub use account_push::{AccountPushError, push_account_jwt};
pub use credential::{AgentCredential, CredentialError, NewCredential};
pub use grant::{AgentGrant, DataKeyId, RenewalRequest, WrappedDataKey, unwrap_data_keys, wrap_data_key};
pub use login::{NatsLogin, NatsLoginError, NatsServerTrust, TokenSource};
