//! Hands a new token of an account to the servers. They apply it at once and close the connections of revoked users.

use std::time::Duration;

use async_nats::ConnectOptions;
use serde::Deserialize;

/// Subject for tokens of accounts, which only users of the system account reach.
const UPDATE_SUBJECT: &str = "$SYS.REQ.CLAIMS.UPDATE";
/// Time limit for the whole call.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The server did not take the token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("NATS did not take the new list of agents: {0}")]
pub struct AccountPushError(String);

#[derive(Deserialize)]
struct Reply {
    data: Option<Data>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Data {
    code: u16,
}

#[derive(Deserialize)]
struct Failure {
    description: String,
}

/// Hands `account_jwt` to the servers at `urls` as the user of `options`, who belongs to the system account.
///
/// # Errors
/// Fails when no server can be reached in time, and when it refuses the token.
pub async fn push_account_jwt(
    urls: &[String],
    options: ConnectOptions,
    account_jwt: String,
) -> Result<(), AccountPushError> {
    match tokio::time::timeout(TIMEOUT, push(urls, options, account_jwt)).await {
        Ok(result) => result,
        Err(_) => Err(AccountPushError(format!("no reply within {} s", TIMEOUT.as_secs()))),
    }
}

async fn push(urls: &[String], options: ConnectOptions, account_jwt: String) -> Result<(), AccountPushError> {
    let error = |error: &dyn std::fmt::Display| AccountPushError(error.to_string());
    let client = options.max_reconnects(1).connect(urls).await.map_err(|reason| error(&reason))?;
    let reply = client.request(UPDATE_SUBJECT, account_jwt.into()).await.map_err(|reason| error(&reason))?;
    let reply: Reply = serde_json::from_slice(&reply.payload).map_err(|reason| error(&reason))?;
    // The connection ends with the client; nothing is left to send.
    match reply {
        Reply { error: Some(failure), .. } => Err(AccountPushError(failure.description)),
        Reply { data: Some(Data { code: 200 }), .. } => Ok(()),
        Reply { .. } => Err(AccountPushError("the server replied something unknown".to_owned())),
    }
}
