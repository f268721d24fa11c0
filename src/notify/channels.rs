//! The table of channels: by which way a recipient's method is served.

use std::time::Duration;

use super::http::Call;
use super::{Courier, Http, Message, SendError, Sending, json_post};
use crate::model::Method;

/// What channels need to know beside the message.
#[derive(Clone, Debug)]
pub struct ChannelSettings {
    /// How long one try may take.
    pub try_time: Duration,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Self { try_time: Duration::from_secs(20) }
    }
}

/// Every channel of this build.
pub struct Channels {
    http: Http,
    settings: ChannelSettings,
}

impl Channels {
    /// Channels that call out through `http`.
    #[must_use]
    pub fn new(http: Http, settings: ChannelSettings) -> Self {
        Self { http, settings }
    }

    async fn try_send(&self, message: &Message) -> Result<(), SendError> {
        let call: Call = match message.recipient.method {
            Method::JsonPost => json_post::call(message)?,
            method => {
                return Err(SendError::lasting(format!("this build cannot send by `{}`", method.name())));
            }
        };
        self.http.send(call, self.settings.try_time).await.map(drop)
    }
}

impl Courier for Channels {
    fn send<'a>(&'a self, message: &'a Message) -> Sending<'a> {
        Box::pin(async move {
            // Twice the time is never reached: it holds whatever a channel forgets to hold.
            let ended = tokio::time::timeout(self.settings.try_time * 2, self.try_send(message)).await;
            let late =
                || SendError::passing(format!("no answer within {} s", self.settings.try_time.as_secs()));
            ended.unwrap_or_else(|_| Err(late())).map_err(|error| error.masked(&message.secret.0))
        })
    }
}
