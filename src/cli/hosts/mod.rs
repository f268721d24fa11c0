//! `vigie hosts` and `vigie push-token`: hosts that report metrics, their tokens and values, and tokens of pushes.

mod command;
mod push_token;
mod values;

pub(super) use command::{Args, run};
pub(super) use push_token::{Args as PushTokenArgs, run as run_push_token};
