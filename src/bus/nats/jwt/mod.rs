//! JSON Web Tokens of NATS, version 2, which name the keys of operators, accounts and users and what they may do. Each is
//! signed with the Ed25519 key of the level above: an operator signs its accounts, an account its users.

mod account;
mod error;
mod key;
mod operator;
mod token;
mod user;

pub use account::{AccountClaims, Export, Import, JetStreamLimits, ShareType};
pub use error::JwtError;
pub use key::{PublicKey, new_key, parse_seed};
pub use operator::OperatorClaims;
pub use token::{Claims, Token};
pub use user::{ReplyPermission, UserClaims};

#[cfg(test)]
mod tests;
